"""The pen: pieces of SVG from which every picture is made, and the picture as a cell's output.

The SVG takes its colours from the page (`currentColor`, theme variables), so it follows light and
dark mode; opened alone, as a notebook does, it puts itself on white paper. Words that depend on the
language are written twice, with the classes `lang-zh` and `lang-en`, on lines of their own.
"""

from dataclasses import dataclass
from html import escape

SANS = "system-ui, 'Segoe UI', 'Noto Sans SC', 'Noto Sans CJK SC', sans-serif"
MONO = "ui-monospace, Menlo, Consolas, monospace"
ACCENT = "var(--pst-color-primary, currentColor)"
SMALLEST = 11  # px that the smallest text of a picture may shrink to on a phone
MONO_WIDTH, SANS_WIDTH = 0.61, 0.55  # of a character, in font sizes; a little more than the average
CELL, PILL = 24, 26  # side of a numbered cell, height of a capsule


# ---------------------------------------------------------------- the picture
@dataclass(frozen=True)
class Picture:
    """A cell output: the SVG for the page (None where it cannot be drawn), the text for tests."""

    svg: str | None
    text: str

    def _repr_mimebundle_(self, include=None, exclude=None):
        bundle = {"text/plain": self.text}
        return bundle | ({"image/svg+xml": self.svg} if self.svg else {})

    def __repr__(self):
        return self.text


def svg(width, height, body, smallest_text, scale=1.2, family=SANS):
    """The SVG of a picture drawn in units of `width` by `height`.

    It shrinks with the page until its smallest text (in the same units) is 11 px high; on a
    narrower screen the box around it scrolls.
    """
    least = round(width * SMALLEST / smallest_text)
    style = f"max-width:100%;min-width:min({round(width * scale)}px,{least}px);height:auto"
    alone = "<style>svg:root{background:#fff;color:#222}</style>"  # opened without a page around
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" '
        f'width="{round(width * scale)}" height="{round(height * scale)}" style="{style}" '
        f'fill="none" stroke="none" font-family="{family}">{alone}\n{body}\n</svg>'
    )


# ---------------------------------------------------------------- words and frames
def text(x, y, words, size=13, *, mono=False, **attributes):
    """One line of selectable text with its baseline at `y`."""
    family = f' font-family="{MONO}"' if mono else ""
    more = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="currentColor"{family}{more}>'
        f"{escape(words)}</text>"
    )


def bilingual(x, y, zh, en, size=12, leading=15, **attributes):
    """Both languages, English on the line below, so that they never overlap where both show."""
    return "\n".join(
        [
            text(x, y, zh, size, lang="zh-Hans", **{"class": "lang-zh"}, **attributes),
            text(x, y + leading, en, size, lang="en", **{"class": "lang-en"}, **attributes),
        ]
    )


def box(x, y, width, height, radius=5, tint=0.05, edge=0.55):
    """A frame with a faint tint of the text colour."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius}" '
        f'fill="currentColor" fill-opacity="{tint}" stroke="currentColor" stroke-opacity="{edge}"/>'
    )


def wide(words, size=12):
    """The width of a line in the monospaced font."""
    return len(words) * size * MONO_WIDTH


def capsule(x, y, width, name):
    """A name in a box with round ends, 26 high."""
    words = text(x + width / 2, y + PILL / 2 + 4, name, 12, mono=True, text_anchor="middle")
    return box(x, y, width, PILL, radius=PILL / 2, tint=0) + "\n" + words


def circled(number, x, y):
    """A number in a circle around (x, y)."""
    return (f'<circle cx="{x:g}" cy="{y:g}" r="9" stroke-width="1.6" style="stroke:{ACCENT}"/>'
            + text(x, y + 4.5, str(number), 12, text_anchor="middle", font_weight=600))


def numbers(values, middle, y):
    """Numbers in cells in a row; a dash where there are none."""
    if not values:
        return text(middle, y + 16, "–", 12, mono=True, text_anchor="middle")
    left = middle - CELL * len(values) / 2
    return "\n".join(
        box(left + n * CELL, y, CELL, CELL, radius=0, tint=0.03)
        + text(left + (n + 0.5) * CELL, y + 16, str(k), 12, mono=True, text_anchor="middle")
        for n, k in enumerate(values)
    )


# ---------------------------------------------------------------- lines and arrows
def stroke(path):
    """A line as those of the arrows."""
    return f'<path d="{path}" stroke-width="1.6" style="stroke:{ACCENT}"/>'


def head(path):
    """The head of an arrow."""
    return f'<path d="{path}" style="fill:{ACCENT}"/>'


def arrow(x1, y1, x2, y2):
    """A curve from left to right that ends in a head at (x2, y2)."""
    bend = max(12, (x2 - x1) / 2)
    path = f"M{x1:g} {y1:g}C{x1 + bend:g} {y1:g} {x2 - bend:g} {y2:g} {x2 - 7:g} {y2:g}"
    return stroke(path) + head(f"M{x2:g} {y2:g}l-8 -4v8z")


def down(x, y1, y2):
    """A straight arrow downwards."""
    return stroke(f"M{x:g} {y1:g}V{y2 - 6:g}") + head(f"M{x:g} {y2:g}l-4 -8h8z")


def along(x1, x2, y):
    """A straight arrow to the right."""
    return stroke(f"M{x1:g} {y:g}H{x2 - 6:g}") + head(f"M{x2:g} {y:g}l-8 -4v8z")


def stub(x, y):
    """A short line down that ends in a bar: it leads nowhere."""
    return stroke(f"M{x:g} {y:g}v11m-5 0h10")


def line_to(points, end):
    """A line through the points, smooth where it bends, with an arrow head `end` at the last."""
    (x, y), path = points[0], f"M{points[0][0]:g} {points[0][1]:g}"
    for to_x, to_y in points[1:]:
        half = (to_y - y) / 2
        path += f"C{x:g} {y + half:g} {to_x:g} {to_y - half:g} {to_x:g} {to_y:g}"
        x, y = to_x, to_y
    return stroke(path) + head(f"M{x:g} {y:g}{end}")
