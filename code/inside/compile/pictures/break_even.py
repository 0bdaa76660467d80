"""Total time against the number of calls, eager and compiled, and where the lines cross."""

from inside.pictures.svg import ACCENT, Picture, bilingual, svg, text

WIDTH, LEFT, RIGHT, TOP, HEIGHT, SIZE = 342, 34, 14, 118, 180, 12
LINES = {"eager": ("currentColor", "", "eager 模式", "eager mode"),
         "cold": (ACCENT, "12 3 2 3", "编译，没有缓存", "compiled, without a cache"),
         "warm": (ACCENT, "6 4", "编译，有缓存", "compiled, with a warm cache")}


def draw_break_even(row):
    """Draw a row of the record "when-it-pays": ms of a call, seconds of a first call.

    Raises `ValueError` where compiling never pays, since there is no crossing to draw.
    """
    if "even_cold" not in row:
        raise ValueError(f"{row['key']}: compiled calls are not faster, so the lines do not cross")
    last = 1.25 * max(row["even_cold"], 2)
    ends = {name: total(row, name, last) for name in LINES}
    top = max(ends.values())
    lines = [straight(name, place(1, total(row, name, 1), last, top),
                      place(last, ends[name], last, top)) for name in LINES]
    dots = [crossing(row[f"even_{name}"], row, last, top) for name in ("cold", "warm")]
    keys = [key(16 + 34 * n, *LINES[name]) for n, name in enumerate(LINES)]
    body = "\n".join([axes(last, top), *lines, *dots, *keys])
    return Picture(svg(WIDTH, TOP + HEIGHT + 54, body, smallest_text=SIZE), describe(row))


def total(row, name, calls):
    """Seconds of so many calls; a compiled first call takes `row[name]`."""
    if name == "eager":
        return calls * row["eager"] / 1e3
    return row[name] + (calls - 1) * row["compiled"] / 1e3


def place(calls, seconds, last, top):
    """From calls and seconds to units of the picture."""
    across = WIDTH - LEFT - RIGHT
    return round(LEFT + across * calls / last, 1), round(TOP + HEIGHT * (1 - seconds / top), 1)


def straight(name, start, end):
    """One of the lines."""
    colour, dashes = LINES[name][:2]
    return stretch(f"M{start[0]:g} {start[1]:g}L{end[0]:g} {end[1]:g}", colour, dashes)


def stretch(path, colour, dashes):
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<path d="{path}" stroke-width="2" style="stroke:{colour}"{dashed}/>'


def crossing(calls, row, last, top):
    """A dot where compiling has paid, a line down from it, and the number of calls."""
    x, y = place(calls, total(row, "eager", calls), last, top)
    floor = TOP + HEIGHT
    return (f'<circle cx="{x:g}" cy="{y:g}" r="4.5" style="fill:{ACCENT}"/>'
            f'<path d="M{x:g} {y:g}V{floor:g}" stroke="currentColor" stroke-opacity="0.5" '
            'stroke-dasharray="3 3"/>'
            + text(x, floor + 16, f"{calls:,}", SIZE, text_anchor="middle"))


def axes(last, top):
    """Both axes, what they show, and the value at the top."""
    floor = TOP + HEIGHT
    return "\n".join([
        f'<path d="M{LEFT} {TOP}V{floor}H{WIDTH - RIGHT}" stroke="currentColor" '
        'stroke-opacity="0.6"/>',
        text(LEFT - 5, floor + 4, "0", SIZE, text_anchor="end"),
        text(LEFT - 5, TOP + 10, f"{top:.0f}", SIZE, text_anchor="end"),
        bilingual(LEFT + 6, TOP + 10, "总时间（秒）", "total time (s)", leading=14),
        bilingual(WIDTH - RIGHT, floor + 34, "调用次数", "calls", leading=14, text_anchor="end")])


def key(y, colour, dashes, zh, en):
    """A piece of line and what it stands for."""
    return (stretch(f"M{LEFT} {y}h26", colour, dashes)
            + bilingual(LEFT + 34, y - 2, zh, en, leading=14))


def describe(row):
    """The picture in words."""
    return (f"{row['en']}: the total of compiled calls falls below eager mode's after "
            f"{row['even_cold']:,} calls without a cache, {row['even_warm']:,} with one")
