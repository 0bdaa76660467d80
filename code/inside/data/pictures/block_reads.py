"""What each worker of a loader asks for, and which blocks `ReadAhead` reads for it.

The batches go to the workers in turn, as `DataLoader` deals them, and each worker's samples go
through a `ReadAhead` of its own that notes what it reads. A row is a worker, a column a block.
"""

from inside.pictures.svg import Picture, bilingual, box, svg, text
from mini_cache import ReadAhead

WIDTH, LEFT, ROW, TOP, APART = 350, 26, 16, 40, 26  # px: picture, names, a worker, title, between
NAMES = {"in order": ("按顺序派", "dealt in order"),
         "by blocks": ("一块的 batch 派给同一个 worker", "a block's batches to one worker")}


class Noted:
    """A dataset of `size` samples that notes what is read of it, many at once."""

    def __init__(self, size):
        self.size, self.reads = size, []

    def __len__(self):
        return self.size

    def __getitems__(self, indices):
        self.reads.append((indices[0], len(indices)))
        return indices


def reads(batches, workers, size):
    """For each worker the indices it asks for and, as (first, count), the blocks it reads."""
    total, found = sum(map(len, batches)), []
    for worker in range(workers):
        asked, noted = [i for batch in batches[worker::workers] for i in batch], Noted(total)
        ahead = ReadAhead(noted, size)
        for i in asked:
            ahead[i]
        found.append((asked, noted.reads))
    return found


def draw_block_reads(tables, workers, size):
    """Picture of {name: batches}, lists of indices that together are 0 to n - 1.

    Dark is what a worker asked for, framed is what was read for it.
    """
    parts, described, y = [], [], 0
    for name, batches in tables.items():
        found, total = reads(batches, workers, size), sum(map(len, batches))
        scale = (WIDTH - LEFT - 2) / total
        parts.append(bilingual(LEFT, y + 13, *NAMES.get(name, (name, name))))
        for worker, (asked, blocks) in enumerate(found):
            parts += draw_worker(worker, asked, blocks, y + TOP + worker * ROW, scale)
        read = sum(count for _, blocks in found for _, count in blocks)
        described.append(f"{name}: {workers} workers ask for {total} samples, {read} are read")
        y += TOP + workers * ROW + APART
    parts.append(bilingual(LEFT, y - 6, "框：读的块；深：要的样本",
                           "frame: block read; dark: asked for"))
    return Picture(svg(WIDTH, y + 14, "\n".join(parts), smallest_text=12), "\n".join(described))


def draw_worker(worker, asked, blocks, y, scale):
    """The row of a worker: its index, frames around what was read, and what it asked for."""
    return [text(LEFT - 6, y + 12, str(worker), 12, text_anchor="end"),
            *(box(LEFT + first * scale, y + 1, count * scale, ROW - 3, radius=1, tint=0.08,
                  edge=0.5) for first, count in blocks),
            *(f'<rect x="{LEFT + first * scale:g}" y="{y + 4}" width="{count * scale:g}" '
              f'height="{ROW - 9}" fill="currentColor" fill-opacity="0.8"/>'
              for first, count in runs(asked))]


def runs(indices):
    """Neighbours in ascending order as (first, count)."""
    found = []
    for i in sorted(indices):
        if found and sum(found[-1]) == i:
            found[-1] = found[-1][0], found[-1][1] + 1
        else:
            found.append((i, 1))
    return found
