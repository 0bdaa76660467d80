// <loader-timeline>: one epoch of a DataLoader and of the loop that trains on it, as a timeline;
// at any moment it shows what each queue holds.
//
//   <loader-timeline settings='{"num_workers": 2, "slow": "batch", …}'>a table</loader-timeline>
//
// code/inside/widgets/loader_timeline.py describes the settings. The table inside is what readers
// without JavaScript see. What the reader sets is reflected in the attribute, and
// `settings-change` fired.
import { figuresOf, lanesOf, machineOf, tableOf } from "./draw.js";
import { RANGES, settle, simulate, stateAt, whichMost } from "./simulate.js";
import { STYLE } from "./style.js";
import { LABELS, describe } from "./words.js";
import { Widget, define, follower } from "../widget/element.js";
import { fitStage, goButtons, goOfKey, scrollStage } from "../widget/steps.js";
import { both, inPageLanguage, setLabels } from "../widget/words.js";

const number = (name) => `<label><span>${both(LABELS[name])} <small></small></span><input
  name="${name}" type="number" inputmode="numeric"></label>`;
const key = (kind) => `<span><i class="tl-${kind}"></i>${both(LABELS[kind])}</span>`;
// An option cannot hold both languages in elements: its text is set with the labels.
const option = (name) => `<option value="${name}" data-text="${name}"></option>`;

const SKELETON = `<div class="w-frame w-steps" role="group" data-label="timeline">
  <div class="tl-form">
    ${["num_workers", "prefetch_factor", "batches", "fetch", "step", "spread", "startup", "pin",
    "megabytes"].map(number).join("")}
    <label><span>${both(LABELS.slow)}</span><select name="slow">${
      ["none", "worker", "batch"].map(option).join("")}</select></label>
    ${number("which")}${number("factor")}
    <label class="tl-check"><input name="in_order" type="checkbox"><span>${
      both(LABELS.in_order)}</span></label>
  </div>
  <div class="tl-figures"></div>
  <div class="w-controls">
    ${goButtons(LABELS)}
    <input type="range" min="0" data-label="slider"><output></output>
  </div>
  <p class="w-status" aria-live="polite"></p>
  <div class="w-stage" role="group" data-label="lanes"><div class="tl-lanes"></div></div>
  <p class="w-legend">${["making", "pinning", "waiting", "computing"].map(key).join("")}</p>
  <div class="tl-machine"></div>
  <details><summary>${both(LABELS.table)}</summary>
    <div class="w-table" role="group" data-label="table" tabindex="0"></div></details>
</div>`;

export class LoaderTimeline extends Widget {
  static observedAttributes = ["settings"];

  connectedCallback() {
    super.connectedCallback();
    if (!this.run) this.read();
  }

  /** Drawing anew takes the focus away: not for what this element itself wrote. */
  attributeChangedCallback(name, before, after) {
    if (this.isConnected && after !== this.written) this.read();
  }

  /** Show the settings of the attribute; what it leaves out has its default. */
  read() {
    if (!this.run) this.build();
    this.show(settle(JSON.parse(this.getAttribute("settings"))));
    for (const field of this.fields()) this.fill(field);
  }

  find(name) { return this.querySelector(`.tl-${name}`); }

  fields() { return [...this.querySelectorAll("[name]")]; }

  build() {
    this.innerHTML = SKELETON;
    const frame = this.part("frame"), slider = this.querySelector("[type=range]");
    this.find("form").addEventListener("input", ({ target }) => this.edit(target));
    this.find("form").addEventListener("change", ({ target }) => this.fill(target));
    slider.addEventListener("input", () => this.go(slider.valueAsNumber));
    frame.addEventListener("click", ({ target, clientX }) => {
      const go = target.closest("[data-go]")?.dataset.go;
      const track = target.closest(".tl-track")?.getBoundingClientRect();
      if (go) this.go(this.places()[go]);
      if (track) {
        this.go(this.momentAt((clientX - track.left) / track.width * this.run.total));
      }
    });
    frame.addEventListener("keydown", (event) => this.press(event));
    new ResizeObserver(([{ target }]) => fitStage(target)).observe(this.part("stage"));
  }

