"""Of the theme, a page holds what it uses; how it is made has one order."""

import importlib
import pkgutil
import subprocess
import sys
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from sphinx.transforms import SphinxTransform

from book import extension
from book.pipeline.paths import ROOT

CONF = f"""
import sys, yaml
sys.path[:0] = [{str(ROOT)!r}]
config = yaml.safe_load(open({str(ROOT / "_config.yml")!r}, encoding="utf-8"))["sphinx"]["config"]
names = set(config["extensions"]) - {{"jupyter_book", "sphinx_external_toc", "book.extension"}}
extensions = [*names, "book.extension.theme"]
html_theme = "sphinx_book_theme"
html_title = config["html_title"]
html_theme_options = config["html_theme_options"]
html_sidebars = config["html_sidebars"]
html_use_index = config["html_use_index"]
html_math_renderer = "mathjax"
templates_path = [{str(ROOT / "book/extension/templates")!r}]
html_context = {{"early_script": "early()", "default_mode": "auto"}}
nb_ipywidgets_js = config["nb_ipywidgets_js"]
"""
INDEX = """# 书 · Book

```{toctree}
:caption: 机器 · Machines
chapter
```
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("theme")
    (folder / "conf.py").write_text(CONF)
    (folder / "index.md").write_text(INDEX)
    (folder / "chapter.md").write_text("# Chapter\n\n```{toctree}\nsection\n```\n")
    (folder / "section.md").write_text("# Section\n\n```python\nx = 1\n```\n")
    done = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", str(folder),
                           str(folder / "out")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "out"


@pytest.fixture(scope="module")
def page(site):
    return BeautifulSoup((site / "section.html").read_text(encoding="utf-8"), "html.parser")


@pytest.mark.slow
def test_a_page_holds_two_scripts_of_its_own_and_no_more(page):
    inline = [script.string.strip() for script in page.select("script:not([src])")]
    assert len(inline) == 2
    assert inline[0].startswith("document.documentElement.dataset.mode")
    assert inline[1] == "early()"


@pytest.mark.slow
def test_nothing_of_what_the_book_does_not_have_is_left(site, page):
    text = str(page).lower()
    for word in ("thebe", "binder", "ethical", "version-warning", "searchbox", "searchtools",
                 "togglebutton", "sphinx-design"):
        assert word not in text
    assert not (site / "searchindex.js").exists()
    assert not (site / "search.html").exists()
    assert not (site / "genindex.html").exists()
    assert len(page.select("meta[name=viewport]")) == 1


@pytest.mark.slow
def test_names_in_the_sidebar_are_in_both_languages(page):
    captions = page.select(".caption-text, .logo__title")
    assert [[half.get_text() for half in caption.select("[lang]")] for caption in captions] == [
        ["由内而外学 PyTorch", "PyTorch Inside Out"], ["机器", "Machines"]]
    toggles = page.select(".bd-links summary")
    assert toggles
    for toggle in toggles:
        assert [half["lang"] for half in toggle.select(".visually-hidden [lang]")] == [
            "zh-Hans", "en"]


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
