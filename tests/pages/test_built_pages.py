"""The built pages are as their sources say; each check of them sees the fault that it is for."""

import re

import pytest

from book.pipeline.ground.paths import is_section
from book.pipeline.pages import chapters, check, links
from book.pipeline.pages.built import Page, Site
from tests.helpers.site import NO_SITE

pytestmark = pytest.mark.browser  # run where a site has been built


@pytest.fixture(scope="module")
def site():
    made = Site()
    assert made.pages, NO_SITE
    return made


def test_the_pages_are_as_their_sources_say(site):
    found = list(check.findings(site))
    assert found == [], "\n".join(map(str, [f"{len(found)} findings", *found]))


def changed(site, name, pattern, new, times=1):
    """All findings on a page, once a part of its file was replaced."""
    html, number = re.subn(pattern, new, site.pages[name].html, count=times, flags=re.S)
    assert number, f"{name} has no {pattern}"
    page = Page(site, name, html)
    return [str(one) for concern in check.OF_A_PAGE for one in concern.problems(page)]


def section_with(site, pattern):
    return next(name for name, page in site.pages.items()
                if is_section(page.document) and re.search(pattern, page.html, re.S))


RECALL = r'(<section id="recall">)'
CARD = r'(<article class="card" id="[^"]*"[^>]*>.*?</article>)'
OPTION = r'(<span class="predict-choice"><span>)'
FEEDBACK = r'(<p class="predict-feedback \w+" data-option="0" hidden>)<span class="lang-zh"'
FOLD = r'(<div class="explanation">)'

