"""Below a table of numbers that were measured before a change stands a line that says so."""

import json
from types import SimpleNamespace

import pytest
from docutils import nodes

from book.extension import old_records
from book.pipeline.notebooks import depends, shows
from book.pipeline.state import records

IMPORT = "from inside.recorded import recorded"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Results "slow" and "fast"; a companion that shows the second."""
    monkeypatch.setattr(depends, "RESULTS", tmp_path)
    monkeypatch.setattr(records, "RESULTS", tmp_path)
    monkeypatch.setattr(depends, "CODE", tmp_path / "code")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "helper.py").write_text(f"{IMPORT}\ndef picture(): recorded('fast')\n")
    for name in ("slow", "fast"):
        (tmp_path / f"{name}.json").write_text('{"date": "2026-01-02"}', encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(("cells", "expected"), [
    ([IMPORT, 'recorded("slow", "copies")'], [[], ["slow"]]),
    ([IMPORT, 'record = recorded("slow")', "x = 1", "record"], [[], [], [], ["slow"]]),
    ([IMPORT, 'rows = {r: r for r in recorded("slow").rows("a")}\nfew = rows["a"]',
      "for r in few: print(r)", "r = 1; print(r)"], [[], [], ["slow"], []]),
    ([f'{IMPORT}\ndef table(name): return recorded("slow")', "table(1)"], [[], ["slow"]]),
    ([IMPORT, 'record = recorded("slow")\nassert record', "record = 2", "record"],
     [[], [], [], []]),
    ([IMPORT, 'recorded("slow"); recorded("fast")'], [[], ["fast", "slow"]]),
    (["from helper import picture, other", "picture()", "print(1)"], [[], ["fast"], []]),
    (["def recorded(x): ...", 'recorded("slow")'], [[], []]),
    (["%matplotlib inline", "1 +"], [[], []]),
])
def test_a_result_is_followed_to_the_cells_that_show_it(folder, cells, expected):
    assert [sorted(file.stem for file in found) for found in shows.cells(cells)] == expected


@pytest.fixture
def page(folder, monkeypatch):
    """Make the page of a notebook that shows "slow" in its third cell, and return its boxes."""
    now = {"a file": "0"}
    monkeypatch.setattr(records, "RECORDS", {"slow": records.Record("make slow", lambda: now)})
    sources = [("markdown", "# Text"), ("code", IMPORT), ("code", 'recorded("slow")')]
    file = folder / "page.ipynb"
    file.write_text(json.dumps({"cells": [{"cell_type": kind, "source": [text]}
                                          for kind, text in sources]}), encoding="utf-8")

    def make(**record):
        (folder / "slow.json").write_text(json.dumps({"date": "2026-01-02"} | record))
        boxes = [nodes.container(nb_element="cell_code", cell_index=place) for place in (1, 2)]
        document = nodes.section("", *boxes)
        noted = []
        env = SimpleNamespace(docname="page", doc2path=lambda name: file,
                              note_dependency=noted.append)
        old_records.MarkOldRecords.apply(SimpleNamespace(document=document, env=env))
        assert noted == [str(old_records.RESULTS / "slow.json")]
        assert boxes[0].children == []
        return boxes[1].astext()
    return make


def test_below_what_is_current_stands_nothing(page):
    assert page(measured={"a file": "0"}) == ""


def test_below_an_old_table_stands_since_when_it_is_old_in_both_languages(page):
    text = page(measured={"a file": "1"})
    assert "记录 slow（2026-01-02）：改动之前测的：a file。" in text
    assert "Record slow (2026-01-02): measured before a change of a file." in text
    assert text.count("<p") == 1


def test_a_record_that_does_not_say_what_it_measured_is_an_old_one(page):
    assert "it does not say what it measured, and counts as out of date." in page()
