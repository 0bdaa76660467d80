// A card: the question with its options, then the answer with its points and the four grades.

import { block, both, filled, fold, group, h, inline } from "./dom.js";
import { isWrong } from "./grades.js";
import { texts } from "./texts.js";

const CONFIDENCE = { sure: "s", think: "t", guess: "g" };
const POINT_KEYS = "abcdefgh";

const key = (name) => h("kbd", { "aria-hidden": "true" }, name);
const code = (html) => filled("div", html);
const printed = (text) => h("pre", { class: "drill-output", tabindex: "0" }, text);
const small = (pair) => h("h3", { class: "drill-small" }, both(pair));

/** The line above each card: what kind it is, how many are left, the way out. */
function header(session) {
  const { card } = session.current;
  return h("div", { class: "drill-header" },
    h("span", {}, both(texts.kind(card.kind)), " · ", both(texts.level(card.level))),
    h("span", { class: "drill-left" }, both(texts.left(session.plan.left))),
    h("button", { type: "button", onclick: () => session.end() }, both(texts.end)));
}

function asked({ content, variant }) {
  return [
    h("h2", { class: "drill-heading drill-question", tabindex: "-1" }, block(content.question, "span")),
    variant === null ? null : code(content.snippets[variant]),
  ];
}

function radio(name, value, hint, label, onchange) {
  return h("label", {}, h("input", { type: "radio", name, value, onchange }),
    h("span", {}, label), key(hint));
}

// ---------------------------------------------------------------------- the question
export class QuestionView {
  constructor(session) {
    this.session = session;
    const { options } = session.current;
    this.confidence = this.confidenceGroup();
    this.element = h("form", { class: "drill-card", novalidate: true,
      onsubmit: (event) => { event.preventDefault(); this.reveal(); } },
    header(session), asked(session.current),
    options ? this.optionGroup(options) : h("p", {}, both(texts.aloud)),
    this.confidence,
    h("button", { type: "submit", class: "drill-primary" }, both(texts.reveal), key("␣")),
    this.hint = h("p", { class: "drill-hint", role: "alert" }));
    this.update();
  }

  optionGroup(options) {
    const choose = (value) => () => this.session.respond(value);
    const entries = options.map((option, i) => radio("response", option.key, String(i + 1),
      optionText(option), choose(option.key)));
    const unsure = radio("response", "unsure", String(options.length + 1), both(texts.unsure),
      choose("unsure"));
    return group(texts.choose, { class: "drill-options" }, entries, unsure);
  }

  confidenceGroup() {
    const entries = Object.entries(CONFIDENCE).map(([name, hint]) => radio("confidence", name,
      hint, both(texts.confidence(name)), () => this.session.rate(name)));
    return group(texts.howSure, { class: "drill-confidence" }, entries);
  }

  update() {
    const { response, confidence } = this.session.current;
    this.confidence.hidden = response === "unsure";
    for (const input of this.confidence.querySelectorAll("input")) {
      input.checked = input.value === confidence;
    }
    this.hint.replaceChildren();
  }

  reveal() {
    const { missing } = this.session;
    if (!missing) {
      this.session.reveal();
      return;
    }
    const isOption = missing === "option";
    this.hint.replaceChildren(both(isOption ? texts.needOption : texts.needConfidence));
    this.focusInput(isOption ? "response" : "confidence");
  }

  focusInput(name) {
    this.element.querySelector(`input[name=${name}]`).focus();
  }

  /** Act on a key; true when it meant something here. */
  press(name, target) {
    if (name === "Enter" || name === " ") return this.pressReveal(name, target);
    const level = Object.keys(CONFIDENCE).find((value) => CONFIDENCE[value] === name);
    const inputs = [...this.element.querySelectorAll("input[name=response]")];
    const input = level && !this.confidence.hidden
      ? this.confidence.querySelector(`[value=${level}]`) : inputs[Number(name) - 1];
    input?.focus();
    input?.click();
    return Boolean(input);
  }

  pressReveal(name, target) {
    const isDone = target.matches("input") && name === " " && target.checked;
    if (target.matches("input, button, a, summary, pre") && !isDone) return false;
    this.reveal();
    return true;
  }
}

/** An output stands as code, the true one and the wrong ones alike; a sentence as text. */
function optionText(option) {
  return option.output === undefined ? inline(option.text)
    : h("code", { class: "drill-option-output" }, option.output);
}

// ---------------------------------------------------------------------- the answer
export class AnswerView {
  constructor(session) {
    this.session = session;
    const { current } = session;
    this.element = h("div", { class: "drill-card" }, header(session), asked(current),
      h("section", { class: "drill-answer" },
        h("h2", { class: "drill-heading", tabindex: "-1" }, both(texts.answer)),
        this.verdict(), shown(current), this.said(), fixed(current.content),
        this.points(), this.grades(), this.folds()));
    this.update();
  }

