"""The bar and the contents, what is wide on a phone, and what a printed page holds."""

import re

import pytest

from book.pipeline.ground.long_lines import long_lines
from tests.helpers import pdf
from tests.helpers.languages import CHINESE

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 800}
MODES = ("zh", "en", "both")

# The specimen's wide things: how each overflows, whether it scrolls, and whether Tab reaches it.
WIDE = """() => Object.fromEntries(Object.entries({
  code: '.cell_input pre', formula: '.math .katex-display', output: '.cell_output > .output',
  table: '.wide-table',
}).map(([name, selector]) => {
  const shown = [...document.querySelectorAll(`article ${selector}`)].filter(
    (box) => box.scrollWidth > box.clientWidth + 1 && box.checkVisibility());
  return [name, shown.map((box) => [getComputedStyle(box).overflowX,
    (box.scrollLeft = 99, box.scrollLeft > 0), box.tabIndex === 0])];
}))"""

# Code in tables that is cut though a line of 20 rem could hold it.
CUT = """() => [...document.querySelectorAll('article :is(td, th) code')].filter((code) => {
  const lines = new Set([...code.querySelectorAll('.pre')].flatMap((word) => (
    [...word.getClientRects()].map(({ top }) => Math.round(top)))));
  const one = code.textContent.length * parseFloat(getComputedStyle(code).fontSize) * 0.63;
  return lines.size > 1 && one < 290;
}).map((code) => code.textContent)"""
REACHED = """() => [...document.querySelectorAll('article .wide-table')]
  .every((box) => (box.tabIndex === 0) === (box.scrollWidth > box.clientWidth))"""


def test_what_is_wide_scrolls_inside_itself(page_of, open_all):
    page = page_of("section", lang="zh", viewport=PHONE)
    open_all(page)
    for mode in MODES:
        page.locator(f"[data-set-lang={mode}]").click()
        page.wait_for_function(REACHED)  # the observer looks a frame later
        wide = page.evaluate(WIDE)
        tables = 2 if mode == "both" else 1
        assert not wide["code"], mode
        assert len(wide["table"]) == tables, (mode, wide)
        assert all(overflow == "auto" and scrolled for found in wide.values()
                   for overflow, scrolled, _ in found), (mode, wide)
        assert all(by_keyboard for found in (wide["table"],)
                   for *_, by_keyboard in found), (mode, wide)
        assert page.evaluate(CUT) == [], mode
        assert page.evaluate("[innerWidth, document.documentElement.scrollWidth]") == [390, 390]


def test_the_wide_formula_and_the_html_table_of_an_output_scroll_too(page_of, open_all):
    page = page_of("section", lang="en", viewport=PHONE)
    open_all(page)
    wide = page.evaluate(WIDE)
    assert len(wide["formula"]) == 1
    assert len(wide["output"]) == 1


def test_the_switch_and_the_menus_can_be_reached_on_a_phone(page_of, template):
    page = page_of(template, viewport=PHONE)
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        buttons = page.locator(".site-header button").locator("visible=true").all()
        assert len(buttons) >= 5
        for button in buttons:
            box = button.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            assert min(box["width"], box["height"]) >= 24
        assert page.evaluate("document.documentElement.scrollWidth") == width
    page.locator(".contents-button").click()
    assert page.locator("dialog[open] #contents a").first.is_visible()


@pytest.mark.parametrize("lang", MODES)
def test_no_page_is_wider_than_a_phone(page_of, template, lang):
    page = page_of(template, lang=lang, viewport=PHONE)
    wider = []
    for width in (320, 344, 360, 375):
        page.set_viewport_size({"width": width, "height": 800})
        wider.append((width, page.evaluate("document.documentElement.scrollWidth")))
    assert all(width == found for width, found in wider), wider


