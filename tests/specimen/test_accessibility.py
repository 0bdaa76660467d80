"""axe finds nothing in either theme and any language, before and after the reader commits."""

import pytest

from oracles.web.axe import ON_A_PHONE, violations

pytestmark = pytest.mark.browser

MODES = ("zh", "en", "both")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(page_of, template, open_all, scheme):
    page = page_of(template, color_scheme=scheme, reduced_motion="reduce")
    found = {"before": violations(page, "predict-cell, .explanation, h1")}
    open_all(page)
    for mode in MODES:
        page.locator(f"[data-set-lang={mode}]").click()
        found[mode] = violations(page, at_least=20)
    assert found == {key: [] for key in ("before", *MODES)}


def test_on_a_phone_what_scrolls_can_be_reached_and_buttons_are_large_enough(page_of, open_all):
    page = page_of("section", viewport={"width": 390, "height": 800}, reduced_motion="reduce")
    open_all(page)
    assert violations(page, rules=ON_A_PHONE) == []
