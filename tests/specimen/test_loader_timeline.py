"""The loader's timeline on its page: by keyboard, what torch has in its books at each moment."""

import json
import re

import pytest

from inside.data.observe import virtual_loader
from inside.widgets.loader_timeline import ESM, rows_of
from inside.widgets.web_module import joined_module
from oracles.web.axe import violations
from tests.helpers.languages import CHINESE

pytestmark = pytest.mark.browser

NEXT = "loader-timeline [data-go=next]"

# What the page says of a moment, and the times in its fold.
SHOWN = """() => {
  const all = (root, selector) => [...root.querySelectorAll(selector)];
  const numbers = (node) => all(node, 'i').map((n) => +n.textContent);
  const machine = document.querySelector('.tl-machine');
  return { time: parseInt(document.querySelector('loader-timeline output').textContent),
    lanes: all(machine, 'tr:has(td)').map((row) => all(row, 'td').map(numbers)),
    ...Object.fromEntries(all(machine, 'dd').map((node) => [node.dataset.key,
      node.dataset.key === 'memory' ? +node.textContent : numbers(node)])) };
}"""
TIMES = """() => [...document.querySelectorAll('.w-table tr:has(td)')].map(
  (row) => [...row.cells].map((cell) => cell.textContent))"""
BLOCKS = """(kind) => [...document.querySelectorAll(`.tl-lanes .tl-${kind}`)].map((block) => [
  +block.textContent, parseFloat(block.style.left), parseFloat(block.style.width)])"""

# axe does not judge a text of one or two digits: paint the grounds on a canvas, then the ink.
CONTRAST = """() => {
  const pen = Object.assign(document.createElement('canvas'), { width: 1, height: 1 })
    .getContext('2d', { willReadFrequently: true });
  const paint = (colour) => { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); };
  const luminance = () => {
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((part) => part / 255)
      .map((p) => (p <= 0.04045 ? p / 12.92 : ((p + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const frame = document.querySelector('.w-frame');
  return [...frame.querySelectorAll('.tl-block:has(b:not(:empty))')].map((block) => {
    for (const node of [frame, block]) paint(getComputedStyle(node).backgroundColor);
    const under = luminance();
    paint(getComputedStyle(block.firstChild).color);
    const [low, high] = [under, luminance()].sort((a, b) => a - b);
    return [block.className.slice('tl-block tl-'.length), (high + 0.05) / (low + 0.05)];
  });
}"""


@pytest.fixture
def opened(page_of):
    """Open the timeline's page, its prediction skipped: what follows one is hidden until then."""
    def make(lang="en", **options):
        page = page_of("timeline", lang, reduced_motion="reduce", **options)
        page.locator("predict-cell .predict-skip").click()
        return page
    return make


def settings_of(page):
    return json.loads(page.locator("loader-timeline").get_attribute("settings"))


def moments(rows):
    times = ("end", "got", "given", "done")
    return sorted({0, *(row[name] for row in rows for name in times)})


def expected(rows, now, workers):
    """What the page has to show at `now` of an epoch in order, from the times of torch."""
    def numbers(since, until, worker=None):
        there = [row for row in rows if row[since] <= now < row[until]]
        return [row["batch"] for row in sorted(there, key=lambda row: (row["end"], row["batch"]))
                if worker in (None, row["worker"])]

    handed = [row["batch"] for row in rows if row["given"] <= now]
    made, results, early = (numbers(*span) for span in (
        ("start", "end"), ("end", "got"), ("got", "given")))
    return {
        "time": now, "results": results, "early": sorted(early), "loop": handed[-1:],
        "lanes": [[numbers("sent", "start", w), numbers("start", "end", w)]
                  for w in range(workers)],
        "expected": [len(handed)] if len(handed) < len(rows) else [],
        "memory": len(made) + len(results) + len(early) + bool(handed),
    }


def virtual_peak(settings):
    """The most batches in memory at once, by the times of torch."""
    rows = virtual_loader.run(settings)
    return max(sum(row["start"] <= now < row["given"] for row in rows)
               + any(row["given"] <= now for row in rows)
               for row in rows for now in (row["start"], row["given"]))


