"""A table of numbers that were measured before a change says so, below the cell that shows it.

Stored outputs hold no such line, since it changes without them: the build adds it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sphinx.transforms import SphinxTransform

from book.extension.bilingual import raw, spans
from book.extension.predict import code_cells
from book.pipeline.ground.paths import RESULTS, ROOT
from book.pipeline.notebooks import shows
from book.pipeline.state import records

UNKNOWN = ("没有记下测的是什么，算作过时",
           "it does not say what it measured, and counts as out of date")
SHOWN_CHANGES = 4  # names of what has changed; of more, their number


def why(changed: Sequence[str] | None) -> tuple[str, str]:
    """Why the numbers of a record are old, in both languages; `changed` as the record says it."""
    if changed is None:
        return UNKNOWN
    few, more = changed[:SHOWN_CHANGES], len(changed) - SHOWN_CHANGES
    zh, en = "、".join(few), ", ".join(few)
    if more > 0:
        zh, en = f"{zh} 等 {len(changed)} 处", f"{en} and {more} more"
    return f"改动之前测的：{zh}", f"measured before a change of {en}"


def line(row: dict[str, Any]) -> str:
    """HTML of the line for one record; "" where its numbers are those of today, or none."""
    if not row["date"] or row["changed"] == []:
        return ""
    (zh, en), name, date = why(row["changed"]), row["name"], row["date"]
    said = spans(f"记录 {name}（{date}）：{zh}。", f"Record {name} ({date}): {en}.")
    return f'<p class="old-record"><small>{said}</small></p>'


def lines(names: Iterable[str]) -> str:
    """HTML of the lines for these records."""
    return "".join(line(row) for name in names for row in records.of_record(name))


class MarkOldRecords(SphinxTransform):
    """Put the line below each cell that shows an old record."""

    def apply(self, **kwargs) -> None:
        if not (boxes := code_cells(self.document)):
            return
        sources = code(Path(self.env.doc2path(self.env.docname)))
        found = dict(zip(sources, shows.cells([*sources.values()]), strict=True))
        for box in boxes:
            names = [file.stem for file in sorted(found[box["cell_index"]])]
            for file in hangs_on(names):
                self.env.note_dependency(str(file))
            if said := lines(names):
                box.append(raw(said))


def hangs_on(names: Iterable[str]) -> set[Path]:
    """The files of which a page of these records is made: results, and what they measured."""
    measured = {ROOT / file for name in names for file in records.RECORDS[name].subject()}
    return {RESULTS / f"{name}.json" for name in names} | {file for file in measured
                                                           if file.is_file()}


def code(notebook: Path) -> dict[int, str]:
    """Place in the notebook -> source, of each code cell."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return {place: "".join(cell["source"]) for place, cell in enumerate(cells)
            if cell["cell_type"] == "code"}
