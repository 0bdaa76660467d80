// <pipeline-explorer>: what torch.compile makes of a function, stage by stage; a row lights up what
// comes from the same lines in all stages.
//
//   <pipeline-explorer pipeline='{"stages": […], …}' choice='{"function": "loop", "lines": [3]}'>
//
// code/inside/widgets/pipeline_explorer.py describes both attributes. The text inside is what
// readers without JavaScript see. What the reader chooses is reflected in `choice`, and
// `choice-change` fired. Nothing here knows a stage by name: the first is always in sight, the
// others follow in their order.
import { functionsOf, linkedStages, litRows, panelsOf, stagesOf, tabsOf } from "./draw.js";
import { STYLE } from "./style.js";
import { HINT, LABELS, litWords, madeWords, rowName, rowWords } from "./words.js";
import { Widget, define, follower } from "../widget/element.js";
import { both, inPageLanguage, setLabels } from "../widget/words.js";

const SKELETON = `<div class="w-frame w-steps" role="group" data-label="explorer">
  <div class="w-controls" role="group" data-label="functions"></div>
  <p class="pe-say"></p>
  <p class="w-status" aria-live="polite"></p>
  <div class="pe-stages"></div>
  <p class="w-legend"></p>
</div>`;

/** Scroll a stage, and not the page, to a row that lies outside what it shows. */
function bringIn(panel, row) {
  const head = panel.querySelector(".pe-name").offsetHeight;
  const isIn = row.offsetTop >= panel.scrollTop + head
    && row.offsetTop + row.offsetHeight <= panel.scrollTop + panel.clientHeight;
  if (!isIn) panel.scrollTop = row.offsetTop - head - panel.clientHeight / 4;
}

export class PipelineExplorer extends Widget {
  static observedAttributes = ["pipeline", "choice"];

  connectedCallback() {
    super.connectedCallback();
    if (!this.data) this.read();
  }

  /** Drawing anew takes the focus away: not for what this element itself wrote. */
  attributeChangedCallback(name, before, after) {
    if (this.isConnected && before !== after && after !== this.written) this.read();
  }

  /** Show the pipeline of the attribute; without one the text inside stays. */
  read() {
    if (!this.hasAttribute("pipeline")) return;
    this.data = JSON.parse(this.getAttribute("pipeline"));
    const { function: key, lines = [] } = JSON.parse(this.getAttribute("choice") ?? "{}");
    if (!this.part("frame")) this.build();
    this.querySelector(".w-controls").innerHTML = functionsOf(this.data.functions);
    this.part("legend").innerHTML = both(madeWords(this.data.made));
    this.show(key, lines);
  }

  build() {
    this.innerHTML = SKELETON;
    const frame = this.part("frame");
    frame.addEventListener("click", ({ target }) => this.press(target));
    frame.addEventListener("keydown", (event) => this.move(event));
  }

  // ---- from the reader to the choice
  press(target) {
    const row = target.closest("button.pe-row"), button = target.closest("button");
    const { function: key, stage } = button?.dataset ?? {};
    if (key) this.show(key, []);
    if (stage) this.turn(stage);
    if (row) this.choose(row);
    if (key || row) this.tell();
  }

  /** Light what comes from the row's lines; the same row again puts it out. */
  choose(row) {
    const same = row === this.chosen;
    this.chosen = same ? null : row;
    this.light(same ? [] : row.dataset.lines.split(",").map(Number));
  }

  /** The keys up and down choose the row before or after, within a stage. */
  move(event) {
    const { key, target, altKey, ctrlKey, metaKey } = event;
    const row = target.closest("button.pe-row"), by = { ArrowUp: -1, ArrowDown: 1 }[key];
    if (!row || !by || altKey || ctrlKey || metaKey) return;
    event.preventDefault();
    const rows = [...row.closest(".pe-stage").querySelectorAll("button.pe-row")];
    const next = rows[rows.indexOf(row) + by];
    if (!next) return;
    if (next !== this.chosen) this.choose(next);
    next.focus();
    this.tell();
  }

