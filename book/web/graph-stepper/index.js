// <graph-stepper>: a computation graph, forward and backward, one step at a time; readers may type
// an expression of their own, which goes by Scalar's rules, so not where the graph is one of torch.
//
//   <graph-stepper graph='{"nodes": […]}' step="0">a table</graph-stepper>
//
// code/inside/widgets/graph_stepper.py describes the attribute `graph`. The table inside is what
// readers without JavaScript see. After a step by the reader in that graph the element reflects it
// in the attribute `step` and fires `step-change`; the steps of a typed graph are the page's own.
import { change, draw, geometry } from "./draw.js";
import { textOf, typed } from "./parse.js";
import { stateAt } from "./state.js";
import { displayed, exactNodes, readGraph } from "./steps.js";
import { STYLE } from "./style.js";
import { tableOf } from "./table.js";
import { LABELS, describe, isNumbered, refusalWords } from "./words.js";
import { Widget, define, follower } from "../widget/element.js";
import { fitStage, goButtons, goOfKey, scrollStage } from "../widget/steps.js";
import { both, inPageLanguage, setLabels } from "../widget/words.js";

const PAUSE = 500; // ms without a key before a text is read: half-typed ones mostly are wrong

export const EXAMPLES = [
  ["a = 2; b = -3; (a * b + a).tanh() * exp(b) ** 2", ["函数", "functions"]],
  ["x = 3; s = x * x; s * s + s", ["用两次的结果", "a result used twice"]],
  ["x = -1; x.relu() + 2 * x", ["不传梯度", "nothing flows"]],
  ["x = 0; x * log(x)", ["inf 与 nan", "inf and nan"]],
];

// ------------------------------------------------------------------ the skeleton
const phase = (key) =>
  `<button type="button" data-go="${key}">${both(LABELS[key])}<small></small></button>`;
const example = (label, n) => `<button type="button" data-example="${n}">${both(label)}</button>`;
const legend = (sign, words) => `<span><code>${sign}</code> ${both(words)}</span>`;

const SKELETON = `<div class="w-frame w-steps" role="group" data-label="stepper">
  <div class="gs-form">
    <label><span>${both(LABELS.text)}</span><textarea rows="1" spellcheck="false"
      autocapitalize="off" autocomplete="off" placeholder="a = 2; a * a"></textarea></label>
    <div class="w-error" role="alert"></div>
    <div class="gs-examples" role="group" data-label="examples">${example(LABELS.given, "given")}${
    EXAMPLES.map(([, label], n) => example(label, n)).join("")}</div>
  </div>
  <div class="w-picture">
    <div class="gs-phases" role="group" data-label="phases">${
    phase("forward")}${phase("backward")}</div>
    <div class="w-controls">
      ${goButtons(LABELS)}
      <input type="range" min="0" data-label="slider">
      <output></output>
    </div>
    <p class="w-status" aria-live="polite"></p>
    <div class="w-stage" role="group" data-label="graph"></div>
    <p class="w-legend"></p>
    <details><summary>${both(LABELS.table)}</summary>
      <div class="w-table" role="group" data-label="table" tabindex="0"></div></details>
  </div>
</div>`;

function legendOf({ engine, nodes }) {
  const local = engine ? [] : [legend("×", LABELS.local)];
  const edges = nodes.flatMap(({ operands }) => operands);
  if (edges.some((edge) => edge.local === null)) local.push(legend("×None", LABELS.nothing));
  if (nodes.some(({ value }) => value === "?")) local.push(legend("?", LABELS.unknown));
  const words = engine ? LABELS.numberInTorch : LABELS.number;
  const [first] = nodes.filter((node) => isNumbered({ engine }, node));
  const numbers = first ? legend(`#${first.number}, #${first.number + 1} …`, words) : "";
  return `${numbers}${local.join("")}<span>${both(LABELS.digits)}</span>`;
}

let serial = 0;

export class GraphStepper extends Widget {
  static observedAttributes = ["graph", "step"];

  connectedCallback() {
    super.connectedCallback();
    if (!this.graph) this.readGraph();
  }

  /** Drawing anew takes the focus away: only for what is new. */
  attributeChangedCallback(name, before, after) {
    if (!this.isConnected || before === after) return;
    if (name === "graph" || this.own) this.readGraph();
    else if (this.graph) this.go(this.wanted());
  }

  /** Draw the graph of the attribute; without one the table inside stays. */
  readGraph() {
    if (!this.hasAttribute("graph")) return;
    if (!this.graph) this.build();
    const graph = JSON.parse(this.getAttribute("graph")), nodes = exactNodes(graph);
    this.text.value = nodes ? textOf(nodes) : "";
    this.mark("given");
    this.complain(null);
    this.show(readGraph(graph), this.wanted());
  }

  wanted() { return Math.trunc(this.getAttribute("step")) || 0; }

  find(name) { return this.querySelector(`.gs-${name}`); }

  build() {
    this.innerHTML = SKELETON;
    this.text = this.querySelector("textarea");
    this.part("error").id = `graph-stepper-error-${++serial}`;
    this.text.setAttribute("aria-describedby", this.part("error").id);
    this.listen();
  }

