"""Inductor's C++ for a function, and beside each line the operator of the graph it came from.

A bracket joins the lines of one operator. What has no bracket is the frame that Inductor puts
around all of them: loops, branches, the store. A phone shows it whole.
"""

from itertools import groupby

from inside.compile.observe.line_origins import line_origins
from inside.pictures.svg import ACCENT, Picture, svg, text

WIDTH, ROW, SIZE = 342, 18, 11  # a phone's width; height of a line; height of its letters
CODE, STEP, BRACKET = 43, 7, 37  # left edge of the code, indentation, the bracket's place


def draw_line_origins(fn, *args, **options):
    """Generate the C++ of `fn` as `line_origins` does, and draw its lines from the first loop."""
    lines = line_origins(fn, *args, **options)
    start = next(at for at, line in enumerate(lines) if line.text.startswith("for"))
    lines = lines[start:]
    outer, parts, y = lines[0].depth, [], 0
    for operator, group in groupby(lines, lambda line: line.operator):
        top = y
        for line in group:
            parts.append(text(CODE + STEP * (line.depth - outer), y + 13, short(line.text), SIZE,
                              mono=True, style="white-space:pre"))
            y += ROW
        if operator:
            parts += bracket(operator, top, y)
    said = (f"{line.operator or '':>6}  {'  ' * (line.depth - outer)}{short(line.text)}"
            for line in lines)
    return Picture(svg(WIDTH, y + 4, "\n".join(parts), smallest_text=SIZE), "\n".join(said))


def bracket(operator, top, bottom):
    """An operator's name and the bracket around its lines."""
    return [f'<path d="M{BRACKET + 4} {top + 3:g}h-4V{bottom - 2:g}h4" stroke="{ACCENT}" '
            f'stroke-width="1.6"/>',
            text(BRACKET - 5, (top + bottom) / 2 + 4, operator, 12, text_anchor="end")]


def short(line):
    """Without what each line has: the type, the semicolon, the class of `loadu`."""
    return line.removeprefix("auto ").removesuffix(";").replace("Vec::loadu", "loadu")
