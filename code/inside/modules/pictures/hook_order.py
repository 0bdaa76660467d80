"""The hooks around one layer from top to bottom as they ran, and what each of them can change."""

from inside.modules.observe.hook_order import hook_calls
from inside.pictures.beside import beside
from inside.pictures.svg import ACCENT, Picture, bilingual, box, svg, text

# of the picture, a phone's at this size of text; height of a hook and of a step between hooks
WIDTH, ROW, STEP = 342, 34, 36
# the three values: name in the heads, middle of the column
VALUES = {"output": ("y", 244), "x.grad": ("x.grad", 272), "weight.grad": ("w.grad", 316)}
NAMES = 29  # left edge of the names of the hooks


def draw_hook_order():
    """Run all kinds of hooks around one call of a layer and its backward, and draw the order."""
    calls = hook_calls()
    parts, y = [heads()], 40
    for n, call in enumerate(calls, start=1):
        words = step_before(call, calls[n - 2] if n > 1 else None)
        if words:
            parts.append(step(y, *words))
            y += STEP
        parts.append(row(n, call, y))
        y += ROW
    return Picture(svg(WIDTH, y, "\n".join(parts), smallest_text=11), describe(calls))


def step_before(call, previous):
    """What the layer does between two hooks, in both languages, or nothing."""
    if previous is None:
        return "y = layer(x)：先跑钩子", "y = layer(x): hooks first"
    if not call.backward and "output" in call.gets and "output" not in previous.gets:
        return "跑 forward", "forward runs"
    if call.backward and not previous.backward:
        return "loss.backward() 走到这一层", "loss.backward() reaches the layer"
    return None


def heads():
    """The words above the columns."""
    parts = [bilingual(0, 12, "按先后", "in this order", 12),
             bilingual(WIDTH, 12, "返回两倍的值，会改变", "returning twice the value changes", 12,
                       text_anchor="end")]
    return "\n".join(parts)


def step(y, zh, en):
    """A step of the layer across the picture, with the names of the values."""
    names = "".join(text(x, y + 19, name, 11, mono=True, text_anchor="middle")
                    for name, x in VALUES.values())
    return box(0, y, WIDTH, STEP - 6) + beside(8, y + 19, zh, en, 12, 13) + names


def row(n, call, y):
    """One hook: number, name, arguments, and a dot below each value that it changed."""
    columns = [VALUES[value][1] for value in call.changes]
    dots = "".join(f'<circle cx="{x}" cy="{y + 14}" r="5" fill="currentColor"/>' for x in columns)
    return (circled(n, 12, y + 14) + text(NAMES, y + 12, call.name, 11, mono=True)
            + text(NAMES, y + 26, f"({call.gets})", 11, mono=True, opacity="0.7") + dots)


def circled(number, x, y):
    """A number of up to two digits in a circle around (x, y)."""
    return (f'<circle cx="{x}" cy="{y}" r="11" stroke-width="1.6" style="stroke:{ACCENT}"/>'
            + text(x, y + 4.5, str(number), 12, text_anchor="middle", font_weight=600))


def describe(calls):
    """A line for each hook."""
    return "\n".join(f"{n:2} {call.name} ({call.gets}) changes {', '.join(call.changes) or '-'}"
                     for n, call in enumerate(calls, start=1))
