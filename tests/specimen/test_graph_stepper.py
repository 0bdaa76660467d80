"""The graph stepper on its page: by keyboard, with the numbers of Scalar, typed graphs too."""

import json
import re

import pytest

from inside.widgets import graph_stepper
from inside.widgets.graph_stepper import ESM
from inside.widgets.web_module import joined_module
from oracles.typed_expressions import in_python
from oracles.web.axe import violations
from oracles.web.javascript import evaluate
from pytorch_deep_dive import Scalar
from tests.helpers.languages import CHINESE
from tests.helpers.stepper_states import states

pytestmark = pytest.mark.browser

ENGLISH = re.compile(r"[A-Za-z]{4,}")
NEXT = "graph-stepper [data-go=next]"
PHONE = {"width": 390, "height": 800}
NEXT_AND_READY = 14  # a flow after which one node is next and another ready

# What the drawing says of each node: data, grad, and the mark at its foot.
BOXES = """() => [...document.querySelectorAll('graph-stepper .gs-box')].map((box) => [
  box.dataset.number,
  ...[...box.querySelectorAll('.gs-key:not(.gs-words) + text')].map((text) => text.textContent)])"""

# What the table in its fold says: value and grad of each node.
CELLS = """() => [...document.querySelectorAll('graph-stepper tr:has(td)')].map((row) => [
  row.cells[0].textContent.slice(1),
  ...[...row.cells].slice(-2).map((cell) => cell.textContent)])"""


@pytest.fixture
def opened(page_of):
    """Open the stepper's page, its prediction skipped: it stands in the explanation."""
    def make(lang="en", reduced_motion="reduce", **options):
        page = page_of("stepper", lang, reduced_motion=reduced_motion, **options)
        page.locator("predict-cell .predict-skip").click()
        return page
    return make


@pytest.fixture
def page(opened, request):
    """The page in English, or in the languages that `in_each_language` asks for."""
    lang = getattr(request, "param", "en")
    page = opened(lang)
    page.lang = lang
    return page


in_each_language = pytest.mark.parametrize("page", ["zh", "en", "both"], indirect=True)


def graph_of(page):
    """The graph of the attribute, as the page is to show it."""
    graph = json.loads(page.locator("graph-stepper").get_attribute("graph"))
    return evaluate(ESM.with_name("steps.js"), "m.readGraph(data)", graph)


def shown(page):
    """The number of the step as the page shows it."""
    return int(page.locator("graph-stepper output").inner_text().split(" / ")[0])


def told(page):
    """The sentence on this step, as it shows."""
    return page.locator("graph-stepper .w-status").inner_text().strip()


def rows(graph):
    """[number, value, grad] of every node after every step."""
    return [[[str(n), *pair] for n, pair in enumerate(state)] for state in states(graph)]


def neuron():
    """The leaves of the section's expression, after Scalar's own backward."""
    w, x, b = Scalar(0.75), Scalar(-2.0), Scalar(0.5)
    (((w * x + b).tanh() - 0.25) ** 2 + 0.1 * w ** 2).backward()
    return [w, x, b]


# ---------------------------------------------------------------- by keyboard
def test_the_element_stands_in_place_of_the_table(page):
    assert page.locator("graph-stepper").count() == 1
    assert page.locator("graph-stepper .w-stage svg").is_visible()
    assert not page.locator("graph-stepper table").is_visible()
    assert (shown(page), len(page.evaluate(BOXES))) == (0, 11)


def test_the_buttons_lead_to_next_previous_last_and_first(page, tab_to):
    last = len(graph_of(page)["steps"]) - 1
    seen = []
    for go, key in (("next", "Enter"), ("next", "Space"), ("previous", "Enter"), ("last", "Enter"),
                    ("first", "Space")):
        page.evaluate("document.querySelector('graph-stepper .gs-phases button').focus()")
        tab_to(page, f"graph-stepper [data-go={go}]", limit=6)
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.dataset.go") == go
        assert page.locator("graph-stepper").get_attribute("step") == str(shown(page))
        seen.append(shown(page))
    assert seen == [1, 2, 1, last, 0]


