"""A tar file block by block: the headers, the bytes of each file, and what only fills the block.

A row is a sample, a box one block of 512 bytes, as `tarfile` finds them in a real file.
"""

import tarfile

from inside.pictures.svg import Picture, bilingual, box, svg, text
from mini_shards_tar import split

BLOCK, WIDTH, LEFT, TOP, ROW, HIGH = 512, 350, 8, 62, 48, 22  # bytes; px


def draw_tar_blocks(path, samples=3):
    """Picture of the first samples of a shard, and of its end."""
    parts, described, y = legend(), [], TOP
    with tarfile.open(path) as tar:
        members = tar.getmembers()
    for key in list(dict.fromkeys(split(member.name)[0] for member in members))[:samples]:
        files = [member for member in members if split(member.name)[0] == key]
        start = files[0].offset
        wide = (WIDTH - 2 * LEFT) // max(6, (end(files[-1]) - start) // BLOCK)
        for member in files:
            parts += draw_file(member, LEFT + wide * ((member.offset - start) // BLOCK), y, wide)
            described.append(f"byte {member.offset}: header of {member.name}, then {member.size} "
                             f"bytes, and {end(member) - member.offset_data - member.size} to fill")
        y += ROW
    last, size = end(members[-1]), path.stat().st_size
    described.append(f"{len(members)} files, then {size - last} bytes of zeros to byte {size}")
    return Picture(svg(WIDTH, y, "\n".join(parts), smallest_text=12), "\n".join(described))


def end(member):
    """Where the next header begins."""
    return member.offset_data + -(-member.size // BLOCK) * BLOCK


def draw_file(member, x, y, wide):
    """The header of a file under its name, and the blocks of its bytes, dark as far as they go."""
    drawn = [text(x + 1, y - 5, member.name, 12, mono=True),
             box(x, y, wide - 2, HIGH, radius=2, tint=0.3)]
    for number in range((end(member) - member.offset_data) // BLOCK):
        at, used = x + wide * (number + 1), min(1, member.size / BLOCK - number)
        drawn += [box(at, y, wide - 2, HIGH, radius=2, tint=0),
                  f'<rect x="{at:g}" y="{y + 4}" width="{max(2, used * (wide - 2)):.1f}" '
                  f'height="{HIGH - 8}" fill="currentColor" fill-opacity="0.8"/>']
    return drawn


def legend():
    """What grey, dark and empty mean."""
    return [bilingual(LEFT, 14, "灰：头；黑：内容；空：填充",
                      "grey: header; black: bytes; empty: fill")]