def test_step_by_step_it_shows_where_torch_has_each_batch(opened):
    page = opened()
    settings = settings_of(page)
    rows = virtual_loader.run(settings)
    assert not page.locator("loader-timeline > table").count(), "the element is there instead"
    page.evaluate("window.region = document.querySelector('.w-status')")
    page.locator(NEXT).focus()
    said = []
    for now in moments(rows):
        assert page.evaluate(SHOWN) == expected(rows, now, settings["num_workers"])
        assert settings_of(page)["at"] == now
        said.append(page.evaluate("region.isConnected && region.innerText"))
        page.keyboard.press("ArrowRight")
    assert len(set(said)) == len(said) > 15
    assert not any(CHINESE.search(words) for words in said)
    assert page.evaluate("document.activeElement.dataset.go") == "next"
    assert page.locator(NEXT).get_attribute("aria-disabled") == "true"
    ends = []
    for key in ("Home", "ArrowLeft", "ArrowRight", "ArrowLeft", "End"):
        page.keyboard.press(key)
        ends.append(page.evaluate(SHOWN)["time"])
    assert ends == [0, 0, moments(rows)[1], 0, rows[-1]["done"]]
    slider = page.locator("loader-timeline [type=range]")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(SHOWN)["time"] == moments(rows)[-2]
    assert slider.get_attribute("aria-valuetext") == f"{moments(rows)[-2]} ms"


def test_what_the_reader_sets_is_what_torch_would_do(opened):
    page = opened()
    page.evaluate("""() => { window.told = []; addEventListener('settings-change',
      ({ detail }) => told.push(detail.settings)); }""")

    def agrees():
        settings = settings_of(page)
        rows = virtual_loader.run(settings)
        total = rows[-1]["done"]
        assert page.evaluate("told.at(-1)") == settings
        assert page.evaluate(TIMES) == rows_of(rows)
        for kind, since, until in (("making", "start", "end"), ("computing", "given", "done"),
                                   ("pinning", "pinning", "pinned")):
            if kind == "pinning" and not settings["pin"]:
                assert page.evaluate(BLOCKS, kind) == []
                continue
            blocks = [[row["batch"], 100 * row[since] / total,
                       100 * (row[until] - row[since]) / total] for row in rows]
            drawn = sorted(page.evaluate(BLOCKS, kind))
            assert drawn == [pytest.approx(block, abs=1e-3) for block in sorted(blocks)]
        figures = page.locator(".tl-figures").inner_text()
        assert f"{total} ms in all" in figures
        assert " ".join(str(row["batch"]) for row in rows) in figures
        return settings

    def field(name):
        return page.locator(f"loader-timeline [name={name}]")

    field("in_order").press("Space")
    assert agrees()["in_order"] is False
    field("slow").select_option("worker")
    assert agrees()["which"] == 1, "8 is no worker"
    field("num_workers").fill("3")
    assert agrees()["num_workers"] == 3
    assert field("num_workers").evaluate("node => node.labels[0].innerText") == "num_workers 0–6"
    field("num_workers").fill("99")
    assert field("num_workers").get_attribute("aria-invalid") == "true"
    assert agrees()["num_workers"] == 3
    field("num_workers").press("Tab")
    assert field("num_workers").input_value() == "3"
    assert field("num_workers").get_attribute("aria-invalid") is None
    for name, value in {"pin": 30, "spread": 80, "startup": 90, "megabytes": 12}.items():
        field(name).fill(str(value))
        assert agrees()[name] == value
    assert f"{virtual_peak(settings_of(page)) * 12} MB" in page.locator(".tl-figures").inner_text()
    field("num_workers").fill("0")
    assert agrees()["num_workers"] == 0
    assert field("prefetch_factor").is_disabled()
    assert field("startup").is_disabled()
    field("slow").select_option("none")
    agrees()
    assert not field("factor").is_visible()


def test_every_label_follows_the_language_switch(opened):
    page = opened()
    labels = """() => [...document.querySelectorAll('loader-timeline [data-label]')].map(
      (node) => node.ariaLabel).concat([...document.querySelectorAll('loader-timeline option')].map(
      (node) => node.textContent), [document.querySelector('.w-status').innerText])"""
    for mode, chinese, english in (("zh", True, False), ("both", True, True), ("en", False, True)):
        page.locator(f"[data-set-lang={mode}]").click()
        page.wait_for_function("mode => document.documentElement.dataset.lang === mode", arg=mode)
        told = page.evaluate(labels)
        assert len(told) > 10
        assert [bool(CHINESE.search(words)) for words in told] == [chinese] * len(told)
        assert [bool(re.search("[A-Za-z]{3}", words)) for words in told[:-1]] == (
            [english] * (len(told) - 1))


