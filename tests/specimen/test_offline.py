"""The book without a network: what was read, and the whole of it; editions are never mixed."""

import re
import shutil
import threading

import pytest
from playwright.sync_api import expect

from book.pipeline.finish import offline
from tests.helpers.browser import DESKTOP, HANG, WIDGETS
from tests.helpers.editions import Host, breaks_off, edition, files, says
from tests.specimen.conftest import PAGES

pytestmark = pytest.mark.browser
SECTION = PAGES["section"]
KEPT = "[data-show=kept]"
LOADED = """async path => {
  const list = await (await fetch(new URL(path, document.baseURI))).text(); return list.length; }"""
NAMES = """async () => (await Promise.all((await caches.keys()).map(async (name) =>
  (await (await caches.open(name)).keys()).map(({ url }) => url)))).flat()"""

NEAR = """[...document.scripts].flatMap((script) => [...script.attributes])
  .filter(({ name }) => name.startsWith("data-near-")).map(({ value }) => value)"""

ASK = """new Promise((done) => {
  navigator.serviceWorker.addEventListener("message", ({ data }) => done(data));
  dispatchEvent(new Event("online")); // asks the worker how the page stands
})"""
FORGET = """async part => { for (const name of await caches.keys()) {
  const cache = await caches.open(name), keys = await cache.keys();
  for (const key of keys.filter(({ url }) => url.includes(part))) await cache.delete(key);
} }"""


class Reader:
    """A browser of one reader, in which service workers may run; notes what fails in it."""

    def __init__(self, browser, root):
        self.root, self.failed, self.errors = root, [], []
        self.context = browser.new_context(locale="en-US", viewport=DESKTOP)
        self.context.set_default_timeout(HANG)
        self.context.on("requestfailed", self.note)
        self.context.on("response", lambda answer: answer.status >= 400
                        and self.note(answer.request))
        self.context.on("weberror", lambda event: self.errors.append(str(event.error)))
        self.page = self.context.new_page()

    def note(self, request):
        """A request of a page that got no file. Whether there is a server at all may be asked.

        What a page was still loading when the reader left it has not failed.
        """
        left = request.failure == "net::ERR_ABORTED"
        if not request.service_worker and not left and not request.url.endswith("edition.json"):
            self.failed.append(request.url)

    def open(self, path, page=None):
        page = page or self.page
        page.goto(self.root + path)
        return page

    def read(self, path, page=None):
        """Open a page and stay until it is kept."""
        page = self.open(path, page)
        expect(page.locator(KEPT)).to_be_visible()
        return page

    def keep_book(self, downloads=False):
        page = self.open(PAGES["use"])
        book = page.locator("offline-book")
        if downloads:
            book.get_by_role("checkbox").check()
        book.get_by_role("button", name="Keep the whole book").click()
        expect(book).to_contain_text("The whole book is kept")
        return page

    def kept(self):
        """Paths with digests that this reader's browser keeps."""
        return {name.removeprefix(self.root) for name in self.page.evaluate(NAMES)}


@pytest.fixture
def built(specimen, tmp_path):
    return edition(specimen, tmp_path / "A", "A")


@pytest.fixture
def second(built, tmp_path):
    return lambda: edition(built.with_name("A"), tmp_path / "B", "B")


@pytest.fixture
def host(built):
    host = Host(built)
    yield host
    host.stop()


@pytest.fixture
def reader(browser, host):
    made = []

    def make(root=None):
        made.append(Reader(browser, root or host.address))
        return made[-1]
    yield make
    for one in made:
        one.context.close()


def editions(page):
    """The marks of a page and of its script."""
    return page.evaluate("[document.body.dataset.edition, window.edition]")


def test_what_was_read_opens_after_the_server_has_stopped(host, reader):
    one = reader()
    one.read(SECTION)
    host.stop()
    page = one.open(SECTION)
    assert editions(page) == ["A", "A"]
    expect(page.locator("predict-cell").first).to_have_attribute("data-state", "asking")
    assert page.evaluate("getComputedStyle(document.querySelector('.predict-form')).borderTopStyle"
                         ) == "solid"
    assert one.open("").url.endswith(PAGES["front"])  # never visited: it is of the shell
    expect(one.page.locator("article h1:visible")).to_contain_text("Specimen")
    assert (one.failed, one.errors) == ([], [])
    host.start()


