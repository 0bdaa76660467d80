"""Calls of a compiled function from top to bottom, and a dot for each step that a call took."""

import torch

from inside.compile.observe.capture_steps import STEPS, calls
from inside.pictures.svg import ACCENT, Picture, bilingual, box, svg, text

WIDTH, ROW, TOP = 342, 40, 48
NAMES = {"capture": ("捕获", "capture"), "back end": ("后端", "back end"),
         "graph": ("跑图", "graph"), "effect": ("副作用", "effects")}
COLUMNS = {step: 148 + 54 * n for n, step in enumerate(STEPS)}


def draw_capture_steps():
    """Compile a function, call it with two float batches and one of another dtype, and draw."""
    x = torch.arange(4.0)
    arguments = [("step(x)", x), ("step(x)", x + 1), ("step(x.double())", x.double())]
    found = calls([value for _, value in arguments])
    labels = ["torch.compile(step)", *(label for label, _ in arguments)]
    rows = [row(n, *each) for n, each in enumerate(zip(labels, found, strict=True))]
    height = TOP + ROW * len(rows)
    return Picture(svg(WIDTH, height, "\n".join([heads(), *rows]), smallest_text=12),
                   describe(labels, found))


def heads():
    """The names of the steps above their columns."""
    return "\n".join(bilingual(COLUMNS[step], 14, *NAMES[step], 12, 16, text_anchor="middle")
                     for step in STEPS)


def row(n, label, steps):
    """One call: what was called, and numbered dots in the order of its steps."""
    y = TOP + ROW * n
    parts = [box(0, y, WIDTH, ROW - 8), text(6, y + 20, label, 12, mono=True)]
    for place, step in enumerate(steps, start=1):
        x = COLUMNS[step]
        parts.append(f'<circle cx="{x}" cy="{y + 16}" r="10" stroke-width="1.6" '
                     f'style="stroke:{ACCENT}"/>')
        parts.append(text(x, y + 20.5, str(place), 12, text_anchor="middle", font_weight=600))
    return "\n".join(parts)


def describe(labels, found):
    """A line for each call."""
    return "\n".join(f"{label:20} {' > '.join(steps) or 'nothing'}"
                     for label, steps in zip(labels, found, strict=True))
