"""The pipeline explorer: what torch.compile makes of a function, stage by stage, linked by lines.

`PipelineExplorer` is an anywidget around `book/web/pipeline-explorer/`, the same module that the
page loads without a kernel. It shows a few functions that the real compiler has run; what it made
of them is recorded beside the element, in `stages.json`, because bytecode and guards differ
between versions. Without JavaScript the rows stand there as text.

    python -m inside.widgets.pipeline_explorer        records anew, run in `code/`

What the element reads is JSON in its attribute `pipeline`:

    made       with what it was recorded
    stages     in order: {key, name, what}, texts in both languages
    functions  {key, name, say, parts}, where `parts` has for each stage a list of
               {title, rows}; a row is [head, text, lines of the source]

and in `choice`, which both sides may change: {function, lines}, the function that is shown and the
lines that are lit. A stage that is added to the record and to `pipeline_words.py` is shown as the
others are.
"""

import json
import platform
from html import escape

import anywidget
import torch
from traitlets import Dict, TraitError, validate

from inside.bilingual import spans
from inside.compile.observe.pipeline_stages import stages_of
from inside.recorded import conditions, number, recorded
from inside.widgets.fallback import attribute
from inside.widgets.pipeline_words import FUNCTIONS, STAGES, TIMES
from inside.widgets.web_module import WEB, joined_module

ESM = WEB / "pipeline-explorer" / "index.js"
RECORD = ESM.with_name("stages.json")
ROW = 6  # how deep a row lies in the record


# ---------------------------------------------------------------- the record
def versions():
    """What the stages depend on: torch's version and Python's first two numbers."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"torch": torch.__version__.split("+")[0], "python": python}


def record():
    """Run all functions through the real compiler; what `stages.json` holds."""
    stages = {key: stages_of(one.source, one.calls) for key, one in FUNCTIONS.items()}
    return versions() | {"functions": stages}


def spelled(value, depth=0):
    """The record as JSON with a row on each line, so that a change can be read."""
    if depth == ROW or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        items = [f"{json.dumps(key)}: {spelled(one, depth + 1)}" for key, one in value.items()]
        return "{" + ",\n".join(items) + "}"
    return "[" + ",\n".join(spelled(one, depth + 1) for one in value) + "]"


def pipeline(names):
    """What the element shows of these functions; all if none is named.

    Raises FileNotFoundError without a record, ValueError for a name that has none.
    """
    if not RECORD.is_file():
        raise FileNotFoundError("book/web/pipeline-explorer/stages.json is missing; use `inside` "
                                "from a clone of the book")
    record, times = json.loads(RECORD.read_text(encoding="utf-8")), recorded("pipeline-times")
    for name in names:
        if name not in record["functions"]:
            raise ValueError(f"no function {name!r}; take one of {', '.join(FUNCTIONS)}")
    return {
        "made": f"torch {record['torch']}, Python {record['python']}",
        "stages": [{"key": key, "name": name, "what": what}
                   for key, (name, what) in STAGES.items()],
        "functions": [{"key": key, "name": FUNCTIONS[key].name, "say": FUNCTIONS[key].say,
                       "parts": record["functions"][key] | {"times": timings(times, key)}}
                      for key in names or FUNCTIONS],
    }


def timings(times, key):
    """The stage of one function that is measured, by `benchmarks/pipeline_times.py`."""
    row, = (row for row in times.rows("times") if row["key"] == key)
    rows = [[what, f"{number(row[column])} {unit}", []] for column, what, unit in TIMES]
    return [{"title": conditions(times.result), "rows": rows}]


# ---------------------------------------------------------------- the text without JavaScript
def text_row(row):
    head, said, lines = row
    return f"{','.join(map(str, lines)):>4}  {head} {said}".rstrip()


def text_part(part):
    title = [f"      {part['title']}"] if part["title"] else []
    return [*title, *map(text_row, part["rows"])]


def text_stage(stage, parts):
    """A stage as text: at the left the lines of the source that a row comes from."""
    lines = [line for part in parts for line in text_part(part)]
    words = f"<strong>{spans(*stage['name'])}</strong>"
    return f"<p>{words}</p>\n<pre tabindex=\"0\">{escape(chr(10).join(lines))}</pre>"


def fallback(shown, choice):
    """The custom element with its rows as text inside, for pages without JavaScript."""
    folds = []
    for one in shown["functions"]:
        stages = [text_stage(stage, one["parts"][stage["key"]]) for stage in shown["stages"]
                  if stage["key"] in one["parts"]]
        opened = " open" if one["key"] == choice["function"] else ""
        folds.append(f"<details{opened}><summary>{spans(*one['name'])}</summary>\n"
                     + "\n".join(stages) + "\n</details>")
    made = f"<p><small>{escape(shown['made'])}</small></p>"
    inner = "\n".join([*folds, made])
    return (f"<pipeline-explorer pipeline='{attribute(shown)}' choice='{attribute(choice)}'>\n"
            f"{inner}\n</pipeline-explorer>")


# ---------------------------------------------------------------- the widget
class ChoiceError(ValueError, TraitError):
    """A choice that is not on the page; as a TraitError it rolls a change back."""


class PipelineExplorer(anywidget.AnyWidget):
    """The explorer of the functions with these names (all of `FUNCTIONS` if none is given).

    The first is shown, with the rows of the lines `lit`. Raises ValueError for an unknown name or
    a line that the function does not have.
    """

    _esm = joined_module(ESM)
    pipeline = Dict().tag(sync=True)
    choice = Dict().tag(sync=True)

    def __init__(self, *names, lit=()):
        shown = pipeline(names)
        choice = {"function": shown["functions"][0]["key"], "lines": list(lit)}
        check(shown, choice)
        super().__init__(pipeline=shown, choice=choice)

    @validate("choice")
    def _accept(self, proposal):
        if self.pipeline:
            check(self.pipeline, proposal["value"])
        return proposal["value"]

    def __repr__(self):
        names = ", ".join(one["key"] for one in self.pipeline["functions"])
        return f"PipelineExplorer: {names}"

    def _repr_mimebundle_(self, **kwargs):
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return {**data, "text/html": fallback(self.pipeline, self.choice)}, metadata


def check(shown, choice):
    """Raise `ChoiceError` with one line for what cannot be shown."""
    found = {one["key"]: one["parts"]["source"] for one in shown["functions"]}
    if choice["function"] not in found:
        raise ChoiceError(f"function {choice['function']!r}: one of {', '.join(found)}")
    lines = {line for part in found[choice["function"]] for row in part["rows"] for line in row[2]}
    for line in choice["lines"]:
        if line not in lines:
            raise ChoiceError(f"line {line}: {choice['function']} has no such line")


if __name__ == "__main__":
    RECORD.write_text(spelled(record()) + "\n", encoding="utf-8")
