"""Loss curves of a run and of its continuation after a restart, in one small chart."""

from inside.pictures.svg import ACCENT, Picture, bilingual, svg, text

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 342, 236, 34, 70, 34
KEY = 26  # length of the piece of line in the key


def draw_losses(run, resumed, at):
    """Draw the losses of `run` (a list), and `resumed`, those of a second run from step `at` on.

    Raises `ValueError` where the second one does not lie within the first.
    """
    if not 0 < at < at + len(resumed) <= len(run):
        raise ValueError(f"{len(resumed)} steps from step {at} on are not within {len(run)}")
    top = max(*run, *resumed)
    place = scale(len(run), top)
    x, floor = place(at, 0)[0], HEIGHT - BOTTOM
    parts = [
        axes(len(run), top, place),
        f'<path d="M{x:g} {TOP:g}V{floor:g}" stroke="currentColor" stroke-opacity="0.5" '
        'stroke-dasharray="3 3"/>',
        curve([place(step, loss) for step, loss in enumerate(run)], "currentColor"),
        curve([place(at + step, loss) for step, loss in enumerate(resumed)], ACCENT, "5 3"),
        key(16, "currentColor", "", "没有中断的训练", "the run that wasn't interrupted"),
        key(48, ACCENT, "5 3", "中断之后，只恢复了权重", "restarted with the weights alone"),
    ]
    return Picture(svg(WIDTH, HEIGHT, "\n".join(parts), smallest_text=12),
                   f"{len(run)} losses, and {len(resumed)} after a restart at step {at}")


def scale(steps, top):
    """From a step and a loss to whole units of the picture."""
    across, up = WIDTH - LEFT - 8, HEIGHT - TOP - BOTTOM

    def place(step, loss):
        return round(LEFT + across * step / steps), round(HEIGHT - BOTTOM - up * loss / top)

    return place


def axes(steps, top, place):
    """Both axes, each labelled at its ends."""
    (left, floor), (right, ceiling) = place(0, 0), place(steps, top)
    return "\n".join([
        f'<path d="M{left:g} {ceiling:g}V{floor:g}H{right:g}" stroke="currentColor" '
        'stroke-opacity="0.6"/>',
        text(left - 5, floor + 4, "0", 12, text_anchor="end"),
        text(left - 5, ceiling + 10, f"{top:.1f}", 12, text_anchor="end"),
        text(right, floor + 15, str(steps), 12, text_anchor="end"),
        bilingual((left + right) / 2, floor + 15, "步", "step", leading=14, text_anchor="middle"),
        bilingual(right, ceiling + 2, "损失", "loss", leading=14, text_anchor="end"),
    ])


def curve(points, colour, dashes=""):
    """A line through the points."""
    path = "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<path d="{path}" stroke-width="1.8" style="stroke:{colour}"{dashed}/>'


def key(y, colour, dashes, zh, en):
    """A piece of line and what it stands for."""
    return (curve([(LEFT, y), (LEFT + KEY, y)], colour, dashes)
            + bilingual(LEFT + KEY + 8, y - 2, zh, en, leading=13))