def test_the_first_visit_takes_the_shell_and_the_page_and_nothing_else(host, reader):
    one = reader()
    one.read(SECTION)
    list_of_shell = one.page.evaluate("""async () => {
      const { list } = await (await fetch('../../edition.json')).json();
      return (await (await fetch('../../' + list)).json()).shell }""")
    paths = {name.split("?")[0] for name in one.kept()}
    assert set(list_of_shell) <= paths
    assert SECTION in paths
    assert not {PAGES["drill"], "_static/stride-explorer.js"} & paths
    rows = files(host.folder)
    assert sum(rows[path][2] for path in paths if path in rows) < 250_000


def test_a_page_that_was_not_read_is_answered_by_a_list_of_those_that_were(host, reader):
    one = reader()
    one.read(SECTION)
    host.stop()
    page = one.open(PAGES["drill"])
    expect(page.get_by_role("heading", name="this page is not kept yet")).to_be_visible()
    expect(page.get_by_role("heading", name="这一页还没有存下")).to_be_hidden()
    assert page.locator("li a").all_inner_texts() == ["Specimen", "Everything once"]
    page.get_by_role("link", name="Everything once").click()
    expect(page.locator("article h1:visible")).to_contain_text("Everything once")
    host.start()


def test_the_whole_book_opens_after_the_server_has_stopped(host, reader):
    one = reader()
    book = one.open(PAGES["use"]).locator("offline-book")
    said = re.compile(r"Keep the whole book: \d+ KB to download, .* once kept")
    expect(book).to_contain_text(said)
    one.keep_book()
    expect(book).to_contain_text("allows it about")
    host.stop()
    asked, widgets = set(), set()
    one.context.on("request", lambda request: request.service_worker or asked.add(request.url))
    for name, path in PAGES.items():
        page = one.open(path)
        assert page.evaluate("window.edition") == "A", name
        empty = "[...document.styleSheets].filter(sheet => !sheet.cssRules.length).length"
        assert page.evaluate(empty) == 0, name
        page.evaluate(WIDGETS)  # comes near to each, so that its script is asked for
        assert page.locator(":not(:defined)").count() == 0, name
        widgets |= {file.split("?")[0].removeprefix("../../") for file in page.evaluate(NEAR)}
    assert len(widgets) == 6
    assert widgets <= set(files(host.folder))
    one.open(PAGES["drill"])
    one.page.get_by_role("button", name="Start").first.click()
    expect(one.page.locator("card-drill")).to_have_attribute("data-phase", "question")
    assert (one.failed, one.errors) == ([], [])
    named = re.compile(r"[.=][0-9a-f]{8,}(\.\w+)?$|\.html$|/edition\.json$|^data:")
    assert [url for url in asked if not named.search(url)] == []
    host.start()


def test_an_address_that_the_kept_book_does_not_have_is_said_to_be_none_of_its(host, reader):
    one = reader()
    one.keep_book()
    host.stop()
    page = one.open("chapters/01-tensors/no-such.html")
    expect(page.get_by_role("heading", name="There is no such page in the book")).to_be_visible()
    assert page.title() == "书里没有这一页 · No such page"
    assert not page.get_by_text("not kept yet").locator("visible=true").count()
    names = page.locator("li a").all_inner_texts()
    assert names[0] == "Specimen"
    assert names.index("Everything once") < names.index("Stride explorer") < names.index("Drill")
    page.get_by_role("link", name="Everything once").click()
    expect(page.locator("article h1:visible")).to_contain_text("Everything once")
    host.start()


@pytest.mark.parametrize("whole", [True, False])
def test_the_address_of_a_notebook_that_was_not_kept_says_so_and_where_to_add_it(
        host, reader, whole):
    one = reader()
    one.keep_book() if whole else one.read(PAGES["use"])
    host.stop()
    page = one.open("downloads/01-tensors/section.en.ipynb")
    expect(page.get_by_role(
        "heading", name="notebooks and code files are not kept")).to_be_visible()
    assert "notebook 和代码文件没有存下" in page.title()
    assert page.locator("p:visible").count() == 1
    page.locator("p").get_by_role("link", name="How to use this book").click()
    expect(page.locator("offline-book")).to_be_visible()
    host.start()


