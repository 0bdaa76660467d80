"""The search of the built site finds what engineers type, and nothing where there is nothing."""

import gzip

import pytest

from book.pipeline.finish import search
from book.pipeline.ground import digests
from book.pipeline.ground.paths import SITE
from oracles.web.search_queries import answers, ask, at_first, judge, loaded, place, queries, tops
from tests.helpers.grown_book import grown
from tests.helpers.site import NO_SITE
from tests.pages.conftest import SEARCH, visited

pytestmark = pytest.mark.browser  # run where a site has been built

LEAST = 0.95
FIRST = 60 * 1024    # bytes, compressed, of all that is loaded before the first answer
CHAPTER = 90 * 1024  # and of what one chapter adds in a language
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


def test_no_query_waits_once_the_index_is_there(judged):
    assert judged["median_ms"] <= 10 * SLOW  # how fast it is, `make bench ONLY=search` says


def test_a_chapter_that_is_being_written_is_the_first_answer_to_what_it_will_be_about(asked):
    planned = [one for one in asked["tuned"] if one["class"] == "planned"]
    assert len(planned) >= 8
    said = ask([one["query"] for one in planned])["answers"]
    assert {one["query"]: answer["found"][0] for one, answer in zip(planned, said, strict=True)
            } == {one["query"]: one["find"][0] for one in planned}


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


def test_most_queries_of_a_few_words_are_answered_by_the_headings_alone(asked):
    said = judge([*asked["tuned"], *asked["held"]], whole=False)
    hits, number = (sum(pair[at] for pair in said["classes"].values()) for at in (0, 1))
    assert hits / number >= 0.5, "\n".join(said["misses"])
    assert said["classes"]["zh-two"][0] >= 0.75 * said["classes"]["zh-two"][1]


def test_every_place_that_a_query_names_is_there(asked):
    titles = tops()
    known = [place(f"{entry.page}#{entry.anchor}", titles) for entry in search.of_site(SITE)]
    named = {name for part in ("tuned", "held") for one in asked[part] for name in one["find"]}
    gone = [name for name in named if not any(answers([name], one) for one in known)]
    assert gone == []


def wire(*contents):
    return sum(len(gzip.compress(content)) for content in contents)


def test_what_is_loaded_before_the_first_answer_is_within_its_budget(asked):
    assert wire(*(file.read_bytes() for file in at_first())) <= FIRST


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_what_a_chapter_adds_is_within_its_budget(asked, lang):
    pairs = loaded(lang)[1:]
    for both, own in zip(pairs[::2], pairs[1::2], strict=True):
        assert wire(both.read_bytes(), own.read_bytes()) <= CHAPTER, both.name


def test_with_140_sections_and_1000_cards_the_first_answer_costs_no_more_than_its_budget(asked):
    found, words = grown(search.of_site(SITE), search.synonyms(), sections=140, cards=1000)
    made = search.index(found, words)
    first = digests.canonical(made["first"]).encode()
    rest = [file.read_bytes() for file in at_first() if not file.name.startswith("first.")]
    assert wire(first, *rest, rest[0]) <= FIRST  # the names of twice as many files


def test_no_visit_of_a_page_is_remembered_by_the_searchs_files(asked):
    files = visited("book/drill.html").marks[0].args
    assert SITE / "_static" / "all-pages.js" in files
    assert [file for file in files if SEARCH in file.parents] == []
    assert any(SEARCH.glob("text-*"))
