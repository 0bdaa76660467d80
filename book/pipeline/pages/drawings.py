"""Drawings are part of the page: inline, named, their labels in both languages."""

from __future__ import annotations

from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from book.pipeline.pages.built import Finding, Page, squeezed, text


def problems(page: Page) -> Iterator[Finding]:
    for image in page.all("article img[src$='.svg']"):
        yield page.finding(image, f"a drawing is a file: {image.attributes['src']}")
    shown, outputs = page.all("figure.drawing"), svg_outputs(page)
    if len(shown) != len(outputs) or any(not figure.css_first("svg") for figure in shown):
        yield page.finding("figure.drawing", f"{len(shown)} on the page, {len(outputs)} outputs")
        return
    for figure, (svg, alt) in zip(shown, outputs, strict=True):
        for words in drawing(figure, svg, alt):
            yield page.finding(figure, words)


def svg_outputs(page: Page) -> list[tuple[str, dict[str, str]]]:
    """Each drawing of the notebook with its alternative text in both languages, if it has one."""
    return [("".join(output["data"]["image/svg+xml"]), cell["metadata"].get("alt", {}))
            for cell in page.cells for output in cell.get("outputs", [])
            if "image/svg+xml" in output.get("data", {})]


def drawing(figure: LexborNode, svg: str, alt: dict[str, str]) -> Iterator[str]:
    caption, picture = figure.css_first("figcaption"), figure.css_first("svg")
    if figure.attributes.get("tabindex") != "0":
        yield "cannot be reached by Tab to be scrolled"
    for lang, words in alt.items():
        said = text(caption.css_first(f".lang-{lang}")) if caption else ""
        if squeezed(said) != squeezed(words):
            yield f"its name in {lang} is `{said[:60]}`, the cell's alt `{words[:60]}`"
    if alt and picture.attributes.get("aria-hidden") != "true":
        yield "its parts are read out beside its name"
    for lang in ("zh", "en"):
        there, expected = len(picture.css(f".lang-{lang}")), svg.count(f"lang-{lang}")
        if there != expected or (expected and not any(map(text, picture.css(f".lang-{lang}")))):
            yield f"{there} of {expected} labels in {lang}"
