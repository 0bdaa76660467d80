"""The page on how to use the book names what exists: routes, headings, scripts, commands."""

import re

from book.extension import routes
from book.extension.front import SELF_TEST_ID
from book.extension.sections import sections, written
from book.extension.slugs import slug
from book.pipeline import environment
from book.pipeline.ground.paths import ROOT, is_section
from book.pipeline.lab import documents

TEXT = (ROOT / "book/how-to-use.md").read_text(encoding="utf-8")
FRONT = (ROOT / "book/index.md").read_text(encoding="utf-8")
HEADINGS = [slug(title) for title in re.findall(r"^#+ (.+)$", TEXT, re.M)]
ROUTES = routes.read(ROOT)
CELLS = {lang: "".join(re.findall(rf'^\+\+\+ {{"lang": "{lang}"}}\n(.*?)(?=^\+\+\+|\Z)', TEXT,
                                  re.M | re.S)) for lang in ("zh", "en")}


def test_every_route_has_a_heading_and_sections_that_are_in_the_book_once_each():
    pages = set(filter(is_section, documents(ROOT)))
    assert len(ROUTES) >= 5
    for heading, route in ROUTES.items():
        assert heading in HEADINGS
        assert set(route) <= pages
        assert len(set(route)) == len(route)


def test_a_route_goes_forward_within_each_half_of_a_chapter():
    order = {page: place for place, page in enumerate(documents(ROOT))}
    for heading in ("new-to-the-internals", "interview-on-friday", "writing-a-back-end"):
        places = [order[page] for page in ROUTES[heading]]
        assert places == sorted(places), heading


def test_the_way_to_a_back_end_holds_all_that_its_last_section_uses():
    route = [page.rpartition("/")[2] for page in ROUTES["writing-a-back-end"]]
    assert route[-1] == "mini-compile"
    assert {"scalar-to-c", "mini-dynamo", "aotautograd", "partitioner", "inductor-code",
            "fusion"} <= set(route)


def test_on_the_front_page_the_words_that_send_to_a_self_test_lead_to_one():
    ids = [slug(title) for title in re.findall(
        r"^## (.+)$", (ROOT / "chapters/01-tensors/index.md").read_text(encoding="utf-8"), re.M)]
    assert SELF_TEST_ID in ids
    for words in ("先[自测]", "[Test yourself]"):
        assert f"{words}(../chapters/01-tensors/index.ipynb#{SELF_TEST_ID})" in FRONT, words


def test_every_file_that_is_named_exists_in_both_languages():
    named = {lang: set(re.findall(r"`((?:code|book|benchmarks|binder|\.devcontainer)/[\w./-]*"
                                  r"|[\w-]+\.txt)`", cells)) for lang, cells in CELLS.items()}
    assert named["zh"] == named["en"]
    assert "benchmarks/when_it_pays.py" in named["zh"]
    assert [name for name in named["zh"] if not (ROOT / name).exists()] == []


def test_the_places_that_others_fill_are_there():
    assert {"routes", "reading-offline", "classes-and-hosted-notebooks"} <= set(HEADINGS)


def test_the_times_that_the_texts_promise_are_those_of_the_sections():
    listed = sections(ROOT, documents(ROOT)).values()
    whole = {one.document: max(one.minutes.whole("zh"), one.minutes.whole("en"))
             for chapter in listed for one in written(chapter)}
    said = [tuple(map(int, re.search(pattern, FRONT).groups())) for pattern in (
        r"第 (\d) 章和第 (\d) 章的小节都不超过 (\d+) 分钟；别的章里有些要 (\d+) 到 (\d+) 分钟",
        r"chapters (\d) and (\d) takes more than (\d+) minutes; in the other chapters some take "
        r"(\d+) to (\d+)\.")]
    assert said[0] == said[1]
    *calm, most, low, high = said[0]
    short = [page for page in whole if int(page.split("/")[1][:2]) in calm]
    assert len(short) > 20
    assert [page for page in short if whole[page] > most] == []
    assert len([page for page in whole if low <= whole[page]]) > 1, "some"
    assert max(whole.values()) <= high
    around = [page for page, minutes in whole.items() if minutes <= 26]
    assert len(around) > 2 / 3 * len(whole)  # "most sections take about 25 minutes"


def test_one_section_needs_the_packages_of_make_lab_but_for_jupyter_and_its_contents():
    wanted = [line.split("#")[0].strip() for line in
              (ROOT / environment.WANTED["lab"]).read_text().splitlines()]
    wanted = {one for one in wanted if one} - {"jupyterlab", "pyyaml"}
    for cells in CELLS.values():
        [command] = re.findall(r"`pip install ([^`]+)`", cells)
        assert set(command.replace('"', "").split()) == wanted
        [colab] = re.findall(r"`!pip install -q ([^`]+)`", cells)
        assert set(colab.replace('"', "").split()) < wanted


def test_switch_and_button_are_called_what_the_page_calls_them():
    switch = (ROOT / "book/extension/templates/parts/reading.html").read_text(encoding="utf-8")
    keep = (ROOT / "book/web/offline/words.js").read_text(encoding="utf-8")
    for lang, name, button in (("zh", "通读", "存下整本书"),
                               ("en", "Read through", "Keep the whole book")):
        assert name in CELLS[lang]
        assert f">{name}</span>" in switch
        assert button in CELLS[lang]
        assert f'"{button}"]' in keep or f'["{button}"' in keep
