"""Measured results that a section shows: read from `benchmarks/results/`, never measured here.

A file of results names its columns and its tables; what it holds beside those are conditions:

    {"machine": "…", "python": "3.11.7", "torch": "2.13.0", "threads": 1, "load": 0.1,
     "date": "2026-01-02",
     "columns": [{"key": "ms", "zh": "毫秒", "en": "ms"}, …],
     "tables": {"copies": {"zh": "…", "en": "…", "rows": [{"zh": "…", "en": "…", "ms": 7.1}, …]}}}
"""

import json
from html import escape
from pathlib import Path

from inside.bilingual import spans

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"
SEPARATOR = '<span class="lang-sep"> · </span>'  # seen where both languages are


def recorded(name, *tables):
    """The tables of `benchmarks/results/NAME.json` with the machine below; all if none is named.

    Raises FileNotFoundError where nothing is recorded, ValueError where a table has no such name.
    """
    file = RESULTS / f"{name}.json"
    if not file.is_file():
        raise FileNotFoundError(f"benchmarks/results/{name}.json is missing; use `inside` from a "
                                f"clone of the book, or record it: make bench "
                                f"ONLY={name} RECORD=1")
    result = json.loads(file.read_text(encoding="utf-8"))
    for table in tables:
        if table not in result["tables"]:
            raise ValueError(f"benchmarks/results/{name}.json: no table {table!r}; "
                             f"take one of {', '.join(result['tables'])}")
    return Recorded(result, tables or tuple(result["tables"]))


class Recorded:
    """Some tables of one file of results; a notebook shows them in both languages."""

    def __init__(self, result, tables):
        self.result, self.tables = result, tables

    def rows(self, table):
        """The rows of one table as they are stored, for cells that compare them."""
        return self.result["tables"][table]["rows"]

    def __repr__(self):
        columns = self.result["columns"]
        lines = []
        for table in (self.result["tables"][name] for name in self.tables):
            lines.append(" | ".join(map(both, [table, *columns])))
            lines += [" | ".join(["  " + both(row), *values(row, columns)])
                      for row in table["rows"]]
        return "\n".join([*lines, conditions(self.result)])

    def _repr_html_(self):
        columns = self.result["columns"]
        shown = [html_table(self.result["tables"][name], columns) for name in self.tables]
        below = f"<p><small>{escape(conditions(self.result))}</small></p>"
        return "\n".join([*shown, below])


def values(row, columns):
    """The numbers of a row, three digits each; empty where the row has none."""
    return [number(row[column["key"]]) if column["key"] in row else "" for column in columns]


def number(value):
    """Three significant digits, and all of an integer's, thousands separated."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def conditions(result):
    """One line: on what, with what and when it was measured."""
    threads = f"{result['threads']} thread{'s' if result['threads'] != 1 else ''}"
    python = f"Python {result['python']}, " if "python" in result else ""
    load = f"load {result['load']:.1f}, " if "load" in result else ""  # where nothing is timed
    return (f"{result['machine']}; {python}torch {result['torch']}, {threads}, "
            f"{load}{result['date']}")


def both(texts):
    """A text in both languages, once where they are the same."""
    return " · ".join(dict.fromkeys([texts["zh"], texts["en"]]))


def as_html(texts):
    """The same as HTML."""
    return spans(escape(texts["zh"]), escape(texts["en"]), SEPARATOR)


def html_table(table, columns):
    """One table, scrolling inside itself where the page is narrow."""
    head = "".join(f'<th scope="col">{as_html(texts)}</th>' for texts in [table, *columns])
    rows = [f'<tr><th scope="row">{as_html(row)}</th>'
            + "".join(f"<td>{value}</td>" for value in values(row, columns)) + "</tr>"
            for row in table["rows"]]
    top = '<div class="wide-table" tabindex="0"><table class="table">'
    return "\n".join([top, f"<tr>{head}</tr>", *rows, "</table></div>"])