PLANTED = {
    # links, ids, headings
    "a link to no file": (r'(<a class="reference internal" href=")[^"]+', r"\1gone.html",
                          "gone.html: no such file"),
    "an anchor that is nowhere": (r'(<nav id="on-this-page".*?<a href="#)[^"]+',
                                  r"\1nowhere", "no element of that page has the id nowhere"),
    "an id twice": (r"</article>\s*</main>|</main>", r'<i id="main-content"></i></main>',
                    "#main-content: the id stands 2 times"),
    "an id of the Chinese half": (r'<section id="recall">', '<section id="huiyi">',
                                  "the id is huiyi, its English half makes recall"),
    "a level of headings left out": (r'(<section id="recall">\s*)<h2>(.*?)</h2>',
                                      r"\1<h4>\2</h4>", "a heading of level"),
    "two h1": (RECALL, r"\1<h1>Two</h1>", "begin with the only h1"),
    # what is loaded
    "a picture of another host": (r"<article ", '<img src="//cdn.example.org/a.png"><article ',
                                  "loads //cdn.example.org/a.png"),
    "a script of another host": (r"</head>", '<script src="https://cdn.example.org/a.js"></script>'
                                 "</head>", "runs a script that book/index.html does not agree on"),
    "a script that other pages lack": (r"</body>", "<script>fetch('/')</script></body>",
                                       "runs a script"),
    "a page without the common script": (r"<script defer.*?</script>", "", "lacks a script"),
    "an element without its script": (r'<script [^>]*predict\.js[^>]*></script>', "",
                                      "no script of its own makes <predict-cell> work"),
    # languages
    "Chinese outside its half": (RECALL, r"\1<p>只有中文</p>", "English readers see: 只有中文"),
    "Chinese in the English half": (r'(<span class="lang-en" lang="en">)', r"\1的",
                                    "English readers see: 的"),
    "Chinese punctuation alone": (r'(<span class="lang-en" lang="en">)', r"\1、",
                                  "English readers see: 、"),
    "no English half": (r'(<p class="cards-intro">.*?)<span class="lang-en".*?</span>', r"\1",
                        "without its English half"),
    "no Chinese half": (r'(<p class="cards-intro">)<span class="lang-zh".*?</span>', r"\1",
                        "without its Chinese half"),
    "an empty half": (r'(<p class="cards-intro"><span class="lang-zh"[^>]*>).*?</span>',
                      r"\1</span>", "the Chinese half is empty"),
    "a title in one language": (r"<title>.*? · ", "<title>", "is not `中文 · English`"),
    "the book named twice in the title": (r"<title>", "<title>书 · PyTorch Inside Out — ",
                                          "names the book 2 times"),
    "a language chosen in the file": (r"<html ", '<html data-lang="zh" ', "a language is chosen"),
    "a half hidden in the file": (r'<span class="lang-zh"', '<span hidden class="lang-zh"',
                                  "is hidden in the file"),
    # predictions
    "the wrong answer is right": (r'data-response="answer"', 'data-response="d-01234567"',
                                  "no option is said to be right"),
    "a prediction under another name": (r'(<predict-cell data-cell=")', r"\1x", "remembered as"),
    "a prediction left out": (r"<predict-cell.*?</predict-cell>", "", "in its source"),
    "an option left out": (r'<div class="predict-option".*?</div>', "", "rows for"),
    "an option outside its row": (OPTION, r"\1</div>", "an option says ``"),
    "an option of other words": (OPTION + r"(<span class=\"lang-zh\"[^>]*>)", r"\1\2另",
                                 "an option says"),
    "a line of another option": (FEEDBACK, r'\1<span class="lang-zh">不对。<span class="lang-zh"',
                                 "the line of an option says"),
    "an output outside its fold": (r'(<predict-cell)', r'<div class="cell_output">8</div>\1',
                                   "outputs stand in the fold"),
    "an open fold": (r'<details class="predict-output"', '<details open class="predict-output"',
                     "its fold is open"),
    "a fold that scripts alone open": (r'<details class="predict-output"',
                                       '<details hidden class="predict-output"',
                                       "hidden from a reader without"),
    "another output": (r'(<details class="predict-output".*?<pre[^>]*>)', r"\1 9",
                       "the fold shows"),
    "an output in the open below": (FOLD, r'<div class="cell"><div class="cell_output">8</div>'
                                    r"</div>\1", "stands in the open"),
    "a text in the open below": (FOLD, r'<div class="bi-pair"><div class="lang-zh"><p>一</p></div>'
                                 r'<div class="lang-en"><p>One</p><p>Two</p></div></div>\1',
                                 "several paragraphs stands in the open"),
    "a fold in the open below": (FOLD, r"<details><summary>See</summary>8</details>\1",
                                 "stands in the open and may answer it"),
    "no note that it waits": (r'<p class="explanation-note">.*?</p>', "", "does not begin with"),
    # cards
    "a card left out": (CARD, "", "in this order"),
    "cards in another order": (CARD + CARD, r"\2\1", "in this order"),
    "an answer in the open": (r'(<article class="card".*?)<details>', r"\1<details open>",
                              "no closed fold"),
    "an answer outside the fold": (r"(<article class=\"card\".*?)<details>(.*?)"
                                   r"(<p class='card-answer'>.*?</p>)", r"\1\3<details>\2",
                                   "1 answers, 0 of them in the fold"),
    "no answer": (r"(<p class='card-answer'><span class=\"lang-zh\"[^>]*>).*?</span>", r"\1</span>",
                  "its answer in zh is ``"),
    "a question in the fold": (r'(<article class="card".*?)<div class="card-question".*?</div>',
                               r"\1", "no question in the open"),
    "another program": (r'(<article class="card".*?<div class="highlight"><pre[^>]*>)', r"\1 x = 1",
                        "its code is"),
    "another result": (r'(<pre class="card-shown"[^>]*>)', r"\1 9", "its proof recorded"),
    "another claim": (r"(<b><span class=\"lang-zh\"[^>]*>)([^<]*)(.{0,400}?<small>（)", r"\1也\2\3",
                      "the claim"),
    "a claim left out": (r'(<section id="recall">.*)<li>(?:(?!<li>).)*?<small>.*?</li>', r"\1",
                         "claims on the page"),
    # drawings
    "a drawing left out": (r'<figure class="drawing".*?</figure>', "", "on the page,"),
    "a drawing as a file": (RECALL, r'\1<img alt="x" src="../../_static/favicon.svg">',
                            "a drawing is a file"),
    "a drawing without its name": (r"<figcaption.*?</figcaption>", "", "the cell's alt"),
    "a drawing read out twice": (r'<svg aria-hidden="true"', "<svg", "its parts are read out"),
    "a drawing out of reach of Tab": (r'<figure class="drawing" tabindex="0"',
                                      '<figure class="drawing"', "cannot be reached by Tab"),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_seen(site, fault):
    pattern, new, words = PLANTED[fault]
    name = section_with(site, pattern)
    found = changed(site, name, pattern, new)
    assert any(words in line for line in found), "\n".join(found)


def test_all_faults_of_a_page_are_told_at_once(site):
    faults = [PLANTED[name] for name in ("a link to no file", "Chinese outside its half",
                                         "the wrong answer is right", "another result")]
    name = next(name for name, page in site.pages.items() if is_section(page.document) and all(
        re.search(pattern, page.html, re.S) for pattern, _, _ in faults))
    html = site.pages[name].html
    for pattern, new, _ in faults:
        html = re.sub(pattern, new, html, count=1, flags=re.S)
    page = Page(site, name, html)
    found = [str(one) for concern in check.OF_A_PAGE for one in concern.problems(page)]
    for _, _, words in faults:
        assert any(words in line for line in found), words
    assert all(line.startswith(name) for line in found)


OPENING_FAULTS = {
    "a section left out of the table": (
        r'(<section id="sections-of-this-chapter">.*?<tbody>.*?)<tr>.*?</tr>', r"\1", "lacks ["),
    "a section twice in the table": (
        r'(<section id="sections-of-this-chapter">.*?<tbody>.*?)(<tr>.*?</tr>)', r"\1\2\2",
        "too many"),
    "a thing to do without its section": (
        r'(<section id="you-can-now">.*?<ul.*?)<a class="reference internal"', r"\1<a",
        "each names one section"),
    "a prediction left out": (r"<predict-cell.*?</predict-cell>", "", "in its source"),
    "a section left out of the contents": (
        r'(<li class="chapter current.*?<ul>)<li>.*?</li>', r"\1",
        "below the chapter"),
    "the chapter folded in the contents": (r"<details open[^>]*>", "<details>", "is folded"),
    "a toggle without a name": (
        r'(<li class="chapter current.*?<summary>)<span class="visually-hidden">.*?</span><svg',
        r"\1<svg", "has no name"),
}


@pytest.mark.parametrize("fault", OPENING_FAULTS)
def test_a_fault_planted_in_an_opening_is_seen(site, fault):
    pattern, new, words = OPENING_FAULTS[fault]
    openings = [name for name in site.pages if re.fullmatch(r"chapters/[^/]+/index.html", name)]
    for name in openings:
        found = changed(site, name, pattern, new)
        assert any(words in line for line in found), "\n".join(found)


SHEET_FAULTS = {
    "a proof called a preparation": (r'(<details class="fold proof"><summary>.{0,120}?)证明：[^<]*',
                                     r"\1准备", "the head is `准备`"),
    "a preparation called a proof": (r'(<details class="fold proof"><summary>.{0,300}?)Set-up',
                                     r"\1Proof: A1", "the head is `Proof: A1`"),
    "a proof open on the screen": (r'<details class="fold proof"',
                                   '<details open class="fold proof"', "open on the screen"),
    "no count of lines": (r"lines checked", "lines", "does not say how many lines"),
}


@pytest.mark.parametrize("fault", SHEET_FAULTS)
def test_a_fault_planted_in_a_sheet_is_seen(site, fault):
    pattern, new, words = SHEET_FAULTS[fault]
    for name in (name for name in site.pages if name.endswith("/cheat-sheet.html")):
        found = changed(site, name, pattern, new, times=0)
        assert any(words in line for line in found), "\n".join(found)


def test_a_sheet_with_few_proofs_is_told(site):
    name = next(name for name in site.pages if name.endswith("/cheat-sheet.html"))
    found = changed(site, name, r'<details class="fold proof">', "<details>", times=0)
    assert any("0 proofs, at least 11" in line for line in found)


@pytest.mark.parametrize(("pattern", "new", "words"), [
    (r'<a class="machine" href="[^"]*"', '<a class="machine"', "no machine leads to"),
    (r'(<section id="sections">.*?<h3 .*?)<a [^>]*href="[^"]*"', r"\1<a", "no list is headed"),
    (r'(<section id="sections">.*?<ol>)<li>.*?</li>', r"\1", "lacks ["),
])
def test_the_front_page_leads_to_openings_and_sections(site, monkeypatch, pattern, new, words):
    front = site.pages[links.FRONT]
    html = re.sub(pattern, new, front.html, count=1, flags=re.S)
    monkeypatch.setitem(site.pages, links.FRONT, Page(site, links.FRONT, html))
    assert any(words in str(one) for one in chapters.of_site(site))


def test_a_door_to_nowhere_and_a_style_that_asks_another_host_are_told(tmp_path):
    (tmp_path / "index.html").write_text(
        '<meta http-equiv="Refresh" content="0; url=book/gone.html">')
    (tmp_path / "a.css").write_text("@import 'https://fonts.example.org/a.css';"
                                    "b{background:url(//c.example.org/b.png)}")
    found = [str(one) for one in links.of_site(Site(tmp_path))]
    assert found == ["index.html: leads to book/gone.html, which is no page",
                     "a.css: loads https://fonts.example.org/a.css",
                     "a.css: loads //c.example.org/b.png"]


def test_a_folder_without_pages_is_told(tmp_path):
    [one] = check.problems(tmp_path)
    assert one.text == "holds no page; run make site"


def test_the_command_prints_all_and_fails(tmp_path, capsys):
    assert check.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "1 findings on 0 pages"
