"""One `print` in different places: the lines of each function, and the graph that took each line.

A number in a circle is the graph, in the order of compilation; a square is a line with tensor
operations that no graph took, a bar the line that Python runs in any case. A phone shows it whole.
"""

import torch

import break_cases
from inside.compile.observe.breaks import EAGER, PYTHON, lines_of
from inside.pictures.svg import Picture, bilingual, circled, svg, text

WIDTH, ROW, TITLE, GAP = 342, 19, 36, 12  # a phone's width; heights; between two functions
CODE = 30  # left edge of the source
CASES = [
    ("straight", (), "在函数自己的一行", "on a line of its own"),
    ("in_a_with", (), "在 with torch.no_grad() 里", "inside with torch.no_grad()"),
    ("in_a_call", ("helper",), "在它调用的函数里", "inside a function that it calls"),
    ("in_a_loop", (), "在 for 里", "inside a for loop"),
    ("in_a_try", (), "在 try 里", "inside a try block"),
]
KEY = {1: ("进了第几张图", "the graph that took the line"),
       PYTHON: ("图外面的 print", "print, outside the graphs"),
       EAGER: ("有算子，却没有图收它", "tensor operations that no graph took")}


def draw_breaks():
    """Compile each function of `break_cases` with `backend=` a recorder, and draw its lines."""
    x = torch.tensor([0.5, 0.25])
    parts, said, y = [], [], 0
    for name, calls, zh, en in CASES:
        functions = tuple(getattr(break_cases, each) for each in calls)
        lines = lines_of(getattr(break_cases, name), x, calls=functions)
        parts.append(bilingual(0, y + 12, zh, en, 12))
        y += TITLE
        for line in lines:
            parts.append(text(CODE, y + 13, line.text, 11, mono=True, style="white-space:pre"))
            parts.append(mark(line.where, y + 9))
            y += ROW
        y += GAP
        said += [f"{name}:", *(f"{line.where or '':>6} {line.text}" for line in lines)]
    for where, (zh, en) in KEY.items():
        parts += [mark(where, y + 9), bilingual(CODE, y + 10, zh, en, 12)]
        y += TITLE
    return Picture(svg(WIDTH, y, "\n".join(parts), smallest_text=11), "\n".join(said))


def mark(where, y):
    """The sign before a line, its middle at `y`."""
    if where is None:
        return ""
    if where == PYTHON:
        return f'<path d="M3 {y:g}h16" stroke="currentColor" stroke-width="2.5"/>'
    if where == EAGER:
        return (f'<rect x="5" y="{y - 6:g}" width="12" height="12" stroke="currentColor" '
                f'stroke-width="1.4"/>')
    return circled(where, 11, y)
