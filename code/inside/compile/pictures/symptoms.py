"""The way from a symptom to its tool, and what the tool said about a planted symptom."""

from inside.pictures.svg import Picture, along, bilingual, box, stroke, svg, text

WIDTH, LEFT, PAD = 372, 26, 10  # px: the picture; where the boxes begin; inside a box
LEAD, HEIGHT, GAP = 16, 78, 8  # px: from a line to the next; a box; between two boxes
TREE = {
    ("慢", "slow"): ("slow_first_call", "slow_always", "slow_later"),
    ("不对", "wrong"): ("raises", "wrong_result", "nan"),
    ("占显存", "memory"): ("memory",),
}
LEAVES = {
    "slow_first_call": ("只有第一次慢", "only the first call is slow", "compile_times()"),
    "slow_always": ("每次都慢", "every call is slow", "TORCH_LOGS=graph_breaks"),
    "slow_later": ("跑着跑着慢了", "slow after a while", "TORCH_LOGS=recompiles"),
    "raises": ("报错", "it raises", 'backend="eager"'),
    "wrong_result": ("数值不对", "the numbers are wrong", "float64, eager → inductor"),
    "nan": ("出现 NaN", "there is a NaN", "torch.fx.Interpreter"),
    "memory": ("反向要的张量太多", "too much is kept for backward", "TORCH_LOGS=aot_graphs"),
}


def draw_symptoms(said):
    """Draw `{"slow_always": "1 graph break", …}`: for each symptom its tool and what it said.

    Raises KeyError where a symptom of the tree is missing from `said`.
    """
    parts, lines, y = [], [], 0
    for (zh, en), names in TREE.items():
        parts.append(bilingual(1, y + 14, zh, en, size=13, leading=LEAD, font_weight=600))
        top = y + 2 * LEAD + 6
        y = top
        for name in names:
            parts += [along(8, LEFT - 2, y + HEIGHT / 2), draw_leaf(name, said[name], y)]
            lines.append(f"{en}, {LEAVES[name][1]}: {LEAVES[name][2]} -> {said[name]}")
            y += HEIGHT + GAP
        parts.append(stroke(f"M8 {top:g}V{y - GAP - HEIGHT / 2:g}"))
        y += 6
    return Picture(svg(WIDTH, y, "\n".join(parts), smallest_text=12), "\n".join(lines))


def draw_leaf(name, said, y):
    """One box from `y` down: the symptom, the tool, and behind an arrow what the tool said."""
    zh, en, tool = LEAVES[name]
    x = LEFT + PAD
    return "\n".join([
        box(LEFT, y, WIDTH - LEFT - 1, HEIGHT),
        bilingual(x, y + 16, zh, en, leading=LEAD),
        text(x, y + 16 + 2 * LEAD, tool, 12, mono=True, font_weight=600),
        text(x, y + 16 + 3 * LEAD + 2, f"→ {said}", 12, mono=True),
    ])
