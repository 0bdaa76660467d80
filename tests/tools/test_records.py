"""A record knows what it measured, and the status page says which records are out of date."""

import json

import pytest

from benchmarks import report
from book.extension import status as page
from book.pipeline.notebooks import depends
from book.pipeline.state import records
from tests.helpers.benches import disagreements


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A small book with one page, its cards, its notebook, a script and a companion."""
    monkeypatch.setattr(records, "ROOT", tmp_path)
    monkeypatch.setattr(records, "relative", lambda file: file.relative_to(tmp_path).as_posix())
    monkeypatch.setattr(depends, "CODE", tmp_path / "code")
    monkeypatch.setattr(records, "RESULTS", tmp_path / "results")
    files = {"_toc.yml": "format: jb-book\nroot: book/index\nchapters:\n"
                         "- file: chapters/01-tensors/views\n",
             "book/index.md": "# Book\n", "book/extension/a.py": "", "book/web/a.js": "",
             "chapters/01-tensors/views.md": "# Views\n",
             "chapters/01-tensors/views.ipynb": '{"metadata": {"book": {"program": "1"}}}',
             "chapters/01-tensors/cards/views.yaml": "[]\n",
             "chapters/01-tensors/cards/views.json": "{}\n",
             "benchmarks/loader.py": "import mini\n", "code/mini.py": "import deeper\n",
             "code/deeper.py": "X = 1\n", "code/other.py": ""}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def since(name, **record):
    return records.changed(record, records.RECORDS[name].subject())


PAGE = "chapters/01-tensors/views"


@pytest.mark.parametrize(("name", "file", "text", "expected"), [
    ("loader", "benchmarks/loader.py", "import mini, os\n", ["benchmarks/loader.py"]),
    ("loader", "code/deeper.py", "X = 2\n", ["code/deeper.py"]),
    ("loader", "code/other.py", "X = 2\n", []),
    ("loader", f"{PAGE}.md", "# Copies\n", []),
    ("notebooks", f"{PAGE}.ipynb", '{"metadata": {"book": {"program": "2"}}}', [PAGE]),
    ("notebooks", f"{PAGE}.ipynb", '{"metadata": {"book": {"program": "1", "golden": "2"}}}', []),
    ("notebooks", "chapters/01-tensors/copies.ipynb", '{"metadata": {}}',
     ["chapters/01-tensors/copies"]),
    ("pages", f"{PAGE}.md", "# Copies\n", [PAGE]),
    ("pages", f"{PAGE}.ipynb", "{}", [PAGE]),
    ("pages", "chapters/01-tensors/cards/views.yaml", "- id: a\n", [PAGE]),
    ("pages", "book/web/a.js", "1", ["book/web"]),
    ("pages", "book/extension/new.py", "1", ["book/extension"]),
    ("pages", "book/drill.md", "# Drill\n", []),  # not in the table of contents
    ("torch-versions", "chapters/01-tensors/cards/views.json", '{"a": 1}', ["cards"]),
    ("cuda", f"{PAGE}.ipynb", '{"metadata": {"book": {"program": "2"}}}', ["notebooks"]),
])
def test_a_record_is_older_than_a_change_of_what_it_measured_and_of_nothing_else(
    root, name, file, text, expected
):
    measured = records.RECORDS[name].subject()
    assert since(name, measured=measured) == []
    (root / file).write_text(text, encoding="utf-8")
    assert since(name, measured=measured) == expected


def test_what_is_gone_and_what_is_new_has_changed_too(root):
    measured = records.RECORDS["pages"].subject()
    (root / "_toc.yml").write_text("format: jb-book\nroot: book/index\nchapters:\n"
                                   "- file: book/drill\n", encoding="utf-8")
    assert since("pages", measured=measured) == ["book/drill", PAGE]


def test_storing_a_result_says_what_was_measured(root):
    report.write("loader", {"date": "2026-01-02"})
    stored = json.loads((root / "results/loader.json").read_text("utf-8"))
    assert stored.keys() == {"date", "measured"}
    assert stored["measured"].keys() == {"benchmarks/loader.py", "code/mini.py", "code/deeper.py"}


@pytest.fixture
def rows(root, monkeypatch):
    """Rows of the status page's table, as text by the name of the record."""
    monkeypatch.setattr(records, "RECORDS", {
        name: records.RECORDS[name] for name in ("loader", "torch-versions", "cuda")})
    def read():
        return {row["name"]: page.since(row) for row in records.state()}
    return read


