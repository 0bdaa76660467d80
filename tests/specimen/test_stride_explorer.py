"""The stride explorer on its page: by keyboard, with the addresses that torch gives."""

import re

import pytest
import torch
from playwright.sync_api import expect

from inside.widgets.aligned_shapes import ESM as ALIGNED
from inside.widgets.stride_explorer import ESM
from inside.widgets.web_module import joined_module
from oracles.web.axe import violations
from tests.helpers.languages import CHINESE

pytestmark = pytest.mark.browser

CHAIN = "stride-explorer [name=chain]"
STEPS = ".se-steps button"


@pytest.fixture
def page(page_of, request):
    """The page in English, or in the languages that `in_each_language` asks for."""
    lang = getattr(request, "param", "en")
    return alone(page_of("explorer", lang), lang, "aligned-shapes")


@pytest.fixture
def aligner(page_of, request):
    """The page with the shapes that are aligned, in a language or in English."""
    lang = getattr(request, "param", "en")
    return alone(page_of("explorer", lang), lang, "stride-explorer")


def alone(page, lang, other):
    """The page without its other widget, which has the same parts."""
    page.locator(other).evaluate("other => other.remove()")
    page.locator(":is(stride-explorer, aligned-shapes) .w-frame").wait_for()
    page.lang = lang
    return page


in_each_language = pytest.mark.parametrize("page", ["zh", "en"], indirect=True)


def addresses(page):
    """The numbers in the grid, row by row."""
    return [int(text) for text in page.locator(".se-tensor [role=gridcell]").all_inner_texts()]


def as_strided(shape, strides, offset=0, size=12):
    return torch.arange(size).as_strided(shape, strides, offset).flatten().tolist()


def focused(page, name):
    return page.evaluate("n => document.activeElement.getAttribute(n)", name)


def type_over(page, text):
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.type(text)


def paste_over(page, text):
    """All at once: no half of the text is shown in between."""
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)


def type_chain(page, tab_to, text):
    tab_to(page, CHAIN)
    type_over(page, text)


def complaint(page):
    """What is said below the field; it must speak the language of the page."""
    message = page.get_by_role("alert").inner_text().strip()
    assert message.endswith((".", "。"))
    assert bool(CHINESE.search(message)) == (page.lang == "zh")
    return message


def stale(page):
    return page.locator(".w-frame[data-stale]").count() == 1


# ---- by hand -----------------------------------------------------------------------------------

def test_strides_typed_by_keyboard_give_the_addresses_of_torch(page, tab_to):
    assert addresses(page) == as_strided((3, 4), (4, 1))
    tab_to(page, "stride-explorer [name=stride0]")
    type_over(page, "1")
    assert addresses(page) == as_strided((3, 4), (1, 1))
    tab_to(page, "[name=stride1]", limit=1)
    type_over(page, "2")
    tab_to(page, "[name=offset]", limit=1)
    type_over(page, "3")
    assert addresses(page) == as_strided((3, 4), (1, 2), 3)
    assert page.locator(CHAIN).input_value() == "x.as_strided((3, 4), (1, 2), 3)"


def test_a_shape_typed_by_keyboard_starts_contiguous(page, tab_to):
    tab_to(page, "stride-explorer [name=shape]")
    type_over(page, "2×3×2")
    assert addresses(page) == as_strided((2, 3, 2), (6, 2, 1))
    tab_to(page, "[name=stride2]", limit=3)
    type_over(page, "0")
    assert addresses(page) == as_strided((2, 3, 2), (6, 2, 0))


def test_a_shape_that_does_not_fit_is_mended_by_its_strides(page, tab_to):
    tab_to(page, "stride-explorer [name=shape]")
    type_over(page, "10, 3")
    assert "30" in complaint(page)
    assert stale(page)
    tab_to(page, "[name=stride0]", limit=1)
    type_over(page, "1")
    assert addresses(page) == as_strided((10, 3), (1, 1))
    assert not stale(page)


