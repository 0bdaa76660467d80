"""The search of the built site finds what engineers type, and nothing where there is nothing."""

import gzip
import json

import pytest

from book.pipeline.ground.paths import SITE
from oracles.web.search_queries import answers, ask, files, judge, place, queries, tops
from tests.helpers.site import NO_SITE

pytestmark = pytest.mark.browser  # run where a site has been built

LEAST = 0.95
BUDGET = 350 * 1024  # bytes of an index, compressed
SLOW = 60            # ms; 20 on an idle machine, as the recorded result shows


@pytest.fixture(scope="module")
def asked():
    assert (SITE / "_static" / "search").is_dir(), NO_SITE
    return queries()


@pytest.fixture(scope="module")
def judged(asked):
    return judge([*asked["tuned"], *asked["held"]])


def test_of_a_hundred_queries_95_in_100_find_their_heading_among_the_first_five(judged):
    hits = sum(hit for hit, _ in judged["classes"].values())
    number = sum(all_ for _, all_ in judged["classes"].values())
    assert number >= 70
    assert hits / number >= LEAST, "\n".join(judged["misses"])


def test_no_class_of_queries_is_left_behind(judged):
    weak = {name: pair for name, pair in judged["classes"].items() if pair[0] < 0.75 * pair[1]}
    assert weak == {}, "\n".join(judged["misses"])


def test_a_query_takes_20_ms_or_less_once_the_index_is_there(judged):
    assert judged["median_ms"] <= SLOW


def test_pages_that_only_have_the_words_are_not_on_top(asked):
    assert len(asked["avoid"]) >= 12
    said = ask([one["query"] for one in asked["avoid"]])["answers"]
    titles = tops()
    for one, answer in zip(asked["avoid"], said, strict=True):
        found = [place(name, titles) for name in answer["found"][:3]]
        on_top = [name for name in found if any(name.startswith(page) for page in one["never"])]
        assert on_top == [], one["query"]


def test_what_the_book_does_not_have_is_not_found(asked):
    said = ask(asked["nothing"])["answers"]
    assert {text: answer["found"] for text, answer in zip(asked["nothing"], said, strict=True)
            if answer["found"]} == {}


def test_every_place_that_a_query_names_is_there(asked):
    folder, names = files()
    index = json.loads((folder / names["en"]).read_text("utf-8"))
    titles = tops()
    known = [place(f"{index['pages'][doc[0]]}#{doc[1]}", titles) for doc in index["docs"]]
    named = {name for part in ("tuned", "held") for one in asked[part] for name in one["find"]}
    gone = [name for name in named if not any(answers([name], one) for one in known)]
    assert gone == []


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_an_index_is_within_its_budget(asked, lang):
    folder, names = files()
    assert len(gzip.compress((folder / names[lang]).read_bytes())) <= BUDGET
