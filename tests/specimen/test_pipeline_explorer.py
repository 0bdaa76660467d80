"""The pipeline explorer on its page: a row lights what comes from its lines in all stages."""

import json

import pytest

from inside.widgets.pipeline_explorer import ESM, pipeline
from inside.widgets.pipeline_words import FUNCTIONS, STAGES
from inside.widgets.web_module import joined_module
from oracles.web.axe import violations
from tests.helpers.languages import CHINESE

pytestmark = pytest.mark.browser

RECORDED = {one["key"]: one["parts"] for one in pipeline(())["functions"]}
NAMES = {key: name[1] for key, (name, _) in STAGES.items()}
LIT = """() => Object.fromEntries([...document.querySelectorAll('pipeline-explorer .pe-stage')].map(
  (panel) => [panel.dataset.panel, [...panel.querySelectorAll('.pe-row[aria-pressed=true]')].map(
    (row) => [...row.querySelectorAll('code')].map((code) => code.textContent))]))"""
FOCUS = "document.activeElement.closest('.pe-stage').dataset.panel"
PHONE = {"viewport": {"width": 390, "height": 800}}


@pytest.fixture
def opened(page_of):
    def make(lang="en", **options):
        page = page_of("pipeline", lang, reduced_motion="reduce", **options)
        page.locator("pipeline-explorer .pe-stages").wait_for()
        return page
    return make


def show(page, function):
    page.locator(f"pipeline-explorer [data-function={function}]").click()


def row(page, stage, text):
    return page.locator(f"[data-panel={stage}] button.pe-row", has_text=text).first


def recorded(function, lines):
    """What has to be lit, by stage."""
    return {stage: [[head, *([text] if text else [])] for part in RECORDED[function][stage]
                    for head, text, own in part["rows"] if set(own) & set(lines)]
            for stage in STAGES if stage in RECORDED[function]}


def linked(function):
    """The stages after the source with rows that can be lit; the measured one has none."""
    return [stage for stage in STAGES
            if stage in RECORDED[function] and stage not in ("source", "times")]


def status(page):
    return page.locator("pipeline-explorer .w-status").inner_text()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_line_lights_what_the_record_says_in_every_stage(opened, function):
    page = opened()
    show(page, function)
    for n, line in enumerate(FUNCTIONS[function].source.splitlines(), 1):
        if line:
            page.locator(f"[data-panel=source] [data-lines='{n}']").click()
            assert page.evaluate(LIT) == recorded(function, [n])
            counts = [f"{NAMES[stage]} {len(recorded(function, [n])[stage])}"
                      for stage in linked(function)]
            assert status(page) == f"Rows that come from line {n}: {', '.join(counts)}."


def test_a_row_of_any_stage_lights_its_lines_and_a_second_click_puts_them_out(opened):
    page = opened()
    show(page, "helper")
    node = row(page, "graph", "y = l_x_ * 3")
    node.click()
    assert page.evaluate(LIT) == recorded("helper", [2, 5])
    assert len(page.evaluate(LIT)["source"]) == 2
    node.click()
    assert not any(page.evaluate(LIT).values())
    show(page, "break")
    row(page, "guards", "builtins").click()
    assert page.evaluate(LIT)["source"] == [["3", '    print("half way")']]
    assert page.locator(".pe-title", has_text="torch_dynamo_resume_in_step_at_3").count() == 7


def test_the_keyboard_reaches_every_stage_and_each_row(opened, tab_to):
    page = opened()
    tab_to(page, "[data-function=loop]")
    page.keyboard.press("Enter")
    assert page.locator("[data-function=loop]").get_attribute("aria-pressed") == "true"
    assert page.evaluate("document.activeElement.dataset.function") == "loop"
    tab_to(page, "[data-panel=source] button.pe-row")
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    assert page.evaluate(LIT) == recorded("loop", [3])
    met = []
    for _ in linked("loop"):  # a stop of Tab each, at the first row that is lit
        page.keyboard.press("Tab")
        met.append(page.evaluate(FOCUS))
        assert page.evaluate("document.activeElement.ariaPressed") == "true"
    assert met == linked("loop")
    page.keyboard.press("Enter")
    assert page.evaluate(LIT) == recorded("loop", [3])
    for _ in range(40):
        page.keyboard.press("ArrowDown")
    assert page.evaluate(FOCUS) == "rewritten", "the arrows stay within the stage"


def test_a_stage_that_is_only_data_is_shown_and_lit(opened):
    page = opened()
    page.evaluate("""() => {
      const element = document.querySelector('pipeline-explorer');
      const data = JSON.parse(element.getAttribute('pipeline'));
      data.stages.push({ key: 'later', name: ['后来的', 'Later'], what: ['新', 'New.'] });
      data.functions[0].parts.later = [{ title: '', rows: [['aten', 'add.Tensor', [3]]] }];
      element.setAttribute('pipeline', JSON.stringify(data));
    }""")
    page.locator("[data-panel=source] [data-lines='3']").click()
    assert page.evaluate(LIT)["later"] == [["aten", "add.Tensor"]]
    assert status(page).endswith("Rewritten bytecode 1, Later 1.")
    show(page, "loop")
    assert page.locator("[data-panel=later]").count() == 0, "a function may lack a stage"


def test_the_choice_is_in_the_attribute_and_told(opened):
    page = opened()
    page.evaluate("""() => { window.told = []; addEventListener('choice-change',
      ({ detail }) => told.push(detail.choice)); }""")
    show(page, "list")
    page.locator("[data-panel=source] [data-lines='3']").click()
    choice = {"function": "list", "lines": [3]}
    assert page.evaluate("told.at(-1)") == choice
    assert json.loads(page.locator("pipeline-explorer").get_attribute("choice")) == choice


