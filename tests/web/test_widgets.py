"""A widget is a folder named as its element; what widgets share knows none of them."""

import importlib
import re

import pytest
import tinycss2

from book.pipeline.ground.paths import WEB, widgets
from inside.widgets.web_module import joined_module
from oracles.web.javascript import run_node

pytestmark = pytest.mark.programs("book/web/**/*", "tests/web/**/*", "package-lock.json")

WIDGETS = widgets()
SHARED = [*sorted(WEB.glob("widget/*.js")), *sorted(WEB.glob("common/*.js")),
          *sorted(WEB.glob("styles/*.css"))]


def tenants(text, names=tuple(WIDGETS)):
    """The widgets that a text names, by their element."""
    return [name for name in names if re.search(rf"\b{name}\b", text)]


def rules(text, inside=("media",)):
    """The selectors of a style's rules at the top level and in `@media`, each by itself."""
    for rule in tinycss2.parse_rule_list(text, skip_comments=True, skip_whitespace=True):
        if rule.type == "qualified-rule":
            yield from selectors(rule.prelude)
        elif rule.at_keyword in inside:
            yield from rules(tinycss2.serialize(rule.content))


def selectors(tokens):
    """A list of selectors as texts."""
    ends = [n for n, token in enumerate(tokens) if token == ","]
    return [tinycss2.serialize(tokens[start:end]).strip()
            for start, end in zip([0, *(n + 1 for n in ends)], [*ends, None], strict=True)]


def style_of(file):
    """The style that a script holds as a template literal."""
    return file.read_text(encoding="utf-8").partition("`\n")[2].rpartition("`;")[0]


def classes(style):
    """The classes that a style speaks of; a dot before a digit is a number's."""
    return set(re.findall(r"\.([a-z][\w-]*)", style))


def test_every_folder_with_an_index_is_a_widget_and_no_other(tmp_path):
    for name in ("toy-widget", "parts"):
        (tmp_path / name).mkdir()
    (tmp_path / "toy-widget" / "index.js").touch()
    (tmp_path / "parts" / "words.js").touch()
    (tmp_path / "drill.js").touch()
    assert widgets(tmp_path) == {"toy-widget": tmp_path / "toy-widget" / "index.js"}
    assert WIDGETS.keys() >= {"stride-explorer", "graph-stepper", "loader-timeline"}


@pytest.mark.parametrize("name", WIDGETS)
def test_the_element_is_named_as_its_folder_and_its_script(name):
    source = WIDGETS[name].read_text(encoding="utf-8")
    assert f'define("{name}", ' in source


@pytest.mark.parametrize("name", WIDGETS)
def test_a_notebook_gets_it_from_the_wrapper_of_the_same_name_as_one_module(name):
    wrapper = importlib.import_module(f"inside.widgets.{name.replace('-', '_')}")
    assert WIDGETS[name] == wrapper.ESM
    module = joined_module(wrapper.ESM)
    assert not re.search(r"^import ", module, re.M)
    done = run_node("--check", "--input-type=module", "-", stdin=module)
    assert done.returncode == 0, done.stderr  # a name used twice at the top level, for one


@pytest.mark.parametrize("file", SHARED, ids=lambda file: f"{file.parent.name}-{file.name}")
def test_what_widgets_share_names_none_of_them(file):
    assert tenants(file.read_text(encoding="utf-8")) == []


def test_the_common_style_speaks_only_of_what_any_widget_has():
    found = classes(style_of(WEB / "widget" / "style.js"))
    assert {"widget", "w-frame", "w-legend", "w-error", "w-steps"} <= found
    assert [name for name in sorted(found) if not re.match(r"w-|widget$|lang-", name)] == []


@pytest.mark.parametrize("name", WIDGETS)
def test_a_widgets_own_style_stays_within_its_element(name):
    found = list(rules(style_of(WIDGETS[name].with_name("style.js"))))
    assert found
    assert [selector for selector in found if name not in selector] == []


def test_what_is_planted_in_a_style_is_found():
    assert tenants(":is(.widget, graph-stepper) { color: red; }") == ["graph-stepper"]
    assert classes(".widget { &.gs-new:hover { top: .5rem; } }") == {"widget", "gs-new"}
    planted = "toy-a p, .bare { b { top: 0 } } @media print { i { top: 0 } }"
    assert list(rules(planted)) == ["toy-a p", ".bare", "i"]
