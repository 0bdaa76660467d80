// The start screen: what is due, which cards to take, and the progress file.

import { both, fold, group, h } from "./dom.js";
import { KINDS } from "./queue.js";
import { texts } from "./texts.js";

const LEVELS = ["junior", "senior", "staff"];
const MOST = 999; // new cards a day

export class StartView {
  constructor(session) {
    this.session = session;
    this.numbers = h("div", { class: "drill-numbers" });
    this.stored = h("p");
    this.told = h("p", { class: "drill-near", role: "status" });
    this.element = h("div", { class: "drill-start" },
      h("h2", { tabindex: "-1", class: "drill-heading" }, both(texts.today)),
      this.scope(), this.numbers, this.choices(),
      h("p", { class: "drill-why" }, both(texts.why)), this.files());
    this.update();
  }

  update() {
    const { plan, events, marks } = this.session;
    const focused = this.numbers.contains(document.activeElement);
    this.numbers.replaceChildren(...[counts(plan),
      plan.rests ? h("p", { class: "drill-rests" }, both(texts.rests)) : [],
      plan.left ? this.startButton() : this.nothing(),
      this.leftOut()].flat());
    if (focused) this.numbers.querySelector("button")?.focus();
    this.stored.replaceChildren(both(texts.stored(events.length, marks.length)));
    this.mark();
  }

  // ------------------------------------------------------------------ one chapter, one section
  /** One tap for one chapter; for a section that the address names, the way out of it. */
  scope() {
    const { deck, section } = this.session;
    if (section) return this.oneSection(deck.titles[section] ?? { zh: section, en: section });
    const button = (slug, label) => h("button", { type: "button", "data-only": slug ?? "",
      onclick: () => this.session.onlyChapter(slug) }, both(label));
    return group(texts.scope, { class: "drill-scope" }, button(null, texts.every),
      deck.chapters.map(({ slug, number, name }) => button(slug, texts.chapter(number, name))));
  }

  oneSection(title) {
    const { pathname } = location;
    return h("p", { class: "drill-section" },
      both(texts.section(title, this.session.cards.length)), " ",
      h("a", { href: pathname }, both(texts.whole)));
  }

  /** Which chapter is chosen alone, and which boxes are ticked: one follows the other. */
  mark() {
    const { hidden, deck } = this.session;
    const shown = deck.chapters.filter(({ slug }) => !hidden.chapter.includes(slug));
    const only = shown.length === deck.chapters.length ? "" : shown.length === 1 && shown[0].slug;
    for (const button of this.element.querySelectorAll("[data-only]")) {
      button.setAttribute("aria-pressed", String(button.dataset.only === only));
    }
    for (const box of this.element.querySelectorAll(".drill-filter input")) {
      box.checked = !this.isHidden(box.name, box.value);
    }
  }

  startButton() {
    return h("button", { type: "button", class: "drill-primary",
      onclick: () => this.session.start() }, both(texts.start));
  }

  /** Why there is nothing: no card is chosen, no new ones are wanted, or all are done. */
  nothing() {
    const { nextDay, today, cards, limit, section } = this.session;
    const why = !cards.length ? texts.noCards : !limit && !section ? texts.noNew : texts.nothing;
    const line = h("p", { class: "drill-nothing" }, both(why));
    if (nextDay) line.append(" ", both(texts.nextDay(nextDay.day - today, nextDay.cards)));
    return line;
  }

  /** Due cards that the choice of cards hides, and the way to them. */
  leftOut() {
    const { hiddenDue, cards } = this.session;
    if (!hiddenDue && cards.length) return [];
    return [h("p", { class: "drill-left-out" }, hiddenDue ? [both(texts.leftOut(hiddenDue)), " "] : [],
      h("button", { type: "button", onclick: () => this.session.showAll() }, both(texts.showAll)))];
  }

  // ------------------------------------------------------------------ which cards
  choices() {
    const { chapters } = this.session.deck;
    const numbered = chapters.map(({ slug, number, name }) => [slug, texts.chapter(number, name)]);
    return fold(both(texts.options), this.limit(),
      this.filter("chapter", texts.chapters, numbered),
      this.filter("level", texts.levels, LEVELS.map((name) => [name, texts.level(name)])),
      this.filter("kind", texts.kinds, KINDS.map((name) => [name, texts.kind(name)])));
  }

  limit() {
    const onchange = ({ target }) => { // what is no number, such as nothing, changes nothing
      const number = Number.isNaN(target.valueAsNumber) ? this.session.limit : target.valueAsNumber;
      const value = Math.min(MOST, Math.max(0, Math.round(number)));
      target.value = String(value);
      this.session.choose("limit", value);
    };
    const input = h("input", { type: "number", name: "limit", min: 0, max: MOST, step: 1,
      value: this.session.limit, onchange });
    return h("label", { class: "drill-limit" }, h("span", {}, both(texts.limit)), input);
  }

  filter(name, legend, entries) {
    const boxes = entries.map(([value, label]) => h("label", {},
      h("input", { type: "checkbox", name, value, checked: !this.isHidden(name, value),
        onchange: ({ target }) => this.toggle(name, value, target.checked) }),
      h("span", {}, both(label))));
    return group(legend, { class: "drill-filter" }, boxes);
  }

  isHidden(name, value) {
    return this.session.hidden[name].includes(value);
  }

  toggle(name, value, isShown) {
    const others = this.session.hidden[name].filter((other) => other !== value);
    const values = isShown ? others : [...others, value];
    this.session.choose("hidden", { ...this.session.hidden, [name]: values });
  }

  // ------------------------------------------------------------------ the progress file
  files() {
    const input = h("input", { type: "file", accept: ".json,application/json", hidden: true,
      onchange: () => this.take(input) });
    return fold(both(texts.progress), this.stored, input, h("div", { class: "drill-row" },
      h("button", { type: "button", onclick: () => this.download() }, both(texts.export)),
      h("button", { type: "button", onclick: () => input.click() }, both(texts.import))), this.told);
  }

  /** Where a notice belongs that is about a file. */
  place({ code }) {
    return ["importing", "imported", "refused", "not-imported"].includes(code) ? this.told : null;
  }

  async take(input) {
    const [file] = input.files;
    input.value = ""; // so that the same file can be chosen again
    if (file) await this.session.importText(await file.text());
  }

  download() {
    const blob = new Blob([this.session.exportText()], { type: "application/json" });
    const url = URL.createObjectURL(blob);
    const day = new Date().toISOString().slice(0, 10);
    h("a", { href: url, download: `pytorch-inside-out-progress-${day}.json` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000); // long after the download has begun
  }
}

function counts({ due, fresh, done }) {
  const entry = (name, label, n) => h("div", { class: `drill-count-${name}` },
    h("dt", {}, both(label)), h("dd", {}, String(n)));
  return h("dl", {}, entry("due", texts.due, due), entry("new", texts.fresh, fresh),
    entry("done", texts.done, done));
}