def test_where_notebooks_are_kept_an_address_that_none_has_is_none_of_the_books(host, reader):
    one = reader()
    one.keep_book(downloads=True)
    host.stop()
    page = one.open("downloads/01-tensors/no-such.en.ipynb")
    expect(page.get_by_role("heading", name="There is no such page in the book")).to_be_visible()
    host.start()


def test_the_page_that_is_not_kept_leads_to_where_the_whole_book_is_kept(host, reader):
    one = reader()
    one.read(PAGES["use"])
    host.stop()
    page = one.open(PAGES["sheet"])
    page.locator("p").get_by_role("link", name="How to use this book").click()
    expect(page.locator("offline-book")).to_be_visible()
    assert page.url.endswith("book/how-to-use.html#reading-offline")
    host.start()


def test_the_footer_leads_to_keeping_the_book_with_its_size_and_says_when_it_is_kept(host, reader):
    one = reader()
    page = one.read(SECTION)
    offer = page.get_by_role("link", name=re.compile(r"^Keep the whole book \(\d+ KB\)$"))
    expect(offer).to_be_visible()
    wire = sum(row[2] for path, row in files(host.folder).items()
               if not path.startswith("downloads/"))
    assert f"({round(wire / 1000)} KB)" in offer.inner_text()
    offer.click()
    page.wait_for_url("**/book/how-to-use.html#reading-offline")
    kept = page.get_by_role("link", name="The whole book is kept")
    expect(kept).to_be_visible()  # the one tap has named the size, and no other is needed
    expect(page.locator("offline-book")).to_contain_text(
        re.compile(rf"{round(wire / 1000)} KB downloaded, .* unpacked"))
    expect(page.locator("[data-show=offer]")).to_be_hidden()
    expect(one.read(SECTION).get_by_role("link", name="The whole book is kept")).to_be_visible()


def test_what_is_saved_is_counted_as_it_is_downloaded_and_no_other_size_stands_by(host, reader):
    one = reader()
    page = one.read(PAGES["use"])
    held, go = threading.Event(), threading.Event()

    def hold(handler):
        held.set()
        go.wait()
        handler.serve()
    host.faults[PAGES["explorer"]] = hold
    book = page.locator("offline-book")
    size = re.search(r"Keep the whole book: (\d+ KB) to download", book.inner_text())[1]
    book.get_by_role("button", name="Keep the whole book").click()
    assert held.wait(HANG / 1000)
    expect(book).to_contain_text(f"of {size} downloaded")
    expect(book.locator(".offline-room")).to_be_hidden()
    go.set()
    expect(book).to_contain_text("The whole book is kept")
    expect(book.locator(".offline-room")).to_be_visible()


def test_the_kept_book_can_be_removed_and_what_was_read_stays(host, reader):
    one = reader()
    one.read(SECTION)
    page = one.keep_book()
    page.get_by_role("button", name="Remove the kept book").click()
    expect(page.locator("offline-book")).to_contain_text("The kept book is removed")
    paths = {name.split("?")[0] for name in one.kept()}
    assert SECTION in paths
    assert not {PAGES["drill"], "_static/stride-explorer.js"} & paths


def test_downloads_are_kept_if_asked_for(host, reader):
    one = reader()
    one.keep_book(downloads=True)
    host.stop()
    size = one.page.evaluate(LOADED, "../downloads/01-tensors/section.en.ipynb")
    assert size > 1000
    host.start()


def test_downloads_can_be_added_to_a_kept_book_and_go_with_it(host, reader):
    one = reader()
    page = one.keep_book()
    assert offline.APART not in host.asked  # a list that only who wants them asks for
    page.get_by_role("button", name="Keep notebooks and code files as well").click()
    expect(page.locator("offline-book")).to_contain_text("notebooks and code files included")
    rows = {path for path in files(host.folder) if path.startswith("downloads/")}
    assert len(rows) > 1
    one.read(SECTION)  # after which what no edition has is removed
    page = one.read(PAGES["use"])
    assert rows | {offline.APART} <= {name.split("?")[0] for name in one.kept()}
    page.get_by_role("button", name="Remove the kept book").click()
    expect(page.locator("offline-book")).to_contain_text("The kept book is removed")
    assert not rows & {name.split("?")[0] for name in one.kept()}


