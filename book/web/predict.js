// <predict-cell>: the output opens, and what explains it shows, when the reader taps an option with
// a confidence, asks to see them without a prediction, or comes for what only they have. What was committed shows again on return.
// Without this script the options can be read and the output opened by hand.

import { inPlace } from "./common/in-place.js";
import { soughtIn } from "./predict/found.js";
import { moved } from "./predict/keys.js";
import { Memory } from "./predict/memory.js";
import { said, thinking } from "./predict/words.js";

const root = document.documentElement;
const memory = new Memory(document.body.dataset.page);
let named = 0; // options that have an id

class PredictCell extends HTMLElement {
  connectedCallback() {
    if (this.form) return; // it was only moved
    this.form = this.querySelector("fieldset");
    this.output = this.querySelector("details");
    this.rows = [...this.form.querySelectorAll(".predict-option")];
    [this.skip, this.after, this.anew] = this.querySelectorAll(".predict-ways button");
    this.output.open = true; // whether it shows is a matter of data-state
    for (const row of this.rows) makeButtons(row);
    this.form.addEventListener("click", ({ target }) => this.press(target.closest("button")));
    this.form.addEventListener("keydown", (event) => {
      if (moved(this.rows, event)) event.preventDefault();
    });
    this.skip.addEventListener("click", () => this.lead(() => this.set("skipped")));
    for (const again of [this.after, this.anew]) again.addEventListener("click", () => this.ask());
    this.set(unasked());
  }

  /** Show the cell as `asking`, `skipped` or `committed`; only the first has a form to use. */
  set(state) {
    this.dataset.state = state;
    const next = this.closest(".cell").nextElementSibling;
    if (next?.matches(".explanation")) {
      next.classList.toggle("shown", state !== "asking");
      next.classList.toggle("waits", state === "asking");
    }
    this.form.disabled = state !== "asking";
    this.skip.hidden = state !== "asking";
    this.after.hidden = state !== "skipped";
    this.anew.hidden = state !== "committed";
    for (const line of this.querySelectorAll(".predict-feedback")) line.hidden = true;
    for (const row of this.rows) {
      row.classList.remove("is-right", "is-wrong", "is-chosen");
      row.querySelector(".predict-said")?.remove();
    }
  }

  /** Show an answer as it was given: its option, right or wrong, its confidence, its line. */
  show(answer) {
    const { response, confidence } = this.answer = answer;
    const chosen = this.rows.findIndex((row) => row.dataset.response === response);
    this.set("committed");
    this.rows.find((row) => row.dataset.response === "answer").classList.add("is-right");
    this.rows[chosen].classList.add("is-chosen");
    this.rows[chosen].classList.toggle("is-wrong", response.startsWith("d-"));
    if (confidence) this.rows[chosen].append(said(confidence));
    const line = this.querySelector(`[data-option="${chosen}"]`);
    if (line) line.hidden = false;
  }

  has(response) {
    return this.rows.some((row) => row.dataset.response === response);
  }

  press(button) {
    if (!button) return;
    const { response } = button.closest(".predict-option").dataset;
    const { cell, edition } = this.dataset;
    const answer = { cell, edition, response, right: response === "answer",
      confidence: button.dataset.confidence ?? null };
    this.lead(() => this.show(answer));
    memory.add(answer);
  }

  /** Change what shows and go on at the output; the page moves only as far as it takes to see it. */
  lead(change) {
    change();
    this.output.focus({ preventScroll: true });
    this.output.querySelector("summary").scrollIntoView({ block: "nearest" });
  }

  ask() {
    this.set("asking");
    this.querySelector("button").focus();
  }
}

/** The option's text becomes a button; one button of the form is reached by Tab, keys go on. */
function makeButtons(row) {
  const text = row.querySelector(".predict-choice"), button = document.createElement("button");
  button.type = "button";
  button.className = text.className;
  button.append(...text.childNodes);
  if (row.dataset.response !== "unsure") {
    button.dataset.confidence = "think";
    button.append(thinking());
    name(row.querySelectorAll("[data-confidence]"), button.firstElementChild);
  }
  text.replaceWith(button);
  const isFirst = row === row.parentElement.querySelector(".predict-option");
  for (const one of row.querySelectorAll("button")) one.tabIndex = one === button && isFirst ? 0 : -1;
}

/** The other buttons of an option are named by its text and their own, which says how sure. */
function name(words, text) {
  text.id = `predict-${named += 1}`;
  for (const word of words) {
    word.id = `${text.id}-${word.dataset.confidence}`;
    word.setAttribute("aria-labelledby", `${text.id} ${word.id}`);
  }
}

/** How a question stands that nobody has answered: a reader who reads straight through sees all. */
const unasked = () => (root.hasAttribute("data-open") ? "skipped" : "asking");

customElements.define("predict-cell", PredictCell);
const cells = [...document.querySelectorAll("predict-cell")];

/** Bring what is remembered to the page where it shows something else. */
function restore() {
  const news = cells.flatMap((cell) => {
    const answer = memory.latest(cell.dataset);
    const isNew = answer && answer.key !== cell.answer?.key && cell.has(answer.response);
    return isNew ? [[cell, answer]] : [];
  });
  if (news.length) inPlace(() => news.forEach(([cell, answer]) => cell.show(answer)));
}

/** Show what waits in some cell alone and a search led here for. */
function lookUp() {
  for (const cell of soughtIn(cells)) cell.set("skipped");
}

restore();
lookUp();
document.addEventListener("found", lookUp);
memory.onchange = restore;
document.addEventListener("reading", () => {
  for (const cell of cells) if (cell.dataset.state !== "committed") cell.set(unasked());
});
