"""One visit of a page: what only its content can break, in one tab and one load.

    loaded at 390 px, light, zh    requests, hosts, bytes, console: noted throughout
    on paper                       folds are open, outputs show, forms are gone
    all committed, all opened
    390, 320 px, zh, en, both      nothing is wider than the phone or cut, tables scroll
    axe at 390 px, both            all rules but the contrast of text; targets are large enough
    1280 px, zh, en, both          nothing of the other language; titles; in English the names
                                   of controls
    dark, light                    each pair of ink and ground judged once

What scripts and styles do is tested on the specimen; here a failure names all that is wrong.
"""

import re
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Error, TimeoutError

from book.pipeline.ground.paths import OPENING, SHEET, place
from book.pipeline.pages.built import Finding
from oracles.web import axe
from oracles.web.serving import wire_body
from tests.helpers import contrast, namesakes
from tests.helpers.browser import WIDGETS
from tests.helpers.languages import CHINESE

BUDGET = 200_000  # bytes over the wire, all assets of one page
MODES = ("zh", "en", "both")
PHONES, DESKTOP = (390, 320), 1280
HANG = 180_000 # ms; whatever takes as long has stopped, on any machine
FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
FOLDING = 20_000  # ms that a fold may take to open for the printer
SMALLEST = 10.9  # px of a label in the drawing of an opening
BOOK = "PyTorch Inside Out"
LOOK = Path(__file__).with_name("look.js").read_text(encoding="utf-8")
OWN_NAMES = ["中文", "对照"]  # languages are called by their own names in all of them


class Tab:
    """One tab that blocks other hosts, in which one page after another is visited."""

    def __init__(self, browser, site, folder):
        self.site, self.folder = site, folder
        self.context = browser.new_context(locale="en-US", reduced_motion="reduce")
        self.context.set_default_timeout(HANG)
        self.context.add_init_script(LOOK)
        self.context.route(re.compile(f"^(?!{re.escape(site)})"), lambda route: route.abort())
        self.context.on("request", lambda request: self.asked.append(request))
        self.context.on("requestfinished", lambda request: self.ended.append(request))
        self.context.on("requestfailed", lambda request: self.ended.append(request))
        self.context.on("response", self.answered)
        self.context.on("weberror", lambda event: self.said.append(str(event.error)))
        self.context.on("console", lambda message: message.type in ("error", "warning")
                        and self.said.append(message.text))
        self.page = self.context.new_page()
        self.cdp = self.context.new_cdp_session(self.page)
        self.forget()

    def forget(self):
        self.asked, self.ended, self.failed, self.said = [], [], [], []

    def answered(self, response):
        if response.status >= 400:
            self.failed.append(f"{response.status} {response.url.removeprefix(self.site)}")

    def leave(self):
        """Nothing of the page before is left."""
        self.page.goto("about:blank")
        self.cdp.send("Storage.clearDataForOrigin",
                      {"origin": self.site.rstrip("/"), "storageTypes": "all"})
        self.forget()

    def settle(self):
        """Wait until each request has ended."""
        while len(self.ended) < len(self.asked):
            self.page.evaluate("new Promise(requestAnimationFrame)")

    def visit(self, name):
        """All findings of a page; where the visit itself cannot go on, that is the last of them."""
        found = []
        try:
            self.leave()
            for one in Visit(self, name).findings():
                found.append(one)  # kept, should a later look stop
        except Error as error:
            found.append(Finding(name, "", f"the visit stopped: {str(error).splitlines()[0]}"))
        return found


