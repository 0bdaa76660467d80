"""What the build makes of each construct of a section, in the HTML itself: no browser is needed."""


import pytest
from bs4 import BeautifulSoup

from tests.specimen.conftest import PAGES

pytestmark = pytest.mark.browser  # with the other tests of the specimen, which share its build


@pytest.fixture(scope="module")
def html(specimen):
    return lambda name: BeautifulSoup((specimen / PAGES[name]).read_text("utf-8"), "html.parser")


@pytest.fixture(scope="module")
def section(html):
    return html("section")


def texts(tags):
    return [" ".join(tag.get_text().split()) for tag in tags]


def test_ids_of_headings_come_from_their_english_halves(section):
    headings = section.select("article section > :is(h1, h2, h3)")
    assert [heading.parent["id"] for heading in headings] == [
        "everything-once", "two-predictions", "a-picture-alone", "the-picture", "your-turn",
        "what-is-wide", "say-it", "recall"]
    assert texts(headings[0].select(":scope > span")) == ["各有一处", "·", "Everything once"]


def test_a_heading_without_text_stands_before_the_next(section):
    part = section.find(id="a-picture-alone")
    assert [child.name for child in part.find_all(recursive=False)] == ["h3"]


def test_prose_stands_in_pairs_that_say_their_language(section):
    pairs = section.select(".bi-pair")
    assert len(pairs) == 11, "ten of the source, and the question that was cut off one"
    for pair in pairs:
        halves = pair.find_all(recursive=False)
        assert [half["class"][0] for half in halves] == ["lang-zh", "lang-en"]
        assert [half["lang"] for half in halves] == ["zh-Hans", "en"]


def test_a_link_without_a_text_takes_the_title_in_its_language(section):
    links = section.select(".bi-pair a[href='cheat-sheet.html']")
    assert texts(links) == ["速查表", "Cheat sheet"]


def test_a_file_of_code_is_linked_where_prose_names_it(specimen, section):
    links = section.select(".bi-pair a:has(code)")[:2]
    assert {link["href"] for link in links} == {"../../downloads/code/mini_tensor.py"}
    assert (specimen / "downloads/code/mini_tensor.py").is_file()


def test_a_formula_is_drawn_by_the_build_and_can_be_read_aloud(section):
    inline = section.select("p .katex")
    display = section.select(".math .katex-display")
    assert (len(inline), len(display)) == (2, 2)
    assert all(formula.select_one(".katex-mathml math") for formula in (*inline, *display))
    assert inline[0].select_one("annotation").get_text() == "a_i"


def test_a_fold_of_sources_is_shut_and_leads_to_a_line_of_torch(section):
    fold = section.select_one("details.fold:has(.bi-pair)")
    assert not fold.has_attr("open")
    assert texts(fold.summary.select(".lang-en")) == ["See it in the source"]
    for link in fold.select("a"):
        assert "/torch/nn/modules/module.py#L" in link["href"]


def test_a_complete_cell_holds_its_blank_and_its_solution(section):
    cell = section.select_one(".cell.complete")
    blank, solution = (pre.get_text().strip() for pre in cell.select(".highlight pre"))
    assert blank == "def twice(x):\n    ...  # blank"
    assert solution == "def twice(x):\n    return 2 * x  # blank"
    assert not cell.select_one("details").has_attr("open")


def test_the_set_up_cell_is_marked_and_the_notebooks_are_offered(specimen, section):
    assert len(section.select(".cell.tag_setup")) == 1
    line = section.select_one(".downloads")
    links = {link["data-variant"]: link["href"] for link in line.select("a[data-variant]")}
    assert list(links) == ["zh", "en", "both"]
    assert all((specimen / PAGES["section"]).parent.joinpath(href).is_file()
               for href in links.values())


@pytest.mark.parametrize(("name", "own", "near"), [
    ("section", {"predict", "glossary"}, set()),
    ("explorer", {"moved-anchors"}, {"stride-explorer", "aligned-shapes"}),
    ("drill", {"drill", "prediction-record"}, set()),
    ("stepper", {"predict"}, {"graph-stepper"}), ("timeline", {"predict"}, {"loader-timeline"}),
    ("inspector", set(), {"module-inspector"}), ("pipeline", set(), {"pipeline-explorer"}),
    ("sheet", set(), set())])
def test_a_page_runs_the_scripts_of_its_own_elements_only(html, name, own, near):
    modules = html(name).select("head script[type=module]")
    later = {name.removeprefix("data-near-") for script in modules for name in script.attrs
             if name.startswith("data-near-")}
    assert later == near
    expected = own | {"near"} if near else own
    assert {script["src"].rpartition("/")[2].partition(".")[0] for script in modules} == expected
