"""The module inspector on its page: by keyboard, with what torch holds and calls."""

import json

import pytest

from inside.widgets.module_inspector import ESM
from inside.widgets.typed_model import LAYERS
from inside.widgets.web_module import joined_module
from oracles.typed_models import in_torch
from oracles.web.axe import violations
from tests.helpers.languages import CHINESE

pytestmark = pytest.mark.browser

NEXT = "module-inspector [data-go=next]"
CALLS = """() => [...document.querySelectorAll('.mi-calls tr[data-call]')].map((row) => [
  row.querySelector('code').textContent, ...[...row.querySelectorAll('td')].map(
    (cell) => cell.textContent)])"""
CURRENT = """() => [...document.querySelectorAll('module-inspector [aria-current]')].map(
  (row) => row.querySelector('code').textContent)"""
MARKED = """(mark) => [...document.querySelectorAll(`.mi-tree [data-mark="${mark}"]`)].map(
  (row) => row.querySelector('th code').textContent)"""


@pytest.fixture
def opened(page_of):
    def make(lang="en", **options):
        page = page_of("inspector", lang, reduced_motion="reduce", **options)
        page.locator("module-inspector .mi-tree").wait_for()
        return page
    return make


def model_of(page):
    """What torch recorded when the page was made."""
    return json.loads(page.locator("module-inspector").get_attribute("model"))


def status(page):
    return page.locator("module-inspector .w-status").inner_text()


def type_model(page, text, shape):
    page.locator("module-inspector textarea").fill(text)
    page.locator("module-inspector [name=shape]").fill(shape)
    page.keyboard.press("Tab")


def test_the_tree_shows_what_torch_holds(opened):
    page = opened()
    rows = page.locator(".mi-tree tr:has(th[scope=row])")
    recorded = model_of(page)["rows"]
    assert rows.count() == len(recorded) == 20
    for row, held in zip(rows.all(), recorded, strict=True):
        said = row.inner_text()
        assert (held["name"] or held["type"]) in said
        if "shape" in held:
            assert held["shape"] in said
            assert f"{held['bytes']} B" in said
            assert row.locator(f".mi-sign.mi-{held['kind']}").get_attribute("aria-label")
        assert row.locator(".mi-letter").all_inner_texts() == [x for x in held["letter"] if x]
    assert "_forward_hooks: 1" in page.locator(".mi-tree").inner_text()


def test_step_by_step_each_call_shows_what_torch_recorded(opened):
    page = opened()
    calls = model_of(page)["calls"]
    page.locator(NEXT).focus()
    said = [status(page)]
    while page.locator(NEXT).get_attribute("aria-disabled") != "true":
        shown = page.evaluate(CALLS)
        begun = [one for one in shown if one[1] != "…"]
        assert [one[:2] for one in begun] == [
            [call["path"] or call["type"], call["received"]] for call in calls[:len(begun)]]
        assert len(page.evaluate(CURRENT)) == 2, "in the tree and among the calls"
        page.keyboard.press("ArrowRight")
        said.append(status(page))
    assert [one[2] for one in page.evaluate(CALLS)] == [call["returned"] for call in calls]
    assert len(set(said)) == len(said) == 10
    assert not any(CHINESE.search(words) for words in said)
    assert "Tiny calls extra[0] (Linear): the shape stays (3, 4). It isn't registered" in said[3]
    assert "_forward_hooks ×1" in said[2]
    assert said[-1] == "Tiny returns (3, 10), and the forward pass is over."
    assert page.evaluate("document.activeElement.dataset.go") == "next"
    for key, place in (("Home", "1"), ("ArrowLeft", "1"), ("End", "10"), ("ArrowLeft", "9")):
        page.keyboard.press(key)
        assert page.locator("module-inspector output").inner_text() == f"{place} / 10"


def test_a_click_on_a_call_goes_there(opened):
    page = opened()
    page.locator(".mi-calls [data-call='3']").click()
    assert page.evaluate(CURRENT) == ["extra[0]", "extra[0]"]


def test_each_list_marks_its_tensors(opened, tab_to):
    page = opened()
    tab_to(page, "[data-list=p]")
    page.keyboard.press("Enter")
    assert page.evaluate(MARKED, "✓") == ["weight", "weight", "bias", "weight", "bias"]
    assert page.evaluate(MARKED, "=") == ["weight"], "the tied one"
    assert "5 tensors, on 272 bytes" in page.locator(".mi-list").inner_text()
    page.locator("[data-list=s]").click()
    assert len(page.evaluate(MARKED, "✓")) == 9
    assert page.evaluate(MARKED, "✗") == ["mask", "weight", "bias"]
    page.locator("[data-list=t]").click()
    assert page.evaluate(MARKED, "✗") == ["weight", "bias"]
    assert "stays where it is" in page.locator(".mi-list").inner_text()
    page.locator("[data-list=t]").click()
    assert page.evaluate(MARKED, "✓") == []
    assert page.locator("[aria-pressed=true][data-list]").count() == 0