class Visit:
    """The looks at one page, in order."""

    def __init__(self, tab, name):
        self.tab, self.page, self.name = tab, tab.page, name
        self.kind = (place(name.removesuffix(".html")) or ("", ""))[1]

    def told(self, mode, what, found):
        """Findings of a look: each element with the state of the page in which it was seen."""
        for one in found:
            yield Finding(self.name, f"[{mode}] {one['where']}", f"{what}: {one['text']}")

    def line(self, mode, text):
        return Finding(self.name, f"[{mode}]", text)

    def look(self, name, *arguments):
        return self.page.evaluate(f"([...all]) => look.{name}(...all)", list(arguments))

    def at(self, width, mode):
        """Set the width of the screen and the language; returns what the switch made of it."""
        self.page.set_viewport_size({"width": width, "height": 800})
        self.page.wait_for_function("width => innerWidth === width", arg=width)
        chosen = self.look("choose", mode)
        self.page.evaluate(FRAMES)  # what looks at sizes (page/scrolling.js) has seen the new ones
        return chosen

    def findings(self):
        self.page.set_viewport_size({"width": PHONES[0], "height": 800})
        self.page.emulate_media(media="null", color_scheme="light")
        self.page.goto(f"{self.tab.site}{self.name}?lang=zh")
        self.page.evaluate(WIDGETS)
        self.tab.settle()
        yield from self.on_paper()
        self.look("openAll")
        for width in PHONES:
            for mode in MODES:
                yield from self.on_a_phone(width, mode)
            if width == PHONES[0]:
                yield from self.by_axe()
        for mode in MODES:
            yield from self.in_a_language(mode)
        for scheme in ("dark", "light"):
            yield from self.in_colours(scheme)
        yield from self.over_the_wire()

    def on_paper(self):
        """A cheat sheet has a page of its own in test_sheets.py."""
        if self.kind == SHEET:
            return
        self.page.emulate_media(media="print")
        with suppress(TimeoutError):  # a fold opens with the next frame, on a busy machine later
            self.page.wait_for_function("() => !look.paper().closed.length", timeout=FOLDING)
        seen = self.look("paper")
        self.page.emulate_media(media="null")
        yield from self.told("print", "is closed on paper", seen["closed"])
        yield from self.told("print", "is not on paper", seen["lost"])
        yield from self.told("print", "is of no use on paper", seen["left"])

    def on_a_phone(self, width, mode):
        state = f"{width} {mode}"
        self.at(width, mode)
        yield from self.told(state, "is wider than the phone", self.look("tooWide"))
        yield from self.told(state, "is cut", self.look("cut"))
        seen = self.look("tables")
        yield from self.told(state, "is cut in a table that could scroll", seen["cut"])
        yield from self.told(state, "does not scroll", seen["stuck"])
        yield from self.told(state, "scrolls, and Tab does not reach it", seen["unreachable"])
        if self.kind == OPENING and width == PHONES[0]:
            for one in self.look("drawings"):
                if one["hidden"] > 0 or one["smallest"] < SMALLEST:
                    text = (f"the drawing hides {one['hidden']} px, its smallest label has "
                            f"{one['smallest']:.1f}, at least {SMALLEST}")
                    yield Finding(self.name, f"[{state}] {one['where']}", text)

    def in_a_language(self, mode):
        state = f"{DESKTOP} {mode}"
        chosen, lang, title = self.at(DESKTOP, mode)
        if (chosen, lang) != (mode, "en" if mode == "en" else "zh-Hans"):
            yield self.line(state, f"the page is in {chosen}, marked {lang}")
        yield from self.titled(state, mode, title)
        for kind, other in (("zh", "en"), ("en", "zh")):
            seen = self.look("parts", kind)
            if mode == other:
                yield from self.told(state, f"shows .lang-{kind}", seen["shown"])
            else:
                yield from self.told(state, f"hides .lang-{kind}", seen["hidden"])
        between = self.look("parts", "sep")["shown"]
        if mode == "both" and not between:
            yield self.line(state, "nothing stands between the two languages")
        if mode != "both":
            yield from self.told(state, "shows what stands between languages", between)
        if mode == "en":
            yield from self.chinese(state)
            yield from (self.line(state, words) for words in namesakes.of(self.tab.cdp))

    def titled(self, state, mode, title):
        has = bool(CHINESE.search(title)), title.count(BOOK)
        if has != (mode != "en", mode != "zh"):
            yield self.line(state, f"the title is `{title}`")

    def chinese(self, state):
        lines = [line for line in self.page.inner_text("body").splitlines()
                 if CHINESE.search(line)]
        terms = self.page.locator("term-cards b[lang=zh-Hans]").all_inner_texts()
        names = [*OWN_NAMES, *OWN_NAMES[:1] * self.page.locator(".downloads").count(), *terms]
        for line in names:
            if line in lines:
                lines.remove(line)
        yield from (self.line(state, f"an English reader sees `{line[:60]}`") for line in lines)

    def in_colours(self, scheme):
        self.page.emulate_media(color_scheme=scheme)
        self.page.wait_for_function("s => document.documentElement.dataset.theme === s", arg=scheme)
        for pair in self.look("pairs"):
            if words := judged(pair):
                yield from self.told(f"{scheme} both", words, [pair])

    def by_axe(self):
        """All rules but the contrast of text, where targets are smallest and most boxes scroll."""
        for words in axe.violations(self.page, at_least=20, more=axe.ON_A_PHONE,
                                    without=["color-contrast"]):
            yield self.line(f"{PHONES[0]} both", " ".join(words.split()))

    def over_the_wire(self):
        """Everything has been opened and shown: what was asked, and what it weighs."""
        self.look("readThrough")
        icon = self.page.evaluate("document.querySelector('link[rel~=icon]').href")
        self.tab.settle()
        urls = {request.url for request in self.tab.asked} | {icon}
        for url in sorted(urls):
            if not url.startswith((self.tab.site, "data:", "blob:")):
                yield self.line("requests", f"asks another host: {url}")
        yield from (self.line("requests", f"no answer: {words}") for words in self.tab.failed)
        yield from (self.line("console", words) for words in dict.fromkeys(self.tab.said))
        yield from self.weighed(urls)

    def weighed(self, urls):
        files = {self.tab.folder / urlsplit(url).path[1:] for url in urls
                 if url.startswith(self.tab.site)}
        sizes = sorted(((len(wire_body(file)), file.name) for file in files if file.is_file()),
                       reverse=True)
        if (total := sum(size for size, _ in sizes)) > BUDGET:
            yield self.line("requests", f"{total} bytes, {BUDGET} are allowed; the largest: "
                                        f"{sizes[:5]}")


def judged(pair):
    """What is wrong with the contrast of a pair of ink and ground; empty if nothing is."""
    if any(image for _, _, image in pair["held"]):
        return "a picture lies below it, so that its contrast cannot be judged"
    least = contrast.LARGE if pair["large"] else contrast.NORMAL
    try:
        ink, *under = (contrast.faded(contrast.colour(fill), opacity)
                       for fill, opacity in [pair["ink"], *pair["under"]])
        held = [(contrast.colour(ground), opacity) for ground, opacity, _ in pair["held"]]
    except ValueError as error:
        return str(error)
    if (seen := contrast.of_text(ink, under, held)) < least:
        return f"contrast {seen:.2f} of {least}, {pair['ink']} on {pair['held']} {pair['under']}"
    return ""