def test_the_arrow_keys_step_and_the_focus_stays(page):
    last = len(graph_of(page)["steps"]) - 1
    page.evaluate("window.kept = []")  # keys that the page itself would act on, by scrolling
    page.evaluate("addEventListener('keydown', (e) => e.defaultPrevented || kept.push(e.key))")
    page.locator(NEXT).focus()
    seen = []
    for key in ("ArrowLeft", "ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowRight", "Home"):
        page.keyboard.press(key)
        seen.append(shown(page))
        assert page.evaluate("document.activeElement.dataset.go") == "next"
    assert seen == [0, 1, 2, 1, last, last, 0]
    assert page.evaluate("kept") == []


def test_a_button_that_leads_nowhere_says_so(page):
    off = "graph-stepper [data-label][aria-disabled=true]"
    ends = {}
    for key in ("Home", "ArrowRight", "End"):
        page.locator(NEXT).press(key)
        ends[key] = page.eval_on_selector_all(off, "all => all.map((node) => node.dataset.go)")
    assert ends == {"Home": ["first", "previous"], "ArrowRight": [], "End": ["next", "last"]}


@in_each_language
def test_the_slider_and_the_two_passes_by_keyboard(page, tab_to):
    graph = graph_of(page)
    start = [step["kind"] for step in graph["steps"]].index("start")
    pressed = "graph-stepper .gs-phases [aria-pressed=true]"
    for go, expected in (("backward", start), ("forward", 0)):
        page.locator(f"graph-stepper [data-go={go}]").press("Enter")
        assert shown(page) == expected
        assert page.locator(pressed).get_attribute("data-go") == go
    tab_to(page, "graph-stepper input[type=range]", limit=6)
    for key, expected in (("ArrowRight", 1), ("End", len(graph["steps"]) - 1), ("ArrowLeft", 33)):
        page.keyboard.press(key)
        assert shown(page) == expected
    value = page.locator("graph-stepper input").get_attribute("aria-valuetext")
    assert value.startswith("33 / 34")
    assert bool(CHINESE.search(value)) == (page.lang != "en")


def test_the_focus_can_be_seen_on_every_control(page, tab_to):
    page.locator(NEXT).press("ArrowRight")  # in the middle, where all buttons lead somewhere
    page.evaluate("document.querySelector('graph-stepper textarea').focus()")
    page.keyboard.press("Shift+Tab")
    assert not page.evaluate("document.activeElement.closest('graph-stepper')")
    page.keyboard.press("Tab")
    names = []
    for _ in range(13):
        names.append(page.evaluate("""() => {
          const node = document.activeElement, { outlineStyle, outlineWidth } =
            getComputedStyle(node);
          const name = node.dataset.go ?? node.dataset.example ?? node.localName;
          return [name, node.closest('graph-stepper') !== null
            && node.matches(':focus-visible') && outlineStyle === 'solid' && outlineWidth];
        }"""))
        page.keyboard.press("Tab")
    assert names == [[name, "2px"] for name in (
        "textarea", "given", "0", "1", "2", "3", "forward", "backward",
        "first", "previous", "next", "last", "input")]


# ---------------------------------------------------------------- what it says
def test_every_step_shows_the_numbers_of_the_attribute(page):
    graph = graph_of(page)
    page.locator(NEXT).focus()
    for k, expected in enumerate(rows(graph)):
        assert shown(page) == k
        assert page.evaluate(BOXES) == expected
        assert page.evaluate(CELLS) == expected
        page.keyboard.press("ArrowRight")
    leaves = [grad for _, _, grad in expected[:3]]
    assert leaves == [f"{leaf.grad:.4g}" for leaf in neuron()]


