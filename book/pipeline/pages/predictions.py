"""Predict cells: the page offers what the notebook asks, and nothing gives the answer away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from selectolax.lexbor import LexborNode

from book.pipeline.ground.paths import OPENING, is_section, place
from book.pipeline.pages.built import (
    Finding,
    Page,
    children,
    classes,
    near,
    rendered,
    sibling,
    squeezed,
    text,
)

LANGS = ("zh", "en")
VERDICTS = {True: ("对了。", "Right."), False: ("不对。", "That's not it.")}
OF_AN_OPENING = 3


def problems(page: Page) -> Iterator[Finding]:
    asked = [cell for cell in page.cells if cell["metadata"].get("predict", {}).get("options")]
    shown = page.all("predict-cell")
    opening = (place(page.document) or ("", ""))[1] == OPENING
    if len(shown) != len(asked):
        yield page.finding("predict-cell", f"{len(shown)} on the page, {len(asked)} in its source")
        return
    if (is_section(page.document) and not asked) or (opening and len(asked) != OF_AN_OPENING):
        yield page.finding("predict-cell", f"the page has {len(asked)} predictions: a section has "
                                           f"some, an opening {OF_AN_OPENING}")
    for number, (box, cell) in enumerate(zip(shown, asked, strict=True), 1):
        where = f"{near(box)} ({number})"
        for words in [*prediction(box, cell), *fold(box, cell), *following(box)]:
            yield page.finding(where, words)


def stored_output(cell: dict[str, Any]) -> str:
    """The text of a notebook cell's outputs; what the page shows as HTML is left out."""
    parts = [output.get("text") or output["data"].get("text/plain", "")
             for output in cell["outputs"] if "text/html" not in output.get("data", {})]
    return "".join("".join(part) for part in parts)


def prediction(box: LexborNode, cell: dict[str, Any]) -> Iterator[str]:
    """Options in rows, the right one as the output has it, for each its own line."""
    options, output = cell["metadata"]["predict"]["options"], stored_output(cell)
    hits = [i for i, option in enumerate(options)
            if "match" in option and str(option["match"]) in output]
    if len(hits) != 1:
        yield f"the output has what options {hits} match: exactly one is right"
        return
    rows = box.css(".predict-option")
    right = [i for i, row in enumerate(rows) if row.attributes["data-response"] == "answer"]
    if right != hits:
        yield f"option {right} is said to be right, the output says {hits}" if right else (
            "no option is said to be right")
    if len(rows) != len(options) + 1 or any(not row.css_first(".predict-choice") for row in rows):
        yield f"{len(rows)} rows for {len(options)} options and `not sure`"
    if box.attributes.get("data-cell") != cell["id"]:
        yield f"it is remembered as {box.attributes.get('data-cell')}, the cell is {cell['id']}"
    for row, option in zip(rows, options, strict=False):
        choice = row.css_first(".predict-choice")
        for lang in LANGS:
            yield from differs("an option", choice, lang, option[lang])
    lines = {line.attributes["data-option"]: line for line in box.css("[data-option]")}
    for i, option in enumerate(options):
        why, verdict = option.get("why", {}), VERDICTS[i == hits[0]]
        for lang, word in zip(LANGS, verdict, strict=True):
            yield from differs("the line of an option", lines.get(str(i)), lang,
                               word + why.get(lang, ""))


def differs(what: str, node: LexborNode | None, lang: str, expected: str) -> Iterator[str]:
    said = text(node.css_first(f".lang-{lang}")) if node else ""
    if squeezed(said) != squeezed(rendered(expected)):
        yield f"{what} says `{said[:60]}`, its source `{expected[:60]}`"


def fold(box: LexborNode, cell: dict[str, Any]) -> Iterator[str]:
    """The output stands in a fold that is closed and that a reader without scripts can open."""
    details = [child for child in children(box) if child.tag == "details"]
    if len(details) != 1 or not details[0].css_first("summary"):
        yield f"{len(details)} folds with a summary, not one"
        return
    if {"open", "hidden"} & set(details[0].attributes):
        yield "its fold is open, or hidden from a reader without scripts"
    inside, everywhere = details[0].css(".cell_output"), box.parent.css(".cell_output")
    if len(inside) != len(everywhere) or not inside:
        yield f"{len(inside)} of {len(everywhere)} outputs stand in the fold"
    said = text(details[0].css_first("pre"))
    if said != stored_output(cell).strip():
        yield f"the fold shows `{said[:60]}`, the notebook `{stored_output(cell).strip()[:60]}`"


def cell_of(node: LexborNode) -> LexborNode:
    """The cell of the page that an element stands in."""
    while "cell" not in classes(node):
        node = node.parent
    return node


def asks(node: LexborNode) -> bool:
    """Whether the reader is to predict or to complete this cell."""
    kinds = classes(node)
    return "cell" in kinds and ("complete" in kinds or node.css_first("predict-cell") is not None)


def following(box: LexborNode) -> Iterator[str]:
    """All that follows a prediction waits in `.explanation`, but the question of the next cell:
    an output, a picture or a text in the open would answer it."""
    cell, after = cell_of(box), []
    end = sibling(cell)
    while end is not None and end.tag != "section" and not asks(end):
        after.append(end)
        end = sibling(end)
    waits = after.pop(0) if after and "explanation" in classes(after[0]) else None
    parts = children(waits) if waits else []
    if waits and (not parts or "explanation-note" not in classes(parts[0])):
        yield "its explanation does not begin with the note that it waits"
    yield from in_the_open(after, waits=len(parts) > 1, asked=end is not None and asks(end))


def in_the_open(after: list[LexborNode], *, waits: bool, asked: bool) -> Iterator[str]:
    pairs = [node for node in after if "bi-pair" in classes(node)]
    for node in after:
        if node.tag == "details" or node.css_first(".cell_output"):
            yield f"{text(node)[:40]} stands in the open and may answer it"
    for pair in pairs:
        if len(paragraphs(pair)) > 1:
            yield f"a text of several paragraphs stands in the open: {text(pair)[:40]}"
    if after and not (asked and len(pairs) in (1, 2)):
        yield f"{text(after[0])[:40]} stands in the open, and is no question of a cell below"
    if not waits and len(after) > 1:
        yield f"nothing waits, and {len(after)} parts stand in the open"


def paragraphs(pair: LexborNode) -> list[LexborNode]:
    english = [child for child in children(pair) if "lang-en" in classes(child)]
    return [child for half in english for child in children(half) if child.tag == "p"]
