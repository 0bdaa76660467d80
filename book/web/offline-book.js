// <offline-book data-root="…">: keep the whole book in this browser, with its size shown before.
// The files and their order of keeping are those of offline/keep.js; the worker reads what is kept.

import { both, h } from "./drill/dom.js";
import { GONE, Moved, edition } from "./offline/fetch.js";
import { dropBook, keepBook, learn, wholeOf } from "./offline/keep.js";
import { Shelf } from "./offline/shelf.js";
import { words } from "./offline/words.js";

const wireOf = (rows) => rows.reduce((total, row) => total + row[2], 0);

/** {bytes, wire} of the whole book in a list, with or without notebooks and code files. */
function sizes({ files, bytes, downloads: apart }, downloads) {
  const more = downloads ? apart : { bytes: 0, wire: 0 };
  return { bytes: bytes + more.bytes, wire: wireOf(files) + more.wire };
}

class OfflineBook extends HTMLElement {
  async connectedCallback() {
    this.line = h("p", { role: "status" });
    this.problem = h("p", { class: "offline-problem", role: "alert" });
    this.controls = h("div");
    this.room = h("p", { class: "offline-room" });
    this.replaceChildren(this.line, this.problem, this.controls, this.room);
    this.say(words.loading);
    const usable = navigator.serviceWorker && navigator.locks && AbortSignal.timeout;
    if (!usable || location.protocol === "file:") return this.say(words.unable);
    this.shelf = new Shelf(this.root());
    try {
      await this.look();
      if (this.wasAsked()) await this.keep(false);
    } catch (error) {
      console.info("offline:", error);
      this.say(words.unable);
    }
  }

  /** Whether the reader has just come by the link that says to keep the book (offline.js). */
  wasAsked() {
    try {
      const asked = sessionStorage.getItem("book-keep");
      sessionStorage.removeItem("book-keep");
      return Boolean(asked) && Boolean(this.controls.querySelector("label"));
    } catch { return false; }
  }

  root() {
    const at = this.dataset.root ?? document.getElementById("offline-note").dataset.root;
    return new URL(at, location).href;
  }

  say(pair) { this.line.replaceChildren(both(pair)); }

  /** Show how things stand: kept, begun, or not; and how large it is. */
  async look() {
    const { whole, begun, list: newest } = await this.shelf.state();
    const list = await this.learned() ?? await this.shelf.list(whole?.list ?? newest);
    await this.showRoom();
    if (whole) this.showKept(whole, list);
    else if (list) await this.showOffer(list, begun ?? this.asked);
    else this.showNothing();
  }

  /** The server's list of files; null where it can't be had or can't be kept. */
  async learned() {
    const server = await edition(this.shelf.root);
    if (!server || server === GONE) return null;
    try {
      return await learn(this.shelf, server);
    } catch (error) {
      this.asked ??= { downloads: false };
      this.tell(error);
      return null;
    }
  }

  /** Not even the list is here: why, and the way on. */
  showNothing() {
    const told = this.problem.hasChildNodes();
    if (!told) this.say(words.unreachable);
    this.show(told && this.button(words.goOn, () => this.keep(this.asked.downloads)));
  }

  showKept({ downloads }, list) {
    this.say(words.kept(sizes(list, downloads), downloads));
    this.show(
      !downloads && list.downloads.bytes > 0 && this.button(words.more, () => this.keep(true)),
      this.button(words.remove, () => this.remove()));
  }

  async showOffer(list, begun) {
    this.say(words.offer(sizes(list, false), sizes(list, true)));
    if (begun) {
      const names = await this.shelf.names();
      const apart = begun.downloads && await this.shelf.list(list.downloads.list);
      const there = [...list.files, ...apart || []]
        .filter(([path, v]) => names.has(this.shelf.address(path, v)));
      const all = sizes(list, begun.downloads).wire;
      this.line.append(" ", both(words.partly(wireOf(there), all)));
    }
    const box = h("input", { type: "checkbox", checked: Boolean(begun?.downloads) });
    this.show(
      h("label", {}, box, h("span", {}, both(words.downloads))),
      this.button(begun ? words.goOn : words.keep, () => this.keep(box.checked)));
  }

  /** What can be done now; the focus stays in the element. */
  show(...controls) {
    const hadFocus = this.contains(document.activeElement);
    this.controls.replaceChildren(...controls.filter(Boolean));
    if (hadFocus) this.controls.querySelector("button")?.focus();
  }

  button(pair, onclick) { return h("button", { type: "button", onclick }, both(pair)); }

  async keep(downloads) {
    this.asked = { downloads }; // as state.begun, which a full browser does not take
    this.problem.replaceChildren();
    performance.mark("book-keeping"); // offline.js
    navigator.storage.persist?.(); // asks the browser not to clear it away; it may refuse
    const stop = new AbortController(), bar = h("progress", { max: 1, value: 0 });
    this.room.hidden = true; // in bytes once kept, while the bar counts what is downloaded
    this.show(bar, this.button(words.pause, () => stop.abort()));
    let done, all;
    const begin = (rows) => { done = 0; all = wireOf(rows); };
    const onkept = (row) => {
      done += row[2];
      bar.value = done / all;
      this.progress(words.progress(done, all));
    };
    try {
      await this.shelf.change(() => ({ begun: { downloads } }));
      await keepBook(this.shelf, { downloads, begin, onkept, signal: stop.signal });
    } catch (error) {
      if (error.name !== "AbortError") this.fail(error, downloads);
    }
    await this.look();
    document.dispatchEvent(new Event("book-kept"));
  }

  /** At most once a frame: hundreds of files arrive at once when most are there. */
  progress(pair) {
    this.latest = pair;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (this.querySelector("progress")) this.say(this.latest);
    });
  }

  /** One line on what went wrong; whether it was the connection. */
  tell(error) {
    console.info("offline:", error);
    const full = error.name === "QuotaExceededError", moving = error instanceof Moved;
    this.problem.replaceChildren(both(full ? words.full : moving ? words.moving : words.cut));
    return !full && !moving;
  }

  /** What a lost connection has stopped goes on by itself when it is back. */
  fail(error, downloads) {
    if (!this.tell(error)) return;
    addEventListener("online", () => {
      if (this.isConnected && !this.querySelector("progress")) this.keep(downloads);
    }, { once: true });
  }

  async remove() {
    await dropBook(this.shelf);
    this.asked = null;
    await this.look();
    document.dispatchEvent(new Event("book-kept"));
    this.line.prepend(both(words.removed), " ");
  }

  async showRoom() {
    const { usage, quota } = await navigator.storage.estimate();
    this.room.replaceChildren(both(words.room(usage, quota)));
    this.room.hidden = false;
  }
}
customElements.define("offline-book", OfflineBook);
