"""The steps of each rank in a training run, one column for each all-reduce that they share.

The nth all-reduce of a rank meets the nth of the others, so a rank that makes fewer steps in an
epoch runs ahead, and the run stands still as soon as one rank has made all its steps.
"""

from inside.pictures.svg import ACCENT, Picture, bilingual, svg, text

WIDTH, LEFT, ROW, HEIGHT, TOP = 350, 50, 24, 17, 4  # px: picture, names, from row to row, a cell
TINTS = (0.75, 0.3)  # of odd and of even epochs


def fates(steps, epochs):
    """For each rank its steps in order: the epoch, and "made", "waits" or "never"."""
    shared = min(steps) * epochs
    return [[(n // each + 1, "made" if n < shared else "waits" if n == shared else "never")
             for n in range(each * epochs)] for each in steps]


def draw_steps(steps, epochs):
    """Picture of `epochs` epochs in which rank r makes `steps[r]` steps each."""
    side = (WIDTH - LEFT - 1) / (max(steps) * epochs)
    parts, described = [], []
    for rank, fate in enumerate(fates(steps, epochs)):
        y = TOP + rank * ROW
        parts.append(text(0, y + 13, f"rank {rank}", 12, mono=True))
        parts += [cell(LEFT + n * side, y, side, *step) for n, step in enumerate(fate)]
        for epoch in range(1, epochs + 1):
            if made := fate.count((epoch, "made")):
                middle = (epoch - 1) * steps[rank] + made / 2
                parts.append(number(LEFT + middle * side, y, epoch))
        told = [what for _, what in fate]
        described.append(f"rank {rank}: {steps[rank]} steps an epoch, {told.count('made')} made, "
                         f"{told.count('waits') + told.count('never')} not")
    y = TOP + len(steps) * ROW
    parts.append(bilingual(0, y + 15, "一列：一次 all-reduce；粗框：等不到",
                           "a column: one all-reduce; bold: waits", 12))
    return Picture(svg(WIDTH, y + 36, "\n".join(parts), smallest_text=12), "\n".join(described))


def cell(x, y, side, epoch, what):
    """One step: shaded if it was made, a bold frame if it waits, a faint one if it never comes."""
    at = f'<rect x="{x + 0.5:g}" y="{y}" width="{side - 1:g}" height="{HEIGHT}"'
    if what == "made":
        return f'{at} fill="currentColor" fill-opacity="{TINTS[(epoch - 1) % 2]}"/>'
    if what == "waits":
        return f'{at} stroke-width="2" style="stroke:{ACCENT}"/>'
    return f'{at} stroke="currentColor" stroke-opacity="0.35"/>'


def number(x, y, epoch):
    """The epoch, on a plate in the middle of the steps made in it."""
    plate = (f'<rect x="{x - 6:g}" y="{y + 2}" width="12" height="{HEIGHT - 4}" rx="2" '
             'style="fill:var(--pst-color-background, #fff)"/>')
    return plate + text(x, y + 13, str(epoch), 12, text_anchor="middle")
