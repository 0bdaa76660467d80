"""The visit sees each fault that it is for; all of them are planted in one copy of a page."""

import re
import shutil

import pytest

from book.pipeline.ground.paths import SITE
from book.pipeline.serve import served
from tests.helpers import contrast
from tests.helpers.site import NO_SITE, pages
from tests.pages import visit

pytestmark = pytest.mark.browser

# Each fault: what stands in the page, and what the visit says of it, with its place.
PLANTED = {
    "a request to another host": (
        "<script>new Image().src = 'https://example.org/pixel.png'</script>",
        r"\[requests\]: asks another host: https://example\.org/pixel\.png"),
    "a request that nobody answers": (
        '<img alt="x" src="../../_static/gone.png">',
        r"\[requests\]: no answer: 404 _static/gone\.png"),
    "a script that fails": (
        "<script>null.planted</script>", r"\[console\]: .*of null.*planted"),
    "an error on the console": (
        "<script>console.error('planted error')</script>", r"\[console\]: planted error"),
    "a warning on the console": (
        "<script>console.warn('planted warning')</script>", r"\[console\]: planted warning"),
    "a page over the budget": (
        '<img alt="x" src="../../_static/planted.png">',
        r"\[requests\]: \d+ bytes, 200000 are allowed; .*planted\.png"),
    "a late request": (
        '<img alt="x" loading="lazy" src="../../_static/late.png">',
        r"no answer: 404 _static/late\.png"),
    "a fold closed on paper": (
        '<style>@media print { #f1::details-content { display: none !important } }</style>'
        '<details id="f1"><summary>See</summary><p>Closed</p></details>',
        r"\[print\] details#f1: is closed on paper"),
    "a form on paper": (
        '<form id="f2"><label>A <input></label></form>', r"\[print\] form#f2: is of no use"),
    "an output lost on paper": (
        '<div style="display:none"><div id="f3" class="explanation"><div class="bi-pair">x</div>'
        "</div></div>", r"\[print\] #f3 div\.bi-pair: is not on paper"),
    "a note on paper": (
        '<style>#f4 { display: block !important }</style>'
        '<p class="explanation-note" id="f4">Wait</p>', r"\[print\] p\.explanation-note#f4: "),
    "an element wider than the phone": (
        '<div id="f5" style="width:450px">wide</div>', r"\[390 zh\] div#f5: is wider than the"),
    "wider in the narrowest alone": (
        '<div id="f6" style="width:340px">wide</div>', r"\[320 zh\] div#f6: is wider than the"),
    "wider in one language": (
        '<div class="lang-en"><div id="f7" style="width:470px">wide</div></div>',
        r"\[390 en\] div#f7: is wider than the"),
    "code that is cut": (
        f'<pre id="f8" style="overflow:hidden">{"cut " * 60}</pre>', r"\[390 zh\] pre#f8: is cut"),
    "a drawing that is cut": (
        '<figure class="drawing" id="f9" style="overflow:clip">'
        '<svg width="900" height="9" style="max-width:none"></svg></figure>',
        r"\[390 zh\] figure\.drawing#f9: is cut"),
    "text that is cut": (
        f'<p id="f10" style="overflow:hidden; white-space:nowrap">{"cut " * 60}</p>',
        r"\[390 zh\] p#f10: is cut"),
    "code cut in a table": (
        '<table><tr><td id="f11" style="max-width:70px"><code style="white-space:normal">'
        '<span class="pre">tensor</span> <span class="pre">stride</span></code></td></tr></table>',
        r"\[390 zh\] #f11 code: is cut in a table"),
    "a table that does not scroll": (
        '<div class="wide-table" id="f12" style="overflow:hidden scroll; '
        'overflow-x:clip; width:90px"><table><tr><td>' + "long&nbsp;" * 20 + "</td></tr></table>"
        "</div>", r"\[390 zh\] div\.wide-table#f12: does not scroll"),
    "a table that Tab does not reach": (
        '<div class="wide-table" id="f13" style="overflow:auto; width:90px">'
        "<table><tr><td>" + "long&nbsp;" * 20 + "</td></tr></table></div><script>"
        "Object.defineProperty(f13, 'tabIndex', { get: () => -1, set() {} })</script>",
        r"\[390 zh\] div\.wide-table#f13: scrolls, and Tab"),
    "a small label in the drawing of an opening": (
        '<figure class="drawing" id="f14"><svg width="99" height="20"><text y="15" font-size="7" '
        'style="fill:currentColor">small</text></svg></figure>',
        r"\[390 zh\] figure\.drawing#f14: .*its smallest label has 7\.0"),
    "a wide drawing in an opening": (
        '<figure class="drawing" id="f15"><svg width="900" height="20" style="max-width:none">'
        "</svg></figure>", r"\[390 en\] figure\.drawing#f15: the drawing hides \d+ px"),
    "a small target": (
        '<button id="f16" style="width:12px; height:12px; padding:0; margin:0">x</button>'
        '<button style="width:12px; height:12px; padding:0; margin:0">y</button>',
        r"\[390 both\]: target-size: #f16"),
    "a box that scrolls out of reach": (
        '<div id="f17" style="overflow:auto; width:90px; height:40px; white-space:nowrap">'
        + "long " * 40 + "</div>", r"\[390 both\]: scrollable-region-focusable: #f17"),
    "a picture without its text": (
        '<img id="f18" src="../../_static/favicon.svg">', r"\[390 both\]: image-alt: #f18"),
    "a field without its label": ('<input id="f19">', r"\[390 both\]: label: #f19"),
    "a button without a name": ('<button id="f20"></button>', r"\[390 both\]: button-name: #f20"),
    "a heading out of order": ('<h6 id="f21">Six</h6>', r"\[390 both\]: heading-order: #f21"),
    "Chinese in an English page": (
        "<p>只有中文</p>", r"\[1280 en\]: an English reader sees `只有中文`"),
    "the other language is displayed": (
        '<p class="lang-zh" id="f22" style="display:block !important">别的</p>',
        r"\[1280 en\] p\.lang-zh#f22: shows \.lang-zh"),
    "the chosen language is hidden": (
        '<p class="lang-en" id="f23" style="display:none">Hidden</p>',
        r"\[1280 en\] p\.lang-en#f23: hides \.lang-en"),
    "a separator in one language": (
        '<span class="lang-sep" id="f24" style="display:inline !important"> · </span>',
        r"\[1280 zh\] span\.lang-sep#f24: shows what stands between"),
    "low contrast in both themes": (
        '<p id="f25" style="color:#888; background:#999">low</p>',
        r"\[light both\] p#f25: contrast 1\.2"),
    "low contrast in dark alone": (
        '<style>#f26 { color: #000; background: #fff } '
        'html[data-theme="dark"] #f26 { background: #222 }</style><p id="f26">low</p>',
        r"\[dark both\] p#f26: contrast 1\.\d+ of 4\.5"),
    "low contrast in light alone": (
        '<style>#f27 { color: #ddd } html[data-theme="light"] #f27 { color: #ccc }</style>'
        '<p id="f27">low</p>', r"\[light both\] p#f27: contrast 1\.\d+ of 4\.5"),
    "large text of low contrast": (
        '<p id="f28" style="color:#999; background:#fff; font-size:30px">low</p>',
        r"\[light both\] p#f28: contrast 2\.8\d of 3\.0"),
    "low contrast by opacity": (
        '<div style="opacity:.4; background:#fff"><p id="f29" style="color:#000">low</p></div>',
        r"\[light both\] p#f29: contrast 2\.\d+ of 4\.5"),
    "low contrast in a drawing by fill-opacity": (
        '<figure class="drawing"><svg width="99" height="20"><text id="f30" y="15" '
        'style="fill:var(--pst-color-text-base); fill-opacity:.4">low</text></svg></figure>',
        r"\[light both\] text#f30: contrast 2\.\d+ of 4\.5"),
    "low contrast on a shape of a drawing": (
        '<figure class="drawing"><svg width="99" height="20"><rect width="99" height="20" '
        'style="fill:#777"></rect><text id="f31" y="15" style="fill:#555">low</text></svg>'
        "</figure>", r"\[dark both\] text#f31: contrast 1\.\d+ of 4\.5"),
    "text on a picture": (
        '<p id="f32" style="background-image:linear-gradient(#fff, #000)">text</p>',
        r"p#f32: a picture lies below it"),
    "two buttons of one name": (
        '<button id="f33">Twice</button><button>Twice</button>',
        r"\[1280 en\]: 2 controls are called `Twice`"),
    "two folds of one name": (
        "<details open><summary>Fold</summary>x</details><details open><summary>Fold</summary>y"
        "</details>", r"\[1280 en\]: 2 controls are called `Fold`"),
    "two links of one name to two places": (
        '<a href="index.html">Link</a> <a href="cheat-sheet.html">Link</a>',
        r"\[1280 en\]: 2 controls are called `Link`"),
    "two fields of one name in one group": (
        '<fieldset><legend>Group</legend><label><input type="checkbox"> Tick</label>'
        '<label><input type="checkbox"> Tick</label></fieldset>',
        r"\[1280 en\]: 2 controls are called `Group › Tick`"),
}
HARMLESS = """
<div><a href="index.html">ok6</a> <a href="./index.html">ok6</a></div>
<p>See <a href="#f1">ok9</a> and <b><a href="#f2">ok9</a></b>.</p>
<div role="group" aria-label="one"><a href="#f1">ok7</a></div>
<div role="group" aria-label="two"><a href="#f2">ok7</a></div>
<div><a hidden href="#f1">ok8</a> <a href="#f2">ok8</a></div>
<p id="ok1" style="color:#888; background:#fff; font-size:30px">large text of contrast 3.5</p>
<p id="ok2" style="color:#fff; background:#fff; display:none">not displayed</p>
<p id="ok3" style="color:#fff; background:#fff; visibility:hidden">not visible</p>
<figure class="drawing"><svg width="99" height="20"><rect width="99" height="20"
  style="fill:#000; fill-opacity:.9"></rect><text id="ok4" y="15" style="fill:#fff">ok</text></svg>
</figure>
<pre id="ok5" tabindex="0" style="overflow:auto">%s</pre>
""" % ("scrolls " * 60)


