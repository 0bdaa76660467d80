"""An opening leads to all that is in its chapter; the folds of a sheet say what their cells do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from book.pipeline.content.chapters import read
from book.pipeline.ground.paths import CHAPTERS, OPENING, SHEET, is_section, place
from book.pipeline.pages.built import Finding, Page, Site, near, text
from book.pipeline.pages.links import FRONT

CAN_DO = 8, 12  # lines of `You can now`; a chapter of more sections has one for each
LEAST_PROOFS = 10
HEADS = {"zh": ("证明：", "准备"), "en": ("Proofs: ", "Set-up")}


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
    yield from contents(page, chapter, sections)


def opening(page: Page, sections: list[str]) -> Iterator[Finding]:
    """Its table has each section and the sheet once, `You can now` names where each is learnt; an
    opening that is being written may have fewer such lines, but leaves out no section."""
    sheet_page = page.name.replace(f"{OPENING}.html", f"{SHEET}.html")
    expected = sorted([*sections, *([sheet_page] if sheet_page in page.site.pages else [])])
    rows = page.all("#sections-of-this-chapter tbody tr")
    linked = [page.links(row)[0] for row in rows if page.links(row)]
    if sorted(linked) != expected:
        yield page.finding("#sections-of-this-chapter", f"links {unequal(linked, expected)}")
    draft = page.first(".draft-note") is not None
    if draft and not sections:
        return
    lists = [[page.links(item, "a.internal") for item in half.css("li")]
             for half in page.all("#you-can-now ul")]
    if len(lists) != 2:
        yield page.finding("#you-can-now", f"{len(lists)} lists, not one in each language")
        return
    least, most = (0 if draft else CAN_DO[0]), max(CAN_DO[1], len(sections))
    for items in lists:
        if not least <= len(items) <= most or any(len(set(links)) != 1 for links in items):
            yield page.finding("#you-can-now", f"{len(items)} lines with {list(map(len, items))} "
                               f"links: {least} to {most} lines, each names one section")
        if missing := set(sections) - {name for links in items for name in links}:
            yield page.finding("#you-can-now", f"no line leads to {sorted(missing)}")
    if lists[0] != lists[1]:
        yield page.finding("#you-can-now", "the two languages lead to different sections")


def unequal(found: list[str], expected: list[str]) -> str:
    more, less = Counter(found) - Counter(expected), Counter(expected) - Counter(found)
    return f"{sorted(more.elements())} too many and lacks {sorted(less.elements())}"


def contents(page: Page, chapter: str, sections: list[str]) -> Iterator[Finding]:
    """The chapter is open in the contents; its sections and its sheet stand below its opening."""
    prefix = f"{CHAPTERS.name}/{chapter}/"
    if f"{prefix}{OPENING}.html" not in page.site.pages:
        return
    box = page.first("#contents li.chapter.current")
    nested = page.links(box, "details li > a") if box else []
    known = set(page.site.pages)
    expected = [*sections, *({f"{prefix}{SHEET}.html"} & known)]
    if sorted(nested) != sorted(expected):
        yield page.finding("#contents", f"below the chapter: {unequal(nested, expected)}")
    elif not box.css_first("details[open]"):
        yield page.finding("#contents", "the chapter that is being read is folded")
    elif not text(box.css_first("summary .visually-hidden")):
        yield page.finding("#contents", "the toggle of the chapter has no name")


def sheet(page: Page) -> Iterator[Finding]:
    """The proofs are folded, each head says whether its cells check lines, the last counts them."""
    folds = page.all("details.proof")
    cells = page.all("details.proof .cell")
    if len(cells) <= LEAST_PROOFS:
        yield page.finding("details.proof", f"{len(cells)} proofs, at least {LEAST_PROOFS + 1}")
    counts = [fold for fold in folds if "lines checked" in text(fold)]
    for number, fold in enumerate(folds, 1):
        code = "\n".join(text(cell) for cell in fold.css("pre"))
        called = re.search(r"(?<!def )\bcheck\(", code)
        for lang, (proof, set_up) in HEADS.items():
            head = text(fold.css_first(f"summary .lang-{lang}"))
            if not re.fullmatch(proof + r"[A-Z]\d+.*" if called else set_up, head):
                yield page.finding(f"{near(fold)} ({number})", f"the head is `{head}`, and its "
                                   f"cells check {'lines' if called else 'none'}")
        if "open" in fold.attributes:
            yield page.finding(f"{near(fold)} ({number})", "a proof is open on the screen")
    if folds and not (counts and "lines checked" in text(counts[-1].css("pre")[-1])):
        yield page.finding(folds[-1], "the last cell does not say how many lines it checked")


def of_site(site: Site) -> Iterator[Finding]:
    """The front page leads to each opening by the head of its list, and by its machine where the
    chapter has one; its lists lead to each section."""
    front = site.pages.get(FRONT)
    if front is None:
        yield Finding(FRONT, "", "there is no front page")
        return
    boxes = front.links(front.tree.body, "a.machine[href]")
    heads = front.links(front.tree.body, "#sections h3 a[href]")
    known = read(site.root)
    rows = front.links(front.tree.body, "#sections li a[href]")
    for chapter, names in site.chapters().items():
        opening = f"{CHAPTERS.name}/{chapter}/{OPENING}.html"
        if opening in names and opening not in heads:
            yield front.finding("#sections", f"no list is headed by a link to {opening}")
        if opening in names and known[chapter].machine and opening not in boxes:
            yield front.finding(".machine", f"no machine leads to {opening}")
        sections = [name for name in names if is_section(name.removesuffix(".html"))]
        listed = [name for name in rows if name.startswith(f"{CHAPTERS.name}/{chapter}/")]
        if sorted(listed) != sorted(sections):
            yield front.finding("#sections", f"{chapter}: {unequal(listed, sections)}")