def test_a_new_edition_shows_at_once_where_there_is_a_network(host, reader, second):
    one = reader()
    one.read(SECTION)
    host.folder = second()
    page = one.read(SECTION)
    assert editions(page) == ["B", "B"]
    host.stop()
    assert editions(one.open(SECTION)) == ["B", "B"]
    host.start()


def test_the_whole_book_changes_its_edition_as_a_whole(host, reader, second):
    one = reader()
    one.keep_book()
    page = one.read(SECTION)
    page.evaluate("document.querySelector('predict-cell').seen = true")
    host.folder = second()
    host.asked.clear()
    other = one.open(PAGES["drill"], one.context.new_page())  # finds the edition and fetches it
    note = page.locator(".offline-stale")
    expect(note).to_contain_text("A new edition of this page is ready")
    assert editions(page) == ["A", "A"]
    assert page.evaluate("document.querySelector('predict-cell').seen")
    expect(other.locator(KEPT)).to_be_visible()
    assert host.asked["_static/stride-explorer.js"] == 0  # did not change, was not fetched
    host.stop()
    note.get_by_role("button", name="Reload").click()
    page.wait_for_function("document.body.dataset.edition === 'B'")
    assert editions(page) == ["B", "B"]
    assert editions(one.open(PAGES["opening"]))[1] == "B"
    host.start()


def test_a_half_fetched_edition_is_not_shown(host, reader, second):
    one = reader()
    one.keep_book()
    page = one.read(SECTION)
    new = second()
    held, go = threading.Event(), threading.Event()

    def hold(handler):
        held.set()
        go.wait()
        handler.serve()
    host.faults[PAGES["explorer"]] = hold
    host.folder = new
    other = one.open(PAGES["drill"], one.context.new_page())
    assert held.wait(HANG / 1000)
    host.stop()
    assert editions(one.open(SECTION, other)) in (["A", "A"], ["B", "B"])
    assert editions(one.open(PAGES["timeline"], other))[1] == "A"
    host.faults.clear()
    go.set()
    host.start()
    assert editions(one.open(SECTION, other)) == ["B", "B"]
    expect(page.locator(".offline-stale")).to_contain_text("A new edition")


def test_a_page_never_gets_a_script_of_another_edition(host, reader, second):
    one = reader()
    page = one.read(SECTION)
    old = page.evaluate("document.querySelector('script[src*=all-pages]').src")
    host.folder = second()
    get = "async address => { const r = await fetch(address); return [r.status, await r.text()]; }"
    status, text = page.evaluate(get, old)
    assert (status, "window.edition = 'A'" in text) == (200, True)
    again = get.replace("fetch(address)", "fetch(address, { cache: 'reload' })")
    for _ in range(20):                     # the worker may still be keeping what the page loaded
        page.evaluate(FORGET, "all-pages.js")
        if (found := page.evaluate(again, old)[0]) == 409:
            break
        page.wait_for_timeout(100)
    assert found == 409


@pytest.mark.parametrize("fault", [breaks_off, says(200, "<p>Our shop</p>"), says(500, "oops"),
                                   says(404, "gone")], ids=["half", "html", "500", "404"])
def test_a_broken_file_is_not_kept_and_the_old_page_stays(host, reader, second, fault):
    one = reader()
    one.read(SECTION)
    old = {name for name in one.kept() if "all-pages.js" in name}
    host.folder = second()
    host.faults["_static/all-pages.js"] = fault
    one.open(SECTION)
    one.page.evaluate("async () => (await fetch('../../edition.json')).json()")
    host.stop()
    assert editions(one.open(SECTION)) == ["A", "A"]
    assert {name for name in one.kept() if "all-pages.js" in name} == old
    host.faults.clear()
    host.start()
    assert editions(one.read(SECTION)) == ["B", "B"]


def test_a_page_whose_script_is_broken_is_not_said_to_be_kept(host, reader):
    one = reader()
    one.read(SECTION)
    host.faults["_static/graph-stepper.js"] = says(500, "oops")
    page = one.open(PAGES["stepper"])
    standing = page.evaluate(ASK)
    assert (standing["kept"], standing["stale"]) == (False, False)
    expect(page.locator(KEPT)).to_be_hidden()


