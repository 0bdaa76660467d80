"""Say it: the answer stands folded, so that a reader speaks before he reads one."""

from __future__ import annotations

from docutils import nodes
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import element, raw

SECTIONS = {"say-it", "draw-it-then-say-it"}
SUMMARY = {"zh": "看一种答法", "en": "Show one answer"}


class FoldAnswers(SphinxTransform):
    """Fold each model answer of these sections, in its language, where it stands.

    The script of *read straight through* opens them (book/web/reading.js).
    """

    def apply(self, **kwargs) -> None:
        for section in self.document.findall(nodes.section):
            if SECTIONS & set(section["ids"]):
                for answer in list(section.findall(nodes.block_quote)):
                    fold(answer)


def fold(answer: nodes.block_quote) -> None:
    """Put an answer with its list of points into a closed fold."""
    box = answer.parent
    language = box.get("lang_cell")
    if language is None:
        return
    position = box.index(answer)
    inside = [answer, *points(box[position + 1:])]
    summary = raw(f"<summary>{SUMMARY[language]}</summary>")
    box[position:position + len(inside)] = [
        element("details", summary, *inside, class_="fold answer")]


def points(rest: list[nodes.Node]) -> list[nodes.Node]:
    """What an answer has to say: a line and a list, where the list of follow-ups comes after it."""
    two_lists = [type(node) for node in rest[:4]] == [nodes.paragraph, nodes.bullet_list] * 2
    return rest[:2] if two_lists else []
