"""The changes made to a compiled model, sorted by what followed."""

from inside.compile.observe.model_changes import AT_ONCE, RECOMPILED, UNNOTICED, UNREAD, fates
from inside.pictures.beside import beside
from inside.pictures.svg import ACCENT, Picture, box, svg, text

WIDTH, ROW, HEAD, GAP = 342, 19, 36, 10  # px: a phone's width, a change, a heading, between boxes
WORDS = {  # what followed, in both languages
    AT_ONCE: ("立刻生效：图的输入，或者在图外面跑",
              "at once: an input, or outside the graph"),
    RECOMPILED: ("重新编译：守卫发现了", "compiled again: a guard noticed"),
    UNREAD: ("没有影响：forward 没读它", "no effect: forward does not read it"),
    UNNOTICED: ("没人发现：照旧跑旧代码", "unnoticed: the old code keeps running"),
}


def draw_changes(make, changes, x):
    """Make each change to a compiled model from `make` and draw what followed, box by box."""
    found = fates(make, changes, x)
    parts, y = [], 0
    for fate, words in WORDS.items():
        lines = [each.change for each in found if each.fate == fate]
        height = HEAD + ROW * len(lines) + 8
        parts += [frame(y, height, fate), beside(12, y + 21, *words, 13, font_weight=600)]
        parts += [text(24, y + HEAD + 13 + n * ROW, line, 12, mono=True)
                  for n, line in enumerate(lines)]
        y += height + GAP
    picture = svg(WIDTH, y - GAP + 1, "\n".join(parts), smallest_text=12)
    return Picture(picture, "\n".join(f"{each.fate}: {each.change}" for each in found))


def frame(y, height, fate):
    """The box of one fate; that of the unnoticed changes has a bar at its left edge."""
    bar = f'<path d="M1.5 {y + 4}v{height - 8}" stroke-width="3" style="stroke:{ACCENT}"/>'
    return box(0.5, y + 0.5, WIDTH - 1, height) + (bar if fate == UNNOTICED else "")