@in_each_language
def test_the_live_region_tells_every_step_in_the_language_of_the_page(page):
    graph, status = graph_of(page), page.locator("graph-stepper .w-status")
    assert status.get_attribute("aria-live") == "polite"
    page.evaluate("window.region = document.querySelector('graph-stepper .w-status')")
    page.locator(NEXT).focus()
    said = []
    for step in graph["steps"]:
        words = told(page)
        said.append(words)
        assert bool(CHINESE.search(words)) == (page.lang != "en")
        assert bool(re.search(r"\. ?$", words)) == (page.lang != "zh")
        for field in ("grad", "after", "flow"):
            assert step.get(field, "") in words, (field, words)
        page.keyboard.press("ArrowRight")
    assert len(set(said)) == len(said)
    assert page.evaluate("region.isConnected"), "a live region that is replaced stays silent"


@in_each_language
def test_the_flow_of_a_gradient_is_told_in_full(page):
    for _ in range(26):
        page.locator(NEXT).press("ArrowRight")
    zh = ("节点 #4（#3 + b）：grad -0.8497 × 局部导数 1 = -0.8497 → 加到 #3（w * x）："
          "0 + (-0.8497) = -0.8497。#3 已收齐，就绪。")
    en = ("Node #4 (#3 + b): grad -0.8497 × local 1 = -0.8497 → added to #3 (w * x): "
          "0 + (-0.8497) = -0.8497. #3 has received everything and is ready.")
    lines = {"zh": [zh], "en": [en], "both": [zh, en]}[page.lang]
    assert [line.strip() for line in told(page).splitlines() if line.strip()] == lines


def test_the_stepper_speaks_the_language_of_the_page(page):
    labels = "graph-stepper [data-label]"
    for mode in ("en", "both", "zh"):
        page.locator(f"[data-set-lang={mode}]").click()
        named = page.eval_on_selector_all(
            labels, "all => all.map((node) => node.getAttribute('aria-label'))")
        assert len(named) == 11
        assert all(bool(CHINESE.search(label)) == (mode != "en") for label in named)
        assert all(bool(ENGLISH.search(label)) == (mode != "zh") for label in named)
        assert bool(CHINESE.search(told(page))) == (mode != "en")


# ---------------------------------------------------------------- typed by the reader
FIELD = "graph-stepper textarea"
STALE = "graph-stepper [data-stale]"


def type_over(page, text, confirm="Enter"):
    page.locator(FIELD).focus()
    page.keyboard.press("Control+a")
    page.keyboard.type(text)
    if confirm:
        page.keyboard.press(confirm)


def complaint(page):
    """What is said below the field once the reader pauses."""
    page.wait_for_selector(STALE)
    alert = page.locator("graph-stepper [role=alert]")
    field = page.locator(FIELD)
    assert field.get_attribute("aria-invalid") == "true"
    assert field.get_attribute("aria-describedby") == alert.get_attribute("id")
    assert alert.bounding_box()["y"] > field.bounding_box()["y"]
    return alert.inner_text()


def table_of(text):
    """[number, value, grad] of every node at the end, as Python has it."""
    rows = graph_stepper.rows_of(graph_stepper.read(in_python(text.split("; "))))
    return [[str(n), *row[-2:]] for n, row in enumerate(rows)]


@in_each_language
def test_an_expression_typed_by_keyboard_is_stepped_through_as_scalar_has_it(page, tab_to):
    text = "a = 2; b = -3; c = (a * b + a).tanh(); c * exp(b) ** 2"
    page.evaluate("document.querySelector('graph-stepper textarea').focus()")
    type_over(page, text, confirm=None)
    tab_to(page, NEXT, limit=12)
    page.keyboard.press("End")
    expected = table_of(text)
    assert page.evaluate(BOXES) == expected
    assert page.evaluate(CELLS) == expected
    assert bool(CHINESE.search(told(page))) == (page.lang != "en")
    assert expected[0][-1] in told(page)