@in_each_language
@pytest.mark.parametrize(("field", "text"), [
    ("stride0", "-1"), ("stride0", "5"), ("stride1", ""), ("shape", "3,,4"), ("size", "11"),
    ("shape", "9, 9"), ("offset", "1.5"), ("size", "65"),
])
def test_bad_input_is_explained_and_the_last_good_view_stays(page, tab_to, field, text):
    tab_to(page, f"stride-explorer [name={field}]")
    before = addresses(page)
    paste_over(page, text)
    complaint(page)
    assert addresses(page) == before
    assert stale(page)
    assert focused(page, "aria-invalid") == "true"
    assert focused(page, "aria-describedby") == page.get_by_role("alert").get_attribute("id")
    below = page.get_by_role("alert").bounding_box()["y"]
    assert below > page.locator(f"stride-explorer [name={field}]").bounding_box()["y"]


# ---- chains ------------------------------------------------------------------------------------

def test_every_preset_shows_the_addresses_of_its_own_code(page, tab_to):
    codes = page.locator(".w-presets code").all_inner_texts()
    assert len(codes) == 8
    for code in codes:
        tab_to(page, "stride-explorer .w-presets button")
        assert page.evaluate("document.activeElement.querySelector('code').textContent") == code
        page.keyboard.press("Enter")
        t = eval(code, {"x": torch.arange(12)})
        storage = torch.arange(t.untyped_storage().nbytes() // 8)
        expected = storage.as_strided(t.shape, t.stride(), t.storage_offset())
        assert addresses(page) == expected.flatten().tolist()
        assert page.locator(".w-presets [aria-pressed=true] code").inner_text() == code
        assert page.locator(CHAIN).input_value() == code


@in_each_language
def test_a_chain_shows_each_step_as_torch_makes_it(page, tab_to):
    type_chain(page, tab_to, "x.view(3, 4).t()[1:, ::2].expand(2, 3, 2).contiguous()")
    x = torch.arange(12)
    made = [x, x.view(3, 4), x.view(3, 4).t(), x.view(3, 4).t()[1:, ::2]]
    made += [made[-1].expand(2, 3, 2), made[-1].expand(2, 3, 2).contiguous()]
    rows = [button.locator("code").all_inner_texts() for button in page.locator(STEPS).all()]
    assert [row[0] for row in rows] == ["x", ".view(3, 4)", ".t()", "[1:, ::2]",
                                        ".expand(2, 3, 2)", ".contiguous()"]
    assert [row[1:] for row in rows] == [
        [str(tuple(t.shape)), str(t.stride()), str(t.storage_offset())] for t in made]
    new, view, copy = ("新建", "视图", "复制") if page.lang == "zh" else ("new", "view", "copy")
    kinds = [kind.inner_text().strip() for kind in page.locator(".se-kind").all()]
    assert kinds == [new, view, view, view, view, copy]
    cells = page.locator(".se-storage [role=option]").all()
    values = [str(value) for value in made[-1].flatten().tolist()]
    assert [cell.get_attribute("data-value") for cell in cells] == values


def test_a_step_chosen_by_keyboard_is_shown_and_the_chain_stays(page, tab_to):
    text = "x.view(3, 4).t()[1:, ::2]"
    type_chain(page, tab_to, text)
    tab_to(page, f"{STEPS}[data-step='2']", limit=3)
    page.keyboard.press("Enter")
    assert addresses(page) == as_strided((4, 3), (1, 4))
    assert focused(page, "aria-pressed") == "true"
    assert page.locator(CHAIN).input_value() == text
    assert page.locator("stride-explorer").get_attribute("chain") == (
        "torch.arange(12).view(3, 4).t()")
    tab_to(page, f"{STEPS}[data-step='3']", limit=1)
    page.keyboard.press(" ")
    assert addresses(page) == torch.arange(12).view(3, 4).t()[1:, ::2].flatten().tolist()


@in_each_language
@pytest.mark.parametrize(("text", "refused", "words"), [
    ("x.view(3, 4).t().view(12)", ".view(12)", "stride[0]"),
    ("x.view(5, 3)", ".view(5, 3)", "15"),
    ("x.view(3, 4)[3]", "[3]", "dim=0"),
    ("x.view(3, 4)[::-1]", "[::-1]", "flip"),
    ("x.frob()", ".frob()", "as_strided"),
])
def test_a_chain_that_torch_refuses_is_explained_at_its_step(page, tab_to, text, refused, words):
    before = addresses(page)
    tab_to(page, CHAIN)
    paste_over(page, text)
    page.keyboard.press("Enter")
    message = complaint(page)
    assert message.startswith(refused)
    assert words in message
    assert page.locator(f"{STEPS}:disabled code").inner_text() == refused
    assert focused(page, "aria-invalid") == "true"
    assert stale(page)
    assert addresses(page) == before
    assert page.locator(f"{STEPS}[aria-pressed=true]").count() == 0
    page.locator(STEPS).first.click()
    assert addresses(page) == list(range(12))
    assert not stale(page)


def test_a_half_typed_chain_is_left_in_peace_until_the_reader_pauses(page):
    page.clock.install(time=0)
    page.clock.pause_at(3600)  # a busy machine's own time does not count
    page.locator(CHAIN).fill("x.view(3,")
    page.clock.run_for(300)
    assert page.get_by_role("alert").inner_text() == ""
    assert not stale(page)
    page.clock.run_for(300)
    assert page.get_by_role("alert").inner_text().startswith("Not finished")
    page.locator(CHAIN).fill("x.view(4, 3)")
    assert page.get_by_role("alert").inner_text() == ""
    assert addresses(page) == list(range(12))


def test_the_length_of_x_counts_for_the_chain(page, tab_to):
    type_chain(page, tab_to, "x.view(-1, 4)")
    page.locator("stride-explorer [name=size]").fill("8")
    assert addresses(page) == list(range(8))
    page.locator(CHAIN).fill("torch.arange(6).view(3, 2).T")
    assert addresses(page) == [0, 2, 4, 1, 3, 5]
    assert page.locator("stride-explorer [name=size]").input_value() == "6"


def test_numbers_typed_after_a_copy_count_in_its_storage(page, tab_to):
    type_chain(page, tab_to, "x.expand(2, 12).contiguous()")
    tab_to(page, "[name=offset]")
    tab_to(page, "[role=gridcell]")
    page.locator("stride-explorer [name=stride0]").fill("11")
    assert addresses(page) == as_strided((2, 12), (11, 1), 0, 24)
    assert page.locator("stride-explorer [name=size]").input_value() == "24"


@in_each_language
def test_scalars_and_empty_tensors_are_shown(page, tab_to):
    type_chain(page, tab_to, "x[5]")
    assert addresses(page) == [5]
    assert page.locator(".se-which").inner_text() == "t[()]"
    type_over(page, "x.view(3, 4)[:, :0]")
    assert addresses(page) == []
    assert bool(CHINESE.search(page.locator(".se-tensor").inner_text())) == (page.lang == "zh")
    type_over(page, "torch.arange(0)")
    assert page.locator(".se-storage [role=option]").count() == 0
    type_over(page, "x.view(2, 1, 0, 3)")
    assert not stale(page)


# ---- cells and bytes ---------------------------------------------------------------------------

def test_arrow_keys_walk_in_the_grid_and_explain_each_element(page, tab_to):
    tab_to(page, ".se-tensor [role=gridcell]")
    page.keyboard.press("Home")
    seen = [focused(page, "data-element")]
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "End"):
        page.keyboard.press(key)
        seen.append(focused(page, "data-element"))
        i, j = divmod(int(seen[-1]), 4)
        assert page.locator(".se-which").inner_text() == f"t[{i}, {j}]"
        formula = f"0 + {i} × 4 + {j} × 1 = {4 * i + j}"
        assert page.locator(".se-live").inner_text().endswith(formula)
    assert seen == ["0", "1", "5", "4", "0", "11"]


