"""Predict cells: the reader commits to an option before output and explanation show."""

from __future__ import annotations

import html

from docutils import nodes
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import element, inline, raw, spans

TEXTS = {
    "legend": ("先选一个预测，再看运行结果", "Commit to a prediction before you see the output"),
    "unsure": ("不确定", "Not sure"),
    "confidence": ("有多大把握？", "How sure are you?"),
    "sure": ("很有把握", "Sure"),
    "think": ("有些把握", "I think so"),
    "guess": ("猜的", "A guess"),
    "commit": ("提交并看结果", "Commit and see the output"),
    "skip": ("不预测，直接看", "Show it without a prediction"),
    "waits": ("提交之后，这里显示解释。", "The explanation shows here once you have committed."),
    "output": ("运行结果", "Output"),
    "right": ("对了。", "Right."),
    "wrong": ("不对。", "Not quite."),
}


def text(key: str) -> str:
    return spans(*TEXTS[key])


def code_cells(document: nodes.document) -> list[nodes.container]:
    """The code cells of a page, as myst-nb has put them into its tree."""
    return [box for box in document.findall(nodes.container)
            if box.get("nb_element") == "cell_code"]


class FoldPredictions(SphinxTransform):
    """Put the form before the output of each predict cell and the output into a fold."""

    def apply(self, **kwargs) -> None:
        for number, cell in enumerate(code_cells(self.document)):
            if options := cell.get("cell_metadata", {}).get("predict", {}).get("options"):
                self.fold(cell, options, f"predict-{number}")
                wrap_explanation(cell)

    def fold(self, cell: nodes.container, options: list[dict], name: str) -> None:
        output = next(child for child in cell if child.get("nb_element") == "cell_code_output")
        shown = "\n".join(node.astext() for node in output.findall(nodes.literal_block))
        right = next(i for i, option in enumerate(options) if str(option["match"]) in shown)
        position = cell.index(output)
        cell.remove(output)
        fold = element("details", raw(f'<summary>{text("output")}</summary>'), output,
                       class_="predict-output")
        cell.insert(position, element("predict-cell", raw(form(options, name)), fold,
                                      raw(feedback(options, right)), data_right=str(right)))


def wrap_explanation(cell: nodes.container) -> None:
    """Put what follows a cell, code and pictures included, into one element.

    It ends at a heading or at the question of the next cell that asks the reader for something.
    """
    parent, start = cell.parent, cell.parent.index(cell) + 1
    stop = next((i for i, node in enumerate(parent[start:], start)
                 if isinstance(node, nodes.section) or asks(node)), len(parent))
    if stop < len(parent) and asks(parent[stop]):
        stop = start_of_question(parent, start, stop)
    if start < stop:
        note = raw(f'<p class="explanation-note">{text("waits")}</p>')
        explanation = element("div", note, *parent[start:stop], class_="explanation")
        parent[start:stop] = [explanation]


def asks(node: nodes.Element) -> bool:
    """Whether the reader is to predict or to complete this cell."""
    return bool({"predict", "complete"} & set(node.get("cell_metadata", {})))


def start_of_question(parent: nodes.Element, start: int, stop: int) -> int:
    """Where the question of the cell at `stop` begins, so that it shows while what explains the
    cell before waits: the last paragraph, and code next to it that prints nothing, so prepares the
    cell, with the last paragraph above such code. A pair of several paragraphs is split.
    """
    while stop > start and is_silent_code(parent[stop - 1]):
        stop -= 1
    if stop == start or "bi-pair" not in parent[stop - 1]["classes"]:
        return stop
    pair = parent[stop - 1]
    cuts = [last_paragraph(box) for box in pair]
    if all(cuts):
        parent.insert(stop, split(pair, cuts))
        return stop
    prepared = stop - 1 > start and is_silent_code(parent[stop - 2])
    return start_of_question(parent, start, stop - 1) if prepared else stop - 1


def is_silent_code(node: nodes.Element) -> bool:
    return node.get("nb_element") == "cell_code" and not any(
        part.get("nb_element") == "cell_code_output" for part in node)


def last_paragraph(box: nodes.container) -> int:
    """The place of the last paragraph of a language; a list or a formula after it belongs to it."""
    return max((i for i, block in enumerate(box) if isinstance(block, nodes.paragraph)), default=0)


def split(pair: nodes.container, cuts: list[int]) -> nodes.container:
    """Cut each language of a pair at its place; returns the pair of what was cut off."""
    rest = pair.copy()
    for box, cut in zip(pair, cuts, strict=True):
        half = box.copy()
        half.extend(box[cut:])
        del box[cut:]
        rest.append(half)
    return rest


def form(options: list[dict], name: str) -> str:
    """The form: options, `not sure`, confidence and the button (shown by the script only)."""
    choices = [spans(inline(o["zh"]), inline(o["en"]), escape=False) for o in options]
    choices.append(text("unsure"))
    answers = "".join(radio(f"{name}-answer", str(i), label) for i, label in enumerate(choices))
    levels = "".join(radio(f"{name}-confidence", key, text(key))
                     for key in ("sure", "think", "guess"))
    return (
        f'<form class="predict-form"><fieldset class="options"><legend>{text("legend")}</legend>'
        f'{answers}</fieldset><fieldset class="confidence"><legend>{text("confidence")}</legend>'
        f'{levels}</fieldset><button type="submit">{text("commit")}</button>'
        f'<button type="button">{text("skip")}</button></form>'
    )


def radio(name: str, value: str, label: str) -> str:
    return (f'<label><input type="radio" name="{html.escape(name)}" value="{value}" required>'
            f"<span>{label}</span></label>")


def feedback(options: list[dict], right: int) -> str:
    """A line for each option; the script shows the one that was chosen."""
    lines = []
    for i, option in enumerate(options):
        why = option.get("why", {"zh": "", "en": ""})
        verdict = TEXTS["right" if i == right else "wrong"]
        line = spans(f'{verdict[0]}{inline(why["zh"])}', f'{verdict[1]} {inline(why["en"])}',
                     escape=False)
        lines.append(f'<p class="predict-feedback" data-option="{i}" hidden>{line}</p>')
    return f'<div role="status">{"".join(lines)}</div>'