  listen() {
    const frame = this.part("frame"), slider = this.querySelector("input");
    frame.addEventListener("click", ({ target }) => {
      const { go, example: choice } = target.closest("[data-go], [data-example]")?.dataset ?? {};
      if (go) this.edit(this.places()[go]);
      if (choice) this.choose(choice);
    });
    slider.addEventListener("input", () => this.edit(slider.valueAsNumber));
    frame.addEventListener("keydown", (event) => this.press(event));
    this.text.addEventListener("input", () => {
      clearTimeout(this.pause);
      this.pause = setTimeout(() => this.read(), PAUSE);
    });
    this.text.addEventListener("change", () => this.pause && this.read()); // on leaving
    new ResizeObserver(([{ target }]) => fitStage(target)).observe(this.part("stage"));
  }

  // ---- from the reader's text to a graph
  choose(choice) {
    if (choice === "given") this.readGraph();
    else {
      this.text.value = EXAMPLES[choice][0];
      this.read(choice);
    }
  }

  /** Press the button that the text comes from, if any. */
  mark(choice) {
    for (const node of this.querySelectorAll("[data-example]")) {
      node.setAttribute("aria-pressed", node.dataset.example === choice);
    }
  }

  /** Show the graph of the text, at the same step if there are as many; or say what is wrong. */
  read(choice) {
    const { nodes, error } = typed(this.text.value);
    this.mark(choice);
    this.complain(error);
    if (error) return;
    const graph = displayed(nodes), alike = graph.steps.length === this.graph.steps.length;
    this.show(graph, alike ? this.step : 0, true);
  }

  complain(error) {
    const stale = `<em>${both(LABELS.stale)}</em>`;
    clearTimeout(this.pause);
    this.pause = null;
    this.part("error").innerHTML = error ? both(refusalWords(error)) + stale : "";
    this.part("frame").toggleAttribute("data-stale", Boolean(error));
    this.text.setAttribute("aria-invalid", Boolean(error));
  }

  /** Draw a graph, the attribute's or the reader's own. */
  show(graph, step, own = false) {
    Object.assign(this, { graph, own, geometry: geometry(graph), step: null });
    this.find("form").hidden = Boolean(graph.engine);
    this.querySelector("input").max = graph.steps.length - 1;
    this.part("legend").innerHTML = legendOf(graph);
    this.go(step);
    fitStage(this.part("stage"));
  }

  // ---- from step to step
  /** Where each button leads. */
  places() {
    const { steps } = this.graph, last = steps.length - 1;
    return { first: 0, previous: this.step - 1, next: this.step + 1, last,
      forward: 0, backward: steps.findIndex(({ kind }) => kind === "start") };
  }

  /** Arrow keys step; in the slider the browser does it, in what scrolls they scroll. */
  press(event) {
    const { key, target } = event;
    if (target === this.text) {
      if (key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.read();
      return;
    }
    const go = goOfKey(event, "input, .w-stage, .w-table, [data-example]");
    if (!go) return;
    event.preventDefault();
    this.edit(this.places()[go]);
  }

  /** A step by the reader: show it and, in the attribute's graph, tell whoever listens. */
  edit(step) {
    if (!this.go(step)) return;
    this.follow();
    if (this.own) return;
    this.setAttribute("step", this.step);
    const detail = { step: this.step };
    this.dispatchEvent(new CustomEvent("step-change", { detail, bubbles: true }));
  }

  /** Show a step, the nearest that exists; whether that changed anything. */
  go(step) {
    const last = this.graph.steps.length - 1, to = Math.min(Math.max(step, 0), last);
    if (to === this.step) return false;
    this.step = to;
    const { kind } = this.graph.steps[to];
    this.part("stage").innerHTML = draw(this.graph, this.geometry, to);
    this.part("table").innerHTML = tableOf(this.graph, to);
    this.part("status").innerHTML = both(describe(this.graph, to));
    this.querySelector("output").textContent = `${to} / ${last}`;
    Object.assign(this.querySelector("input"), { value: to });
    const places = this.places(), current = kind === "forward" ? "forward" : "backward";
    for (const node of this.querySelectorAll("[data-go]")) {
      const go = node.dataset.go, there = places[go] < 0 || places[go] > last || places[go] === to;
      if (node.dataset.label) node.setAttribute("aria-disabled", there);
      else node.setAttribute("aria-pressed", go === current);
    }
    this.label();
    return true;
  }

  /** Every label in the language of the page. */
  label() {
    if (!this.graph) return;
    setLabels(this, LABELS);
    const { kind } = this.graph.steps[this.step];
    const [zh, en] = LABELS[kind === "forward" ? "forward" : "backward"];
    const text = this.querySelector("output").textContent;
    this.querySelector("input").setAttribute(
      "aria-valuetext", inPageLanguage([`${text}，${zh}`, `${text}, ${en}`]));
  }

  /** Scroll the stage, never the page, until the node that changed is in sight. */
  follow() {
    const stage = this.part("stage"), { step } = stateAt(this.graph, this.step);
    const [where] = change(this.graph, step);
    const frame = stage.getBoundingClientRect();
    const box = stage.querySelector(`[data-number="${where}"]`).getBoundingClientRect();
    const shift = (from, to, low, high, room = 16) =>
      (from - room < low ? from - room - low : to + room > high ? to + room - high : 0);
    const left = shift(box.left, box.right, frame.left, frame.right);
    const top = shift(box.top, box.bottom, frame.top, frame.bottom);
    scrollStage(stage, left, top);
  }
}

define("graph-stepper", GraphStepper, STYLE);

const render = follower("graph-stepper", GraphStepper.observedAttributes, "step-change");
export default { render };
