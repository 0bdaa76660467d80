"""Lines of code that a phone may break."""

from __future__ import annotations

import re

MARKUP, ENTITY = re.compile(r"<[^>]*>"), re.compile(r"&[^;\s]+;")
SHORT = 30  # columns that any phone holds
BEGIN = re.compile(  # the indent and one character of code
    r'( +|<span class="w"> +</span>)(<span[^>]*>)?(&[^;\s]+;|[^<\s])')


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
    return f'<span class="line" style="--in:{indent}">{_begun(line)}</span>'


def _begun(line: str) -> str:
    """A line whose indent is one with the first character of its code: between them a phone would
    rather break than in a long word, and leave the indent on a row of its own.
    """
    if not (begin := BEGIN.match(line)):
        return line
    spaces, token, first = begin.groups()
    rest = line[begin.end():]
    if not token:
        return f'<span class="indent">{spaces}{first}</span>{rest}'
    rest = rest.removeprefix("</span>") if rest.startswith("</span>") else token + rest
    return f'<span class="indent">{spaces}{token}{first}</span></span>{rest}'