def owners(page):
    return page.locator(".se-owners").inner_text()


@in_each_language
def test_a_byte_under_the_mouse_names_every_element_it_belongs_to(page, tab_to):
    type_chain(page, tab_to, "x[:4].expand(3, 4)")
    page.locator(".se-storage [data-address='2']").hover()
    page.locator(".se-strip [data-byte='19']").hover()
    assert all(f"t[{i}, 2]" in owners(page) for i in range(3))
    assert "19 // 8 = 2" in owners(page)
    assert bool(CHINESE.search(owners(page))) == (page.lang == "zh")
    page.locator(".se-storage [data-address='7']").click()
    assert "t[" not in owners(page)
    assert page.locator("[name=byte]").input_value() == "56"


def test_arrow_keys_walk_through_the_bytes_of_all_cells(page, tab_to):
    page.locator("[name=itemsize]").select_option("2")
    tab_to(page, ".se-strip [role=option]")
    seen = []
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowRight"):
        page.keyboard.press(key)
        seen.append(int(focused(page, "data-byte")))
        assert f"// 2 = {seen[-1] // 2}" in owners(page)
    assert seen == [12, 13, 14, 13, 13, 14]


def test_a_byte_address_can_be_typed(page, tab_to):
    tab_to(page, "stride-explorer [name=byte]")
    type_over(page, "95")
    assert "t[2, 3]" in owners(page)
    assert focused(page, "aria-invalid") == "false"
    type_over(page, "96")
    assert "95" in owners(page)
    assert "t[" not in owners(page)
    assert focused(page, "aria-invalid") == "true"