def test_the_field_holds_the_expression_of_the_section_and_its_values_can_be_changed(page):
    text = page.locator(FIELD).input_value()
    assert text == "w = 0.75; x = -2; b = 0.5; ((w * x + b).tanh() - 0.25) ** 2 + w ** 2 * 0.1"
    page.locator(NEXT).press("End")
    type_over(page, text.replace("0.75", "1.25"))
    assert shown(page) == 34, "a graph of as many steps stays at its step"
    assert page.evaluate(CELLS) == table_of(text.replace("0.75", "1.25"))


def test_full_width_text_is_read(page):
    type_over(page, "ａ＝２；（ａ×ａ＋１）²")
    page.locator(NEXT).press("End")
    assert page.evaluate(CELLS) == table_of("a = 2; (a * a + 1) ** 2")


@in_each_language
def test_bad_input_is_explained_and_the_last_graph_stays(page):
    type_over(page, "x = 3; x * x")
    page.locator(NEXT).press("End")
    before = page.evaluate(CELLS)
    type_over(page, "x = 3; sin(x)")
    words = complaint(page)
    assert ("没有函数 sin" in words) == (page.lang != "en")
    assert ("There is no function sin" in words) == (page.lang != "zh")
    assert ("仍是上一个" in words) == (page.lang != "en")
    assert ("still shows the last graph" in words) == (page.lang != "zh")
    assert page.evaluate(CELLS) == before
    assert float(page.locator("graph-stepper .w-picture").evaluate(
        "node => getComputedStyle(node).opacity")) < 0.8
    type_over(page, "x = 3; exp(x)")
    assert page.locator(STALE).count() == 0
    assert page.locator("graph-stepper [role=alert]").inner_text() == ""
    assert page.locator(FIELD).get_attribute("aria-invalid") == "false"


def test_the_text_is_read_after_a_pause_on_enter_and_on_leaving(page):
    page.clock.install(time=0)
    page.clock.pause_at(3600)  # a busy machine's own time does not count
    for confirm in ("Enter", "Tab", None):
        for text, stale, size in (("a = 2; a +", 1, 11), ("a = 2; a * a", 0, 2)):
            before = (page.locator(STALE).count(), len(page.evaluate(BOXES)))
            type_over(page, text, confirm=None)
            assert (page.locator(STALE).count(), len(page.evaluate(BOXES))) == before
            if confirm:
                page.keyboard.press(confirm)
            else:
                page.clock.run_for(600)
            assert page.locator(FIELD).input_value() == text
            assert (page.locator(STALE).count(), len(page.evaluate(BOXES))) == (stale, size)
        page.locator("[data-example=given]").click()


def test_more_than_24_nodes_are_refused_and_nothing_is_evaluated(page):
    type_over(page, "a = 1; " + "a = a + a; " * 24)
    assert "25 nodes; at most 24" in complaint(page)
    type_over(page, "a = 2; alert(document)")
    assert "no function alert" in complaint(page)


def test_examples_are_shown_and_the_original_graph_comes_back(page, tab_to):
    page.locator(NEXT).press("End")
    pressed = "graph-stepper .gs-examples [aria-pressed=true]"
    assert page.locator(pressed).get_attribute("data-example") == "given"
    tab_to(page, "[data-example='2']", limit=200)
    page.keyboard.press("Enter")
    assert page.locator(pressed).get_attribute("data-example") == "2"
    assert (shown(page), len(page.evaluate(BOXES))) == (0, 4)
    type_over(page, "a = 2; a")
    assert page.locator(pressed).count() == 0
    page.locator("[data-example=given]").press("Space")
    assert (shown(page), len(page.evaluate(BOXES))) == (34, 11)
    assert page.locator(FIELD).input_value().startswith("w = 0.75; ")