  /** The answer as one text or in its layers; how far it holds waits in a fold of its own, so that
      the reader can say it first and the grades stay near. */
  said() {
    const { answer, line, because, limit } = this.session.current.content;
    if (answer) return block(answer);
    const push = limit && fold(both(texts.push), block(limit));
    if (push && this.session.refutes) push.open = true;
    return [h("div", { class: "drill-line" }, block(line)),
      h("div", { class: "drill-because" }, block(because)), push ?? null];
  }

  verdict() {
    const { response, content } = this.session.current;
    const line = h("p", { class: "drill-verdict" });
    if (response === "answer") line.append(both(texts.right));
    else if (response === "unsure") line.append(both(texts.notSure));
    else if (isWrong(response)) {
      const { why } = content.myths.find((myth) => myth.key === response);
      line.append(both(texts.wrong), " ", inline(why));
    }
    const refutation = this.session.refutes
      ? h("p", { class: "drill-refute" }, both(texts.refute)) : null;
    return [line.childNodes.length ? line : null, refutation];
  }

  points() {
    const { points } = this.session.current.content;
    const entries = points.map((point, i) => h("label", {},
      h("input", { type: "checkbox", name: "point", value: i,
        onchange: ({ target }) => this.session.tick(i, target.checked) }),
      h("span", {}, inline(point),
        point.must ? null : h("em", {}, both(texts.bonus))),
      key(POINT_KEYS[i])));
    return group(texts.points, { class: "drill-points" }, entries);
  }

  grades() {
    this.suggestion = h("p", { class: "drill-suggestion", role: "status" });
    this.buttons = h("div", { class: "drill-buttons" });
    for (const { button, grade, days } of this.session.buttons) {
      this.buttons.append(this.gradeButton(button, grade, days));
    }
    this.failed = h("p", { class: "drill-near", role: "alert" });
    return h("div", { class: "drill-grades" }, small(texts.grades), this.suggestion, this.failed,
      this.buttons);
  }

  /** Where a notice belongs that is about the grade. */
  place({ code: name }) {
    return name === "not-saved" ? this.failed : null;
  }

  gradeButton(button, grade, days) {
    const note = grade === button ? texts.interval(days) : texts.countsAs(grade);
    return h("button", { type: "button", "data-grade": button,
      onclick: () => this.session.grade(button) },
    h("span", { class: "drill-grade-name" }, both(texts.grade(button)), key(String(button))),
    h("span", { class: "drill-grade-note" }, both(note)));
  }

  update() {
    const { suggestion } = this.session;
    if (this.suggested === suggestion) return;
    this.suggested = suggestion;
    this.suggestion.replaceChildren(both(texts.suggestion(suggestion)));
    for (const button of this.buttons.children) {
      button.classList.toggle("is-suggested", Number(button.dataset.grade) === suggestion);
    }
  }

  folds() {
    const { content } = this.session.current;
    const opened = (entry) => {
      if (entry && this.session.refutes) entry.open = true;
      return entry;
    };
    return [
      followUps(content.followUps, this.session.deck.base),
      opened(myths(content.myths)),
      corrected(content.corrects),
      opened(fold(both(texts.proof), code(content.proof))),
      fold(both(texts.sources), sources(content.sources)),
      content.page ? h("p", {}, h("a", { href: new URL(content.page, this.session.deck.base) },
        both(texts.inBook))) : null,
    ];
  }

  press(name) {
    const position = POINT_KEYS.indexOf(name);
    const control = name.length === 1 && position >= 0
      ? this.element.querySelectorAll(".drill-points input")[position]
      : this.buttons.querySelector(`[data-grade="${CSS.escape(name)}"]`);
    control?.click();
    return Boolean(control);
  }
}

function shown({ shown: text }) {
  return text === undefined ? null : [small(texts.output), printed(text)];
}

function fixed({ fixed: html, shownFixed }) {
  if (html === undefined) return null;
  return [small(texts.fixed), code(html), shownFixed ? printed(shownFixed) : null];
}

function followUps(entries, base) {
  if (!entries.length) return null;
  const link = (page) => h("a", { href: new URL(page, base) }, both(texts.otherCard));
  return h("section", {}, small(texts.followUps), entries.map(({ q, a, page }) => (
    page ? h("p", {}, inline(q), " ", link(page)) : fold(inline(q), block(a)))));
}

function myths(entries) {
  if (!entries.length) return null;
  return fold(both(texts.myths), h("ul", {}, entries.map((myth) =>
    h("li", {}, optionText(myth), h("div", {}, block(myth.why))))));
}

function corrected(claims) {
  if (!claims.length) return null;
  return h("section", { class: "drill-corrects" }, small(texts.corrects),
    h("ul", {}, claims.map((claim) => h("li", {}, block(claim)))));
}

function sources(entries) {
  return h("ul", {}, entries.map(({ target, url }) =>
    h("li", {}, h("a", { href: url }, h("code", {}, target)))));
}
