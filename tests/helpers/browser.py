"""One headless Chromium over a served site; no test can reach any other host.

A folder of tests imports the fixtures in its conftest and adds its own `site`, an address:

    from tests.helpers.browser import browser, open_all, seats, tab_to, visit  # noqa: F401
"""

import re
import time
from collections import defaultdict

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from oracles.web import chromium

HANG = 180_000 # ms after which what a test waits for will never come, also on a busy machine
expect.set_options(timeout=HANG)

DESKTOP = {"width": 1280, "height": 720}

# Runs before any script of a page: what is settled when the parser reaches <body>.
AT_BODY = """new MutationObserver((_, observer) => {
  if (!document.body) return;
  window.atBody = { ...document.documentElement.dataset, lang: document.documentElement.lang,
                    mode: document.documentElement.dataset.lang };
  observer.disconnect();
}).observe(document, { childList: true, subtree: true });"""

# Tests see the site as it is served; the service worker has tests of its own (test_offline.py).
NO_WORKERS = "Object.defineProperty(Navigator.prototype, 'serviceWorker', { value: undefined })"
# A widget loads when it comes near the screen (test_widgets_load_near.py); for all other tests it
# is there from the start, as if the reader had come by.
WIDGETS = """async () => {
  const script = document.querySelector("script[src*='/near.js']");
  if (!script || !document.documentElement.dataset.lang) return; // none, or no scripts
  const files = [...script.attributes].filter(({ name }) => name.startsWith("data-near-"))
    .map(({ value }) => value);
  await Promise.all(files.map((file) => import(new URL(file, document.baseURI))));
}"""


def until(page, script, arg=None):
    """Wait for a script whose answer comes by a promise, as what a database holds."""
    end = time.monotonic() + HANG / 1000
    while not page.evaluate(script, arg):
        assert time.monotonic() < end, f"never true: {script}"
        page.wait_for_timeout(20)


def refuses_promises(wait):
    """wait_for_function, which takes any promise for true and so would not wait at all."""
    def waits(page, expression, **options):
        handle = wait(page, expression, **options)
        assert handle.evaluate("value => Boolean(value)"), f"ask by until(): {expression}"
        return handle
    return waits


@pytest.fixture(scope="session")
def browser():
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setattr(Page, "wait_for_function", refuses_promises(Page.wait_for_function))
        browser = playwright.chromium.launch(executable_path=chromium.path(), args=chromium.FLAGS)
        yield browser
        browser.close()


class Seat:
    """A browser context that blocks other hosts; one reader after another may sit in it.

    A new renderer takes about 0.8 s of processor time to warm up (fonts, scripts), which is more
    than most tests do, so that a seat is cleaned and kept: `clean` leaves nothing of a reader.
    """

    def __init__(self, browser, site, **options):
        self.site, self.reader, self.readers = site, None, 0
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(HANG)
        self.context.add_init_script(AT_BODY)
        self.context.add_init_script(NO_WORKERS)
        self.context.route(re.compile(f"^(?!{re.escape(site)})"), lambda route: route.abort())
        self.context.on("request", self.note)
        self.context.on("weberror", lambda event: self.reader.errors.append(str(event.error)))
        self.context.on("console", lambda message: message.type in ("error", "warning")
                        and self.reader.errors.append(message.text))

    def note(self, request):
        if not request.url.startswith((self.site, "data:")):
            self.reader.foreign.append(request.url)

    def clean(self):
        """Leave one empty tab and nothing stored; False if nobody should sit here again."""
        self.readers += 1
        first, *others = self.context.pages or [self.context.new_page()]
        for page in others:
            page.close()
        if first.url.startswith(self.site):  # told now: the browser tells its renderer later
            first.evaluate("sessionStorage.clear()")
        first.goto("about:blank")
        session = self.context.new_cdp_session(first)
        session.send("Storage.clearDataForOrigin",
                     {"origin": self.site.rstrip("/"), "storageTypes": "all"})
        session.detach()
        real = first.evaluate("String(setTimeout).includes('[native code]')")  # no fake clock
        return real and self.readers < 40  # what a renderer keeps of old pages is given back


class Visitor:
    """A reader: the pages are opened as in a new browser, and what goes wrong is noted."""

    def __init__(self, seat, media, viewport):
        self.site, self.foreign, self.errors = seat.site, [], []
        self.seat, self.media, self.viewport, self.alone = seat, media, viewport, False
        seat.reader = self

    @property
    def context(self):
        """The browser context; a test that asks for it may change it, so nobody sits there next."""
        self.alone = True
        return self.seat.context

    def open(self, path, lang=None):
        """A page of the site, loaded and its scripts run."""
        blank = [page for page in self.seat.context.pages if page.url == "about:blank"]
        page = (blank or [self.seat.context.new_page()])[0]
        page.set_viewport_size(self.viewport)
        page.emulate_media(media="null", **self.media)
        page.goto(f"{self.site}{path}" + (f"?lang={lang}" if lang else ""))
        page.evaluate(WIDGETS)
        return page


@pytest.fixture(scope="session")
def seats():
    """Free seats by the options that a context cannot change later."""
    return defaultdict(list)


@pytest.fixture
def visit(browser, site, seats):
    """Make visitors; afterwards none of them may have met an error or asked another host."""
    taken = []

    def make(color_scheme="light", reduced_motion="no-preference", viewport=DESKTOP, **options):
        kind = tuple(sorted({"locale": "en-US", **options}.items()))
        seat = seats[kind].pop() if seats[kind] else Seat(browser, site, **dict(kind))
        media = {"color_scheme": color_scheme, "reduced_motion": reduced_motion}
        taken.append((kind, Visitor(seat, media, viewport)))
        return taken[-1][1]

    yield make
    for kind, visitor in taken:
        if not visitor.alone and visitor.seat.clean():
            seats[kind].append(visitor.seat)
        else:
            visitor.seat.context.close()
    assert [visitor.foreign + visitor.errors for _, visitor in taken] == [[] for _ in taken]


@pytest.fixture
def tab_to():
    """Press Tab until the focus is on an element that matches; fail if it never is."""
    def press(page, selector, limit=300):
        for _ in range(limit):
            page.keyboard.press("Tab")
            if page.evaluate("s => document.activeElement.matches(s)", selector):
                return
        raise AssertionError(f"Tab never reaches {selector}")
    return press


@pytest.fixture
def open_all():
    """Commit every prediction and open every fold, so that all content is on the page."""
    return lambda page: page.evaluate("""() => {
      for (const cell of document.querySelectorAll('predict-cell')) {
        cell.querySelector('.predict-choice').click();
      }
      for (const fold of document.querySelectorAll('details')) fold.open = true;
    }""")