def test_the_status_page_says_which_records_are_out_of_date_in_both_languages(root, rows):
    assert list(rows()) == ["loader", "torch-versions", "cuda"]
    assert set(rows().values()) == {("还没有记录", "Not recorded yet")}
    report.write("loader", {"date": "2026-01-02"})
    runs = {"2.11.0": {"date": "2026-01-02", "measured": records.whole_book(root)},
            "2.15.0": {"date": "2026-01-02"}}
    (root / "results/torch-versions.json").write_text(json.dumps(runs), encoding="utf-8")
    for name in ("loader", "torch-versions 2.11.0"):
        assert rows()[name] == ("没有改动", "nothing has changed")
    assert rows()["torch-versions 2.15.0"][1] == (
        "it does not say what it measured, and counts as out of date")
    (root / "code/mini.py").write_text("import deeper, other\n", encoding="utf-8")
    assert rows()["loader"] == (
        "改动之前测的：code/mini.py、code/other.py",
        "measured before a change of code/mini.py, code/other.py")
    table = page.records({"records": records.state()})
    assert "<code>make bench ONLY=loader RECORD=1</code>" in table
    assert "measured before a change of code/mini.py" in table


def test_of_many_changes_a_few_are_named(root):
    row = {"date": "2026-01-02", "changed": [f"page-{number}" for number in range(7)]}
    assert page.since(row) == (
        "改动之前测的：page-0、page-1、page-2、page-3 等 7 处",
        "measured before a change of page-0, page-1, page-2, page-3 and 3 more")


def test_a_run_with_another_torch_stands_beside_what_the_book_has_today(root):
    runs = {"2.11.0": {"date": "2026-01-02", "python": "3.11.7",
                       "notebooks": {"cells": 707, "failed": []},
                       "cards": {"proved": 183, "failed": ["a card"]}}}
    (root / "results").mkdir()
    (root / "results/torch-versions.json").write_text(json.dumps(runs), encoding="utf-8")
    shown = page.other_versions({"torch-versions": runs, "cards": 397, "totals": {"cells": 1516}})
    for text in ("707 (today 1,516)", "707（今天有 1,516）", "183 (today 397)", "<td>1</td>",
                 "Record torch-versions 2.11.0 (2026-01-02): it does not say what it measured"):
        assert text in shown


def test_a_budget_stands_beside_what_was_recorded_last():
    data = {name: {} for name in records.RECORDS} | {
        "suite": {"total": 960, "clean": True, "date": "2026-01-02"},
        "site-build": {"seconds": 59.8, "date": "2026-01-03"}}
    shown = page.budgets(data)
    rows = [row.split("<td>")[1:] for row in shown.split("<tr>")[2:]]
    cells = [[cell.split("</td>")[0] for cell in row] for row in rows]
    assert [row[1:4] for row in cells[:3]] == [["15 min", "16.0 min", "2026-01-02"],
                                               ["60 s", "59.8 s", "2026-01-03"],
                                               ["60 KB", "–", "–"]]
    assert [any(word in row[4] for word in ("Over", "Kept")) for row in cells[:3]] == [
        True, True, False]
    assert "Over" in cells[0][4]
    assert "Kept" in cells[1][4]
    assert "Not recorded yet" in cells[2][4]


def test_a_run_of_what_had_changed_alone_says_nothing_about_the_budget_of_the_suite():
    data = {name: {} for name in records.RECORDS} | {
        "suite": {"total": 60, "clean": False, "date": "2026-01-02"}}
    assert "1.0 min" not in page.budgets(data)


def test_the_suite_is_timed_with_the_book_the_tests_and_the_pipeline_that_it_ran(root):
    (root / "tests").mkdir()
    (root / "book/pipeline").mkdir()
    measured = records.RECORDS["suite"].subject()
    assert measured.keys() == {"notebooks", "cards", "book/pipeline", "tests"}
    (root / "tests/test_a.py").write_text("", encoding="utf-8")
    assert since("suite", measured=measured) == ["tests"]


# ---- one list: benches, records, files ---------------------------------------------------------

@pytest.fixture
def small(root, monkeypatch):
    """The small book with one bench that agrees with its script, its result and a page."""
    monkeypatch.setattr(records, "BENCHES", {"loader": records.Bench(("loader",), 1)})
    monkeypatch.setattr(records, "RECORDS", {"loader": records.RECORDS["loader"]})
    files = {"benchmarks/loader.py": 'report.write("loader", {})\n',
             "benchmarks/report.py": "def write(): pass\n", "benchmarks/results/loader.json": "{}",
             f"{PAGE}.ipynb": json.dumps({"cells": [
                 {"cell_type": "code", "source": ['recorded("loader")']}]})}
    (root / "benchmarks/results").mkdir()
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")
    assert disagreements(root) == []
    return root


@pytest.mark.parametrize(("file", "text", "said"), [
    ("benchmarks/extra.py", 'report.write("extra", {})', "extra writes extra, which is not listed"),
    ("benchmarks/loader.py", 'report.write("other", {})',
     "loader is listed with loader, and does not write it"),
    ("benchmarks/loader.py", "", "loader: listed, and no script"),
    ("benchmarks/results/extra.json", "{}", "extra.json: written by no command"),
    (f"{PAGE}.ipynb", '{"cells": [{"cell_type": "code", "source": ["recorded(\'extra\')"]}]}',
     "a page shows extra, which is no record"),
])
def test_what_is_missing_or_too_much_in_one_place_is_named(small, file, text, said):
    (small / file).write_text(text, encoding="utf-8")
    assert said in disagreements(small)
