"""Which lengths of one dimension each graph of a compiled function serves, on a number line."""

from inside.pictures.svg import ACCENT, Picture, bilingual, svg, text

WIDTH, LEFT, RIGHT, TOP, ROW = 342, 92, 14, 20, 36


def draw_size_line(served, last):
    """Draw {graph: lengths it serves}, graphs numbered in the order of their compilation.

    The line goes from 0 to `last`; a run of lengths that reaches `last` gets an arrow, because it
    goes on. Raises `ValueError` where a length lies off the line or nothing is served.
    """
    lengths = [n for each in served.values() for n in each]
    if not lengths or not all(0 <= n <= last for n in lengths):
        raise ValueError(f"lengths {lengths} are not on the line from 0 to {last}")
    floor = TOP + ROW * len(served)
    parts = [axis(last, floor)]
    for row, (graph, each) in enumerate(served.items()):
        y = TOP + ROW * row + 8
        parts += [bilingual(0, y, f"第 {graph} 张图", f"graph {graph}", leading=14)]
        parts += [run(first, end, last, y) for first, end in runs(each)]
    body = "\n".join(parts)
    return Picture(svg(WIDTH, floor + 54, body, smallest_text=12), describe(served, last))


def runs(lengths):
    """[(first, last)] of the lengths that follow one another without a gap."""
    found = []
    for n in sorted(lengths):
        if found and n == found[-1][1] + 1:
            found[-1] = (found[-1][0], n)
        else:
            found.append((n, n))
    return found


def place(n, last):
    """The distance of a length from the left edge."""
    return round(LEFT + (WIDTH - LEFT - RIGHT) * n / last, 1)


def run(first, end, last, y):
    """A dot for one length, a bar for several, an arrow where they go on."""
    x1, x2 = place(first, last), place(end, last)
    dot = '<circle cx="{0:g}" cy="{1:g}" r="5" style="fill:{2}"/>'
    if first == end:
        return dot.format(x1, y, ACCENT)
    line = f'<path d="M{x1:g} {y:g}H{x2:g}" stroke-width="3" style="stroke:{ACCENT}"/>'
    tip = (f'<path d="M{x2 + 10:g} {y:g}l-12 -6v12z" style="fill:{ACCENT}"/>' if end == last
           else dot.format(x2, y, ACCENT))
    return line + dot.format(x1, y, ACCENT) + tip


def axis(last, floor):
    """The lengths, a faint line above each, and what they are."""
    ticks = [f'<path d="M{place(n, last):g} {TOP - 8:g}V{floor:g}" stroke="currentColor" '
             'stroke-opacity="0.15"/>' for n in range(last + 1)]
    labels = [text(place(n, last), floor + 16, str(n), 12, text_anchor="middle")
              for n in range(last + 1)]
    name = bilingual(WIDTH - RIGHT, floor + 34, "这一维的长度", "length of the dimension",
                     leading=14, text_anchor="end")
    return "\n".join([*ticks, *labels, name])


def describe(served, last):
    """The picture in one line of words for each graph."""
    def words(first, end):
        return str(first) if first == end else f"{first} to {end}" if end < last else f"{first} on"
    return "\n".join(f"graph {graph}: " + ", ".join(words(*each) for each in runs(lengths))
                     for graph, lengths in served.items())