  tell() {
    const choice = { function: this.one.key, lines: this.lines };
    this.written = JSON.stringify(choice);
    this.setAttribute("choice", this.written);
    this.dispatchEvent(new CustomEvent("choice-change", { detail: { choice }, bubbles: true }));
  }

  // ---- from the choice to the page
  show(key, lines) {
    const { functions, stages } = this.data;
    this.one = functions.find((one) => one.key === key) ?? functions[0];
    this.chosen = null;
    this.querySelector(".pe-say").innerHTML = both(this.one.say);
    this.querySelector(".pe-stages").innerHTML = panelsOf(stages, this.one);
    const tabs = Object.assign(document.createElement("div"), { className: "pe-tabs" });
    tabs.setAttribute("role", "group");
    tabs.dataset.label = "tabs";
    tabs.innerHTML = tabsOf(stages, this.one);
    this.querySelector(".pe-stage").after(tabs);
    for (const node of this.querySelectorAll("[data-function]")) {
      node.setAttribute("aria-pressed", node.dataset.function === this.one.key);
    }
    const there = stagesOf(stages, this.one).slice(1).map((stage) => stage.key);
    this.turn(there.includes(this.stage) ? this.stage : there[0]);
    this.light(lines);
  }

  /** Choose the stage that a narrow page shows below the first. */
  turn(stage) {
    this.stage = stage;
    for (const node of this.querySelectorAll("[data-stage]")) {
      node.setAttribute("aria-pressed", node.dataset.stage === stage);
    }
    for (const node of this.querySelectorAll(".pe-stage")) {
      node.toggleAttribute("data-turned", node.dataset.panel === stage);
    }
  }

  light(lines) {
    this.lines = lines;
    for (const panel of this.querySelectorAll(".pe-stage")) {
      const rows = [...panel.querySelectorAll("button.pe-row")];
      const lit = rows.filter((row) => row.dataset.lines.split(",").some(
        (line) => lines.includes(+line)));
      for (const row of rows) {
        row.setAttribute("aria-pressed", lit.includes(row));
        row.toggleAttribute("data-chosen", row === this.chosen);
        row.tabIndex = -1;
      }
      const entry = rows.includes(this.chosen) ? this.chosen : lit[0] ?? rows[0];
      if (entry) entry.tabIndex = 0; // one stop of Tab for each stage
      if (lit.length && !lit.includes(this.chosen)) bringIn(panel, lit[0]);
    }
    this.count();
    this.label();
  }

  /** Say how many rows are lit, below the examples and on the tabs. */
  count() {
    const lit = Object.fromEntries(linkedStages(this.data.stages, this.one).map(
      ({ key, name }) => [key, [name, litRows(this.one.parts[key], this.lines).length]]));
    this.part("status").innerHTML = both(
      this.lines.length ? litWords(this.lines, Object.values(lit)) : HINT);
    for (const node of this.querySelectorAll("[data-stage]")) {
      node.querySelector("small").textContent = this.lines.length
        ? lit[node.dataset.stage]?.[1] ?? "" : "";
    }
  }

  /** Every label in the language of the page. */
  label() {
    if (!this.data) return;
    setLabels(this, LABELS);
    const names = Object.fromEntries(this.data.stages.map(({ key, name }) => [key, name]));
    for (const node of this.querySelectorAll("[data-of]")) {
      node.setAttribute("aria-label", inPageLanguage(names[node.dataset.of]));
    }
    for (const stage of this.querySelectorAll(".pe-stage")) {
      for (const [at, row] of stage.querySelectorAll(".pe-row").entries()) {
        if (row.localName !== "button") continue;
        row.title = inPageLanguage(rowWords(row.dataset.lines.split(",")));
        row.setAttribute("aria-label", inPageLanguage(rowName(row.textContent, at + 1)));
      }
    }
  }
}

define("pipeline-explorer", PipelineExplorer, STYLE);

const render = follower(
  "pipeline-explorer", ["pipeline", "choice"], "choice-change", JSON.stringify);
export default { render };
