"""The whole machine of modules: one tree, and which parts of it each line of a program reaches.

A row is a module or a tensor, a column one walk over the tree: the assignment that registered it,
a call, `to`, `load_state_dict`, `train` and `parameters`. Each was taken on a copy of the model.
"""

from inside.modules.observe.module_machine import YES, parts, walks
from inside.pictures.beside import beside
from inside.pictures.svg import Picture, box, circled, svg, text, wide

WIDTH, ROW, STEP, TOP = 372, 20, 12, 26  # px: a phone's width, a row, a level, above the rows
LEAD, ENTRY, WORDS = 15, 36, 168  # px: between the languages, an entry of the key, its words
KEY = {  # the walk: the line of a program, what its column says
    "assignment": ("self.x = …", "记进哪个字典，× 是没有记", "its dictionary, × for none"),
    "call": ("model(x)", "第几个开始算", "order in which they begin"),
    "to": ("model.to(…)", "会搬动的张量", "tensors that are moved"),
    "load_state_dict": ("load_state_dict", "会写入的张量", "tensors written to"),
    "train": ("model.train()", "会切换模式的模块", "modules that change mode"),
    "parameters": ("model.parameters()", "优化器会拿到的", "what an optimizer gets"),
}


def draw_module_machine(model, *inputs):
    """Draw the tree of `model`, an `nn.Module`, and what each walk over it reaches.

    `inputs` are those of one call. The walks are taken on copies; the model is left as it is.
    Raises whatever the call raises.
    """
    rows, marks = parts(model), walks(model, *inputs)
    names = max(indent(row) + wide(row.words) for row in rows) + 10
    column = max(26, (WIDTH - names) / len(KEY))
    width = round(names + column * len(KEY))
    middles = {walk: names + column * (n + 0.5) for n, walk in enumerate(KEY)}
    body = [circled(n, x, 11) for n, x in enumerate(middles.values(), 1)]
    body += [draw_row(row, TOP + n * ROW, marks, middles, width) for n, row in enumerate(rows)]
    y = TOP + len(rows) * ROW + 14
    body += [draw_entry(n, y + (n - 1) * ENTRY, *KEY[walk]) for n, walk in enumerate(KEY, 1)]
    picture = svg(width, y + len(KEY) * ENTRY, "\n".join(body), smallest_text=12)
    return Picture(picture, describe(rows, marks))


def indent(row):
    return 5 + row.depth * STEP


def draw_row(row, y, marks, middles, width):
    """A module or tensor with a mark in each column whose walk reaches it."""
    module = row.kind == "module"
    drawn = [box(0.5, y + 1, width - 1, ROW - 2, radius=3, edge=0.15)] if module else []
    drawn.append(text(indent(row), y + 14.5, row.words, 12, mono=True,
                      font_weight=600 if module else 400))
    for walk, x in middles.items():
        mark = marks[walk].get(row.path)
        if mark == YES:
            drawn.append(f'<circle cx="{x:g}" cy="{y + ROW / 2:g}" r="4" fill="currentColor"/>')
        elif mark:
            drawn.append(text(x, y + 14.5, mark, 12, mono=True, text_anchor="middle"))
    return "\n".join(drawn)


def draw_entry(number, y, line, zh, en):
    """What a column is: its number, the line of a program, the words in both languages."""
    return "\n".join([circled(number, 12, y + 12), text(28, y + 16, line, 12, mono=True),
                      beside(WORDS, y + 16, zh, en, leading=LEAD)])


def describe(rows, marks):
    """The same facts as text."""
    lines = []
    for row in rows:
        reached = [walk if mark == YES else f"{walk} {mark}"
                   for walk in KEY if (mark := marks[walk].get(row.path))]
        lines.append("  " * row.depth + f"{row.words}: {', '.join(reached) or 'none'}")
    return "\n".join(lines)
