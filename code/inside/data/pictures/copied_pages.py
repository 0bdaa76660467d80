"""Which pages of memory a worker copies because it reads a string in them."""

from inside.pictures.svg import Picture, bilingual, box, svg

WIDTH, PAGE_WIDTH, GAP, HEIGHT, ROW = 350, 40, 3, 34, 86  # px; a row: words, pages, a line below
PER_ROW = 8
NAMES = {"shuffled": ("打乱着读", "read in shuffled order"),
         "in order": ("按顺序读", "read in order")}


def page_of(position, size, page):
    """The page that holds the head of a string, if strings of `size` bytes lie side by side."""
    return position * size // page


def copied(positions, size, page):
    """The pages that are copied if the strings at `positions` are read, in ascending order."""
    return sorted({page_of(position, size, page) for position in positions})


def draw_copied_pages(orders, size, page=4096):
    """Picture of {name: positions of strings that are read} on the first eight pages.

    A frame is a page, a line in it a string that is read; a dark page is copied.
    """
    parts, described = [], []
    for row, (name, positions) in enumerate(orders.items()):
        top = row * ROW
        shown = [each for each in positions if page_of(each, size, page) < PER_ROW]
        pages = copied(shown, size, page)
        parts.append(bilingual(2, top + 14, *NAMES.get(name, (name, name))))
        parts += [box(2 + k * (PAGE_WIDTH + GAP), top + 38, PAGE_WIDTH, HEIGHT, radius=2,
                      tint=0.22 if k in pages else 0.02) for k in range(PER_ROW)]
        for position in shown:
            k, offset = divmod(position * size, page)
            x = 2 + k * (PAGE_WIDTH + GAP) + offset / page * (PAGE_WIDTH - 1.2)
            parts.append(f'<rect x="{x:.1f}" y="{top + 43}" width="1.2" height="{HEIGHT - 10}" '
                         f'fill="currentColor"/>')
        described.append(f"{name}: {len(shown)} strings read, "
                         f"{len(pages)} of {PER_ROW} pages copied")
    end = len(orders) * ROW
    parts.append(bilingual(2, end + 8, "框：一页；竖线：读了的字符串；深色：复制了的页",
                           "frame: page; line: read; dark: copied"))
    return Picture(svg(WIDTH, end + 30, "\n".join(parts), smallest_text=12), "\n".join(described))
