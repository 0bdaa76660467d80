"""Measured results in notebooks: shown as stored, and a section is stale when they change."""

import json
import re

import pytest

from book.pipeline.notebooks import depends, notebook
from inside import recorded as module
from inside.recorded import recorded

RESULT = {
    "machine": "Abacus <9000>, 2 cores", "python": "3.99.1", "torch": "2.13.0", "threads": 1,
    "load": 0.25, "date": "2026-01-02",
    "columns": [{"key": "ms", "zh": "毫秒", "en": "ms"},
                {"key": "ratio", "zh": "倍", "en": "ratio"}],
    "tables": {
        "copy": {"zh": "复制", "en": "Copies", "rows": [
            {"key": "a", "zh": "x & y", "en": "x & y", "ms": 1234.5, "ratio": 1},
            {"key": "b", "zh": "转置", "en": "transposed", "ms": 0.01234}]},
        "sum": {"zh": "和", "en": "Sums", "rows": [
            {"key": "c", "zh": "行", "en": "rows", "ms": 12.34, "ratio": 0.5}]},
    },
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "RESULTS", tmp_path)
    monkeypatch.setattr(depends, "RESULTS", tmp_path)
    (tmp_path / "made-up.json").write_text(json.dumps(RESULT), encoding="utf-8")
    return tmp_path


# ---- what is shown -----------------------------------------------------------------------------

def test_plain_text_has_all_tables_in_both_languages_and_the_conditions(folder):
    assert repr(recorded("made-up")).splitlines() == [
        "复制 · Copies | 毫秒 · ms | 倍 · ratio",
        "  x & y | 1,234 | 1",
        "  转置 · transposed | 0.0123 | ",
        "和 · Sums | 毫秒 · ms | 倍 · ratio",
        "  行 · rows | 12.3 | 0.5",
        "Abacus <9000>, 2 cores; Python 3.99.1, torch 2.13.0, 1 thread, load 0.2, 2026-01-02",
    ]


def test_a_result_without_a_python_version_is_shown_without_one():
    without = {key: value for key, value in RESULT.items() if key != "python"}
    assert module.conditions(without) == (
        "Abacus <9000>, 2 cores; torch 2.13.0, 1 thread, load 0.2, 2026-01-02")


def test_html_says_the_same_by_language_and_escapes_it(folder):
    page = recorded("made-up", "copy")._repr_html_()
    assert '<span class="lang-zh" lang="zh-Hans">转置</span>' in page
    assert '<span class="lang-en" lang="en">transposed</span>' in page
    assert re.findall("<td>(.*?)</td>", page) == ["1,234", "1", "0.0123", ""]
    assert '<th scope="row">x &amp; y</th>' in page
    assert re.search(r'</span><span class="lang-sep"> · </span><span class="lang-en"', page)
    assert "Abacus &lt;9000&gt;" in page
    assert "2026-01-02" in page


def test_only_the_named_tables_are_shown_in_the_order_of_their_names(folder):
    shown = repr(recorded("made-up", "sum", "copy"))
    assert shown.index("Sums") < shown.index("Copies")
    assert "Copies" not in repr(recorded("made-up", "sum"))
    assert recorded("made-up", "sum").rows("sum")[0]["ratio"] == 0.5


@pytest.mark.parametrize(("arguments", "error", "words"), [
    (("not-measured",), FileNotFoundError, ("benchmarks/results/not-measured.json is missing",
                                           "make bench ONLY=not-measured RECORD=1")),
    (("made-up", "other"), ValueError, ("made-up.json: no table 'other'", "copy, sum")),
])
def test_what_is_not_recorded_is_one_line_that_says_how_to_mend_it(
    folder, arguments, error, words
):
    with pytest.raises(error) as caught:
        recorded(*arguments)
    assert all(word in str(caught.value) for word in words)
    assert "\n" not in str(caught.value)


# ---- staleness ---------------------------------------------------------------------------------

def section(tmp_path, *cells):
    file = tmp_path / "section.md"
    code = "".join(f"\n```{{code-cell}} python\n{cell}\n```\n" for cell in cells)
    file.write_text(
        "---\nkernelspec: {name: python3, display_name: Python 3}\n"
        f"jupytext: {{text_representation: {{extension: .md, format_name: myst}}}}\n---\n{code}",
        encoding="utf-8")
    return notebook.read_source(file)


IMPORT = "from inside.recorded import recorded"


@pytest.mark.parametrize(("cells", "changes"), [
    ([IMPORT, 'recorded("made-up")'], True),
    (["from inside.recorded import recorded as table", 'table("made-up", "copy")'], True),
    (["import inside.recorded", 'inside.recorded.recorded("made-up", "copy")'], True),
    (["import inside.recorded as r", 'r.recorded("made-up")'], True),
    (["from inside import recorded", 'recorded.recorded("made-up")'], True),
    ([IMPORT, 'name = "made-up"\nrecorded(name)'], True),
    ([IMPORT, 'recorded("another")'], False),
    ([IMPORT, 'print("made-up")'], False),
    ([IMPORT, "recorded"], False),
    (["def recorded(size):\n    return size", 'recorded("made-up")'], False),
    (["from elsewhere import recorded", "recorded(4)"], False),
    (["class Log:\n    def recorded(self, x): ...", "Log().recorded(4)"], False),
])
def test_a_new_measurement_makes_stale_the_sections_that_show_it(folder, cells, changes):
    (folder / "another.json").write_text("{}", encoding="utf-8")
    shown = section(folder, *cells)
    before = notebook.program_digest(shown)
    (folder / "made-up.json").write_text("{}", encoding="utf-8")
    assert (notebook.program_digest(shown) != before) is changes


@pytest.mark.parametrize("way", [IMPORT, "from .recorded import recorded"])
def test_a_result_shown_by_a_companion_counts_as_well(folder, monkeypatch, way):
    monkeypatch.setattr(depends, "CODE", folder)
    (folder / "helper.py").write_text(f'{way}\ndef table():\n    return recorded("made-up")\n')
    assert set(depends.digests(["import helper"])) == {"helper.py", "results/made-up.json"}


def test_a_notebook_does_not_take_the_names_of_a_companion_for_its_own(folder, monkeypatch):
    monkeypatch.setattr(depends, "CODE", folder)
    (folder / "helper.py").write_text(f"{IMPORT}\n")
    program = "import helper\ndef recorded(x): ...\nrecorded(1)"
    assert set(depends.digests([program])) == {"helper.py"}


def test_what_shows_no_result_keeps_its_digests(folder):
    assert set(depends.digests(["from inside import device"])) == {
        "inside/__init__.py", "inside/earlier_names.py"}
