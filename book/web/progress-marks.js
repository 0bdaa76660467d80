// Which sections are read: marks in the store of events (drill/store.js), shown wherever a list
// names a section. Loaded by progress.js when the browser is idle.

import { progressStore } from "./common/progress-store.js";
import { both } from "./drill/dom.js";
import { begunPages, readPages } from "./progress/state.js";
import { states, summary, unsaved } from "./progress/words.js";

/** Show on this page what is read, now and after each change, here or in another tab. */
export async function show(page, box) {
  const store = await progressStore();
  if (!store.saved) sayUnsaved(box);
  const fresh = async () => render(page, box, readPages(await store.marks()));
  const others = store.onchange; // the page's one store serves predictions too
  store.onchange = (what) => Promise.all([others(what), fresh()]);
  const toggle = box.querySelector("input");
  toggle?.addEventListener("change", async () => {
    try {
      await set(store, page, toggle.checked);
      await fresh();
    } catch (error) { // the connection was closed: nothing is stored, nothing is shown
      toggle.checked = !toggle.checked;
      console.info("progress: the mark is not stored:", error?.message);
    }
  });
  document.addEventListener("section-read", fresh);
  await fresh();
  if (toggle) toggle.disabled = false;
}

/** A browser that stores nothing: the reader is told why the mark will not stay. */
function sayUnsaved(box) {
  const line = document.createElement("p");
  line.className = "read-unsaved";
  line.append(both(unsaved));
  if (box.querySelector("input")) box.append(line);
}

function remembered() {
  try { return localStorage.getItem("book-position"); } catch { return null; } // storage is denied
}

/** Note that a section is read, once. */
export async function markRead(page) {
  const store = await progressStore();
  if (readPages(await store.marks()).has(page)) return;
  await set(store, page, true);
  document.dispatchEvent(new Event("section-read"));
}

/** To take a mark back is a later mark, so that merged progress agrees on the last word. */
function set(store, page, isRead) {
  return store.mark({ kind: isRead ? "read" : "unread", page });
}

function render(page, box, read) {
  const begun = begunPages(remembered());
  const toggle = box.querySelector("input");
  if (toggle) toggle.checked = read.has(page);
  for (const link of document.querySelectorAll("a[data-page]")) {
    const name = link.dataset.page;
    note(link, read.has(name) ? "read" : name in begun ? "begun" : null);
  }
  for (const line of document.querySelectorAll(".progress-summary")) {
    line.replaceChildren(both(summary(JSON.parse(line.dataset.minutes), begun, read)));
  }
}

/** A mark beside a link, drawn by styles/progress.css, and the word that it stands for. */
function note(link, state) {
  link.querySelector(".read-state")?.remove();
  delete link.dataset.state;
  if (!state) return;
  link.dataset.state = state;
  const word = document.createElement("span");
  word.className = "read-state visually-hidden";
  word.append(" (", both(states[state]), ")");
  link.append(word);
}
