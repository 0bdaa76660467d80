"""Lines of code that a phone may break."""

from __future__ import annotations

import re

MARKUP, ENTITY = re.compile(r"<[^>]*>"), re.compile(r"&[^;\s]+;")
SHORT = 30  # columns that any phone holds


def long_lines(code: str) -> str:
    """Each line that a phone may break stands in an element that knows its indentation, so that
    styles/code.css can hang what is broken below it.
    """
    return "".join(map(_line, code.splitlines(keepends=True)))


def _line(line: str) -> str:
    text = ENTITY.sub("x", MARKUP.sub("", line)).rstrip("\n")
    if len(text) <= SHORT or line.count("<span") != line.count("</span"):
        return line
    indent = len(text) - len(text.lstrip(" "))
    return f'<span class="line" style="--in:{indent}">{line}</span>'
