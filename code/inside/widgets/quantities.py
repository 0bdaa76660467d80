"""How the graph stepper writes a quantity: exactly, or as a reader sees it."""

import math


def exact(value):
    """A quantity as text from which the very same float can be read."""
    if hasattr(value, "y"):  # a derivative kept as a division, the engine's Over
        return f"1/{exact(value.y)}"
    return repr(float(value))


def spell(value):
    """A quantity as the reader sees it: whole numbers in full, else 4 significant digits."""
    if hasattr(value, "y"):
        below = spell(value.y)
        return f"1/({below})" if below.startswith("-") else f"1/{below}"
    whole = math.isfinite(value) and value == int(value) and abs(value) < 1e6
    return f"{value:.{6 if whole else 4}g}"


def bracketed(value):
    text = spell(value)
    return f"({text})" if text.startswith("-") else text