def test_keys_in_the_field_edit_the_text_and_a_step_from_outside_shows_the_original(page):
    type_over(page, "a = 2; a * a")
    for key in ("Home", "ArrowRight", "End", "ArrowLeft"):
        page.keyboard.press(key)
    assert shown(page) == 0
    page.keyboard.type("1")
    assert page.locator(FIELD).input_value() == "a = 2; a * 1a"
    page.keyboard.press("Backspace")
    page.keyboard.press("Enter")
    page.locator(NEXT).press("ArrowRight")
    assert page.locator("graph-stepper").get_attribute("step") == "0"
    page.locator("graph-stepper").evaluate("node => node.setAttribute('step', 5)")
    assert (shown(page), len(page.evaluate(BOXES))) == (5, 11)


@pytest.mark.parametrize("mode", ["zh", "both"])
def test_a_phone_wraps_a_long_text_and_its_complaint(opened, mode):
    page = opened(mode, viewport=PHONE)
    type_over(page, "a = 2; " + " + ".join(["averyverylongnamewithoutanend" * 3, *"bcdefgh"]))
    complaint(page)
    field = page.locator(FIELD)
    assert field.bounding_box()["height"] > 100
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert field.evaluate("node => node.scrollWidth <= node.clientWidth")


# ---------------------------------------------------------------- a graph of torch
@pytest.fixture
def of_torch(page_of):
    return page_of("torch graph", "en", reduced_motion="reduce")


def test_a_graph_of_torch_has_no_field_for_expressions_of_scalar(page, of_torch):
    controls = "graph-stepper :is(textarea, [data-example])"
    assert page.locator(controls).locator("visible=true").count() > 4
    assert of_torch.locator(controls).count() > 4, "hidden, not missed by the selector"
    assert of_torch.locator(controls).locator("visible=true").count() == 0
    assert of_torch.locator(NEXT).is_visible()


def test_a_leaf_of_torch_goes_by_its_name(of_torch):
    nodes = graph_of(of_torch)["nodes"]
    leaves = [node["label"] for node in nodes if not node["op"]]
    signs = [f"#{node['number']}" for node in nodes if node["op"]]
    stepper = of_torch.locator("graph-stepper")
    assert stepper.locator(".gs-number").all_text_contents() == signs
    assert stepper.locator("tr > th[scope=row]").all_text_contents() == [*leaves, *signs]
    seen = stepper.locator(".w-picture").text_content()
    for k in range(len(graph_of(of_torch)["steps"])):
        show(of_torch, k)
        seen += told(of_torch)
    assert {f"#{number}" for number in re.findall(r"#(\d+)", seen)} == set(signs)
    assert leaves == ["a", "b"]
    assert "Run the AccumulateGrad of b:" in seen


# ---------------------------------------------------------------- without JavaScript
def test_without_scripts_a_table_holds_the_gradients(page_of):
    page = page_of("stepper", java_script_enabled=False)
    table = page.locator("graph-stepper table")
    assert table.is_visible()
    assert page.locator("graph-stepper :is(button, input, textarea)").count() == 0
    graph = graph_of(page)
    *_, expected = rows(graph)
    assert page.evaluate(CELLS) == expected
    grads = [cells[-1] for cells in page.evaluate(CELLS)]
    assert grads[:3] == [f"{leaf.grad:.4g}" for leaf in neuron()]
    words = table.inner_text()
    assert CHINESE.search(words)
    assert ENGLISH.search(words)


# ---------------------------------------------------------------- on a phone
@pytest.mark.parametrize("mode", ["zh", "en", "both"])
def test_a_phone_shows_every_step_without_being_widened(opened, mode):
    page = opened(mode, viewport=PHONE)
    page.locator("graph-stepper details").evaluate("fold => { fold.open = true; }")
    page.locator(NEXT).focus()
    last = len(graph_of(page)["steps"]) - 1
    for k in range(last + 1):
        wide, frame, hidden = page.evaluate("""() => {
          const element = document.querySelector('graph-stepper'), stage =
            element.querySelector('.w-stage').getBoundingClientRect();
          const frame = element.getBoundingClientRect();
          const inside = (box) => box.left >= stage.left && box.right <= stage.right
            && box.top >= stage.top && box.bottom <= stage.bottom;
          const changed = element.querySelectorAll('.gs-box:has(.gs-new)');
          return [document.documentElement.scrollWidth, [frame.left, frame.right],
            [...changed].filter((box) => !inside(box.querySelector('rect').getBoundingClientRect()))
              .map((box) => box.dataset.number)];
        }""")
        assert (k, wide, hidden) == (k, 390, [])
        assert frame[0] >= 0
        assert frame[1] <= 390
        page.keyboard.press("ArrowRight")
    assert shown(page) == last


