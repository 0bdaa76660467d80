"""An opening leads to all that is in its chapter; the folds of a sheet say what their cells do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from book.pipeline.pages.built import Finding, Page, Site, near, text
from book.pipeline.pages.links import FRONT
from book.pipeline.paths import CHAPTERS, OPENING, SHEET, is_section, place

CAN_DO = range(8, 13)  # lines of `You can now`
LEAST_PROOFS = 10
HEADS = {"zh": ("证明：", "准备"), "en": ("Proof: ", "Set-up")}


def problems(page: Page) -> Iterator[Finding]:
    chapter, name = place(page.document) or ("", "")
    if not chapter:
        return
    sections = [other for other in page.site.chapters()[chapter]
                if is_section(other.removesuffix(".html"))]
    if name == OPENING:
        yield from opening(page, sections)
    if name == SHEET:
        yield from sheet(page)
    yield from sidebar(page, chapter, sections)


def opening(page: Page, sections: list[str]) -> Iterator[Finding]:
    """Its table has each section and the sheet once, `You can now` names where each is learnt."""
    sheet_page = page.name.replace(f"{OPENING}.html", f"{SHEET}.html")
    expected = sorted([*sections, *([sheet_page] if sheet_page in page.site.pages else [])])
    rows = page.all("#sections-of-this-chapter tbody tr")
    linked = [page.links(row)[0] for row in rows if page.links(row)]
    if sorted(linked) != expected:
        yield page.finding("#sections-of-this-chapter", f"links {unequal(linked, expected)}")
    lists = [[page.links(item, "a.internal") for item in half.css("li")]
             for half in page.all("#you-can-now ul")]
    if len(lists) != 2:
        yield page.finding("#you-can-now", f"{len(lists)} lists, not one in each language")
        return
    for items in lists:
        if len(items) not in CAN_DO or any(len(set(links)) != 1 for links in items):
            yield page.finding("#you-can-now", f"{len(items)} lines with {list(map(len, items))} "
                                               "links: 8 to 12 lines, each names one section")
        if missing := set(sections) - {name for links in items for name in links}:
            yield page.finding("#you-can-now", f"no line leads to {sorted(missing)}")
    if lists[0] != lists[1]:
        yield page.finding("#you-can-now", "the two languages lead to different sections")


def unequal(found: list[str], expected: list[str]) -> str:
    more, less = Counter(found) - Counter(expected), Counter(expected) - Counter(found)
    return f"{sorted(more.elements())} too many and lacks {sorted(less.elements())}"


def sidebar(page: Page, chapter: str, sections: list[str]) -> Iterator[Finding]:
    """The chapter is open in the sidebar and has its sections, and its sheet, below its opening."""
    prefix = f"{CHAPTERS.name}/{chapter}/"
    if f"{prefix}{OPENING}.html" not in page.site.pages:
        return
    box = page.first(".bd-links li.toctree-l1.current.has-children")
    nested = page.links(box, "li.toctree-l2 > a") if box else []
    known = set(page.site.pages)
    expected = [*sections, *({f"{prefix}{SHEET}.html"} & known)]
    if sorted(nested) != sorted(expected):
        yield page.finding(".bd-links", f"below the chapter: {unequal(nested, expected)}")
    elif not box.css_first("details[open]"):
        yield page.finding(".bd-links", "the chapter that is being read is folded")
    elif not text(box.css_first("summary .visually-hidden")):
        yield page.finding(".bd-links", "the toggle of the chapter has no name")


def sheet(page: Page) -> Iterator[Finding]:
    """The proofs are folded, each head says whether its cell checks lines, the last counts them."""
    folds = page.all("details.proof")
    if len(folds) <= LEAST_PROOFS:
        yield page.finding("details.proof", f"{len(folds)} proofs, at least {LEAST_PROOFS + 1}")
    for number, fold in enumerate(folds, 1):
        code = text(fold.css_first("pre"))
        called = re.search(r"(?<!def )\bcheck\(", code)
        for lang, (proof, set_up) in HEADS.items():
            head = text(fold.css_first(f"summary .lang-{lang}"))
            if not re.fullmatch(proof + r"[A-Z]\d+.*" if called else set_up, head):
                yield page.finding(f"{near(fold)} ({number})", f"the head is `{head}`, and its "
                                   f"cell checks {'lines' if called else 'none'}")
        if "open" in fold.attributes:
            yield page.finding(f"{near(fold)} ({number})", "a proof is open on the screen")
    if folds and "lines checked" not in text(folds[-1].css("pre")[-1]):
        yield page.finding(folds[-1], "the last cell does not say how many lines it checked")


def of_site(site: Site) -> Iterator[Finding]:
    """The front page leads to each opening by its machine, and its table to each section."""
    front = site.pages.get(FRONT)
    if front is None:
        yield Finding(FRONT, "", "there is no front page")
        return
    boxes = front.links(front.tree.body, ".machine b a[href]")
    rows = front.links(front.tree.body, "#sections tbody a[href]")
    for chapter, names in site.chapters().items():
        opening = f"{CHAPTERS.name}/{chapter}/{OPENING}.html"
        if opening in names and opening not in boxes:
            yield front.finding(".machine", f"no box leads to {opening}")
        sections = [name for name in names if is_section(name.removesuffix(".html"))]
        listed = [name for name in rows if name.startswith(f"{CHAPTERS.name}/{chapter}/")]
        if sorted(listed) != sorted(sections):
            yield front.finding("#sections", f"{chapter}: {unequal(listed, sections)}")
