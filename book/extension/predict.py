"""Predict cells: the reader commits to an option before output and explanation show."""

from __future__ import annotations

import html

from docutils import nodes
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import inline, raw, spans

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

    default_priority = 510

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
        summary = f'<summary>{text("output")}</summary>'
        cell.insert(position, [
            raw(f'<predict-cell data-right="{right}">{form(options, name)}'
                f'<details class="predict-output">{summary}'),
            output,
            raw("</details>" + feedback(options, right) + "</predict-cell>"),
        ])


def wrap_explanation(cell: nodes.container) -> None:
    """Put what stands between a cell and the next, or the end of its section, into one element."""
    parent, start = cell.parent, cell.parent.index(cell) + 1
    stop = next((i for i, node in enumerate(parent[start:], start)
                 if isinstance(node, nodes.section) or node.get("nb_element") == "cell_code"),
                len(parent))
    if start < stop:
        parent.insert(stop, raw("</div>"))
        note = f'<p class="explanation-note">{text("waits")}</p>'
        parent.insert(start, raw(f'<div class="explanation">{note}'))


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


def setup(app):
    app.add_transform(FoldPredictions)
