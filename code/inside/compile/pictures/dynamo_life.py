"""Two calls of one function under mini_dynamo, side by side, from the guards to the return."""

import torch

from inside.compile.observe.dynamo_life import CAPTURE, CHANGES, GRAPH, GUARDS, REAL, life
from inside.pictures.svg import ACCENT, Picture, bilingual, box, down, svg, text

WIDTH, COLUMN, GAP, STEP, TALL, TOP = 342, 166, 10, 62, 44, 44
WORDS = {CAPTURE: ("捕获", "capture"), GUARDS: ("守卫通过", "guards hold"),
         GRAPH: ("图", "graph"), CHANGES: ("重放改动", "changes"),
         REAL: ("真的执行一条指令", "one real instruction")}
HEADS = [("第一次调用", "first call"), ("第二次调用", "second call")]


class State:
    """Something outside the function, whose attribute it sets."""

    last = None


def noisy(x, state):
    """A graph, a change, a `print`, a graph."""
    y = x.sin()
    state.last = y
    print("between")
    return y.cos()


def draw_dynamo_life():
    """Call a compiled `noisy` twice and draw what happened."""
    x = torch.tensor([0.5, 0.25])
    calls = life(noisy, [(x, State()), (x, State())])
    parts = []
    for n, events in enumerate(calls):
        left = n * (COLUMN + GAP)
        parts.append(bilingual(left + COLUMN / 2, 13, *HEADS[n], 12, 16, text_anchor="middle"))
        for k, event in enumerate(events):
            parts.append(step(left, TOP + k * STEP, event, last=k == len(events) - 1))
    height = TOP + STEP * max(map(len, calls)) - (STEP - TALL) + 4
    said = [f"{words[1]}: " + " > ".join(" ".join(event).strip() for event in events)
            for words, events in zip(HEADS, calls, strict=True)]
    return Picture(svg(WIDTH, height, "\n".join(parts), smallest_text=11), "\n".join(said))


def step(left, y, event, last):
    """One event in a box; what was captured anew has an edge in the accent colour."""
    parts = [box(left, y, COLUMN, TALL)]
    if event.kind == CAPTURE:
        parts.append(f'<rect x="{left}" y="{y}" width="{COLUMN}" height="{TALL}" rx="5" '
                     f'stroke-width="2.4" style="stroke:{ACCENT}"/>')
    parts.append(bilingual(left + 8, y + 18, *WORDS[event.kind], 12, 16))
    if event.kind in (GRAPH, REAL):
        parts.append(text(left + COLUMN - 8, y + 18, event.what, 12, mono=True, text_anchor="end"))
    if not last:
        parts.append(down(left + COLUMN / 2, y + TALL, y + STEP))
    return "\n".join(parts)