def test_the_size_in_bytes_follows_the_element_size(page, tab_to):
    type_chain(page, tab_to, "x.unfold(0, 3, 1)")
    for itemsize in (1, 2, 4, 8):
        page.locator("[name=itemsize]").select_option(str(itemsize))
        t = torch.empty(12 * itemsize, dtype=torch.uint8)
        words = page.locator("[data-fact=memory]").inner_text()
        assert f"= {30 * itemsize}" in words
        assert f"= {t.nbytes}" in words
        assert page.locator(".se-strip [role=option]").count() == itemsize


# ---- shapes aligned for broadcasting -----------------------------------------------------------

aligner_in_each_language = pytest.mark.parametrize("aligner", ["zh", "en"], indirect=True)


def aligned(page):
    """The table as rows of its words: one for each tensor, the last for the result."""
    rows = page.locator(".as-aligned :is(tbody, tfoot) tr").all()
    return [[" ".join(text.split()) for text in row.locator("th, td").all_inner_texts()]
            for row in rows]


def costs(page):
    """Per tensor: its strides, those after `expand`, bytes to read, what backward sums over."""
    rows = [row.locator("td").all_inner_texts() for row in page.locator(".as-costs tbody tr").all()]
    return [list(column) for column in zip(*rows, strict=True)]


def outcome(page):
    return page.locator("aligned-shapes [role=status]").inner_text()


def type_shapes(page, tab_to, *texts):
    for k, text in enumerate(texts):
        tab_to(page, f"aligned-shapes [name=operand{k}]")
        type_over(page, text)


def test_aligned_shapes_show_each_dimension_and_its_part_in_words(aligner):
    assert aligned(aligner) == [["a (3, 1)", "3 sets the size", "1 → 4 stretched"],
                                ["b (4,)", "(1) → 3 missing, stretched", "4 sets the size"],
                                ["result (3, 4)", "3", "4"]]
    assert aligner.locator(".as-verdicts li").all_inner_texts() == [
        "dim=0 stretched from missing: b lacks it, counts as 1 and goes to 3",
        "dim=1 stretched: a goes from 1 to 4"]
    assert "(3, 4): 12 elements, 48 bytes" in outcome(aligner)
    assert costs(aligner) == [
        ["(1, 1)", "(1, 0)", "12 (3 × 4), each element used 4 times", "dim=1, leaving (3, 1)"],
        ["(1,)", "(0, 1)", "16 (4 × 4), each element used 3 times", "dim=0, leaving (4,)"]]


@pytest.mark.parametrize("shapes", [
    [(1024, 1), (1024,)], [(2, 1, 4), (3, 1)], [(), (2, 3)], [(0,), (1,)],
    [(5, 1, 1), (3, 1), (4,)], [(2, 1), (2, 1)],
])
def test_shapes_typed_by_keyboard_are_broadcast_as_by_torch(aligner, tab_to, shapes):
    type_shapes(aligner, tab_to, *map(str, shapes))
    expanded = torch.broadcast_tensors(*map(torch.empty, shapes))
    assert aligned(aligner)[-1][0] == f"result {tuple(expanded[0].shape)}"
    assert [fact[1] for fact in costs(aligner)] == [str(t.stride()) for t in expanded]
    for shape, fact in zip(shapes, costs(aligner), strict=True):
        dims = [int(d) for d in re.findall(r"dim=(\d)", fact[3])]
        grad = torch.ones(expanded[0].shape)
        summed = grad.sum(dims, keepdim=True).reshape(shape) if dims else grad
        assert torch.equal(summed, grad.sum_to_size(shape))
    attribute = aligner.locator("aligned-shapes").get_attribute("shapes")
    assert attribute == " | ".join(map(str, shapes))