def test_a_lost_connection_is_said_in_a_line_and_keeping_goes_on_where_it_stopped(host, reader):
    one = reader()
    page = one.read(PAGES["use"])
    host.faults[PAGES["explorer"]] = lambda handler: handler.connection.close()
    book = page.locator("offline-book")
    book.get_by_role("button", name="Keep the whole book").click()
    expect(book.get_by_role("alert")).to_contain_text("The connection was lost")
    before = {name.split("?")[0] for name in one.kept()}
    host.faults.clear()
    page = one.open(PAGES["use"])
    expect(book).to_contain_text("from last time")
    host.asked.clear()
    book.get_by_role("button", name="Go on").click()
    expect(book).to_contain_text("The whole book is kept")
    again = set(host.asked) & before - {PAGES["use"], "offline-files.json"}
    assert not {path for path in again if path in files(host.folder)}


def give_room(one, host, bytes):
    one.context.new_cdp_session(one.page).send(
        "Storage.overrideQuotaForOrigin",
        {"origin": host.address.rstrip("/"), "quotaSize": bytes})


@pytest.mark.parametrize("room", [400_000, 1], ids=["for some files", "for nothing"])
def test_a_full_browser_is_said_in_a_line_and_can_go_on(host, reader, room):
    one = reader()
    page = one.read(PAGES["use"])
    book = page.locator("offline-book")
    keep = book.get_by_role("button", name="Keep the whole book")
    expect(keep).to_be_visible()
    give_room(one, host, room)
    keep.click()
    expect(book.get_by_role("alert")).to_contain_text("The browser has no more room")
    go_on = book.get_by_role("button", name="Go on")
    expect(go_on).to_be_visible()
    give_room(one, host, 100_000_000)
    go_on.click()
    expect(book).to_contain_text("The whole book is kept")
    expect(book.get_by_role("alert")).to_be_empty()


def test_a_browser_too_full_for_the_list_of_files_says_so(host, reader, second):
    one = reader()
    one.read(PAGES["use"])
    give_room(one, host, 1)
    host.folder = second()
    book = one.open(PAGES["use"]).locator("offline-book")
    expect(book.get_by_role("alert")).to_contain_text("The browser has no more room")
    expect(book.get_by_role("button", name="Go on")).to_be_visible()


def test_a_line_that_never_answers_shows_the_kept_page(host, reader):
    one = reader()
    one.read(SECTION)
    go = threading.Event()
    for path in ("edition.json", SECTION):
        host.faults[path] = lambda handler: go.wait()
    assert editions(one.open(SECTION)) == ["A", "A"]
    go.set()


@pytest.mark.parametrize("left", [True, False], ids=["another project", "the book without worker"])
def test_another_site_at_the_address_is_not_hijacked(host, reader, tmp_path, left):
    one = reader()
    one.read(SECTION)
    other = tmp_path / "other"
    if left:
        (other / "chapters" / "01-tensors").mkdir(parents=True)
        (other / SECTION).write_text("<body data-edition=other>")
    else:
        shutil.copytree(host.folder, other)
        (other / "edition.json").unlink()
        (other / "offline-worker.js").unlink()
    host.folder = other
    page = one.open(SECTION)
    assert page.evaluate("document.body.dataset.edition") == ("other" if left else "A")
    assert page.evaluate("caches.keys()") == []
    if left:
        one.open(SECTION)
        assert page.evaluate("navigator.serviceWorker.getRegistrations().then(all => all.length)"
                             ) == 0
        assert page.evaluate("navigator.serviceWorker.controller") is None


def test_a_server_in_trouble_does_not_end_what_is_kept(host, reader):
    one = reader()
    one.read(SECTION)
    for path in ("edition.json", "offline-worker.js", SECTION):
        host.faults[path] = says(503, "later")
    assert editions(one.open(SECTION)) == ["A", "A"]
    assert one.page.evaluate("caches.keys()") != []
    assert one.page.evaluate("navigator.serviceWorker.getRegistrations().then(all => all.length)")


LOST = {"rebuilt": says(404, "gone"), "log in": says(200, "<p>Session expired</p>")}
AGE = """async (days) => {
  const cache = await caches.open((await caches.keys())[0]);
  const [{ url }] = (await cache.keys()).filter(({ url }) => url.endsWith("offline-state"));
  const state = await (await cache.match(url)).json();
  const goneSince = state.goneSince - days * 86_400_000;
  await cache.put(url, new Response(JSON.stringify({ ...state, goneSince })));
}"""


