"""The way of an in-place write through AOTAutograd: your code, the functional graph, the wrapper.

Three boxes from the top down. In the second and the third, a curve on the left leads from the line
that makes a value to each line that reads it; the value that replaces a changed input has a dot.
"""

import re

from inside.pictures.beside import beside
from inside.pictures.svg import ACCENT, Picture, box, down, svg, text

WIDTH, LEFT, ROOM, LEAD, SIZE = 372, 4, 74, 22, 12  # px; ROOM is for the curves
HEAD, GAP, NAME = 26, 24, re.compile(r"\w+")
TITLES = {
    "dynamo": ("Dynamo 捕获的图：里面有写入", "the graph Dynamo captured: it writes"),
    "forward": ("函数化之后的图：只产生新值", "the functional graph: only new values"),
    "after": ("图跑完之后，包装代码做的事", "after the graph, the wrapper"),
}
LEGEND = ("输入的新值", "the new value of an input")


def draw_write_back(seen):
    """Draw a `Traced` function of `observe.aot`, one that needs no gradient."""
    head = [f"inputs: {', '.join(seen.inputs)}"]
    rows, parts, y = {}, [], 4
    for name, lines in (("dynamo", seen.dynamo[:-1]), ("forward", [*head, *seen.forward[:-1]]),
                        ("after", seen.after)):
        if name == "forward":
            parts.append(down(LEFT + 20, y + 2, y + GAP - 4))
        y += GAP if y > 4 else 0
        parts.append(beside(ROOM, y + 13, *TITLES[name], leading=15))
        y += HEAD
        parts.append(box(LEFT, y, WIDTH - 2 * LEFT, LEAD * len(lines) + 8))
        for at, line in enumerate(lines):
            rows[name, at] = (y + 4 + LEAD * (at + 0.5), line)
        y += LEAD * len(lines) + 8
    newest = {re.search(r"copy_\((\w+)\)", line)[1] for line in seen.after if "copy_(" in line}
    parts += [drawn(name, middle, line, newest) for (name, _), (middle, line) in rows.items()]
    parts += [curve(*each) for each in edges(seen, rows)]
    if newest:
        parts += [dot(ROOM + 6, y + 18), beside(ROOM + 18, y + 22, *LEGEND, leading=15)]
        y += 36
    return Picture(svg(WIDTH, y + 4, "\n".join(parts), smallest_text=SIZE), describe(seen))


def drawn(name, middle, line, newest):
    """A line of code; bold where it writes, with a dot where it makes an input's new value."""
    writes = bool(re.search(r"\w_\(", line))
    mark = {"font_weight": 600} if writes else {}
    made, _, call = line.partition(" = ")
    shown = call if call.startswith(f"{made}(") else line  # the operator already is the name
    words = text(ROOM, middle + 4, shown, SIZE, mono=True, **mark)
    return words + (dot(WIDTH - 16, middle) if name == "forward" and made in newest else "")


def dot(x, y):
    """The mark of a value that replaces an input."""
    return f'<circle cx="{x:g}" cy="{y:g}" r="5" style="fill:{ACCENT}"/>'


def edges(seen, rows):
    """[(y of the line that makes a value, y of a line that reads it)], without Dynamo's graph."""
    made, found = {}, []
    for (name, at), (middle, line) in rows.items():
        if name == "dynamo":
            continue
        if name == "forward" and at == 0:
            made |= dict.fromkeys(seen.inputs, middle)
            continue
        target, _, source = line.rpartition(" = ")
        read = set(NAME.findall(source.split("(", 1)[-1]))
        found += sorted((made[value], middle) for value in read & made.keys())
        made[target or line.split(".")[0]] = middle  # `x.copy_(new)`: from here on, x is new
    return found


def curve(start, end):
    """A curve to the left of the lines, the wider the farther it goes, with a head at its end."""
    reach = ROOM - 12 - min(50, 8 + (end - start) * 0.22)
    x = ROOM - 6
    return (f'<path d="M{x:g} {start:g}C{reach:g} {start:g} {reach:g} {end:g} {x - 7:g} {end:g}" '
            f'stroke-width="1.4" stroke-opacity="0.8" style="stroke:{ACCENT}"/>'
            f'<path d="M{x:g} {end:g}l-8 -4v8z" style="fill:{ACCENT}"/>')


def describe(seen):
    """The same three boxes as text."""
    boxes = {"Dynamo's graph": seen.dynamo[:-1], "functional graph": seen.forward,
             "after the graph": seen.after}
    return "\n".join(f"{title}\n" + "\n".join("  " + line for line in lines)
                     for title, lines in boxes.items())
