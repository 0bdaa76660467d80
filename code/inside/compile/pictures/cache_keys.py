"""For each change of a program, whether the two graph caches on disk still find their entry."""

from inside.compile.observe.cache_keys import misses
from inside.pictures.svg import ACCENT, Picture, bilingual, svg, text

WIDTH, ROW, TOP = 342, 42, 44
COLUMNS = {"AOTAutograd": 228, "Inductor": 312}
NAMES = {"nothing": ("什么都没变", "nothing"), "other weights": ("换一份权重", "other weights"),
         "another name": ("局部变量改名", "a variable renamed"),
         "no gradients": ("关掉梯度记录", "gradients off"),
         "another length": ("batch 换了长度", "another batch size"),
         "another setting": ("换一项编译选项", "another setting"),
         "unknown function": ("图里有 torch 不认识的函数", "a function unknown to torch")}


def draw_cache_keys(before, changes):
    """Draw {change: keys} against the keys `before`; a dot where a cache finds it, else a cross.

    Raises `KeyError` for a change that has no name in both languages.
    """
    found = {change: misses(before, keys) for change, keys in changes.items()}
    heads = [text(x, 18, cache, 12, text_anchor="middle") for cache, x in COLUMNS.items()]
    rows = [row(n, *each) for n, each in enumerate(found.items())]
    height = TOP + ROW * len(rows)
    return Picture(svg(WIDTH, height, "\n".join([*heads, *rows]), smallest_text=12),
                   describe(found))


def row(n, change, missing):
    """One change: its name, and a mark for each cache."""
    y = TOP + ROW * n
    marks = [cross(x, y) if cache in missing else dot(x, y) for cache, x in COLUMNS.items()]
    rule = (f'<path d="M0 {y - 18:g}H{WIDTH}" stroke="currentColor" stroke-opacity="0.2"/>')
    return "\n".join([rule, bilingual(0, y, *NAMES[change], 12, 15), *marks])


def dot(x, y):
    """Found."""
    return f'<circle cx="{x:g}" cy="{y + 3:g}" r="6" style="fill:{ACCENT}"/>'


def cross(x, y):
    """Not found."""
    return (f'<path d="M{x - 6:g} {y - 3:g}l12 12m0 -12l-12 12" stroke="currentColor" '
            'stroke-width="2"/>')


def describe(found):
    """A line for each change."""
    return "\n".join(f"{change:17}" + "  ".join(
        f"{cache}: {'miss' if cache in missing else 'hit'}" for cache in COLUMNS)
        for change, missing in found.items())