def opening():
    return next((page for page in pages() if re.fullmatch(r"chapters/.*/index.html", page)), "")


@pytest.fixture(scope="module")
def found(browser, tmp_path_factory):
    """All findings on a copy of an opening with all the faults, as one text."""
    name = opening()
    assert name, NO_SITE
    folder = tmp_path_factory.mktemp("planted")
    shutil.copytree(SITE / "_static", folder / "_static")
    (folder / "_static/planted.png").write_bytes(bytes(250_000))
    html = (SITE / name).read_text(encoding="utf-8")
    faults = "\n".join(fault for fault, _ in PLANTED.values())
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_text(html.replace("</h1>", "</h1>" + HARMLESS, 1).replace(
        "</article>", f"{faults}</article>", 1), encoding="utf-8")
    with served(folder) as address:
        tab = visit.Tab(browser, address, folder)
        yield "\n".join(map(str, tab.visit(name)))
        tab.context.close()


@pytest.mark.parametrize("fault", PLANTED)
def test_the_visit_sees(found, fault):
    assert re.search(PLANTED[fault][1], found), found


def test_what_is_harmless_is_not_told(found):
    assert not re.findall(r".*\bok\d.*", found)


def test_one_visit_tells_all_that_is_wrong(found):
    assert all(re.search(words, found) for _, words in PLANTED.values())
    assert len(found.splitlines()) >= len(PLANTED)


