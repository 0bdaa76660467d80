"""Which handles share an open file, and where each open file stands.

Whether two handles share one is found out by moving the one and looking at the other.
"""

import os

from inside.pictures.svg import Picture, arrow, bilingual, box, svg, text

WIDTH, ROW, HEIGHT, TOP, APART = 350, 50, 38, 38, 22  # px: picture, a handle, a box, title, between
HANDLE, OPEN, RECORD = (1, 76), (122, 106), (264, 85)  # x and width of the three columns
NAMES = {"forked": ("一次打开，fork 之后", "opened once, then forked"),
         "opened twice": ("各自打开", "each opened its own")}


def position(file):
    """Where the next `read` of an unbuffered file begins, in bytes."""
    return os.lseek(file.fileno(), 0, os.SEEK_CUR)


def share(one, other):
    """Whether a seek through one handle moves the other; both are put back."""
    here, there = position(one), position(other)
    os.lseek(one.fileno(), there + 1, os.SEEK_SET)
    moved = position(other) != there
    os.lseek(one.fileno(), here, os.SEEK_SET)
    return moved


def open_files(handles):
    """For each handle, the index of the first handle that shares its open file."""
    return [next(k for k in range(n + 1) if k == n or share(handles[k], handle))
            for n, handle in enumerate(handles)]


def draw_open_files(tables, size):
    """Picture of {title: unbuffered files}, whose records have `size` bytes.

    Each handle has an arrow to its open file, and that one to the record it would read next.
    """
    parts, described, y = [], [], 0
    for title, handles in tables.items():
        parts.append(bilingual(1, y + 13, *NAMES.get(title, (title, title))))
        for n, owner in enumerate(open_files(handles)):
            at, record = y + TOP + n * ROW, position(handles[n]) // size
            middle = y + TOP + owner * ROW + HEIGHT / 2
            parts += [box(HANDLE[0], at, HANDLE[1], HEIGHT),
                      text(HANDLE[0] + 8, at + HEIGHT / 2 + 4, f"worker {n}", 12),
                      arrow(sum(HANDLE), at + HEIGHT / 2, OPEN[0], middle)]
            parts += draw_open_file(at, record) if owner == n else []
            described.append(f"{title}: worker {n} has open file {owner}, next record {record}")
        y += TOP + len(handles) * ROW + APART
    return Picture(svg(WIDTH, y - APART, "\n".join(parts), smallest_text=12), "\n".join(described))


def draw_open_file(y, record):
    """An open file with its position, and the record that the position leads to."""
    return [box(OPEN[0], y, OPEN[1], HEIGHT, radius=12, tint=0.12),
            bilingual(OPEN[0] + 8, y + 16, f"读写位置 {record}", f"position {record}"),
            arrow(sum(OPEN), y + HEIGHT / 2, RECORD[0], y + HEIGHT / 2),
            box(RECORD[0], y, RECORD[1], HEIGHT, radius=0),
            bilingual(RECORD[0] + 8, y + 16, f"第 {record} 条", f"record {record}")]