@aligner_in_each_language
@pytest.mark.parametrize(("shapes", "note"), [
    ([(3, 4), (3,)], ""), ([(0, 2), (3, 2)], ""), ([(2,), (3,), (5, 1)], r"\ba\b.*\bb\b"),
    ([(2, 1), (1, 3), (5, 2, 4)], r"tensor b.*\bc\b"),
])
def test_shapes_that_conflict_show_the_error_of_torch(aligner, tab_to, shapes, note):
    type_shapes(aligner, tab_to, *map(str, shapes))
    with pytest.raises(RuntimeError) as error:
        torch.broadcast_tensors(*map(torch.empty, shapes))
    said = outcome(aligner)
    assert str(error.value) in said
    assert bool(CHINESE.search(said)) == (aligner.lang == "zh")
    after = said.partition(str(error.value))[2]
    assert bool(after) == bool(note), "whom torch means is said where it is not the fields' a and b"
    assert re.search(note, after)
    verdicts = " ".join(aligner.locator(".as-verdicts li").all_inner_texts())
    assert ("冲突" if aligner.lang == "zh" else "conflict") in verdicts
    assert aligner.locator(".as-costs table").count() == 0
    assert not stale(aligner)


@aligner_in_each_language
@pytest.mark.parametrize(("k", "text"), [
    (0, "3,,1"), (1, ""), (1, "-4"), (2, "three"), (0, "1 1 1 1 1 1 1"),
    (0, "999999999 99999999 1"),
])
def test_a_bad_shape_is_explained_and_the_last_good_shapes_stay(aligner, tab_to, k, text):
    before = aligned(aligner)
    tab_to(aligner, f"aligned-shapes [name=operand{k}]")
    paste_over(aligner, text)
    complaint(aligner)
    assert aligned(aligner) == before
    assert stale(aligner)
    assert focused(aligner, "aria-invalid") == "true"
    assert focused(aligner, "aria-describedby") == (
        aligner.get_by_role("alert").get_attribute("id"))
    paste_over(aligner, "1")
    assert not stale(aligner)


def test_every_ready_made_pair_can_be_chosen_by_keyboard(aligner, tab_to):
    texts = aligner.locator(".w-presets code").all_inner_texts()
    assert len(texts) == 7
    for text in texts:
        tab_to(aligner, "aligned-shapes .w-presets button")
        aligner.keyboard.press("Enter")
        assert aligner.locator("aligned-shapes").get_attribute("shapes") == text
        assert aligner.locator(".w-presets [aria-pressed=true] code").inner_text() == text


def test_the_attributes_can_be_set_and_bytes_follow_the_element_size(aligner):
    element = aligner.locator("aligned-shapes")
    element.evaluate("e => e.setAttribute('shapes', '(5,) | ()')")
    expect(aligner.locator(".as-aligned tfoot")).to_contain_text("(5,)")
    aligner.locator("[name=itemsize]").select_option("8")
    assert [fact[2] for fact in costs(aligner)] == [
        "40 (5 × 8), each element used once", "8 (1 × 8), each element used 5 times"]
    assert element.get_attribute("itemsize") == "8"


