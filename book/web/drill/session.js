// One sitting at the drill, without a page: what is shown, what the reader said, what is stored.
//
//   start ──start()──► question ──reveal()──► answer ──grade()──► question … ──► done
//
// `onchange(what)` is called after each change: "phase" (another screen), "card" (the same screen
// changed), "numbers" (the start screen's counts) or "notice". Errors and news stand in `notice`.

import { dayOf, zoneAt } from "./days.js";
import { SCHEMA } from "./events.js";
import { exportText, importText } from "./file.js";
import { counted, isWrong, suggested } from "./grades.js";
import { plan } from "./queue.js";
import { hash, shuffled } from "./random.js";
import { newId, Refusal } from "./record.js";
import { elapsedOn, fold, intervals, SCHEDULER } from "./schedule.js";

const NEW_A_DAY = 10;
const PAINTED = () => new Promise((done) => { setTimeout(done, 50); });
const FILTERS = ["chapter", "level", "kind"];

export class Session {
  phase = "start";
  notice = null;
  current = null;
  turn = 0; // counts screens, so that a slow fetch cannot replace a later one
  events = [];
  marks = [];
  states = new Map();
  limit = NEW_A_DAY;
  hidden = { chapter: [], level: [], kind: [] };
  section = null; // "05-compile/fusion": its cards alone, whatever is hidden; never stored
  onchange = () => {};

  constructor({ deck, store, lang, now = Date.now, zone = zoneAt }) {
    Object.assign(this, { deck, store, lang, now, zone });
    store.onchange = () => this.sync();
  }

  async open() {
    this.limit = (await this.store.setting("limit")) ?? NEW_A_DAY;
    this.hidden = { ...this.hidden, ...(await this.store.setting("hidden")) };
    await this.reload();
  }

  // ------------------------------------------------------------------ what is derived
  get today() {
    const now = this.now();
    return dayOf(now, this.zone(now));
  }

  get cards() {
    if (this.section) return this.deck.ofSection(this.section);
    return this.deck.cards.filter(
      (card) => !FILTERS.some((name) => this.hidden[name].includes(card[name])));
  }

  get plan() {
    const { cards, states, events, today } = this;
    const limit = this.section ? Infinity : this.limit; // who asks for a section gets all of it
    return plan({ cards, states, events, today, limit });
  }

  /** How many cards are due that the reader's choice of chapters, levels and kinds hides. */
  get hiddenDue() {
    if (this.section) return 0;
    const shown = new Set(this.cards);
    return this.deck.cards.filter((card) => !shown.has(card)
      && this.states.get(card.id)?.due <= this.today).length;
  }

  /** The drill day on which the next card of the selection is due, and how many are; or null. */
  get nextDay() {
    const days = this.cards.flatMap((card) => this.states.get(card.id)?.due ?? []);
    const day = Math.min(...days.filter((due) => due > this.today));
    return Number.isFinite(day) ? { day, cards: days.filter((due) => due === day).length } : null;
  }

  async reload() {
    [this.events, this.marks] = await Promise.all([this.store.events(), this.store.marks()]);
    this.states = fold(this.events);
  }

  reps(id) {
    return this.states.get(id)?.reps ?? 0;
  }

  // ------------------------------------------------------------------ other tabs, the next day
  /** Derive everything again; a card that was graded elsewhere makes way for the next. */
  async sync() {
    this.missed = this.saving; // grade() catches up when it is through
    if (this.saving) return;
    await this.reload();
    const { current } = this;
    if (current && this.reps(current.card.id) !== current.reps) {
      this.notice = { code: "elsewhere" };
      await this.next();
    } else {
      this.onchange("numbers");
    }
  }

  // ------------------------------------------------------------------ settings
  async choose(name, value) {
    this[name] = value;
    this.onchange("numbers");
    await this.store.set(name, value).catch(() => {}); // a choice lost is no harm
  }

  /** The cards of a section alone, as an address asks for; null for all again. */
  keepTo(section) {
    this.section = section && this.deck.ofSection(section).length ? section : null;
    this.notice = section && !this.section ? { code: "no-section", section } : null;
  }

  /** One chapter alone, or all of them; the reader's one tap for several ticks. */
  async onlyChapter(slug) {
    const others = this.deck.chapters.map((chapter) => chapter.slug).filter((one) => one !== slug);
    await this.choose("hidden", { ...this.hidden, chapter: slug === null ? [] : others });
  }

  /** All chapters, levels and kinds again. */
  async showAll() {
    await this.choose("hidden", { chapter: [], level: [], kind: [] });
  }

  // ------------------------------------------------------------------ one card
  async start() {
    this.notice = null;
    await this.next(true);
  }

  end() {
    this.notice = null;
    this.show("start", null);
  }

  /** The next card. One that would come straight back, as the only one left, waits until the reader
   *  asks for it: said again at once, it is only repeated. */
  async next(isAsked = false) {
    const turn = ++this.turn;
    const { next: id, rests } = this.plan;
    if (id === null || (rests && !isAsked)) {
      this.show("done", null);
      return;
    }
    try {
      const content = await this.deck.content(id);
      if (turn !== this.turn) return; // the reader or another tab went on meanwhile
      this.show("question", this.draw(this.deck.byId.get(id), content));
    } catch (error) {
      this.notice = { code: "unreachable", detail: error.message };
      this.show("start", null);
    }
  }

