// <module-inspector>: what a model holds, and one forward pass call by call; readers may type a
// model of their own.
//
//   <module-inspector model='{"rows": […], …}' typed='{"text": …, "shape": […]}'>tables…
//
// code/inside/widgets/module_inspector.py describes the attribute `model`. The tables inside are
// what readers without JavaScript see. What is typed is computed here; it is reflected in the
// attribute `typed`, `typed-change` is fired, and a kernel may answer with a `model` of torch.
import { callerOf, callsOf, isTensor, legendOf, markOf, stepsOf, treeOf } from "./draw.js";
import { shapeOf } from "./parse.js";
import { EXAMPLES, SKELETON, TYPES } from "./skeleton.js";
import { STYLE } from "./style.js";
import { inspected, spellShape } from "./typed.js";
import { LABELS, LISTS, listWords, refusalWords, stepWords } from "./words.js";
import { Widget, define, follower } from "../widget/element.js";
import { fitStage, goOfKey } from "../widget/steps.js";
import { both, inPageLanguage, setLabels } from "../widget/words.js";

const PAUSE = 500; // ms without a key before a text is read: half-typed ones mostly are wrong

let serial = 0;

export class ModuleInspector extends Widget {
  static observedAttributes = ["model", "typed"];

  connectedCallback() {
    super.connectedCallback();
    if (!this.model) this.readModel();
  }

  attributeChangedCallback(name, before, after) {
    if (!this.isConnected || before === after || after === this.written) return;
    if (name === "model") this.readModel();
    else if (this.model) this.fill();
  }

  /** Show the model of the attribute; without one the tables inside stay. */
  readModel() {
    if (!this.hasAttribute("model")) return;
    if (!this.model) this.build();
    const model = JSON.parse(this.getAttribute("model"));
    if (!this.given) {
      this.given = { model, typed: JSON.parse(this.getAttribute("typed") ?? "{}") };
      this.fill();
    }
    this.show(model);
  }

  /** Write into the fields what the attribute says was typed. */
  fill() {
    const { text = "", shape } = JSON.parse(this.getAttribute("typed") ?? "{}");
    const [area, field] = this.fields();
    this.mark(text === (this.given.typed.text ?? "") ? "given" : "");
    Object.assign(area, { value: text });
    Object.assign(field, { value: shape ? spellShape(shape) : "" });
    this.complain(null);
  }

  fields() { return [this.querySelector("textarea"), this.querySelector("[name=shape]")]; }