  // ---- from the reader to the settings
  /** Take what is in a field, unless it is out of range: then the last that was right stays. */
  edit(field) {
    const { name, type, value, checked } = field;
    const wrong = type === "number" && !(field.validity.valid && value !== "");
    field.setAttribute("aria-invalid", wrong);
    if (wrong) return;
    const set = { [name]: type === "checkbox" ? checked : type === "number" ? +value : value };
    this.show(settle({ ...this.run.settings, ...set }));
    for (const other of this.fields()) if (other !== field) this.fill(other);
    this.tell();
  }

  /** Write into a field what holds; on leaving it too, where it was out of range. */
  fill(field) {
    const { settings } = this.run, { name } = field;
    if (name === "in_order") field.checked = settings.in_order;
    else field.value = settings[name];
    field.removeAttribute("aria-invalid");
    if (field.type === "number") {
      const [least, most] = RANGES[name] ?? [0, whichMost(settings)];
      Object.assign(field, { min: least, max: most });
      field.parentNode.querySelector("small").textContent = `${least}–${most}`;
    }
    if (["which", "factor"].includes(name)) field.parentNode.hidden = settings.slow === "none";
    if (["prefetch_factor", "in_order", "startup"].includes(name)) field.disabled = !settings.num_workers;
  }

  tell() {
    const settings = { ...this.run.settings, at: this.time() };
    this.written = JSON.stringify(settings);
    this.setAttribute("settings", this.written);
    const detail = { settings };
    this.dispatchEvent(new CustomEvent("settings-change", { detail, bubbles: true }));
  }

  // ---- from moment to moment
  time() { return this.run.moments[this.moment]; }

  places() {
    const last = this.run.moments.length - 1;
    return { first: 0, previous: this.moment - 1, next: this.moment + 1, last };
  }

  /** The arrow keys step, except where they have a meaning of their own. */
  press(event) {
    const go = goOfKey(event, "input, select, .w-stage, .w-table");
    if (!go) return;
    event.preventDefault();
    this.go(this.places()[go]);
  }

  /** The last moment that is not after `time`. */
  momentAt(time) {
    return Math.max(0, this.run.moments.findLastIndex((moment) => moment <= time));
  }

  go(wanted) {
    const { last } = this.places(), moment = Math.min(Math.max(wanted, 0), last);
    if (moment === this.moment) return;
    this.moment = moment;
    this.showMoment();
    this.follow();
    this.tell();
  }

  // ---- from the settings to the page
  show(settings) {
    this.run = simulate(settings);
    const [lanes, width] = lanesOf(this.run);
    this.find("lanes").innerHTML = lanes;
    this.find("lanes").style.setProperty("--tl-width", `${width}px`);
    this.find("figures").innerHTML = figuresOf(this.run);
    this.part("table").innerHTML = tableOf(this.run);
    this.querySelector("[type=range]").max = this.run.moments.length - 1;
    this.moment = this.momentAt(settings.at);
    this.showMoment();
    fitStage(this.part("stage"));
  }

  showMoment() {
    const time = this.time(), state = stateAt(this.run, time), { last } = this.places();
    this.find("machine").innerHTML = machineOf(this.run, state);
    this.part("status").innerHTML = both(describe(this.run, time, state));
    this.find("lanes").style.setProperty("--tl-now", `${100 * time / this.run.total}%`);
    this.querySelector("output").textContent = `${time} ms`;
    this.querySelector("[type=range]").value = this.moment;
    for (const node of this.querySelectorAll("[data-go]")) {
      const to = this.places()[node.dataset.go];
      node.setAttribute("aria-disabled", to < 0 || to > last || to === this.moment);
    }
    this.label();
  }

  /** Every label in the language of the page. */
  label() {
    setLabels(this, LABELS);
    for (const node of this.querySelectorAll("[data-text]")) {
      node.textContent = inPageLanguage(LABELS[node.dataset.text]);
    }
    this.querySelector("[type=range]").setAttribute(
      "aria-valuetext", inPageLanguage([`${this.time()} 毫秒`, `${this.time()} ms`]));
  }

  /** Scroll the stage, never the page, until the moment is in sight. */
  follow() {
    const stage = this.part("stage"), { left, width } = stage.getBoundingClientRect();
    const track = this.find("track").getBoundingClientRect();
    const x = track.left + track.width * this.time() / this.run.total - left;
    if (x < 0.2 * width || x > 0.9 * width) scrollStage(stage, x - width / 2);
  }
}

define("loader-timeline", LoaderTimeline, STYLE);

const render = follower("loader-timeline", ["settings"], "settings-change", JSON.stringify);
export default { render };
