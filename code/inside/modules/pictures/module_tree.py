"""A module as a tree: what it registered, what it hides, what is one tensor under two names.

A parameter is a full square, a persistent buffer an empty one, a non-persistent buffer a dashed
one, and what no dictionary of the module holds a cross. Equal letters mark one module, one tensor
or one storage. The picture is narrow, so that a phone shows it without scrolling.
"""

from inside.modules.observe.module_tree import (
    BUFFER,
    KINDS,
    NON_PERSISTENT,
    PARAMETER,
    UNREGISTERED,
    read_module,
    ties,
    totals,
)
from inside.pictures.svg import Picture, bilingual, svg, text, wide

WIDTH, ROW, STEP, SIGN = 372, 19, 13, 10  # a phone's width, heights and distances, a sign's side
LETTER, GAP, SUM = 22, 12, 33  # the column of letters, between columns, a line in two languages
KEY = {  # what the signs mean
    PARAMETER: ("参数：进 parameters() 和 state_dict", "parameter: in parameters() and state_dict"),
    "frozen": ("参数，requires_grad=False", "parameter with requires_grad=False"),
    BUFFER: ("buffer：跟着 to 走，进 state_dict", "buffer: moves with to, is in state_dict"),
    NON_PERSISTENT: ("buffer：跟着 to 走，不进 state_dict",
                     "buffer: moves with to, not in state_dict"),
    UNREGISTERED: ("没有注册：to 和 state_dict 都看不到",
                   "not registered: to and state_dict miss it"),
}
COUNTED = {"parameters": ("个张量", "tensors"), "buffers": ("个张量", "tensors"),
           "state_dict": ("项", "entries")}
SHARED = {
    "module": ("同一个模块", "one module"),
    "tensor": ("同一个张量，有几个名字", "one tensor under several names"),
    "storage": ("几个张量，共用一块存储", "several tensors on one storage"),
}


def draw_module_tree(model):
    """Draw `model`, an `nn.Module`, with all that it holds; nothing is called or changed.

    Shapes and bytes are those of the tensors; a dtype stands beside a shape unless it is float32.
    Raises `TypeError` for what is not a module.
    """
    tree = read_module(model)
    lines = rows(tree)
    shared, sums = ties(tree), totals(model)
    width = fitting(lines)
    parts = [draw_row(line, n * ROW + 4, width) for n, line in enumerate(lines)]
    body, y = draw_sums(sums, len(lines) * ROW + 14, width)
    key, height = draw_key(lines, shared, y + 8)
    picture = svg(width, height, "\n".join([*parts, body, key]), smallest_text=12, scale=1.1)
    return Picture(picture, describe(lines, shared, sums))


# ---------------------------------------------------------------- the rows
def rows(branch, depth=0, parent_training=True):
    """Dicts with `depth`, `sign`, `name`, `more`, `bytes`, `letter`, from the top down."""
    mode = "" if branch.training == parent_training else "train" if branch.training else "eval"
    words = f"{branch.name}: {branch.type}" if branch.name else branch.type
    made = [row(depth, "module" if branch.registered else UNREGISTERED, words,
                mode, None, branch.letter)]
    made += [row(depth + 1, "hook", f"{kind}: {n}") for kind, n in branch.hooks]
    for held in branch.tensors:
        made.append(row(depth + 1, sign_of(held), held.name, held.spelled, held.nbytes,
                        held.letter))
    for below in branch.modules:
        made += rows(below, depth + 1, branch.training)
    return made


def row(depth, sign, name, more="", nbytes=None, letter=""):
    return {"depth": depth, "sign": sign, "name": name, "more": more, "bytes": nbytes,
            "letter": letter}


def sign_of(held):
    return "frozen" if held.kind == PARAMETER and not held.requires_grad else held.kind


def spell_bytes(nbytes):
    return "" if nbytes is None else f"{nbytes:,} B"


def fitting(lines):
    """The width of the picture: that of a phone, or what its longest row needs."""
    return max(WIDTH, *(
        left(line) + wide(line["name"]) + GAP + wide(line["more"]) + GAP
        + wide(spell_bytes(line["bytes"])) + LETTER for line in lines))


def left(line):
    """Where the row's words begin; its sign stands before them."""
    return 4 + line["depth"] * STEP + (0 if is_module(line) else SIGN + 6)


def is_module(line):
    return line["sign"] == "module" or (line["sign"] == UNREGISTERED and line["bytes"] is None)


