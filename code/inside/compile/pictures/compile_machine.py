"""The whole machine of torch.compile: one function as each stage has it, from the top down.

The function is really compiled; only the back end, which would write machine code, is replaced by
one that runs the graphs as they are.
"""

from inside.compile.observe.compile_machine import machine
from inside.pictures.beside import beside
from inside.pictures.svg import MONO_WIDTH, Picture, box, circled, down, svg, text

WIDTH, LEAD, SIZE = 372, 15, 12  # px: a phone's width, between lines, the font
LEFT, GAP, TITLE = 4, 26, 30  # px: of the boxes, the arrow between stages, the head of a stage
ROOM = int((WIDTH - LEFT - 20) / (SIZE * MONO_WIDTH))  # characters of a line
STAGES = {  # the stage: what it does
    "source": ("你写的函数", "the function as you wrote it"),
    "bytecode": ("Python 编译成的字节码", "bytecode, compiled by Python"),
    "dynamo": ("Dynamo 读字节码，记下图和守卫", "Dynamo reads it: a graph and guards"),
    "aot": ("AOTAutograd：前向图和反向图", "AOTAutograd: forward and backward graphs"),
    "backend": ("后端（默认 Inductor）：图变成代码", "the back end (Inductor) writes code"),
    "entry": ("函数的缓存里多了一项", "a new entry in the function's cache"),
}
LABELS = {
    "graph": ("FX 图", "FX graph"),
    "guards": ("守卫（这里只画张量的）", "guards (those of tensors)"),
    "forward": ("前向", "forward"), "backward": ("反向", "backward"),
    "saved": ("为反向保存：", "saved for backward: "),
    "fused": ("融合算子，生成 C++ 或 Triton", "fuses operations, writes C++ or Triton"),
    "hold": ("守卫都成立 → 改写后的字节码 → 代码", "guards hold → rewritten bytecode → code"),
    "fail": ("没有一项成立 → 回到 3，再编译一次", "no entry holds → back to 3, compile again"),
}


def draw_compile_machine(function, *calls):
    """Compile `function`, which returns a scalar that needs a gradient, and draw all stages.

    Each of `calls` is a tuple of arguments; whatever a call raises is raised.
    """
    made = machine(function, *calls)
    body, y = [], 4
    for number, (name, (zh, en)) in enumerate(STAGES.items(), 1):
        if number > 1:
            body.append(down(WIDTH / 2, y, y + GAP - 6))
            y += GAP
        body += [circled(number, 14, y + 12), beside(30, y + 17, zh, en, leading=LEAD)]
        y += TITLE
        for title, lines in contents(made)[name]:
            drawn, y = framed(title, lines, y)
            body.append(drawn)
    return Picture(svg(WIDTH, y + 4, "\n".join(body), smallest_text=SIZE), describe(made))


def contents(made):
    """{stage: [(title in both languages or None, lines)]}; a line may be in both languages too."""
    compiled = [line for found in made.bytecode.values() for line in wrapped(found)]
    saved = tuple(words + ", ".join(made.saved) for words in LABELS["saved"])
    return {
        "source": [(None, made.source)],
        "bytecode": [(None, compiled)],
        "dynamo": [(LABELS["graph"], made.graph), (LABELS["guards"], made.guards)],
        "aot": [(LABELS["forward"], [*made.forward, saved]), (LABELS["backward"], made.backward)],
        "backend": [(None, [LABELS["fused"]])],
        "entry": [(None, [LABELS["hold"], LABELS["fail"]])],
    }


def wrapped(instructions):
    """Instructions with dots between them, in lines that fit."""
    lines = [""]
    for one in instructions:
        longer = f"{lines[-1]} · {one}" if lines[-1] else one
        if len(longer) <= ROOM:
            lines[-1] = longer
        else:
            lines.append(one)
    return lines


def framed(title, lines, y):
    """A box of lines, its title above; returns it and where the next may begin."""
    rows = [title, *lines] if title else lines
    heights = [30 if isinstance(row, tuple) else LEAD for row in rows]
    drawn = [box(LEFT, y, WIDTH - 2 * LEFT, sum(heights) + 10)]
    at = y + 5
    for row, height in zip(rows, heights, strict=True):
        if isinstance(row, tuple):
            strong = {"font_weight": 600} if row is title else {}
            drawn.append(beside(LEFT + 10, at + 19, *row, leading=LEAD, **strong))
        else:
            drawn.append(text(LEFT + 10, at + 11.5, row, SIZE, mono=True,
                              **{"xml:space": "preserve"}))
        at += height
    return "\n".join(drawn), at + 5 + 4


def describe(made):
    """The same facts as text."""
    lines = ["source", *("  " + line for line in made.source), "bytecode"]
    lines += [f"  {line}: {' · '.join(found)}" for line, found in made.bytecode.items()]
    for name in ("graph", "guards", "forward", "backward"):
        lines += [name, *("  " + line for line in getattr(made, name))]
    lines += [f"saved: {', '.join(made.saved)}",
              f"Dynamo ran {made.compiled} time(s), entries in the cache: {made.entries}"]
    return "\n".join(lines)