def test_nothing_is_left_for_the_next_page(browser, found, tab):
    """The same opening as it is built has none of these faults, in a tab or after another page."""
    assert tab.visit(opening()) == tab.visit(opening()) == []


def test_a_visit_that_cannot_go_on_tells_what_it_has_seen(browser, tmp_path):
    (tmp_path / "page.html").write_text("<p>No switch</p><form></form>")
    with served(tmp_path) as address:
        tab = visit.Tab(browser, address, tmp_path)
        first, *_, last = map(str, tab.visit("page.html"))
        tab.context.close()
    assert first == "page.html [print] form: is of no use on paper: "
    assert last.startswith("page.html: the visit stopped: Page.evaluate: TypeError")


@pytest.mark.parametrize(("ink", "ground", "ratio"), [
    ("rgb(0, 0, 0)", "rgb(255, 255, 255)", 21), ("rgb(119, 119, 119)", "rgb(255, 255, 255)", 4.48),
    ("rgba(0, 0, 0, 0.5)", "rgb(255, 255, 255)", 3.98),
    ("color(srgb 1 0 0 / 1)", "rgb(0, 0, 255)", 2.15)])
def test_contrast_is_that_of_wcag(ink, ground, ratio):
    of = contrast.of_text(contrast.colour(ink), [], [(contrast.colour(ground), 1)])
    assert of == pytest.approx(ratio, abs=0.01)


def test_an_opacity_fades_a_box_with_its_ground_and_a_shape_lies_above_it():
    black, white = contrast.colour("rgb(0, 0, 0)"), contrast.colour("rgb(255, 255, 255)")
    assert contrast.of_text(white, [], [(white, 1), (black, 0.5)]) == pytest.approx(3.98, abs=0.01)
    assert contrast.of_text(white, [black], [(white, 1)]) == pytest.approx(21)


def test_a_colour_that_cannot_be_read_is_told():
    with pytest.raises(ValueError, match="no colour that can be judged"):
        contrast.colour("lab(50% 40 59)")
