// Remembers where the reader is on a section's page, and notes when its end is reached. What needs
// the store of events (progress-marks.js) loads when the browser is idle.
//
//   localStorage "book-position"   {last: page, pages: {page: {at, id, block, title, heading, left,
//                                  spent}}}: heading by its id and the block below it by its place,
//                                  which are the same in each language; pairs are [zh, en]. A page
//                                  that comes next and is not begun has its question, and no id
{
  const KEY = "book-position", KEPT = 12; // pages remembered
  const QUIET = 30_000; // ms without a sign of the reader that count as reading
  const GLANCE = 20_000; // ms on a page that are no reading yet: something was looked up
  const MOVED = 100; // px that a reader scrolls at least
  const HURRY = 0.25; // part of its reading time after which a section can have been read
  const PARTS = ".go-on, .downloads, .kicker"; // below the title, and no place to come back to

  const box = document.getElementById("progress");
  const known = box ? JSON.parse(box.dataset.known) : {};
  const article = document.querySelector("article");
  const sections = [...article?.querySelectorAll("section section[id]") ?? []];
  const end = document.getElementById("recall")?.previousElementSibling ?? sections.at(-1);
  const marks = () => import(new URL(box.dataset.marks, document.baseURI));
  let seen = Date.now(), isDone = false;
  let stayed = 0, unsaved = 0; // ms of this visit: all, and those that no place counts yet
  let arrived = null, hasMoved = false; // scrollY where the address led to; the reader went on

  const remembered = () => {
    try {
      const { last, pages } = JSON.parse(localStorage.getItem(KEY));
      return { last, pages: Object.fromEntries(Object.entries(pages).filter(([, at]) => at?.title)) };
    } catch { // none, or not as this edition writes it
      return { pages: {} };
    }
  };
  const remember = (all) => {
    const newest = Object.entries(all.pages).sort(([, a], [, b]) => b.at - a.at).slice(0, KEPT);
    try {
      localStorage.setItem(KEY, JSON.stringify({ ...all, pages: Object.fromEntries(newest) }));
    } catch { /* private mode: nothing is remembered */ }
  };

  const topOf = (element) => element.getBoundingClientRect().top;
  const half = (heading, lang) => (heading.querySelector(`.lang-${lang}`) ?? heading).textContent;
  const words = (heading) => ["zh", "en"].map((lang) => half(heading, lang).replace(/#$/, "").trim());

  /** The heading and the block below it that are being read; null above the first heading. */
  function place() {
    const line = innerHeight * 0.4;
    const section = sections.findLast((one) => topOf(one) <= line);
    if (!section) return null;
    const block = [...section.children].findLastIndex((one) => one.tagName !== "SECTION"
      && one.getClientRects().length && topOf(one) <= line && !one.matches(PARTS));
    return { id: section.id, block, heading: words(section.firstElementChild) };
  }

  /** Minutes left in each language, by how far down the text before the cards the reader is. */
  function left() {
    const start = topOf(article), stop = end.getBoundingClientRect().bottom;
    const share = Math.min(1, Math.max(0, (innerHeight * 0.4 - start) / (stop - start)));
    return known.minutes.map((whole) => Math.max(1, Math.round(whole * (1 - share))));
  }

  function note() {
    if (isDone) return; // what is looked at again is no place to go on from
    const now = Date.now(), more = Math.min(QUIET, now - seen);
    [seen, stayed, unsaved] = [now, stayed + more, unsaved + more];
    if (stayed < GLANCE || !hasMoved) return;
    const all = remembered(), at = place();
    if (!at) return;
    const spent = (all.pages[known.page]?.spent ?? 0) + unsaved / 1000;
    unsaved = 0;
    const title = words(article.querySelector("h1"));
    all.pages[known.page] = { at: now, ...at, title, left: left(), spent: Math.round(spent) };
    all.last = known.page;
    const isThrough = end.getBoundingClientRect().bottom <= innerHeight
      && spent >= known.reading * 60 * HURRY;
    remember(all);
    if (isThrough) {
      finish();
      marks().then(({ markRead }) => markRead(known.page)).catch(() => {});
    }
  }

  /** The section is read: what there is to go on with is the next one. */
  function finish() {
    const all = remembered();
    delete all.pages[known.page];
    all.last = known.next?.page;
    if (known.next) all.pages[known.next.page] ??= { at: Date.now(), ...known.next };
    remember(all);
    isDone = true;
  }

  /** By the link of go-on.js to the block itself, not only to its heading. */
  function goBack(event) {
    const link = event.target.closest(".go-on[data-kind=here] a");
    const at = link && remembered().pages[known.page];
    if (!at) return;
    const block = document.getElementById(at.id)?.children[at.block];
    link.parentElement.hidden = true;
    if (!block) return; // of an edition before: the heading, if that is still there
    event.preventDefault();
    block.scrollIntoView({ behavior: "instant", block: "start" });
    const heading = document.getElementById(at.id).firstElementChild;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }

  if (known.minutes && end) {
    let waits = 0;
    const arrive = () => { arrived = scrollY; };
    if (document.readyState === "complete") arrive();
    else addEventListener("load", arrive);
    addEventListener("scroll", () => {
      if (arrived !== null && Math.abs(scrollY - arrived) > MOVED) hasMoved = true;
      waits ||= setTimeout(() => { waits = 0; note(); }, 400);
    }, { passive: true });
    addEventListener("pagehide", () => { if (scrollY > 0) note(); });
    document.addEventListener("visibilitychange", () => {
      if (document.hidden && scrollY > 0) note();
      seen = Date.now();
    });
    document.addEventListener("click", goBack);
    box.addEventListener("change", ({ target }) => {
      if (target.checked) finish();
      else isDone = false;
    });
    addEventListener("pageshow", ({ persisted }) => { // back, to the page as it was left
      if (persisted) document.querySelector(".go-on").hidden = true;
    });
  }
  const isShown = () => document.querySelector("a[data-page], .progress-summary, .read-toggle");
  const idle = window.requestIdleCallback ?? ((run) => setTimeout(run, 300));
  if (box && isShown() && location.protocol !== "file:") { // a page of a folder loads no module
    idle(() => marks().then(({ show }) => show(known.page, box))
      .then(() => { isDone ||= Boolean(box.querySelector("input")?.checked); })
      .catch((error) => console.info("progress: marks are not shown:", error?.message)));
  }
}
