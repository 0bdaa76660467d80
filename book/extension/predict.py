"""Predict cells: the reader commits to an option before output and explanation show."""

from __future__ import annotations

import json
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import element, inline, raw, spans
from book.extension.slugs import SEPARATOR
from book.pipeline.ground import digests

TEXTS = {
    "name": ("预测 {}", "Prediction {}"),
    "legend": ("先预测，再看运行结果", "Predict, then see the output"),
    "hint": ("点一个选项，就算“有些把握”；很有把握，或者只是猜的，就点它旁边的字。",
             "Tap an option if you think so; if you are sure, or only guessing, tap the word "
             "beside it."),
    "unsure": ("不确定", "Not sure"),
    "sure": ("很有把握", "Sure"),
    "guess": ("猜的", "A guess"),
    "skip": ("不预测，直接看", "Show it without a prediction"),
    "after": ("还是来预测", "Predict after all"),
    "anew": ("重新预测", "Try again"),
    "keys": ("↑ ↓ 选项，← → 把握，回车提交", "↑ ↓ option, ← → how sure, Enter commits"),
    "waits": ("作出预测之后，这里显示解释。",
              "The explanation shows here once you have predicted."),
    "output": ("运行结果", "Output"),
    "right": ("对了。", "Right."),
    "wrong": ("不对。", "That's not it."),
}
UNSURE = "unsure"


def text(key: str) -> str:
    return spans(*TEXTS[key])


def code_cells(document: nodes.document) -> list[nodes.container]:
    """The code cells of a page, as myst-nb has put them into its tree."""
    return [box for box in document.findall(nodes.container)
            if box.get("nb_element") == "cell_code"]


class FoldPredictions(SphinxTransform):
    """Put the form before the output of each predict cell and the output into a fold."""

    def apply(self, **kwargs) -> None:
        asking = [cell for cell in code_cells(self.document) if options_of(cell)]
        ids = cell_ids(self.env.doc2path(self.env.docname)) if asking else []
        for number, cell in enumerate(asking):
            self.fold(cell, number, ids[cell["cell_index"]])
            wrap_explanation(cell)

    def fold(self, cell: nodes.container, number: int, identity: str) -> None:
        """The prediction with this number on its page; `identity` is the cell's in its notebook."""
        options = options_of(cell)
        output = next(child for child in cell if child.get("nb_element") == "cell_code_output")
        shown = "\n".join(node.astext() for node in output.findall(nodes.literal_block))
        right = next(i for i, option in enumerate(options) if str(option["match"]) in shown)
        position = cell.index(output)
        cell.remove(output)
        fold = element("details", raw(f'<summary>{text("output")}</summary>'), output,
                       class_="predict-output", tabindex="-1")
        asked = element("predict-cell", raw(form(options, right, number)), fold,
                        raw(feedback(options, right)),
                        data_cell=identity, data_edition=digests.of_value(options)[:12],
                        role="group", **named(number + 1))
        cell.insert(position, asked)


def named(number: int) -> dict[str, str]:
    """The name of a prediction for who hears the page, on which each has the same buttons."""
    name = SEPARATOR.join(text.format(number) for text in TEXTS["name"])
    return {"aria_label": name, "data_names": name}


def options_of(cell: nodes.container) -> list[dict]:
    return cell.get("cell_metadata", {}).get("predict", {}).get("options", [])


def cell_ids(notebook: str) -> list[str]:
    """The id of each cell of a notebook; myst-nb does not hand them on."""
    cells = json.loads(Path(notebook).read_text(encoding="utf-8"))["cells"]
    return [cell["id"] for cell in cells]


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


def form(options: list[dict], right: int, number: int) -> str:
    """The options, each with words that tell how sure (shown by the script only), `not sure`, and
    the ways out. The first of a page says how to use it."""
    hint = f'<p class="predict-hint">{text("hint")}</p>' if number == 0 else ""
    rows = [row(spans(inline(option["zh"]), inline(option["en"]), escape=False),
                "answer" if i == right else digests.option_key(option["en"]))
            for i, option in enumerate(options)]
    rows.append(f'<div class="predict-option" data-response="{UNSURE}">'
                f'<span class="predict-choice">{text("unsure")}</span></div>')
    return (
        f'<fieldset class="predict-form"><legend><span class="predict-asks">{text("legend")}</span>'
        f'<span class="predict-shows">{text("output")}</span></legend>'
        f'{hint}{"".join(rows)}</fieldset>'
        f'<p class="predict-ways"><button type="button" class="predict-skip">{text("skip")}'
        f'</button><button type="button" class="predict-after" hidden>{text("after")}</button>'
        f'<button type="button" class="predict-anew" hidden>{text("anew")}</button>'
        f'<small>{text("keys")}</small></p>'
    )


def row(label: str, response: str) -> str:
    """An option; the script makes a button of its text, which says `I think so`, and names the
    other two after it."""
    words = "".join(f'<button type="button" data-confidence="{level}">{after_a_comma(level)}'
                    f'</button>' for level in ("sure", "guess"))
    return (f'<div class="predict-option" data-response="{response}">'
            f'<span class="predict-choice"><span>{label}</span></span>{words}</div>')


def after_a_comma(level: str) -> str:
    """How sure, as it is read out after the text of its option."""
    zh, en = TEXTS[level]
    comma = '<span class="visually-hidden">{}</span>{}'
    return spans(comma.format("，", zh), comma.format(", ", en), escape=False)


def feedback(options: list[dict], right: int) -> str:
    """A line for each option; the script shows the one of the row that was chosen."""
    lines = []
    for i, option in enumerate(options):
        why = option.get("why", {"zh": "", "en": ""})
        verdict = "right" if i == right else "wrong"
        zh, en = TEXTS[verdict]
        line = spans(f'{zh}{inline(why["zh"])}', f'{en} {inline(why["en"])}', escape=False)
        lines.append(f'<p class="predict-feedback {verdict}" data-option="{i}" hidden>{line}</p>')
    return f'<div role="status">{"".join(lines)}</div>'
