"""The answer of a card: one text, or the layers in which a person says it.

    answer    the whole answer as one text, the older form
    line      what to say in one breath
    because   the reasons
    limit     where the claim stops, if they push; a card may have none

Each is {zh, en}. A card has `answer`, or `line` and `because` with or without `limit`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from book.pipeline.text.marked_yaml import Place

LAYERS = ("line", "because", "limit")
FORMS = ("answer", *LAYERS)  # in the order in which they are said
UNITS = {"zh": "characters", "en": "words"}

ANSWER = {"zh": (80, 200), "en": (45, 100)}
LINE = {"zh": 25, "en": 15}
SHORT = {"zh": (60, 110), "en": (35, 60)}  # an outcome and its reason
MIDDLE = {"zh": (110, 180), "en": (60, 100)}  # a mechanism
LONG = {"zh": (220, 340), "en": (130, 200)}  # 60 to 90 seconds, which an interviewer gives these
OF_KIND = {"predict": SHORT, "bug": SHORT, "explain": MIDDLE, "compare": MIDDLE,
           "design": LONG, "estimate": LONG}
TOLERANCE = 5  # a reason may fall short of its range, or pass it, by one fifth


def spoken_length(text: str) -> int:
    """How long a text is to say.

    Each Chinese character counts one; so does each run of Latin letters and digits (a hyphen,
    dot or apostrophe inside joins) and each code span in backticks, however long. Punctuation
    counts nothing.
    """
    text = re.sub(r"(`+).+?\1", " x ", text, flags=re.DOTALL)
    return len(re.findall(r"[\u3400-\u9fff]|[A-Za-z0-9_]+(?:[-.'’][A-Za-z0-9_]+)*", text))


def of(card: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The texts of the answer by their names, in the order in which they are said."""
    return {name: card[name] for name in FORMS if name in card}


def wrong_form(card: Mapping[str, Any]) -> str:
    """What to say of a card that has neither form of answer, or both."""
    has = ", ".join(of(card)) or "neither"
    return f"write `answer`, or `line` and `because` with or without `limit`; the card has {has}"


def errors(card: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    """`(place, text)` of each breach of the rules on length; what is no text is the schema's."""
    for name in FORMS:
        texts = card.get(name)
        for lang in UNITS:
            text = texts.get(lang) if isinstance(texts, dict) else None
            if isinstance(text, str):
                for words in _of_text(card, name, lang, text):
                    yield (name, lang), f"{name}.{lang} {words}"


def _of_text(card: Mapping[str, Any], name: str, lang: str, text: str) -> Iterator[str]:
    size, unit = spoken_length(text), UNITS[lang]
    if name == "answer":
        low, high = ANSWER[lang]
        if not low <= size <= high:
            yield f"has {size} {unit}, {low}–{high} are allowed: {_advice(size > high)}"
    elif name == "line":
        if size > LINE[lang]:
            yield f"has {size} {unit}, {LINE[lang]} are allowed: say it in one breath"
        if "`" in text:
            yield "has code in backticks: say it in words"
    elif name == "because":
        yield from _of_reason(card, lang, size)


def _of_reason(card: Mapping[str, Any], lang: str, size: int) -> Iterator[str]:
    """A reason is as long as its kind; those of level staff are as long as a design's."""
    is_staff, kind = card.get("level") == "staff", card.get("kind")
    lengths = LONG if is_staff else OF_KIND.get(kind) if isinstance(kind, str) else None
    if lengths is None:
        return
    low, high = lengths[lang]
    least, most = -(-low * (TOLERANCE - 1) // TOLERANCE), high * (TOLERANCE + 1) // TOLERANCE
    if not least <= size <= most:
        whose = "level staff" if is_staff else f"kind {kind}"
        yield (f"has {size} {UNITS[lang]}, {low}–{high} are meant for {whose} ({least}–{most} with "
               f"a fifth of tolerance): {_advice(size > most)}")


def _advice(too_long: bool) -> str:
    return "shorten it" if too_long else "say more"