@pytest.mark.parametrize("fault", LOST)
def test_a_kept_book_outlives_a_server_that_is_rebuilt_or_asks_to_log_in(host, reader, fault):
    one = reader()
    one.keep_book()
    page = one.read(SECTION)
    for path in ("edition.json", "offline-worker.js"):
        host.faults[path] = LOST[fault]
    assert page.evaluate(ASK)["whole"]
    host.stop()
    assert editions(one.open(SECTION)) == ["A", "A"]
    assert editions(one.open(PAGES["timeline"]))[1] == "A"
    host.start()
    host.faults.clear()
    one.read(SECTION)
    host.stop()
    assert editions(one.open(PAGES["timeline"]))[1] == "A"
    host.start()


def test_a_kept_book_leaves_an_address_that_is_another_sites_for_a_week(host, reader):
    one = reader()
    one.keep_book()
    page = one.read(SECTION)
    for path in ("edition.json", "offline-worker.js"):
        host.faults[path] = says(404, "gone")
    page.evaluate(ASK)
    page.evaluate(AGE, 8)
    one.open(SECTION)
    assert one.page.evaluate("caches.keys()") == []


def test_below_a_folder_only_that_folder_is_the_books(host, reader, built, tmp_path):
    place = tmp_path / "host"
    place.mkdir()
    built.rename(place / "name")
    (place / "other.html").write_text("<body data-edition=other>")
    host.folder = place
    one = reader(f"{host.address}name/")
    one.read(SECTION)
    host.stop()
    assert editions(one.open(SECTION)) == ["A", "A"]
    assert one.open("").url.endswith(f"name/{PAGES['front']}")
    host.start()
    page = one.page
    page.goto(f"{host.address}other.html")
    assert page.evaluate("navigator.serviceWorker.controller") is None


def test_a_page_of_a_folder_says_nothing_and_needs_no_worker(browser, built):
    context = browser.new_context()
    said = []
    context.on("console", lambda message: message.type in ("error", "warning")
               and said.append(message.text))
    context.on("weberror", lambda event: said.append(str(event.error)))
    page = context.new_page()
    page.goto((built / PAGES["sheet"]).as_uri())
    page.wait_for_function("document.readyState === 'complete'")
    expect(page.locator(KEPT)).to_be_hidden()
    assert said == []
    context.close()


def test_it_can_be_installed(host, reader):
    one = reader()
    page = one.read(SECTION)
    session = one.context.new_cdp_session(page)
    found = session.send("Page.getAppManifest")
    assert found["url"] == f"{host.address}manifest.webmanifest"
    assert found["errors"] == []
    assert session.send("Page.getInstallabilityErrors")["installabilityErrors"] in (
        [], [{"errorId": "in-incognito", "errorArguments": []}])


@pytest.mark.parametrize("path", ["none.html", "chapters/01-tensors/none.html"])
def test_the_page_for_what_is_not_there_has_its_styles_from_the_worker(host, reader, path):
    """A reader who has been here before: the worker answers for each file of that page, too."""
    one = reader()
    one.read(SECTION)
    one.open(SECTION)
    assert one.page.evaluate("Boolean(navigator.serviceWorker.controller)")
    page = one.open(path)
    page.wait_for_load_state("networkidle")
    assert "No such page" in page.title() or page.get_by_role("heading").first.is_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('.site-header')).position"
                         ) == "sticky"
    assert page.evaluate("document.documentElement.dataset.mode") == "auto"  # its script ran
    assert [url for url in one.failed if not url.endswith(path)] == []
    page.evaluate("navigator.serviceWorker.ready.then(({ scope }) => scope)")
    assert not [name for name in host.asked if name.endswith("/offline-worker.js")]


def test_an_old_address_leads_on_without_a_network_before_the_book_is_kept(host, reader):
    [old] = [name for name in files(host.folder)
             if "http-equiv" in (host.folder / name).read_text("utf-8", "ignore")
             and name.startswith("chapters/")][:1]
    one = reader()
    one.read(SECTION)
    assert old in {name.split("?")[0] for name in one.kept()}
    host.stop()
    page = one.open(old)
    page.wait_for_url(lambda url: not url.endswith(old))
    host.start()
