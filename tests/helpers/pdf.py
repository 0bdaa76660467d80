"""The text of a PDF that Chromium has printed, page by page.

Only what Skia writes is read: every font has its `ToUnicode` table, and names of fonts are those of
the whole file. There is no reader of PDF among the book's packages, and this is all that is needed.
"""

import re
import zlib
from dataclasses import dataclass

OBJECT = re.compile(rb"(?m)^(\d+) 0 obj\b(.*?)(?:\bendobj|\bstream\n)", re.S)
LENGTH = re.compile(rb"/Length (\d+)")
FONT = re.compile(rb"/(F\d+) (\d+) 0 R")
TABLE = re.compile(rb"/ToUnicode (\d+) 0 R")
RANGES = re.compile(rb"begin(bfchar|bfrange)(.*?)end", re.S)
HEX = re.compile(rb"<([0-9A-Fa-f]*)>")
# what chooses a font, or shows text
STEP = re.compile(rb"/(F\d+) [\d.]+ Tf|(\[[^\]]*\])\s*TJ|<([0-9A-Fa-f]*)> ?Tj"
                  rb"|\(((?:\\.|[^()\\])*)\) ?Tj", re.S)


@dataclass
class Page:
    """One sheet: its size in points and its text, in the order of drawing."""

    width: float
    height: float
    text: str


def objects_of(content: bytes) -> dict[int, tuple[bytes, bytes]]:
    """Number -> the dictionary of an object and its stream, unpacked."""
    found, at = {}, 0
    while match := OBJECT.search(content, at):
        head, at, stream = match[2], match.end(), b""
        if match[0].endswith(b"stream\n"):
            [length] = LENGTH.findall(head)
            stream, at = content[at:at + int(length)], at + int(length)
            stream = zlib.decompress(stream) if b"/FlateDecode" in head else stream
        found[int(match[1])] = head, stream
    return found


def pages(content: bytes) -> list[Page]:
    objects = objects_of(content)
    fonts = {name: font(objects, objects[int(number)][0])
             for head, _ in objects.values() for name, number in FONT.findall(head)}
    found = []
    for head, _ in objects.values():
        if not re.search(rb"/Type\s*/Page\b(?!s)", head):
            continue
        [box] = re.findall(rb"/MediaBox\s*\[([^\]]*)\]", head)
        _, _, width, height = map(float, box.split())
        named = re.findall(rb"/(?:Contents|X\d+)\s*\[?(\d+) 0 R", head)  # what it draws, and forms
        drawn = [objects[int(number)] for number in named]
        found.append(Page(width, height, "".join(
            text(stream, fonts) for inner, stream in drawn if b"/Image" not in inner)))
    return found


def font(objects, body: bytes) -> tuple[int, dict[int, str]]:
    """How many bytes a code has, and what each says."""
    table = TABLE.search(body)
    known: dict[int, str] = {}
    width = 2 if b"/Type0" in body else 1
    if table is None:
        return width, known
    for kind, rows in RANGES.findall(objects[int(table[1])][1]):
        codes = [one.decode() for one in HEX.findall(rows)]
        step = 2 if kind == b"bfchar" else 3
        for at in range(0, len(codes) - step + 1, step):
            first, last = int(codes[at], 16), int(codes[at + step - 2], 16)
            said = bytes.fromhex(codes[at + step - 1]).decode("utf-16-be")
            for code in range(first, last + 1):
                known[code] = said[:-1] + chr(ord(said[-1]) + code - first)
    return width, known


def text(content: bytes, fonts) -> str:
    parts, (width, known) = [], (1, {})
    for name, row, one, plain in STEP.findall(content):
        if name:
            width, known = fonts[name]
        shown = [*HEX.findall(row), *([one] if one else [])]
        codes = b"".join(bytes.fromhex(each.decode()) for each in shown)
        codes += b"".join(literal(each) for each in [plain, *re.findall(
            rb"\(((?:\\.|[^()\\])*)\)", row)] if each)
        parts += [known.get(int.from_bytes(codes[at:at + width], "big"), "")
                  for at in range(0, len(codes), width)]
    return "".join(parts)


def literal(text: bytes) -> bytes:
    """The bytes of a string in parentheses."""
    named = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
    return re.sub(rb"\\([0-7]{1,3}|.)", lambda found: (
        bytes([int(found[1], 8)]) if found[1].isdigit() else named.get(found[1], found[1])),
        text, flags=re.S)
