"""Three functions, called some times: which graph served each call, and where none did any more.

A filled cell is a call that compiled, a cell with a number one that an old graph served, an empty
one ran in eager mode. The numbers are those of the graphs. A phone shows the picture whole.
"""

import torch

from inside.compile.observe.recompiles import EAGER, serve
from inside.pictures.svg import ACCENT, Picture, bilingual, svg, text

WIDTH, CELL, HIGH, ROW = 342, 28, 24, 104
KEY = [("new 0", "这一次编译", "this call compiles"),
       ("graph 0", "已有的图来跑", "an old graph runs"),
       (EAGER, "没有图，按 eager 跑", "no graph: eager mode")]


def named(x, name):
    """A graph for each name."""
    return x + len(name)


def breaking(x, name):
    """Two graphs in every call, whatever the name."""
    y = x.sin()
    print(end="")
    return y.cos()


def debugging(x, debug):
    """Breaks in a loop if asked to."""
    for _ in range(2):
        x = x.sin()
        if debug:
            print(end="")
    return x


CASES = [
    ("图中断：每次都断，前后照样有图", "graph break: graphs still run",
     breaking, ["a"] * 6),
    ("到了上限：旧的值照样有图，新的没有", "limit: graphs for old values only",
     named, [*"abcdefghij", "c", "k"]),
    ("跳过整帧：从此一张图也没有", "skipped frame: no graph from then on",
     debugging, [False, False, True, False, False, False]),
]


def draw_recompiles():
    """Call each function with its list of values, compiled with a recorder, and draw the record."""
    parts, said, y = [], [], 0
    for zh, en, fn, values in CASES:
        served = serve(fn)
        for value in values:
            served(torch.tensor([0.5, 0.25]), value)
        parts.append(bilingual(0, y + 12, zh, en, 12))
        for n, (value, how) in enumerate(zip(values, served.history, strict=True)):
            x = n * CELL + 1
            parts.append(text(x + CELL / 2, y + 44, spelled(value), 11, mono=True,
                              text_anchor="middle"))
            parts.append(cell(x, y + 50, how))
        said.append(f"{en}: " + ", ".join(f"{spelled(v)} {how}" for v, how
                                          in zip(values, served.history, strict=True)))
        y += ROW
    for how, zh, en in KEY:
        parts += [cell(1, y, how), bilingual(CELL + 10, y + 11, zh, en, 12)]
        y += 38
    torch._dynamo.reset()
    return Picture(svg(WIDTH, y, "\n".join(parts), smallest_text=11), "\n".join(said))


def spelled(value):
    """A value in at most two characters: T and F for the flag."""
    return str(value)[0]


def cell(x, y, how):
    """The cell of one call."""
    new = "new" in how
    dashes = ' stroke-dasharray="3 3"' if how == EAGER else ""
    fill = f'style="fill:{ACCENT};fill-opacity:0.3;stroke:{ACCENT}"' if new else ""
    box = (f'<rect x="{x + 1:g}" y="{y:g}" width="{CELL - 3}" height="{HIGH}" rx="3" '
           f'stroke="currentColor"{dashes} {fill}/>')
    label = " ".join(part for part in how.split() if part.isdigit())
    if not label:
        return box
    return box + text(x + CELL / 2, y + 16, label, 11, mono=True, text_anchor="middle")
