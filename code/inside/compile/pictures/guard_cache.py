"""Calls from top to bottom, and for each the cache entries from front to back."""

from inside.compile.observe.guard_cache import orders
from inside.pictures.svg import Picture, bilingual, box, svg, text

WIDTH, ROW, TOP, LEFT, CELL = 342, 38, 44, 90, 80
CALLS = (2, 3, 4, 2, 2, 3)


def draw_guard_cache():
    """Call one compiled function with several ints and draw its cache after each call."""
    found = orders(CALLS)
    known = [n in found[k - 1] if k else False for k, n in enumerate(CALLS)]
    rows = [row(k, *each) for k, each in enumerate(zip(CALLS, known, found, strict=True))]
    body = "\n".join([heads(), *rows])
    return Picture(svg(WIDTH, TOP + ROW * len(rows), body, smallest_text=12),
                   describe(known, found))


def heads():
    """The words above the columns."""
    return "\n".join([bilingual(0, 14, "调用", "call", 12, 16),
                      bilingual(LEFT, 14, "先查的在左", "checked first on the left", 12, 16)])


def row(k, n, known, entries):
    """One call, and its entries; a heavier box where a new one was captured."""
    y = TOP + ROW * k
    cells = [box(LEFT + CELL * at, y, CELL - 6, ROW - 10,
                 tint=0.25 if at == 0 and not known else 0.05)
             + text(LEFT + CELL * (at + 0.5) - 3, y + 18, f"n == {each}", 12, mono=True,
                    text_anchor="middle") for at, each in enumerate(entries)]
    return "\n".join([text(0, y + 18, f"f(x, {n})", 12, mono=True), *cells])


def describe(known, found):
    """A line for each call."""
    return "\n".join(f"f(x, {n}) {'hit    ' if hit else 'capture'} {entries}"
                     for n, hit, entries in zip(CALLS, known, found, strict=True))