HANGING = """(e, spaces) => {
  e.textContent = `${' '.repeat(spaces)}long(${'name, '.repeat(12)})`;
  e.style.setProperty('--in', spaces);
  const word = document.createRange(), all = document.createRange();
  word.setStart(e.firstChild, spaces);
  word.setEnd(e.firstChild, spaces + 1);
  all.selectNodeContents(e);
  const left = e.getBoundingClientRect().left, rows = [...all.getClientRects()];
  const { left: begins, width } = word.getBoundingClientRect();
  return [(begins - left) / width, (rows.at(-1).left - left) / width, rows.length];
}"""
OPEN = "document.querySelectorAll('.card details').forEach((fold) => { fold.open = true; })"
SIDEWAYS = """(selector) => [...document.querySelectorAll(selector)].filter(
  (pre) => pre.scrollWidth > pre.clientWidth).map((pre) => pre.textContent)"""


@pytest.mark.parametrize("place", [".cell_input", ".card"])
def test_a_long_line_of_code_hangs_on_a_phone_and_stands_whole_on_a_desk(page_of, place):
    page = page_of("section", lang="en", viewport=PHONE)
    page.evaluate(OPEN)
    line = page.locator(f"{place} .line").locator("visible=true").first
    for spaces in (4, 12):
        indent, hang, rows = line.evaluate(HANGING, spaces)
        assert rows > 1
        assert [round(indent, 1), round(hang, 1)] == [spaces, spaces + 2]
    page.set_viewport_size({"width": 1280, "height": 800})
    assert line.evaluate("e => getComputedStyle(e).display") == "inline"


LONG = "a_word_without_any_place_to_break_in_it_" * 3
ROWS = """(e, html) => {
  e.outerHTML = html;
  const line = document.querySelector('[data-tried]').firstElementChild, boxes = [];
  const texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    for (let at = 0; at < texts.currentNode.length; at += 1) {
      const one = document.createRange();
      one.setStart(texts.currentNode, at);
      one.setEnd(texts.currentNode, at + 1);
      boxes.push(one.getBoundingClientRect());
    }
  }
  const { left, top, height, right } = boxes[0], room = line.getBoundingClientRect().right;
  const first = boxes.filter((box) => Math.abs(box.top - top) < height / 2);
  return { text: line.textContent, rows: new Set(boxes.map((box) => Math.round(box.top))).size,
           first: first.length, columns: (room - left) / (right - left) };
}"""


@pytest.mark.parametrize("code", [
    f'<span class="s2">"{LONG}"</span>', f'<span class="p">(</span>{LONG})', LONG,
    f"&quot;{LONG}&quot;"])
def test_on_a_phone_the_row_of_the_indent_holds_code_too(page_of, code):
    page = page_of("section", lang="en", viewport=PHONE)
    line = page.locator(".cell_input .line").locator("visible=true").first
    html = f"<span data-tried>{long_lines(' ' * 8 + code)}</span>"
    seen = line.evaluate(ROWS, html)
    plain = re.sub("<[^>]*>", "", code).replace("&quot;", '"')
    assert seen["text"] == " " * 8 + plain
    assert seen["rows"] > 2
    assert seen["columns"] - 6 < seen["first"] <= seen["columns"]  # beside the button that copies


@pytest.mark.parametrize("width", [320, 390])
def test_code_of_cards_is_read_without_scrolling_on_a_phone(page_of, width):
    page = page_of("section", lang="en", viewport={"width": width, "height": 800})
    page.evaluate(OPEN)
    assert page.locator(".card .highlight pre").count() > 7
    assert page.evaluate(SIDEWAYS, ".card .highlight pre") == []