@aligner_in_each_language
def test_the_aligner_speaks_the_language_of_the_page(aligner):
    def words():
        label = aligner.locator("aligned-shapes .w-frame").get_attribute("aria-label")
        return label, aligner.locator("aligned-shapes .w-picture").inner_text()

    assert {bool(CHINESE.search(text)) for text in words()} == {aligner.lang == "zh"}
    aligner.get_by_role("button", name="English" if aligner.lang == "zh" else "中文").click()
    assert {bool(CHINESE.search(text)) for text in words()} == {aligner.lang != "zh"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("shapes", [
    "(3, 1) | (4,)", "(3, 4) | (3,)", "() | ()", "(2, 1, 3, 1, 2, 1) | (6,) | (1, 4, 1)",
])
def test_axe_finds_nothing_whatever_is_aligned(page_of, scheme, shapes):
    page = page_of("explorer", "en", viewport={"width": 390, "height": 800}, color_scheme=scheme,
                   reduced_motion="reduce")
    page.locator("aligned-shapes").evaluate(
        "(e, shapes) => e.setAttribute('shapes', shapes)", shapes)
    assert violations(page, "aligned-shapes", at_least=10) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390


# ---- languages, themes, notebooks --------------------------------------------------------------

@in_each_language
def test_the_explorer_speaks_the_language_of_the_page(page):
    def labels():
        named = (".se-tensor", ".se-strip", ".se-storage [role=option]", ".se-strip [role=option]")
        return [page.locator(s).first.get_attribute("aria-label") for s in named]

    assert {bool(CHINESE.search(label)) for label in labels()} == {page.lang == "zh"}
    page.get_by_role("button", name="English" if page.lang == "zh" else "中文").click()
    assert {bool(CHINESE.search(label)) for label in labels()} == {page.lang != "zh"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("text", [
    "x.view(3, 4).t().view(12)", "x[:0]", "x[:4].expand(3, 4).contiguous()",
    "x.view(2, 1, 3, 2)",
])
def test_axe_finds_nothing_whatever_is_typed(page_of, scheme, text):
    page = page_of("explorer", "en", viewport={"width": 390, "height": 800}, color_scheme=scheme,
                   reduced_motion="reduce")
    page.locator(CHAIN).fill(text)
    page.keyboard.press("Enter")
    assert violations(page, "stride-explorer", at_least=11) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390


VIEW = """
const traits = { shape: [3, 4], strides: [4, 1], offset: 0, size: 12, chain: "", itemsize: 2 };"""
SHAPES = """
const traits = { shapes: "(2, 1) | (3,)", itemsize: 2 };"""
MODEL = """
const heard = {};
globalThis.model = { traits, saved: 0,
  get: (name) => traits[name], save_changes: () => { model.saved++; },
  set: (name, value) => {
    const news = JSON.stringify(value) !== JSON.stringify(traits[name]);
    traits[name] = value;
    if (news) heard[`change:${name}`]?.();
  },
  on: (event, call) => { heard[event] = call; }, off: (event) => { delete heard[event]; } };
globalThis.leave = render({ model, el: document.body });
"""


def test_the_joined_module_follows_a_notebook_in_both_directions(visit):
    page = visit().context.new_page()
    page.add_script_tag(content=joined_module(ESM) + VIEW + MODEL, type="module")
    assert addresses(page) == list(range(12))
    assert page.locator("[name=itemsize]").input_value() == "2"
    page.locator(CHAIN).fill("x.view(3, 4).t()[1:]")
    assert page.evaluate("model.traits") == {
        "shape": [3, 3], "strides": [1, 4], "offset": 1, "size": 12, "itemsize": 2,
        "chain": "torch.arange(12).view(3, 4).t()[1:]"}
    assert page.evaluate("model.saved") == 1
    page.evaluate("model.set('chain', 'torch.arange(6).view(2, 3).mT')")
    assert addresses(page) == [0, 3, 1, 4, 2, 5]
    page.evaluate("""for (const [name, value] of Object.entries(
      { shape: [2], strides: [3], offset: 1, size: 12, chain: '' })) model.set(name, value)""")
    assert addresses(page) == [1, 4]
    assert page.evaluate("model.saved") == 1
    page.evaluate("leave()")
    page.evaluate("model.set('offset', 0)")
    assert addresses(page) == [1, 4]


def test_the_joined_module_aligns_shapes_of_a_notebook_in_both_directions(visit):
    page = visit().context.new_page()
    page.add_script_tag(content=joined_module(ALIGNED) + SHAPES + MODEL, type="module")
    assert aligned(page)[-1][1:] == ["2", "3"]
    page.locator("[name=operand1]").fill("(2, 5)")
    assert page.evaluate("model.traits") == {
        "shapes": "(2, 1) | (2, 5)", "itemsize": 2}
    assert page.evaluate("model.saved") == 1
    page.evaluate("model.set('shapes', '(7,) | ()')")
    expect(page.locator(".as-aligned tfoot")).to_contain_text("(7,)")
    assert page.evaluate("model.saved") == 1