def test_on_a_phone_the_controls_are_large_and_the_stage_scrolls_by_keyboard(opened, tab_to):
    page = opened(viewport=PHONE)
    for button in page.locator("graph-stepper :is(button, input, textarea, summary)").all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 44
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    stage = page.locator("graph-stepper .w-stage")
    assert stage.get_attribute("tabindex") == "0"  # Chromium would do without it
    tab_to(page, "graph-stepper .w-stage")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('graph-stepper .w-stage').scrollLeft > 0")
    assert shown(page) == 0


# ---------------------------------------------------------------- colours and motion
# axe does not judge SVG text: paint ground, box and badge on a canvas, then the ink, and compare.
CONTRAST = """() => {
  const pen = Object.assign(document.createElement('canvas'), { width: 1, height: 1 })
    .getContext('2d', { willReadFrequently: true });
  const paint = (colour) => { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); };
  const luminance = () => {
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((part) => part / 255)
      .map((p) => (p <= 0.04045 ? p / 12.92 : ((p + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const fill = (node) => getComputedStyle(node).fill;
  const frame = document.querySelector('graph-stepper .w-frame');
  return [...frame.querySelectorAll('.w-stage text')].flatMap((text) => {
    if (!text.textContent) return [];
    const box = text.closest('.gs-box'), grounds = [getComputedStyle(frame).backgroundColor];
    if (box && !text.matches('.gs-mark')) grounds.push(fill(box.querySelector('rect')));
    if (text.matches('.gs-number')) grounds.push(fill(box.querySelector('.gs-badge')));
    grounds.filter((colour) => colour !== 'none').forEach(paint);
    const under = luminance();
    paint(fill(text));
    const [low, high] = [under, luminance()].sort((a, b) => a - b);
    return [[text.textContent, (high + 0.05) / (low + 0.05)]];
  });
}"""


@pytest.fixture(params=["light", "dark"])
def open_page(opened, request):
    """The page in both languages and either theme, with the fold open."""
    page = opened("both", color_scheme=request.param)
    page.locator("graph-stepper details").evaluate("fold => { fold.open = true; }")
    return page


def show(page, step):
    page.locator("graph-stepper").evaluate("(node, k) => node.setAttribute('step', k)", step)
    assert shown(page) == step


def test_every_text_of_the_drawing_is_legible(open_page):
    kinds = [step["kind"] for step in graph_of(open_page)["steps"]]
    for k in [*map(kinds.index, ("forward", "start", "take", "flow", "done")), NEXT_AND_READY]:
        show(open_page, k)
        texts = open_page.evaluate(CONTRAST)
        assert len(texts) > 60
        assert [(k, text) for text in texts if text[1] < 4.5] == []


def test_axe_finds_nothing_in_a_flow_and_at_the_end(open_page):
    for k in (NEXT_AND_READY, len(graph_of(open_page)["steps"]) - 1):
        show(open_page, k)
        assert violations(open_page, "graph-stepper", at_least=11) == []


def test_axe_finds_nothing_where_the_text_cannot_be_read(open_page):
    type_over(open_page, "a = 2; a ^ 2")
    assert "xor" in complaint(open_page)
    assert violations(open_page, "graph-stepper", at_least=11) == []


