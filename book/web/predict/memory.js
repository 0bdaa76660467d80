// The predictions of one page that this browser remembers.
//
// They are marks in the store (drill/marks.js), which loads late. A small mirror of the latest
// answers of the page lies in localStorage, so that they show when the page does. An answer of the
// mirror without `id` is not in the store yet: the reader left before it could be written.

import { progressStore } from "../common/progress-store.js";

const idle = globalThis.requestIdleCallback ?? ((run) => setTimeout(run, 200));

export class Memory {
  onchange = () => {};

  constructor(page) {
    this.page = page;
    this.mirror = `book-predictions ${page}`;
    this.answers = this.read();
    const later = () => idle(() => this.update().catch(told));
    if (document.readyState === "complete") later();
    else addEventListener("load", later, { once: true });
  }

  /** The latest answer to a question: {response, right, confidence, key}; undefined for none. */
  latest({ cell, edition }) {
    return this.answers.findLast((one) => one.cell === cell && one.edition === edition);
  }

  /** Remember an answer: at once in the mirror, then in the store. */
  add(answer) {
    this.answers.push(answer);
    answer.key = `${Date.now()}-${this.answers.length}`;
    this.write();
    this.update().catch(told);
  }

  /** Write what is not stored yet, one after the other, and take over what the store has. */
  update() {
    this.work = (this.work ?? Promise.resolve()).catch(() => {}).then(() => this.exchange());
    return this.work;
  }

  async exchange() {
    const store = await this.open();
    if (!store.saved) return; // what the mirror holds outlives this page, the store does not
    for (const answer of this.answers.filter(({ id }) => !id)) {
      const { cell, edition, response, right, confidence } = answer;
      const { id } = await store.mark({ kind: "prediction", page: this.page, cell, edition,
        response, right, confidence });
      answer.id = id;
    }
    const marks = (await store.marks()).filter(
      ({ kind, page }) => kind === "prediction" && page === this.page);
    const keys = new Map(this.answers.map(({ id, key }) => [id, key]));
    const unwritten = this.answers.filter(({ id }) => !id); // given meanwhile
    this.answers = [...marks.map((mark) => ({ ...mark, key: keys.get(mark.id) ?? mark.id })),
      ...unwritten];
    this.write();
    this.onchange();
  }

  async open() {
    if (!this.store) {
      this.store = await progressStore();
      this.store.onchange = (what) => what === "marks" && this.update().catch(told);
    }
    return this.store;
  }

  read() {
    try {
      const rows = JSON.parse(localStorage.getItem(this.mirror) ?? "[]");
      return rows.map(([cell, edition, response, confidence, id, key]) => (
        { cell, edition, response, right: response === "answer", confidence, id, key }));
    } catch {
      return []; // none, not ours, or no storage
    }
  }

  /** The mirror holds the latest answer to each question, and what is not in the store yet. */
  write() {
    const kept = this.answers.filter((one) => !one.id || this.latest(one) === one);
    const rows = kept.map(({ cell, edition, response, confidence, id, key }) => (
      [cell, edition, response, confidence, id ?? null, key]));
    try {
      if (rows.length) localStorage.setItem(this.mirror, JSON.stringify(rows));
      else localStorage.removeItem(this.mirror);
    } catch { /* full or forbidden: this visit only */ }
  }
}

const told = (error) => console.info("predictions: not stored for now:", error?.message);
