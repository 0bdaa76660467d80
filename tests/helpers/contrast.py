"""Contrast as WCAG 2 has it, of colours as a browser computes them, with what shines through."""

import re
from typing import NamedTuple

NORMAL, LARGE = 4.5, 3.0  # least contrast of text; large is 24 px, or 18.66 px and bold


class Colour(NamedTuple):
    """Red, green, blue and alpha, each from 0 to 1."""

    red: float
    green: float
    blue: float
    alpha: float = 1.0


WHITE, CLEAR = Colour(1, 1, 1), Colour(0, 0, 0, 0)


def colour(text):
    """`rgb(0, 0, 0)`, `rgba(0, 0, 0, 0.5)` or `color(srgb 0 0 0 / 0.5)`; ValueError on others."""
    numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text)]
    if re.match(r"rgba?\(", text) and len(numbers) in (3, 4):
        return Colour(*(number / 255 for number in numbers[:3]), *numbers[3:])
    if text.startswith("color(srgb ") and len(numbers) in (3, 4):
        return Colour(*numbers)
    raise ValueError(f"{text} is no colour that can be judged")


def over(top, bottom):
    """What is seen of two layers."""
    alpha = top.alpha + bottom.alpha * (1 - top.alpha)
    if not alpha:
        return CLEAR
    mixed = ((t * top.alpha + b * bottom.alpha * (1 - top.alpha)) / alpha
             for t, b in zip(top[:3], bottom[:3], strict=True))
    return Colour(*mixed, alpha)


def faded(layer, opacity):
    return layer._replace(alpha=layer.alpha * opacity)


def luminance(seen):
    """Relative luminance of an opaque colour, also as a browser writes it."""
    parts = (seen if isinstance(seen, Colour) else colour(seen))[:3]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def of_text(ink, under, boxes):
    """Contrast of text of a colour on what lies below it.

    `under` are the shapes of a drawing below the text, in the order in which they are painted.
    `boxes` are (ground, opacity) of the elements that hold it, the outermost first; an opacity
    fades a box with all that is in it.
    """
    ground = CLEAR
    for shape in under:
        ground = over(shape, ground)
    ink = over(ink, ground)
    for box, opacity in reversed(boxes):
        ink, ground = (faded(over(layer, box), opacity) for layer in (ink, ground))
    return contrast(over(ink, WHITE), over(ground, WHITE))