  build() {
    this.innerHTML = SKELETON;
    const frame = this.part("frame"), error = this.part("error");
    error.id = `module-inspector-error-${++serial}`;
    for (const field of this.fields()) {
      field.setAttribute("aria-describedby", error.id);
      field.addEventListener("input", () => {
        clearTimeout(this.pause);
        this.pause = setTimeout(() => this.read(), PAUSE);
      });
      field.addEventListener("change", () => this.pause && this.read()); // on leaving
    }
    this.querySelector("[type=range]").addEventListener(
      "input", ({ target }) => this.go(target.valueAsNumber));
    frame.addEventListener("click", ({ target }) => this.press(target));
    frame.addEventListener("keydown", (event) => {
      const go = goOfKey(event, "input, textarea, .w-stage");
      if (!go || !this.steps.length) return;
      event.preventDefault();
      this.go(this.places()[go]);
    });
    const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => fitStage(target)));
    this.querySelectorAll(".w-stage").forEach((stage) => sizes.observe(stage));
  }

  press(target) {
    const node = target.closest("[data-go], [data-example], [data-list], [data-call]");
    const { go, example, list: chosen, call } = node?.dataset ?? {};
    if (go) this.go(this.places()[go]);
    if (example) this.choose(example);
    if (chosen) this.look(chosen === this.list ? "" : chosen);
    if (call) this.go(this.steps.findIndex((step) => step.call === +call));
  }

  // ---- from the reader's text to a model
  choose(example) {
    const [area, field] = this.fields();
    if (example === "given") {
      this.tell(this.given.typed);
      this.fill();
      this.show(this.given.model);
    } else [area.value, field.value] = EXAMPLES[example];
    if (example !== "given") this.read();
    this.mark(example);
  }

  /** Press the button that the text comes from, if any. */
  mark(example) {
    for (const node of this.querySelectorAll("[data-example]")) {
      node.setAttribute("aria-pressed", node.dataset.example === example);
    }
  }

  /** Show the model of the text, or say what does not fit. */
  read() {
    const [text, shape] = this.fields().map(({ value }) => value);
    const { model, error } = inspected(text, shapeOf(shape));
    this.mark("");
    this.complain(error);
    if (error) return;
    this.show(model);
    this.tell({ text, shape: shapeOf(shape) });
  }

  complain(error) {
    clearTimeout(this.pause);
    this.pause = null;
    this.part("error").innerHTML = error
      ? `${both(refusalWords(error, TYPES))}<em>${both(LABELS.stale)}</em>` : "";
    this.part("frame").toggleAttribute("data-stale", Boolean(error));
    const [area, field] = this.fields();
    area.setAttribute("aria-invalid", Boolean(error) && error.code !== "shape");
    field.setAttribute("aria-invalid", error?.code === "shape");
  }

  tell(typed) {
    this.written = JSON.stringify(typed);
    this.setAttribute("typed", this.written);
    this.dispatchEvent(new CustomEvent("typed-change", { detail: { typed }, bubbles: true }));
  }

  // ---- what is shown
  /** A model with as many steps stays at the same one. */
  show(model) {
    const steps = stepsOf(model), alike = this.steps?.length === steps.length;
    Object.assign(this, { model, steps, step: alike ? this.step : 0 });
    this.part("legend").innerHTML = legendOf(model);
    this.querySelector(".mi-pass").hidden = !steps.length;
    this.querySelector("[type=range]").max = Math.max(0, steps.length - 1);
    for (const key of Object.keys(LISTS)) {
      this.querySelector(`[data-list=${key}] small`).textContent = model.sums[key][0];
    }
    this.look(this.list ?? "");
    this.querySelectorAll(".w-stage").forEach(fitStage);
  }

  /** Mark what a list holds, or nothing. */
  look(chosen) {
    this.list = chosen;
    const { rows, sums } = this.model, marks = new Set(rows.map((row) => markOf(row, chosen)));
    this.querySelector(".mi-list").innerHTML = both(
      chosen ? listWords(chosen, sums[chosen], marks) : LABELS.hint);
    for (const node of this.querySelectorAll("[data-list]")) {
      node.setAttribute("aria-pressed", node.dataset.list === chosen);
    }
    this.draw();
  }

  places() {
    const last = this.steps.length - 1;
    return { first: 0, previous: this.step - 1, next: this.step + 1, last };
  }

  go(wanted) {
    this.step = Math.min(Math.max(wanted, 0), this.steps.length - 1);
    this.draw();
  }

  draw() {
    const { model, steps, step } = this, { call: at, kind } = steps[step] ?? {};
    const call = model.calls[at], { last } = this.places();
    const past = steps.slice(0, step + 1), begun = new Set(past.map((one) => one.call));
    const done = new Set(past.filter((one) => one.kind !== "enter").map((one) => one.call));
    this.part("stage").innerHTML = treeOf(model, this.list, call);
    if (call) {
      const row = model.rows.find((one) => !isTensor(one) && one.path === call.path);
      const turn = model.calls.slice(0, at + 1).filter(({ path }) => path === call.path).length;
      const more = { row, turn, caller: callerOf(model.calls, at) };
      this.querySelector(".mi-stage").innerHTML = callsOf(model, { at, begun, done });
      this.part("status").innerHTML = both(stepWords(call, kind, more));
      this.querySelector("output").textContent = `${step + 1} / ${last + 1}`;
      this.querySelector("[type=range]").value = step;
    }
    for (const node of this.querySelectorAll("[data-go]")) {
      const to = this.places()[node.dataset.go];
      node.setAttribute("aria-disabled", to < 0 || to > last || to === step);
    }
    this.label();
  }

  /** Every label in the language of the page. */
  label() {
    if (!this.model) return;
    setLabels(this, LABELS);
    const text = this.querySelector("output").textContent;
    this.querySelector("[type=range]").setAttribute(
      "aria-valuetext", inPageLanguage([`第 ${text} 步`, `step ${text}`]));
  }
}

define("module-inspector", ModuleInspector, STYLE);

const render = follower("module-inspector", ["model", "typed"], "typed-change", JSON.stringify);
export default { render };
