"""The stride explorer on its page: by keyboard, with the addresses that torch gives."""

import re

import pytest
import torch

pytestmark = pytest.mark.browser

PAGE = "chapters/01-tensors/storage-and-strides.html"
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture(params=["zh", "en"])
def page(visit, request):
    page = visit().open(PAGE, lang=request.param)
    page.lang = request.param
    return page


def addresses(page):
    """The numbers in the grid, row by row."""
    return [int(text) for text in page.locator(".se-tensor [role=gridcell]").all_inner_texts()]


def as_strided(shape, strides, offset=0, size=12):
    return torch.arange(size).as_strided(shape, strides, offset).flatten().tolist()


def focused(page, name):
    return page.evaluate("n => document.activeElement.getAttribute(n)", name)


def type_over(page, text):
    page.keyboard.press("Control+a")
    page.keyboard.type(text)


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


def test_a_shape_typed_by_keyboard_starts_contiguous(page, tab_to):
    tab_to(page, "stride-explorer [name=shape]")
    type_over(page, "2, 3, 2")
    assert addresses(page) == as_strided((2, 3, 2), (6, 2, 1))
    tab_to(page, "[name=stride2]", limit=3)
    type_over(page, "0")
    assert addresses(page) == as_strided((2, 3, 2), (6, 2, 0))


def test_every_preset_shows_the_addresses_of_its_own_code(page, tab_to):
    codes = page.locator(".se-presets code").all_inner_texts()
    assert len(codes) == 6
    for code in codes:
        tab_to(page, "stride-explorer .se-presets button")
        assert page.evaluate("document.activeElement.querySelector('code').textContent") == code
        page.keyboard.press("Enter")
        expected = eval(code, {"x": torch.arange(12)})
        assert addresses(page) == expected.flatten().tolist()
        assert page.locator(".se-presets [aria-pressed=true] code").inner_text() == code


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


@pytest.mark.parametrize(("field", "text"), [
    ("stride0", "-1"), ("stride0", "5"), ("stride1", ""), ("shape", "0, 4"), ("size", "11"),
])
def test_bad_input_is_explained_and_the_last_good_view_stays(page, tab_to, field, text):
    tab_to(page, f"stride-explorer [name={field}]")
    before = addresses(page)
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.type(text)
    message = page.get_by_role("alert").inner_text().strip()
    assert message.endswith((".", "。"))
    assert bool(CHINESE.search(message)) == (page.lang == "zh")
    assert addresses(page) == before
    assert focused(page, "aria-invalid") == "true"


def test_the_explorer_speaks_the_language_of_the_page(page):
    label = page.locator(".se-tensor").get_attribute("aria-label")
    assert bool(CHINESE.search(label)) == (page.lang == "zh")
    page.get_by_role("button", name="English" if page.lang == "zh" else "中文").click()
    label = page.locator(".se-tensor").get_attribute("aria-label")
    assert bool(CHINESE.search(label)) == (page.lang != "zh")