def test_a_phone_is_not_widened_and_follows_the_moment(opened, tab_to):
    page = opened("both", viewport={"width": 390, "height": 800})
    for box in (node.bounding_box() for node in page.locator(
            "loader-timeline :is(button, [type=number], select, [type=range], summary, .tl-check)"
            ).all()):
        assert min(box["width"], box["height"]) >= 44
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    stage = page.locator(".w-stage")
    assert stage.get_attribute("tabindex") == "0"
    tab_to(page, ".w-stage")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('.w-stage').scrollLeft > 0")
    assert page.evaluate(SHOWN)["time"] == 0, "the stage scrolls and nothing else"
    page.locator("loader-timeline [name=batches]").fill("24")
    page.locator("loader-timeline [data-go=first]").press("Enter")
    page.locator("loader-timeline [data-go=last]").press("Enter")
    total = page.evaluate(SHOWN)["time"]
    box, frame = page.locator(".tl-track").first.bounding_box(), stage.bounding_box()
    assert box["width"] > frame["width"] + 100
    assert box["x"] + box["width"] <= frame["x"] + frame["width"], "the end is in sight"
    page.locator(".tl-track").first.click(position={"x": box["width"] * 0.8, "y": 10})
    assert total * 0.7 < page.evaluate(SHOWN)["time"] <= total * 0.8
    page.locator("loader-timeline [name=fetch]").fill("1")  # the widest that is drawn
    page.locator("loader-timeline details").evaluate("fold => { fold.open = true; }")
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_no_light_frame_surrounds_it(opened, scheme):
    page = opened("both", color_scheme=scheme)
    page.locator("loader-timeline details").evaluate("fold => { fold.open = true; }")
    for _ in range(9):
        page.locator(NEXT).press("ArrowRight")
    page.evaluate("scrollTo(0, 0)")     # else the page's head may lie over a field
    assert violations(page, "loader-timeline", at_least=11) == []
    contrasts = page.evaluate(CONTRAST)
    assert {kind for kind, _ in contrasts} == {"making", "computing", "ready"}
    assert [found for found in contrasts if found[1] < 4.5] == []
    grounds = page.evaluate("""() => {
      const found = new Set();
      for (let node = document.querySelector('loader-timeline'); node; node = node.parentElement) {
        const { backgroundColor } = getComputedStyle(node);
        if (!backgroundColor.endsWith(', 0)')) found.add(backgroundColor);
      }
      return [...found];
    }""")
    assert len(grounds) == 1


def test_without_scripts_a_table_holds_the_times_of_torch(page_of):
    page = page_of("timeline", java_script_enabled=False)
    table = page.locator("loader-timeline table")
    assert table.is_visible()
    cells = [row.locator("th, td").all_inner_texts() for row in table.locator("tr").all()[1:]]
    assert cells == rows_of(virtual_loader.run(settings_of(page)))


# ---------------------------------------------------------------- in a live notebook
LIVE = """async (source) => {
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  const { default: { render } } = await import(url);
  const state = { settings: { num_workers: 1, batches: 3, at: 0 } }, listeners = new Set();
  const el = document.createElement('div');
  const set = (name, value) => {
    if (state[name] === value) return;
    state[name] = value;
    for (const listener of [...listeners]) listener();
  };
  window.live = { state, set, listeners, el, saved: 0 };
  document.querySelector('article').prepend(el);
  live.cleanup = render({ el, model: {
    get: (name) => state[name], set, save_changes: () => { live.saved += 1; },
    on: (event, listener) => event === 'change:settings' && listeners.add(listener),
    off: (event, listener) => event === 'change:settings' && listeners.delete(listener),
  } });
}"""


def test_in_a_live_notebook_kernel_and_page_follow_each_other(opened):
    """With the module that a notebook gets: one text, without imports."""
    page = opened()
    page.evaluate(LIVE, joined_module(ESM))
    live = page.locator("article > div > loader-timeline").first
    live.locator("[data-go=next]").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("[live.state.settings.at, live.saved]") == [20, 1]
    assert page.evaluate("document.activeElement.dataset.go") == "next"
    live.locator("[name=batches]").fill("5")
    assert page.evaluate("[live.state.settings.batches, live.saved]") == [5, 2]
    page.evaluate("live.set('settings', { num_workers: 3, batches: 4, at: 40 })")
    assert live.locator("output").inner_text() == "40 ms"
    assert live.locator("[name=num_workers]").input_value() == "3"
    assert page.evaluate("live.saved") == 2
    assert page.evaluate("(live.cleanup(), live.listeners.size)") == 0
