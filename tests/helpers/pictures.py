"""What every drawn machine keeps to: its text inside the frame, its width that of a phone."""

import xml.etree.ElementTree as ET
from unicodedata import east_asian_width

from inside.pictures.svg import MONO_WIDTH, SMALLEST

SVG = "{http://www.w3.org/2000/svg}"
PHONE = 342  # px: a phone of 390 px less the margins of page and output
WRITTEN = 12  # the smallest text of a machine, in the units of its picture


def size(picture):
    """(width, height) in the units of the picture."""
    return tuple(map(float, ET.fromstring(picture.svg).get("viewBox").split()[2:]))


def characters(line):
    """The width of a line, in font sizes."""
    return sum(1 if east_asian_width(c) in "WF" else MONO_WIDTH for c in line)


def assert_every_text_lies_inside(picture):
    """Widths are those of the widest font used; a Chinese character is as wide as it is high."""
    width, height = size(picture)
    for node in ET.fromstring(picture.svg).iter(f"{SVG}text"):
        room = characters(node.text) * float(node.get("font-size"))
        left = float(node.get("x")) - {"middle": room / 2, "end": room}.get(
            node.get("text-anchor"), 0)
        assert left >= -1, node.text
        assert left + room <= width + 1, node.text
        assert 0 < float(node.get("y")) <= height, node.text


def assert_narrow_enough_for_a_phone(picture):
    """At that width the smallest text is still `SMALLEST` px high, and nothing scrolls."""
    width, _ = size(picture)
    assert width * SMALLEST / WRITTEN <= PHONE