def test_what_is_typed_is_what_torch_would_do(opened):
    page = opened()
    page.evaluate("""() => { window.told = []; addEventListener('typed-change',
      ({ detail }) => told.push(detail.typed)); }""")
    given = page.locator("[data-example=given]")
    assert given.get_attribute("aria-pressed") == "true"
    text = "a = Linear(4, 4); Sequential(a, ReLU(), a, BatchNorm1d(4))"
    type_model(page, text, "(2, 4)")
    calls = in_torch(text, (2, 4))["model"]["calls"]
    page.locator("module-inspector [data-go=last]").click()
    assert page.evaluate(CALLS) == [[c["path"] or c["type"], c["received"], c["returned"]]
                                    for c in calls]
    assert page.evaluate("told.at(-1)") == {"text": text, "shape": [2, 4]}
    assert page.locator(".mi-tree .mi-letter").all_inner_texts() == ["A", "A"]
    assert given.get_attribute("aria-pressed") == "false"
    given.click()
    assert given.get_attribute("aria-pressed") == "true"
    assert "Tiny" in page.locator(".mi-tree").inner_text()
    assert page.locator("module-inspector textarea").input_value() == ""
    assert page.evaluate("told.at(-1)") == {}


def test_a_typed_model_is_read_without_leaving_the_field(opened):
    page = opened()
    page.locator("module-inspector [name=shape]").fill("2, 4")
    page.locator("module-inspector textarea").fill("Linear(4, 8)")
    page.wait_for_function("document.querySelectorAll('.mi-calls tr[data-call]').length === 1")
    assert status(page) == "You call Linear: (2, 4) becomes (2, 8)."


@pytest.mark.parametrize(("lang", "message", "left"), [
    ("en", "1: Linear got (2, 8), but it wants a last dimension of size 9.",
     "What stands below, its steps included, is still the last model that fitted, "
     "not what you typed."),
    ("zh", "1: Linear 收到 (2, 8)，但是最后一维的长度应该是 9。",
     "下面还是上一个合得上的模型，一步步走的也是它，不是你刚写的。")])
def test_what_does_not_fit_is_said_in_one_line_and_the_model_before_stays(
        opened, lang, message, left):
    page = opened(lang)
    type_model(page, "Sequential(Linear(4, 8), Linear(9, 2))", "2, 4")
    assert page.get_by_role("alert").inner_text().split("\n") == [message, left]
    assert page.locator(".w-frame[data-stale]").count() == 1
    assert [one.is_visible() for one in page.locator(".mi-old").all()] == [True, True]
    area = page.locator("module-inspector textarea")
    assert area.get_attribute("aria-invalid") == "true"
    assert page.evaluate("""() => {
      const area = document.querySelector('module-inspector textarea');
      return document.getElementById(area.getAttribute('aria-describedby')).role; }""") == "alert"
    assert "Tiny" in page.locator(".mi-tree").inner_text()
    type_model(page, "Sequential(Linear(4, 8), Linear(8, 2))", "2, 4")
    assert page.get_by_role("alert").inner_text() == ""
    assert page.locator(".w-frame[data-stale]").count() == 0
    assert [one.is_visible() for one in page.locator(".mi-old").all()] == [False, False]


def test_the_layers_that_can_be_typed_are_told_before_typing(opened):
    page = opened()
    page.locator(".mi-layers summary").click()
    told = page.locator(".mi-layers code").all_inner_texts()
    assert told[0] == "Sequential"
    assert set(told[1:]) == LAYERS


def test_every_label_follows_the_language_switch(opened):
    page = opened()
    page.locator("[data-list=p]").click()
    labels = """() => [...document.querySelectorAll('module-inspector [data-label]')].map(
      (node) => node.ariaLabel).concat(['.w-status', '.mi-list'].map(
      (name) => document.querySelector(`module-inspector ${name}`).innerText))"""
    for mode, chinese in (("zh", True), ("both", True), ("en", False)):
        page.locator(f"[data-set-lang={mode}]").click()
        page.wait_for_function("mode => document.documentElement.dataset.lang === mode", arg=mode)
        told = page.evaluate(labels)
        assert len(told) > 25
        assert {bool(CHINESE.search(words)) for words in told if words != "buffer"} == {chinese}


