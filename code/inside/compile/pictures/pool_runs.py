"""What lies at each address of a pool while a recording runs again and again."""

from itertools import groupby

from inside.pictures.svg import ACCENT, Picture, bilingual, box, svg, text

WIDTH, LEFT, RIGHT, TOP, ROW, SLOT = 342, 64, 6, 74, 30, 64


def draw_pool_runs(writes, names):
    """Draw `writes` of `observe.cudagraphs`: a column for each write, a row for each address.

    The cell that is written is framed. `names` are the outputs of the runs in their order; below
    the pool stands what each shows after its own run and after the later ones. Raises `ValueError`
    unless there is a name for each run.
    """
    runs = [list(each) for _, each in groupby(writes, key=lambda write: write.run)]
    if len(runs) != len(names):
        raise ValueError(f"{len(names)} names for {len(runs)} runs")
    slots = sorted({write.slot for write in writes})
    floor = TOP + ROW * len(slots)
    parts = [heads(runs, len(writes)), *cells(writes, slots), *addresses(slots)]
    parts += outputs(runs, names, len(writes), floor + 12)
    height = floor + 24 + ROW * len(names)
    body = "\n".join(parts)
    return Picture(svg(WIDTH, height, body, smallest_text=12), describe(runs, names))


def left(column, columns):
    """Where a column begins."""
    return LEFT + (WIDTH - LEFT - RIGHT) / columns * column


def heads(runs, columns):
    """Above the columns: the run, and what writes."""
    parts, column = [bilingual(2, 18, "地址", "address", leading=14)], 0
    for number, run in enumerate(runs, start=1):
        middle = (left(column, columns) + left(column + len(run), columns)) / 2
        parts.append(bilingual(middle, 18, f"第 {number} 次运行", f"run {number}", leading=14,
                               text_anchor="middle"))
        for write in run:
            x = (left(column, columns) + left(column + 1, columns)) / 2
            parts.append(text(x, TOP - 10, write.by, 12, mono=True, text_anchor="middle"))
            column += 1
    return "\n".join(parts)


def cells(writes, slots):
    """What each slot holds after each write."""
    for column, write in enumerate(writes):
        x, width = left(column, len(writes)), left(1, len(writes)) - LEFT
        for row, slot in enumerate(slots):
            y = TOP + ROW * row
            yield box(x, y, width, ROW, radius=0, tint=0.03, edge=0.25)
            if slot in write.held:
                yield text(x + width / 2, y + 20, f"{write.held[slot]:g}", 12, mono=True,
                           text_anchor="middle")
            if slot == write.slot:
                yield frame(x, y, width)


def frame(x, y, width):
    """A strong frame inside a cell."""
    return (f'<rect x="{x + 2:g}" y="{y + 2:g}" width="{width - 4:g}" height="{ROW - 4:g}" rx="3" '
            f'stroke-width="2" style="stroke:{ACCENT}"/>')


def addresses(slots):
    """Each row's distance in bytes from the start of the pool."""
    for row, slot in enumerate(slots):
        yield text(LEFT - 10, TOP + ROW * row + 20, str(slot * SLOT), 12, mono=True,
                   text_anchor="end")


def outputs(runs, names, columns, top):
    """For each output, what it shows at the end of each run from its own on."""
    for row, (name, shown) in enumerate(values(runs, names).items()):
        y = top + ROW * row
        yield text(LEFT - 10, y + 20, name, 12, mono=True, text_anchor="end", font_weight=600)
        for run, value in shown.items():
            x = left(sum(map(len, runs[:run])), columns)
            width = left(1, columns) - LEFT
            yield box(x - width, y, width, ROW - 4, radius=5, tint=0.08)
            yield text(x - width / 2, y + 18, f"{value:g}", 12, mono=True, text_anchor="middle",
                       font_weight=600)


def values(runs, names):
    """{name: {run, from 1: what the output's address holds when the run has ended}}."""
    return {name: {later + 1: run[-1].held[runs[own][-1].slot]
                   for later, run in enumerate(runs) if later >= own}
            for own, name in enumerate(names)}


def describe(runs, names):
    """The picture in one line of words for each run and each output."""
    lines = ["run {}: {}".format(run[0].run, ", ".join(
        f"{write.by} -> {write.slot * SLOT} = {write.held[write.slot]:g}" for write in run))
        for run in runs]
    for name, shown in values(runs, names).items():
        lines.append(f"{name}: " + ", ".join(f"{value:g} after run {run}"
                                             for run, value in shown.items()))
    return "\n".join(lines)
