"""Curves as matplotlib plots them, in the frame of our pictures.

matplotlib draws the axes, the grid and the lines. The words are written by our pen, in both
languages. Black becomes the colour of the page's text. Each curve has its own dashes, so that
nobody needs the colours, and coordinates are rounded, so that one set of values always gives the
same bytes.
"""

import io
import math
import re

import matplotlib
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from inside.pictures.svg import Picture, bilingual, svg, text

WIDTH, HEIGHT = 350, 190  # of the picture; of the axes alone
LEFT, RIGHT, SIZE = 44, 10, 12  # beside the axes; of the text
ROW, PAIR = 18, 32  # of the legend: a name that both languages share, a name in both
PAGE = "#000000"  # what the restyled SVG replaces by the colour of the text
STYLES = [("#2f7fd6", "-"), ("#d97706", (0, (6, 3))), ("#2e9e44", (0, (1, 2))),
          (PAGE, (0, (8, 2, 1, 2)))]  # colours with a contrast of 3:1 on a light and a dark page
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "pytorch-inside-out", "path.simplify": False}
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def draw_curves(curves, x, y, *, start=1, log=False):
    """Picture of `curves`, {name: values at start, start + 1, …}, at most four of them.

    A name is a string for both languages or a pair (Chinese, English); `x` and `y`, what the axes
    show, are such pairs. With `log`, y is logarithmic. Where a value cannot be shown (infinity,
    nan, with `log` also 0) the line has a gap. Raises `ValueError` for more curves, or if nothing
    can be shown.
    """
    if len(curves) > len(STYLES):
        raise ValueError(f"{len(curves)} curves: at most {len(STYLES)} are told apart")
    shown = {name: [value if visible(value, log) else math.nan for value in values]
             for name, values in curves.items()}
    if not any(visible(value, log) for values in shown.values() for value in values):
        raise ValueError("no value can be shown")
    top = 36 + sum(row(name) for name in shown)
    figure, height = Figure(figsize=(WIDTH / 72, (top + HEIGHT + 54) / 72)), top + HEIGHT + 54
    plot(figure, shown, start, log, top, height)
    body = restyle(figure) + "\n" + words(shown, x, y, top)
    return Picture(svg(WIDTH, height, body, smallest_text=SIZE), describe(curves, start))


def visible(value, log):
    return math.isfinite(value) and (value > 0 or not log)


def row(name):
    """The height of a curve's row in the legend."""
    return ROW if isinstance(name, str) else PAIR


# ---------------------------------------------------------------- what matplotlib draws
def plot(figure, curves, start, log, top, height):
    """Axes, grid, curves and the samples of the legend; `top` is where the axes begin."""
    axes = figure.add_axes((LEFT / WIDTH, 54 / height, (WIDTH - LEFT - RIGHT) / WIDTH,
                            HEIGHT / height))
    above = 36
    for (name, values), (colour, dashes) in zip(curves.items(), STYLES, strict=False):
        look = {"color": colour, "linestyle": dashes, "linewidth": 2}
        axes.plot(range(start, start + len(values)), values, clip_on=False, **look)
        level = 1 - (above + 8) / height
        figure.add_artist(Line2D((2 / WIDTH, 36 / WIDTH), (level, level), **look))
        above += row(name)
    if log:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(FixedLocator(powers(curves.values())))
        axes.yaxis.set_major_formatter(FuncFormatter(power))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.yaxis.set_major_locator(MaxNLocator(6))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.margins(x=0.02)
    axes.tick_params(length=0, labelsize=SIZE, pad=4)
    axes.grid(color=PAGE, alpha=0.18, linewidth=1)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.patch.set_visible(False)
    figure.patch.set_visible(False)


def powers(curves):
    """At most nine powers of ten that span the values, 1 among them if it lies between."""
    exponents = [math.log10(value) for values in curves for value in values
                 if not math.isnan(value)]
    low, high = math.floor(min(exponents)), math.ceil(max(exponents))
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100) if (high - low) / step <= 7)
    return [10.0**k for k in range(-(-low // step) * step, high + 1, step)]


def power(value, position=None):
    """A power of ten as a person writes it."""
    exponent = str(round(math.log10(value)))
    return "1" if exponent == "0" else "10" + exponent.translate(SUPERSCRIPT)


def restyle(figure):
    """matplotlib's SVG without page, style sheet and names, black as the colour of the text."""
    file = io.StringIO()
    with matplotlib.rc_context(SETTINGS):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    drawn = file.getvalue()
    body = drawn[drawn.index('<g id="figure_1">') : drawn.rindex("</svg>")]
    body = re.sub(r"<defs>.*?</defs>\s*|<!--.*?-->\s*", "", body, flags=re.DOTALL)
    body = re.sub(r' (?:id|clip-path|transform)="[^"]*"', "", body)
    body = re.sub(r"<g/>\s*", "", body)
    body = re.sub(r'<text style="([^"]*)"', as_the_pen_writes, body).replace(PAGE, "currentColor")
    return re.sub(r"-?\d+\.\d+", lambda m: f"{round(float(m[0]), 1):g}", body).strip()


def as_the_pen_writes(match):
    """The beginning of a text with size and anchor as attributes, in the font of the page."""
    anchor = re.search(r"text-anchor: (\w+)", match[1])
    return (f'<text font-size="{SIZE}" fill="currentColor" '
            f'text-anchor="{anchor[1] if anchor else "start"}"')


# ---------------------------------------------------------------- what the pen writes
def words(curves, x, y, top):
    """What the axes show, and the names in the legend."""
    parts, above = [bilingual(2, 13, *y, size=SIZE)], 36
    for name in curves:
        if isinstance(name, str):
            parts.append(text(44, above + 12, name, SIZE))
        else:
            parts.append(bilingual(44, above + 12, *name, size=SIZE))
        above += row(name)
    parts.append(bilingual(LEFT + (WIDTH - LEFT - RIGHT) / 2, top + HEIGHT + 34, *x, size=SIZE,
                           text_anchor="middle"))
    return "\n".join(parts)


def describe(curves, start):
    """Each curve by its first, middle and last value, two digits each."""
    lines = []
    for name, values in curves.items():
        places = sorted({0, len(values) // 2, len(values) - 1})
        told = ", ".join(f"{values[k]:.2g} at {start + k}" for k in places)
        lines.append(f"{name if isinstance(name, str) else name[1]}: {told}")
    return "\n".join(lines)