def test_in_the_dark_no_light_frame_surrounds_it(opened):
    page = opened(color_scheme="dark")
    grounds = page.evaluate("""() => {
      const found = [];
      for (let node = document.querySelector('graph-stepper'); node; node = node.parentElement) {
        const { backgroundColor } = getComputedStyle(node);
        if (!backgroundColor.endsWith(', 0)')) found.push(backgroundColor);
      }
      return [...new Set(found)];
    }""")
    assert len(grounds) == 1
    assert max(map(int, re.findall(r"\d+", grounds[0])[:3])) < 60


@pytest.mark.parametrize(("motion", "name"), [("no-preference", "gs-flow"), ("reduce", "none")])
def test_a_flow_is_animated_unless_the_reader_wants_less_motion(opened, motion, name):
    page = opened(reduced_motion=motion)
    show(page, NEXT_AND_READY)
    path = page.locator("graph-stepper .gs-active path").first
    assert path.evaluate("path => getComputedStyle(path).animationName") == name


def test_with_less_motion_the_stage_jumps_to_the_node_at_once(opened):
    page = opened(viewport=PHONE)
    jumped = page.locator("graph-stepper .w-stage").evaluate("""(stage) => {
      document.querySelector('graph-stepper [data-go=backward]').click();
      return stage.scrollTop;
    }""")
    assert jumped > 50


# ---------------------------------------------------------------- in a live notebook
LIVE = """async (url) => {
  const { default: { render } } = await import(url);
  const state = { graph: document.querySelector('graph-stepper').getAttribute('graph'), step: 2 };
  const listeners = new Set(), el = document.createElement('div');
  const set = (name, value) => {
    if (state[name] === value) return;
    state[name] = value;
    for (const listener of [...listeners]) listener();
  };
  window.live = { state, set, listeners, el, saved: 0 };
  document.querySelector('article').prepend(el);
  live.cleanup = render({ el, model: {
    get: (name) => state[name], set, save_changes: () => { live.saved += 1; },
    on: (event, listener) => event === 'change:step' && listeners.add(listener),
    off: (event, listener) => event === 'change:step' && listeners.delete(listener),
  } });
}"""


def test_in_a_live_notebook_kernel_and_page_follow_each_other(opened):
    page = opened()
    page.evaluate(LIVE, page.locator("script[data-near-graph-stepper]").evaluate(
        "node => new URL(node.dataset.nearGraphStepper, document.baseURI).href"))
    live = page.locator("article > div > graph-stepper").first
    assert live.locator("output").inner_text() == "2 / 34"
    live.locator("[data-go=next]").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert page.evaluate("[live.state.step, live.saved]") == [4, 2]
    assert page.evaluate("document.activeElement.dataset.go") == "next"
    page.evaluate("live.set('step', 20)")
    assert live.locator("output").inner_text() == "20 / 34"
    assert page.evaluate("live.saved") == 2
    live.locator("textarea").fill("a = 2; a * a")
    live.locator("textarea").press("Enter")
    live.locator("[data-go=last]").click()
    assert live.locator("output").inner_text() == "7 / 7"
    assert page.evaluate("[live.state.step, live.saved]") == [20, 2], "the kernel has another graph"
    page.evaluate("live.set('step', 21)")
    assert live.locator("output").inner_text() == "21 / 34"
    assert page.evaluate("(live.cleanup(), live.listeners.size)") == 0


def test_the_joined_module_draws_as_the_bundled_one(page_of):
    """What a notebook gets: one text, without imports."""
    page = page_of("explorer", "en")
    page.add_script_tag(content=joined_module(ESM), type="module")
    page.wait_for_function("Boolean(customElements.get('graph-stepper'))")
    graph = json.dumps(graph_stepper.contract(graph_stepper.read(Scalar(2.0).exp())))
    page.evaluate("""(graph) => {
      const node = document.createElement('graph-stepper');
      node.setAttribute('graph', graph);
      document.querySelector('article').prepend(node);
    }""", graph)
    assert len(page.evaluate(BOXES)) == 2
    type_over(page, "a = 2; a * a * a")
    assert len(page.evaluate(BOXES)) == 3
