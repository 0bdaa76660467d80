"""What stands around a page, which scripts and styles it loads; how it is made has one order."""

import importlib
import pkgutil
import subprocess
import sys
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from sphinx.transforms import SphinxTransform

from book import extension
from book.extension import layout
from book.pipeline.ground.paths import ROOT

CONF = f"""
import sys, yaml
sys.path[:0] = [{str(ROOT)!r}]
config = yaml.safe_load(open({str(ROOT / "_config.yml")!r}, encoding="utf-8"))["sphinx"]["config"]
names = set(config["extensions"]) - {{"jupyter_book", "book.extension"}}
extensions = [*names, "book.extension.bilingual", "book.extension.layout"]
html_theme = config["html_theme"]
html_title = config["html_title"]
html_use_index = config["html_use_index"]
html_permalinks_icon = config["html_permalinks_icon"]
html_math_renderer = "mathjax"
html_context = {{"early_script": "early()", "head": {{"theme_colors": {{}}}}}}
nb_ipywidgets_js = config["nb_ipywidgets_js"]
"""
TOC = """root: index
subtrees:
- caption: 机器 · Machines
  entries:
  - file: chapters/02-part/index
    entries:
    - file: chapters/02-part/one
    - file: chapters/02-part/two
"""
OPENING, ONE, TWO = (f"chapters/02-part/{name}" for name in ("index", "one", "two"))
TEXTS = {
    "index": "# Book\n", OPENING: "# Part\n", ONE: "# Section\n\n```python\nx = 1\n```\n",
    TWO: "# Other\n\n## First\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## Second\n\n### Inner\n",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("layout")
    (folder / "conf.py").write_text(CONF)
    (folder / "_toc.yml").write_text(TOC)
    (folder / "web").mkdir()  # beside the site: what esbuild makes
    for name, text in TEXTS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.md").write_text(text)
    done = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", str(folder),
                           str(folder / "out")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "out"


def soup(site, name):
    return BeautifulSoup((site / f"{name}.html").read_text(encoding="utf-8"), "html.parser")


@pytest.fixture(scope="module")
def page(site):
    return soup(site, ONE)


@pytest.mark.slow
def test_a_page_holds_one_inline_script_and_no_file_of_others(page):
    assert [script.string for script in page.select("script")] == ["early()"]
    assert page.select("link[rel=stylesheet]") == []


@pytest.mark.slow
def test_nothing_of_what_the_book_does_not_have_is_left(site, page):
    text = str(page).lower()
    for word in ("thebe", "binder", "ethical", "version-warning", "searchbox", "searchtools",
                 "togglebutton", "sphinx-design", "pydata", "font-awesome", "fa-solid"):
        assert word not in text
    assert not (site / "searchindex.js").exists()
    assert not (site / "search.html").exists()
    assert not (site / "genindex.html").exists()
    assert len(page.select("meta[name=viewport]")) == 1


@pytest.mark.slow
def test_a_page_says_what_it_is(site):
    said = {name: [soup(site, name).body.get(f"data-{key}") for key in ("page", "kind", "chapter")]
            for name in ("index", OPENING, ONE)}
    assert said == {"index": ["index", "front", None], OPENING: [OPENING, "opening", "2"],
                    ONE: [ONE, "section", "2"]}


@pytest.mark.slow
def test_above_a_title_stand_the_chapter_and_the_place_in_it(site):
    lines = {name: [half.get_text() for half in soup(site, name).select(".kicker [lang]")]
             for name in TEXTS}
    assert lines == {"index": [], OPENING: ["第 2 章 · 动手运行", "Chapter 2 · Run it"],
                     ONE: ["2.1 · 动手运行", "2.1 · Run it"],
                     TWO: ["2.2 · 动手运行", "2.2 · Run it"]}


@pytest.mark.slow
def test_names_in_the_contents_are_in_both_languages(page):
    captions = page.select("#contents .caption, .brand-name")
    assert [[half.get_text() for half in caption.select("[lang]")] for caption in captions] == [
        ["由内而外学 PyTorch", "PyTorch Inside Out"], ["机器", "Machines"]]
    toggles = page.select("#contents summary")
    assert len(toggles) == 1
    assert [half["lang"] for half in toggles[0].select(".visually-hidden [lang]")] == [
        "zh-Hans", "en"]


@pytest.mark.slow
def test_the_contents_lead_to_every_page_and_only_the_chapter_being_read_is_open(site):
    for name, chapter_is_open in (("index", False), (OPENING, True), (TWO, True)):
        nav = soup(site, name).select_one("#contents")
        assert [link["data-page"] for link in nav.select("a")] == [OPENING, ONE, TWO]
        ways = {link["data-page"]: link["href"] for link in nav.select("a")}
        assert ways.pop(name, "#") == "#"
        for other, way in ways.items():
            assert ((site / name).parent / way).resolve() == site / f"{other}.html"
        assert bool(nav.select("details[open]")) is chapter_is_open
        here = [link["data-page"] for link in nav.select("[aria-current=page]")]
        assert here == ([] if name == "index" else [name])


@pytest.mark.slow
def test_the_list_of_a_page_has_its_headings_below_the_title(site):
    links = soup(site, TWO).select("#on-this-page a")
    assert [link["href"] for link in links] == ["#first", "#second", "#inner"]
    assert soup(site, ONE).select("#on-this-page") == []


@pytest.mark.slow
def test_folds_of_one_name_are_numbered_for_who_hears_the_page_and_a_single_one_is_not():
    fold = '<details class="fold{}">\n<summary>{}</summary>'
    body = "".join((fold.format("", "See"), fold.format(" set-up", "Prepare"),
                    fold.format(" proof", "See"), "<details><summary>See</summary>"))
    number = '<span class="visually-hidden"> {}</span></summary>'
    assert layout.numbered(body) == "".join((
        fold.format("", "See").replace("</summary>", number.format(1)),
        fold.format(" set-up", "Prepare"),
        fold.format(" proof", "See").replace("</summary>", number.format(2)),
        "<details><summary>See</summary>"))


def test_a_table_stands_in_a_box_that_scrolls_and_tab_reaches(site):
    boxes = soup(site, TWO).select(".wide-table[tabindex='0'] > table")
    assert len(boxes) == 1


def test_every_transform_of_the_extension_has_its_place():
    modules = [importlib.import_module(f"book.extension.{module.name}")
               for module in pkgutil.iter_modules(extension.__path__)]
    found = {one for module in modules for one in vars(module).values()
             if isinstance(one, type) and one.__module__ == module.__name__
             and one.__mro__[1] is SphinxTransform}
    assert found == set(extension.TRANSFORMS)
    assert len(extension.TRANSFORMS) == len(found)


def test_transforms_run_in_the_order_of_the_list():
    added = []
    extension.add(SimpleNamespace(add_transform=added.append), extension.TRANSFORMS)
    assert added == list(extension.TRANSFORMS)
    priorities = [transform.default_priority for transform in added]
    assert priorities == sorted(set(priorities))
