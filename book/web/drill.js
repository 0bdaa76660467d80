// <card-drill data-cards="…/drill-cards.json">: the drill. The logic is in drill/session.js, the
// schedule in drill/schedule.js, the format of stored events in drill/events.js.

import { AnswerView, QuestionView } from "./drill/card-view.js";
import { Deck } from "./drill/deck.js";
import { both, h } from "./drill/dom.js";
import { Session } from "./drill/session.js";
import { StartView } from "./drill/start-view.js";
import { openStore } from "./drill/store.js";
import { notice, texts } from "./drill/texts.js";

const VIEWS = { start: StartView, question: QuestionView, answer: AnswerView, done: StartView };

class CardDrill extends HTMLElement {
  async connectedCallback() {
    this.screen = h("div");
    this.status = h("p", { class: "drill-notice", role: "status" });
    this.replaceChildren(this.status, this.screen);
    try {
      const url = new URL(this.dataset.cards, document.baseURI);
      const [deck, store] = await Promise.all([Deck.load(url), openStore()]);
      await this.begin(deck, store);
    } catch (error) {
      this.status.replaceChildren(both(texts.unavailable));
      console.info("drill:", error);
    }
  }

  async begin(deck, store) {
    const lang = () => document.documentElement.dataset.lang;
    this.session = new Session({ deck, store, lang });
    this.session.onchange = (what) => this.render(what);
    await this.session.open();
    this.session.keepTo(new URLSearchParams(location.search).get("section"));
    if (!store.saved) {
      this.status.before(h("p", { class: "drill-unsaved", role: "note" }, both(texts.unsaved)));
    }
    this.render("phase");
    this.addEventListener("keydown", (event) => this.press(event));
    document.addEventListener("visibilitychange", () => { // perhaps the next day
      if (document.visibilityState === "visible") this.session.sync();
    });
  }

  /** Show what changed; a new screen takes the focus only from the old one, not from the page. */
  render(what) {
    const { session } = this;
    if (what === "phase" || !this.view) this.show();
    else if (what !== "notice") this.view.update();
    this.say(session.notice);
  }

  /** What has failed, or came of a file, is said where the reader has just pressed. */
  say(entry) {
    const near = entry && this.view.place?.(entry);
    const said = entry ? [both(notice(entry))] : [];
    this.status.replaceChildren(...near ? [] : said);
    for (const place of this.querySelectorAll(".drill-near")) {
      if (place !== near) place.replaceChildren();
    }
    near?.replaceChildren(...said);
    near?.scrollIntoView({ block: "nearest", behavior: "instant" });
  }

  show() {
    const hadFocus = this.contains(document.activeElement);
    this.view = new VIEWS[this.session.phase](this.session);
    this.screen.replaceChildren(this.view.element);
    this.dataset.phase = this.session.phase;
    if (hadFocus) [...this.querySelectorAll(".drill-heading")].at(-1).focus();
  }

  /** Shortcuts work while the focus is in the drill, and never together with Ctrl, Alt or Meta. */
  press(event) {
    if (event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
    if (!this.view.press || event.target.matches("input[type=number]")) return;
    if (this.view.press(nameOf(event), event.target)) event.preventDefault();
  }
}

/** The key's name; an input method for Chinese hides it behind "Process". */
function nameOf({ key, code }) {
  const name = key === "Process" ? code.replace(/^(Key|Digit|Numpad)/, "") : key;
  return name.length === 1 ? name.toLowerCase() : name;
}

customElements.define("card-drill", CardDrill);