def test_side_by_side_the_line_above_a_title_stands_in_its_columns(page_of):
    page = page_of("section", lang="both", viewport={"width": 1800, "height": 900})
    left = "e => e.getBoundingClientRect().left"
    for lang in ("zh", "en"):
        of_line, of_title = (page.locator(f"{part} > .lang-{lang}").first.evaluate(left)
                             for part in (".kicker", "article h1"))
        assert abs(of_line - of_title) < 1, lang
    style = "e => [getComputedStyle(e).color, getComputedStyle(e).fontWeight]"
    assert page.locator("h1 > .lang-zh").evaluate(style) == page.locator(
        "h1 > .lang-en").evaluate(style)
    assert page.locator("#on-this-page").is_visible()


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_buttons_without_words_are_named_in_the_language_that_is_read(page_of, lang):
    page = page_of("section", lang=lang)
    names = page.locator(".theme-button, .contents-button, .copy, #contents").evaluate_all(
        "all => all.map((e) => e.ariaLabel)")
    assert len(names) > 5
    assert [name for name in names if bool(CHINESE.search(name)) != (lang == "zh")] == []


def test_tab_does_not_stop_at_the_links_of_headings(page_of):
    links = page_of("section", lang="en").locator(".headerlink")
    assert set(links.evaluate_all("all => all.map((e) => e.tabIndex)")) == {-1}


def test_print_opens_what_is_folded_shows_outputs_and_hides_forms(page_of):
    page = page_of("section", lang="en")
    page.emulate_media(media="print")
    folds, closed = page.evaluate("""() => {
      const folds = [...document.querySelectorAll('article details')]
        .filter((fold) => fold.checkVisibility()); // not those of the other language
      return [folds.length, folds
        .filter((fold) => ![...fold.children].slice(1).some((child) => child.checkVisibility(
          { contentVisibilityAuto: true }) && child.getBoundingClientRect().height > 0))
        .map((fold) => fold.textContent.slice(0, 60))];
    }""")
    assert folds > 10
    assert closed == []
    assert not page.locator("form, .lang-switch").locator("visible=true").count()
    outputs = page.locator("predict-cell pre").all()
    assert len(outputs) == 2
    assert all(output.is_visible() for output in outputs)


# A long line at the end of all code that is printed, and every line of it, without spaces.
LENGTHENED = """(long) => [...document.querySelectorAll("article pre")].map((pre, at) => {
  const line = document.createElement("span");
  line.className = "line";
  line.style.setProperty("--in", 4);
  line.textContent = `\\n    begin_${at}(${long})_end_${at}`;
  pre.append(line);
  return pre;
}).filter((pre) => !pre.closest(".card-proof:not([open])") && pre.checkVisibility())
  .flatMap((pre) => pre.textContent.split("\\n")).map((text) => text.replace(/\\s/g, ""))"""


def printed(page, paper):
    sheets = pdf.pages(page.pdf(format=paper))
    return len(sheets), re.sub(r"\s", "", "".join(sheet.text for sheet in sheets))


@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("name", ["section", "torch graph"])
def test_no_character_of_code_is_lost_on_paper(page_of, name, lang, paper):
    page = page_of(name, lang=lang)
    page.emulate_media(media="print")
    lines = page.evaluate(LENGTHENED, "name, (1, 2), " * 12)
    _, text = printed(page, paper)
    assert sum("_end_" in line for line in lines) >= 1
    assert [line for line in lines if line not in text] == []


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_proof_of_a_card_is_printed_where_a_reader_has_opened_it(page_of, lang):
    page = page_of("section", lang=lang)
    proofs = [re.sub(r"\s", "", text) for text in
              page.locator(".card-proof pre").evaluate_all("all => all.map((e) => e.textContent)")]
    assert len(proofs) > 5
    sheets, text = printed(page, "A4")
    assert [proof for proof in proofs if proof in text] == []
    page.evaluate("document.querySelector('.card-proof').open = true")
    more, text = printed(page, "A4")
    assert [proof for proof in proofs if proof in text] == proofs[:1]
    assert more >= sheets


# Columns of code that each box of code could show without scrolling, by where it stands.
COLUMNS = """() => [...document.querySelectorAll("article pre")]
  .filter((pre) => pre.checkVisibility()).map((pre) => {
    const { font, paddingLeft, paddingRight } = getComputedStyle(pre);
    const ink = document.createElement("canvas").getContext("2d");
    ink.font = font;
    const room = pre.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    return [Math.floor(room / ink.measureText("m").width), pre.textContent.slice(0, 40)];
  })"""