def test_labels_and_words_follow_the_language_switch(opened):
    page = opened()
    page.locator("[data-panel=source] [data-lines='3']").click()
    labels = """() => [...document.querySelectorAll('.w-frame [data-label], .w-frame [data-of]')]
      .map((node) => node.ariaLabel).concat(['.w-status', '.pe-say', '.w-legend'].map(
        (name) => document.querySelector(`pipeline-explorer ${name}`).innerText))"""
    for mode, chinese in (("zh", True), ("both", True), ("en", False)):
        page.locator(f"[data-set-lang={mode}]").click()
        page.wait_for_function("mode => document.documentElement.dataset.lang === mode", arg=mode)
        told = page.evaluate(labels)
        assert len(told) == 6 + len(RECORDED["straight"]) - 1
        assert {bool(CHINESE.search(words)) for words in told} == {chinese}


@pytest.mark.parametrize("lang", ["zh", "en", "both"])
def test_a_phone_shows_the_source_and_one_stage_and_is_not_widened(opened, lang):
    page = opened(lang, **PHONE)
    shown = """() => [...document.querySelectorAll('.pe-stage')].filter(
      (panel) => panel.checkVisibility()).map((panel) => panel.dataset.panel)"""
    for function in FUNCTIONS:
        show(page, function)
        page.locator("[data-panel=source] [data-lines='2']").click()
        for stage in list(RECORDED[function])[1:]:
            tab = page.locator(f"[data-stage={stage}]")
            tab.click()
            assert page.evaluate(shown) == ["source", stage]
            lit = str(len(recorded(function, [2])[stage])) if stage in linked(function) else ""
            assert tab.locator("small").inner_text() == lit
            assert page.evaluate("document.documentElement.scrollWidth") == 390
    for box in (node.bounding_box() for node in page.locator(
            "pipeline-explorer :is([data-function], [data-stage])").all()):
        assert min(box["width"], box["height"]) >= 44
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    for one in page.locator("[data-panel=source] button.pe-row").all():
        assert one.bounding_box()["height"] >= 24


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 720}, PHONE["viewport"]])
def test_axe_finds_nothing(opened, scheme, viewport):
    page = opened("both", color_scheme=scheme, viewport=viewport)
    show(page, "break")
    page.locator("[data-panel=source] [data-lines='3']").click()
    page.evaluate("scrollTo(0, 0)")  # where the site's header covers none of it
    assert violations(page, "pipeline-explorer", at_least=9) == []


def test_without_scripts_each_row_stands_there_as_text(page_of):
    page = page_of("pipeline", java_script_enabled=False)
    folds = page.locator("pipeline-explorer details")
    assert folds.count() == len(FUNCTIONS)
    told = folds.first.inner_text()
    assert "3  call_function y += 1; y_1 = y" in told
    assert folds.first.locator("pre").count() == len(RECORDED["straight"])
    folds.nth(1).locator("summary").click()
    assert "TRUE_MATCH L['train'] == True" in folds.nth(1).inner_text()


# ---------------------------------------------------------------- in a live notebook
LIVE = """async ([source, pipeline]) => {
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  const { default: { render } } = await import(url);
  const state = { pipeline, choice: { function: 'loop', lines: [] } };
  const listeners = { pipeline: new Set(), choice: new Set() };
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


def test_in_a_live_notebook_kernel_and_page_follow_each_other(opened):
    """With the module that a notebook gets: one text, without imports."""
    page = opened()
    data = json.loads(page.locator("pipeline-explorer").get_attribute("pipeline"))
    page.evaluate(LIVE, [joined_module(ESM), data])
    live = page.locator("article > div > pipeline-explorer").first
    live.locator("[data-panel=source] [data-lines='3']").click()
    assert page.evaluate("[live.state.choice, live.saved]") == [
        {"function": "loop", "lines": [3]}, 1]
    assert page.evaluate("document.activeElement.dataset.lines") == "3"
    page.evaluate("live.set('choice', { function: 'flag', lines: [2] })")
    assert live.locator("[data-function=flag]").get_attribute("aria-pressed") == "true"
    assert live.locator("[data-panel=guards] [aria-pressed=true]").count() == 2
    assert page.evaluate("live.saved") == 1
    assert page.evaluate("(live.cleanup(), live.listeners.choice.size)") == 0


def test_what_is_lit_is_in_sight_and_the_page_stays(page_of):
    page = page_of("pipeline", lang="en", viewport={"width": 1280, "height": 800})
    box = page.locator("pipeline-explorer")
    assert box.bounding_box()["height"] < 1700
    rows = page.locator("pipeline-explorer .pe-stage:first-child button.pe-row")
    for at in (0, rows.count() - 1):
        rows.nth(at).click()
        hidden = page.evaluate("""() => [
          ...document.querySelectorAll(".pe-stage")].filter((stage) => {
          const row = stage.querySelector("button.pe-row[aria-pressed=true]");
          if (!row) return false;
          const { top, bottom } = stage.getBoundingClientRect(), at = row.getBoundingClientRect();
          return at.top < top - 1 || at.bottom > bottom + 1;
        }).length""")
        assert hidden == 0
    assert page.evaluate("""() => [...document.querySelectorAll(".pe-stage")].every((stage) => (
      stage.querySelector(".pe-name").offsetHeight < 50))"""), "a head that stays covers the rows"
