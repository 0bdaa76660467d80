"""axe finds nothing in either theme and any language, before and after the reader commits; and no
two controls are called alike."""

import pytest

from oracles.web.axe import ON_A_PHONE, violations
from tests.helpers import namesakes

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


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_no_two_controls_are_called_alike_unless_they_lead_to_one_place(
        page_of, open_all, template, lang):
    page = page_of(template, lang=lang)
    cdp = page.context.new_cdp_session(page)
    found = {"closed": namesakes.of(cdp)}
    open_all(page)
    found["open"] = namesakes.of(cdp)
    assert found == {"closed": [], "open": []}
    page.evaluate("document.querySelector('article').insertAdjacentHTML('afterbegin', "
                  "'<button>Twice</button><button>Twice</button>')")
    assert namesakes.of(cdp) == ["2 controls are called `Twice`"]  # it can see such a fault
    cdp.detach()