@pytest.mark.parametrize("lang", MODES)
@pytest.mark.parametrize("name", ["section", "torch graph"])
def test_80_columns_of_code_are_read_without_scrolling_on_a_desk(page_of, open_all, lang, name):
    page = page_of(name, lang=lang, viewport={"width": 1024, "height": 800})
    open_all(page)
    for width in (1024, 1100, 1247, 1248, 1280, 1440, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        found = page.evaluate(COLUMNS)
        assert found
        assert [one for one in found if one[0] < 80] == [], width
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_80_columns_of_a_card_with_code_are_read_without_scrolling_in_the_drill(page_of):
    page = page_of("drill", lang="en", viewport={"width": 1024, "height": 800})
    page.locator("card-drill button.drill-primary").wait_for()
    page.evaluate("""() => { const card = document.createElement("div");
      card.className = "drill-card";
      card.innerHTML = '<div class="highlight"><pre>x</pre></div>';
      document.querySelector("card-drill").append(card); }""")
    assert [one for one in page.evaluate(COLUMNS) if one[0] < 80] == []


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_code_begins_where_the_text_does(page_of, lang):
    page = page_of("section", lang=lang)
    text = page.locator("article h1").evaluate("e => e.getBoundingClientRect().left")
    code = page.locator(".cell_input pre").locator("visible=true").first.evaluate(
        "e => e.getBoundingClientRect().left + parseFloat(getComputedStyle(e).paddingLeft)")
    assert abs(text - code) < 1


def test_side_by_side_the_page_keeps_its_list_and_a_button_that_says_contents(page_of):
    page = page_of("section", lang="both")
    assert page.locator("#on-this-page").is_visible()
    left, right = (page.locator(f".bi-pair > .lang-{lang}").first.bounding_box()
                   for lang in ("zh", "en"))
    assert left["y"] == right["y"]
    assert min(left["width"], right["width"]) > 400
    button = page.get_by_role("button", name="Contents of the book")
    assert "目录 · Contents" in button.inner_text()
    button.click()
    assert page.locator("dialog[open] #contents a").first.is_visible()


@pytest.mark.parametrize(("lang", "name"), [
    ("zh", "代码，可以横向滚动"), ("en", "Code, scrolls sideways")])
def test_code_that_scrolls_has_a_name_and_what_fits_has_none(page_of, lang, name):
    page = page_of("section", lang=lang)
    code = page.locator(".cell_input pre").locator("visible=true").first
    assert code.get_attribute("role") is None
    code.evaluate("e => { e.firstChild.after('x'.repeat(300)); e.style.maxWidth = '20rem'; }")
    page.get_by_role("group", name=name).first.wait_for()
    assert code.evaluate("e => [e.tabIndex, e.role, e.ariaLabel]") == [0, "group", name]


BROKEN = """(title) => {
  const h1 = document.querySelector("article h1 .lang-zh");
  h1.textContent = title;
  const range = document.createRange(), node = h1.firstChild;
  const tops = [...title].map((_, at) => { range.setStart(node, at); range.setEnd(node, at + 1);
    return Math.round(range.getBoundingClientRect().top); });
  return tops.flatMap((top, at) => (at && top > tops[at - 1] + 5 ? [title[at - 1]] : []));
}"""


@pytest.mark.parametrize("title", [
    "图中断：断在哪里，怎样修好", "钩子：什么时候运行，什么时候不运行", "推理张量：学不动的权重"])
def test_a_chinese_title_breaks_after_a_mark_and_not_inside_a_phrase(page_of, title):
    for width in (390, 640, 1280):
        page = page_of("section", lang="zh", viewport={"width": width, "height": 800})
        assert set(page.evaluate(BROKEN, title)) <= {"：", "，"}, width