def draw_row(line, top, width):
    """One row: sign, name, shape, bytes at the right, the letter in a circle behind them."""
    x, y = left(line), top + 14
    module = is_module(line)
    parts = []
    if not module:
        parts.append(draw_sign(line["sign"], x - SIGN - 6, top + 5))
    elif line["sign"] == UNREGISTERED:
        parts.append(draw_sign(UNREGISTERED, x, top + 5))
        x += SIGN + 6
    parts.append(text(x, y, line["name"], 12, mono=True, font_weight=600 if module else 400))
    if line["more"]:
        parts.append(text(x + wide(line["name"]) + GAP, y, line["more"], 12, mono=True))
    if line["bytes"] is not None:
        parts.append(text(width - LETTER, y, spell_bytes(line["bytes"]), 12, mono=True,
                          text_anchor="end"))
    if line["letter"]:
        parts.append(draw_letter(line["letter"], width - 9, top + 10))
    return "\n".join(parts)


def draw_letter(letter, x, y):
    return (f'<circle cx="{x:g}" cy="{y:g}" r="8.5" stroke="currentColor"/>'
            + text(x, y + 4.5, letter, 12, text_anchor="middle", font_weight=600))


def draw_sign(sign, x, y):
    """The sign of a kind, `SIGN` wide and high; hooks have a bent line."""
    far = SIGN
    if sign == UNREGISTERED:
        return (f'<path d="M{x:g} {y:g}l{far} {far}m0 -{far}l-{far} {far}" stroke="currentColor" '
                f'stroke-width="2"/>')
    if sign == "hook":
        return (f'<path d="M{x + 5:g} {y:g}v6a3 3 0 0 1 -6 0" stroke="currentColor" '
                f'stroke-width="1.5"/>')
    fill = ' fill="currentColor"' if sign == PARAMETER else ""
    dashes = ' stroke-dasharray="2.5 2"' if sign == NON_PERSISTENT else ""
    square = (f'<rect x="{x + 0.5:g}" y="{y + 0.5:g}" width="{far - 1}" height="{far - 1}" '
              f'stroke="currentColor" stroke-width="1.4"{fill}{dashes}/>')
    if sign == "frozen":
        square += f'<path d="M{x:g} {y + far:g}v-{far}l{far} {far}z" fill="currentColor"/>'
    return square


# ---------------------------------------------------------------- below the tree
def draw_sums(sums, top, width):
    """What the three lists hold: (SVG, where it ends)."""
    parts = [f'<path d="M0 {top:g}H{width:g}" stroke="currentColor" stroke-opacity="0.4"/>']
    for n, (name, (tensors, nbytes)) in enumerate(sums.items()):
        y = top + 20 + n * SUM
        zh, en = COUNTED[name]
        parts += [text(4, y, f"{name}()", 12, mono=True, font_weight=600),
                  bilingual(130, y, f"{tensors} {zh}", f"{tensors} {en}"),
                  text(width - LETTER, y, spell_bytes(nbytes), 12, mono=True, text_anchor="end")]
    return "\n".join(parts), top + len(sums) * SUM + 8


def draw_key(lines, shared, top):
    """What the signs and letters stand for, as far as they occur: (SVG, where it ends)."""
    signs = {line["sign"] for line in lines}
    entries = [(draw_sign(kind, 4, 0), KEY[kind])
               for kind in (PARAMETER, "frozen", *KINDS[1:]) if kind in signs]
    marks = {tie.what: tie.letter for tie in reversed(shared)}
    entries += [(draw_letter(marks[what], 9, 5), SHARED[what]) for what in SHARED if what in marks]
    parts = []
    for n, (mark, words) in enumerate(entries):
        y = top + n * SUM
        parts += [f'<g transform="translate(0 {y + 6:g})">{mark}</g>',
                  bilingual(24, y + 14, *words)]
    return "\n".join(parts), top + len(entries) * SUM + 4


def describe(lines, shared, sums):
    """The same facts as text."""
    said = []
    for line in lines:
        cells = [line["name"], line["more"], spell_bytes(line["bytes"]).replace(" B", " bytes"),
                 "" if line["sign"] in ("module", "hook") else line["sign"], line["letter"]]
        said.append("  " * line["depth"] + ", ".join(cell for cell in cells if cell))
    said += [f"{tie.letter}: one {tie.what}: {', '.join(path or 'the model' for path in tie.paths)}"
             for tie in shared]
    said += [f"{name}(): {n} {COUNTED[name][1]}, {nbytes} bytes"
             for name, (n, nbytes) in sums.items()]
    return "\n".join(said)