@pytest.mark.parametrize("lang", ["zh", "en", "both"])
def test_a_phone_is_not_widened(opened, lang):
    page = opened(lang, viewport={"width": 390, "height": 800})
    page.locator("[data-list=t]").click()
    for box in (node.bounding_box() for node in page.locator(
            "module-inspector :is(button, textarea, input)").all()):
        assert min(box["width"], box["height"]) >= 44
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    for stage in page.locator("module-inspector .w-stage").all():
        assert stage.evaluate("node => node.scrollWidth <= node.clientWidth"), "nothing scrolls"
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    type_model(page, "Sequential(" * 9 + "Conv2d(3, 64, 3)" + ")" * 9, "16, 3, 128, 128")
    assert page.evaluate("document.documentElement.scrollWidth") == 390, "a long row scrolls"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(opened, scheme):
    page = opened("both", color_scheme=scheme)
    page.locator("[data-list=p]").click()
    for _ in range(3):
        page.locator(NEXT).click()
    assert violations(page, "module-inspector", at_least=11) == []
    type_model(page, "Linear(4, 8)", "5")
    assert violations(page, "module-inspector", at_least=11) == []


def test_the_kinds_differ_without_colour(opened):
    page = opened()
    looks = page.evaluate("""() => ['parameter', 'buffer', 'non-persistent', 'unregistered'].map(
      (kind) => { const style = getComputedStyle(document.querySelector(`.mi-tree .mi-${kind}`));
        return [style.borderStyle, style.backgroundImage !== 'none',
          style.backgroundColor.endsWith(', 0)')].join(); })""")
    assert len(set(looks)) == 4


def test_without_scripts_two_tables_hold_what_torch_recorded(page_of):
    page = page_of("inspector", java_script_enabled=False)
    tables = page.locator("module-inspector table")
    assert tables.count() == 2
    assert tables.first.is_visible()
    calls = [row.locator("td").all_inner_texts() for row in tables.last.locator("tr").all()[1:]]
    assert calls == [[caller, c["received"], c["returned"]] for caller, c in zip(
        ["–", *["Tiny"] * 4, "body", "body", "Tiny"], model_of(page)["calls"], strict=True)]


# ---------------------------------------------------------------- in a live notebook
LIVE = """async ([source, model]) => {
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  const { default: { render } } = await import(url);
  const state = { model, typed: {} }, listeners = { model: new Set(), typed: new Set() };
  const el = document.createElement('div');
  const set = (name, value) => {
    state[name] = value;
    for (const listener of [...listeners[name]]) listener();
  };
  window.live = { state, set, listeners, el, saved: 0 };
  document.querySelector('article').prepend(el);
  live.cleanup = render({ el, model: {
    get: (name) => state[name], set, save_changes: () => { live.saved += 1; },
    on: (event, listener) => listeners[event.split(':')[1]].add(listener),
    off: (event, listener) => listeners[event.split(':')[1]].delete(listener),
  } });
}"""


def test_in_a_live_notebook_the_kernel_gets_what_is_typed_and_its_answer_is_shown(opened):
    """With the module that a notebook gets: one text, without imports."""
    page = opened()
    page.evaluate(LIVE, [joined_module(ESM), model_of(page)])
    live = page.locator("article > div > module-inspector").first
    live.locator("[name=shape]").fill("2, 4")
    live.locator("textarea").fill("Linear(4, 8)")
    page.keyboard.press("Tab")
    assert page.evaluate("[live.state.typed, live.saved]") == [
        {"text": "Linear(4, 8)", "shape": [2, 4]}, 1]
    answer = in_torch("Linear(4, 8)", (2, 4))["model"]
    answer["calls"][0]["values"] = "1 2 3"
    page.evaluate("answer => live.set('model', answer)", answer)
    assert "First values: 1 2 3" in live.locator(".w-status").inner_text()
    assert live.locator("textarea").input_value() == "Linear(4, 8)", "what was typed stays"
    page.evaluate("live.set('typed', { text: 'ReLU()', shape: [3] })")
    assert live.locator("textarea").input_value() == "ReLU()"
    assert live.locator("[name=shape]").input_value() == "(3,)"
    assert page.evaluate("live.saved") == 1
    assert page.evaluate("(live.cleanup(), live.listeners.model.size)") == 0
