// Registers the service worker once the page has loaded, and shows in the footer what it says: that
// this page or the whole book is kept, or that a new edition of the page is ready. The page is never reloaded by itself.
// Nothing happens on file:// and on plain http, where browsers have no workers.
import { size } from "./offline/words.js";
{
  const note = document.getElementById("offline-note"), workers = navigator.serviceWorker;
  const root = note && new URL(note.dataset.root, location).href;
  const stale = note?.querySelector(".offline-stale");

  // what this page has loaded for itself: not what came when the whole book was kept from it
  const keeping = () => performance.getEntriesByName("book-keeping")[0]?.startTime ?? Infinity;
  const loaded = () => performance.getEntriesByType("resource")
    .filter(({ startTime }) => startTime < keeping()).map(({ name }) => name)
    .filter((name) => name.startsWith(root) && /\?v=[0-9a-f]{8}$/.test(name))
    .map((name) => name.slice(root.length));

  const tell = async () => {
    const stamp = document.querySelector('meta[name="book-page"]')?.content;
    (await workers.ready).active.postMessage({ stamp, loaded: loaded() });
  };

  const show = (standing) => {
    const { kept, stale: isOld, whole, wire } = standing;
    for (const [name, holds] of Object.entries({ kept: kept && !isOld, whole, offer: !whole && wire })) {
      note.querySelector(`[data-show=${name}]`).hidden = !holds;
    }
    for (const place of note.querySelectorAll("[data-size]")) place.textContent = size(wire ?? 0);
    if (standing.stale && !stale.hasChildNodes()) {
      stale.append(note.querySelector("template").content.cloneNode(true));
    }
  };

  const start = async () => {
    const link = document.createElement("link"); // not in the page: file:// would complain
    document.head.append(Object.assign(link, { rel: "manifest", href: `${root}manifest.webmanifest` }));
    workers.addEventListener("message", ({ data }) => (data === "ask" ? tell() : show(data)));
    stale.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-do]");
      if (button?.dataset.do === "reload") location.reload();
      if (button?.dataset.do === "later") stale.replaceChildren();
    });
    // the link names the size already: where it leads, keeping begins without another tap
    note.querySelector("[data-show=offer] a").addEventListener("click", () => {
      const book = document.querySelector("offline-book");
      if (book?.keep) book.keep(false);
      else try { sessionStorage.setItem("book-keep", "1"); } catch { /* then the reader taps again */ }
    });
    try {
      await workers.register(`${root}offline-worker.js`);
    } catch (error) {
      console.info("offline:", error); // refused by the reader's settings: read with a network
      return;
    }
    tell();
    addEventListener("online", tell);
    document.addEventListener("book-kept", tell); // or removed: offline-book.js
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") tell();
    });
  };

  const able = workers && navigator.locks && AbortSignal.timeout; // all that the worker needs
  if (note && able && location.protocol !== "file:") {
    if (document.readyState === "complete") start();
    else addEventListener("load", start);
  }
}
