"""What a list of sections says of their time, and how much of it is left, in both languages."""

import json
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.utils import new_document

from book.extension import progress
from book.extension.sections import Section
from book.pipeline.ground.paths import ROOT
from book.pipeline.reading.minutes import Estimate
from oracles.web.javascript import evaluate

WORDS, STATE = (ROOT / "book/web/progress" / name for name in ("words.js", "state.js"))


def section(name, zh=15, en=16, acting=9, cards=4):
    return Section(f"chapters/01-tensors/{name}", ("甲", "A"), Estimate(zh, en, acting), cards)


@pytest.mark.parametrize("minutes", [0, 1, 42, 59, 60, 64, 66, 119, 120, 1814])
def test_build_and_page_say_times_in_the_same_words(minutes):
    assert evaluate(WORDS, "m.hours(data)", minutes) == list(progress.hours(minutes))


def test_times_above_an_hour_are_to_ten_minutes():
    assert progress.hours(59) == ("59 分钟", "59 min")
    assert progress.hours(66) == ("1 小时 10 分钟", "1 h 10")
    assert progress.hours(118) == ("2 小时", "2 h")


def test_a_list_says_how_many_sections_there_are_and_how_long_they_take():
    line = BeautifulSoup(progress.summary([section("a"), section("b")]), "html.parser").p
    assert line.select_one(".lang-en").text == "2 sections, about 50 min"
    assert line.select_one(".lang-zh").text == "2 节，约 48 分钟"
    assert json.loads(line["data-minutes"]) == {
        "chapters/01-tensors/a": [24, 25], "chapters/01-tensors/b": [24, 25]}
    assert progress.summary([]) == ""


@pytest.mark.parametrize(("read", "begun", "zh", "en"), [
    ([], {}, "共 3 节，读了 0 节，还要约 1 小时 10 分钟", "0 of 3 read · about 1 h 20 left"),
    (["a"], {"b": [5, 6]}, "共 3 节，读了 1 节，还要约 29 分钟", "1 of 3 read · about 31 min left"),
    (["a", "b", "gone"], {}, "共 3 节，读了 2 节，还要约 24 分钟",
     "2 of 3 read · about 25 min left"),
    (["a", "b", "c"], {"a": [1, 1]}, "3 节都读过了", "All 3 read"),
])
def test_what_is_left_counts_what_is_read_and_what_is_in_the_middle(read, begun, zh, en):
    minutes = {name: [24, 25] for name in "abc"}
    said = evaluate(WORDS, "m.summary(data[0], data[1], new Set(data[2]))", [minutes, begun, read])
    assert said == [zh, en]


def marks(*kinds, page="a"):
    return [{"kind": kind, "page": page, "time": time, "id": f"{time}"}
            for time, kind in enumerate(kinds)]


@pytest.mark.parametrize(("given", "read"), [
    ([], []),
    (marks("read"), ["a"]),
    (marks("read", "unread"), []),
    (marks("read", "unread", "read"), ["a"]),
    (list(reversed(marks("read", "unread"))), []),  # merged from another device, in any order
    ([*marks("read"), *marks("read", "unread", page="b")], ["a"]),
    ([*marks("read"), {"kind": "prediction", "page": "b", "time": 9, "id": "x"}], ["a"]),
])
def test_the_latest_mark_of_a_page_says_whether_it_is_read(given, read):
    assert evaluate(STATE, "[...m.readPages(data)]", given) == read


@pytest.mark.parametrize(("text", "begun"), [
    (None, {}), ("", {}), ("no json", {}), ("{}", {}),
    ('{"pages": {"a": {"id": "x", "left": [3, 4]}, "b": {"left": [9, 9]}}}', {"a": [3, 4]}),
])
def test_a_page_in_the_middle_is_one_with_a_place(text, begun):
    assert evaluate(STATE, "m.begunPages(data)", text) == begun


def test_a_section_says_its_minutes_and_its_cards():
    said = {lang: BeautifulSoup(text, "html.parser")
            for lang, text in progress.minutes(section("a")).items()}
    assert {lang: line.get_text() for lang, line in said.items()} == {
        "zh": "读 15 分钟（连做题 24） · 4 张卡片", "en": "16 min (25 with exercises) · 4 cards"}
    assert [line.a["href"] for line in said.values()] == ["#recall", "#recall"]
    assert not any("<a" in text for text in progress.minutes(section("a", cards=0)).values())


@pytest.mark.parametrize(("name", "at"), [
    ("book/index", [1]), ("book/drill", [1]), ("chapters/01-tensors/views", [1]),
    ("book/status", [])])
def test_the_offer_to_go_on_stands_below_the_title(tmp_path, monkeypatch, name, at):
    (tmp_path / progress.GO_ON).write_text("offer()", encoding="utf-8")
    monkeypatch.setattr(progress, "bundles", lambda app: tmp_path)
    page = nodes.section("", nodes.title("", "T"), nodes.paragraph("", "text"))
    document = new_document(name)
    document.append(page)
    document.settings.env = SimpleNamespace(docname=name, app=None)
    progress.OfferToGoOn(document).apply()
    found = [i for i, node in enumerate(page) if 'class="go-on"' in node.astext()]
    assert found == at