  show(phase, current) {
    this.turn += 1;
    this.phase = phase;
    this.current = current;
    this.onchange("phase");
  }

  /** A card as it is asked this time: its variant and its options follow from its history. */
  draw(card, content) {
    const reps = this.reps(card.id);
    const variants = content.snippets.length;
    const variant = variants ? (hash(card.id) + reps) % variants : null;
    const shown = content.shown[variant];
    const options = card.scored
      ? shuffled(optionsOf(content, shown), `${card.id} ${reps}`) : null;
    const refute = this.states.get(card.id)?.refute ?? false;
    const hits = content.points.map(() => false);
    return { card, content, reps, variant, shown, options, refute, hits, response: null,
      confidence: null, shownAt: this.now(), thinking: null };
  }

  /** Take an option; who is not sure need not be asked how sure. */
  respond(key) {
    const { current } = this;
    if (key === "unsure") current.confidence = "guess";
    else if (current.response === "unsure") current.confidence = null;
    current.response = key;
    this.onchange("card");
  }

  rate(confidence) {
    this.current.confidence = confidence;
    this.onchange("card");
  }

  /** What the reader still has to say before the answer opens: "option", "confidence" or null. */
  get missing() {
    if (this.current.options && this.current.response === null) return "option";
    return this.current.confidence === null ? "confidence" : null;
  }

  reveal() {
    if (this.phase !== "question" || this.missing) return;
    this.notice = null;
    this.current.thinking = this.now() - this.current.shownAt;
    this.phase = "answer";
    this.onchange("phase");
  }

  tick(index, hit) {
    this.current.hits[index] = hit;
    this.onchange("card");
  }

  /** Sure and wrong, now or the last time: the answer comes with its full refutation. */
  get refutes() {
    const { refute, confidence, response } = this.current;
    return refute || (confidence === "sure" && isWrong(response));
  }

  get suggestion() {
    const { content, hits, confidence, response, thinking } = this.current;
    return suggested({ points: content.points, hits, confidence, response, thinking });
  }

  /** For each button: the grade that it counts as, and the days until the card returns. */
  get buttons() {
    const days = intervals(this.states.get(this.current.card.id), this.today);
    return [1, 2, 3, 4].map((button) => {
      const grade = counted({ ...this.current, button });
      return { button, grade, days: days[grade] };
    });
  }

  eventFor(button) {
    const { card, content, variant, hits, response, confidence, shownAt } = this.current;
    const time = this.now();
    const zone = this.zone(time);
    return {
      id: newId(), card: card.id, time, zone, button,
      grade: counted({ button, confidence, response }),
      scheduler: SCHEDULER,
      elapsed: elapsedOn(this.states.get(card.id), dayOf(time, zone)),
      confidence, response, points: [...hits], variant, lang: this.lang(),
      duration: Math.max(0, time - shownAt),
      mode: "page", edition: content.edition, schema: SCHEMA, device: this.store.device,
    };
  }

  /** Store the grade; the next card is shown when the browser has confirmed it, not before. */
  async grade(button) {
    if (this.phase !== "answer" || this.saving) return;
    this.saving = true;
    const event = this.eventFor(button);
    try {
      const stored = await this.store.append(event, this.current.reps);
      await this.reload();
      this.notice = stored
        ? { code: "graded", grade: event.grade, days: this.daysUntil(event.card) }
        : { code: "elsewhere" };
      await this.next();
    } catch (error) {
      this.notice = { code: "not-saved", detail: error.message };
      this.onchange("card");
    } finally {
      this.saving = false;
      if (this.missed) await this.sync();
    }
  }

  daysUntil(id) {
    return this.states.get(id).due - this.today;
  }

  // ------------------------------------------------------------------ files
  exportText() {
    return exportText(this);
  }

  /** Merge a file in, or change nothing; what happened stands in `notice`. */
  async importText(source) {
    this.notice = { code: "importing" };
    this.onchange("numbers");
    await PAINTED(); // what many reviews take is told before it begins
    try {
      const incoming = importText(source);
      const added = await this.store.join(incoming, (done, all) => {
        this.notice = { code: "importing", done, all };
        this.onchange("notice");
      });
      await this.reload();
      const cards = new Set(incoming.events.map((event) => event.card));
      const unknown = [...cards].filter((id) => !this.deck.byId.has(id)).sort();
      this.notice = { code: "imported", added: added.events.length, all: incoming.events.length,
        unknown, newMarks: added.marks.length, marks: incoming.marks.length };
    } catch (error) {
      this.notice = error instanceof Refusal
        ? { code: "refused", reason: error.reason }
        : { code: "not-imported", detail: error.message };
    }
    this.onchange("numbers");
  }
}

/** The computed output, the wrong options that differ from it, all as {key, text}. */
function optionsOf(content, shown) {
  const wrong = content.myths.filter((myth) => myth.output !== shown);
  return [{ key: "answer", output: shown }, ...wrong];
}
