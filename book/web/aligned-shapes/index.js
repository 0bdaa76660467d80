// <aligned-shapes>: type two or three shapes, see them aligned at the right for broadcasting, what
// each dimension does, what the result costs and what backward sums over.
//
//   <aligned-shapes shapes="(3, 1) | (4,)" itemsize="4">a table</aligned-shapes>
//
// `itemsize` is in bytes. The table inside is what readers without JavaScript see. What is shown is
// reflected in the attributes after each edit, and `view-change` is fired.
import { OPERANDS, align, readShapes, torchSays, unalignable } from "./broadcast.js";
import { STYLE } from "./style.js";
import {
  LABELS, PARTS, alignRefusal, outcomeWords, readWords, sumWords, verdictWords,
} from "./words.js";
import { ITEMSIZES } from "../stride-explorer/layout.js";
import { parseInts, tuple } from "../stride-explorer/text.js";
import { Widget, define, follower } from "../widget/element.js";
import { FORM } from "../widget/form.js";
import { fitStage } from "../widget/steps.js";
import { both, html, setLabels } from "../widget/words.js";

const FLOAT32 = 4;
export const shapesText = (shapes) => shapes.map(tuple).join(" | ");

export const PRESETS = [
  ["(3, 1) | (4,)", ["一列对一行", "column and row"]],
  ["(1024, 1) | (1024,)", ["预测对标签", "prediction and target"]],
  ["(8, 3, 32, 32) | (3, 1, 1)", ["每个通道一个数", "one value per channel"]],
  ["(2, 4, 5, 5) | (2, 1, 1, 5)", ["注意力掩码", "attention mask"]],
  ["(3, 4) | (3,)", ["冲突", "conflict"]],
  ["(5, 1, 1) | (3, 1) | (4,)", ["三个形状", "three shapes"]],
  ["(0, 1) | ()", ["空张量", "empty"]],
].map(([text, label]) => ({ text, label, shapes: readShapes(text) }));

const title = (key) => `<p class="w-heading">${both(LABELS[key])}</p>`;
const FRAME = `<div class="w-frame w-form" role="group" data-label="aligner">
  <div class="w-presets" role="group" data-label="presets">${PRESETS.map((p) =>
    `<button type="button"><span>${both(p.label)}</span><code>${p.text}</code></button>`).join("")}
  </div>
  <div class="w-fields">
    <div class="w-row">${OPERANDS.map((_, k) => `<label><span>${both(LABELS[`operand${k}`])
    }</span><input name="operand${k}" type="text" spellcheck="false" autocomplete="off"></label>`).join("")}
      <label><span>${both(LABELS.bytesEach)}</span><select name="itemsize">${
        ITEMSIZES.map((n) => `<option>${n}</option>`).join("")}</select></label>
    </div>
    <div class="w-error" role="alert"></div>
  </div>
  <div class="w-picture">
    ${title("aligned")}
    <div class="as-wide" role="group" data-label="aligned"><table class="as-aligned"></table></div>
    <p class="w-legend"></p>
    <ul class="as-verdicts"></ul>
    <p class="as-outcome" role="status"></p>
    <div class="as-costs"></div>
  </div>
</div>`;

/** One size, and in words what becomes of it: the border alone says nothing. */
function sizeCell({ size, sizes, parts }, k) {
  const part = parts[k], own = sizes[k] === null ? "(1)" : sizes[k];
  const moved = (one) => one === "stretched" || one === "added";
  const said = part === "equal" && parts.some(moved) ? "sets" : part;
  return `<td class="as-part as-${part}"><code>${own}${moved(part) ? ` → ${size}` : ""}</code><small>${
    both(PARTS[said])}</small></td>`;
}

const named = (name, shape) =>
  `${name}${shape ? ` <small><code>${tuple(shape)}</code></small>` : ""}`;
const rowOf = (head, cells) => `<tr><th scope="row">${head}</th>${cells.join("")}</tr>`;

/** The shapes below one another, the last dimension of each in the last column. */
function alignedTable({ columns: list, result }, shapes) {
  const heads = list.map(({ d }, k) => (
    `<th scope="col"><code>dim=${k}</code><small>${html(`\`${d}\``)}</small></th>`));
  const rows = shapes.map((shape, k) => rowOf(
    named(html(`\`${OPERANDS[k]}\``), shape), list.map((one) => sizeCell(one, k))));
  const last = list.map(({ size }) => `<td><code>${size ?? "✕"}</code>${
    size === null ? `<small>${both(PARTS.conflict)}</small>` : ""}</td>`);
  const whole = named(both(LABELS.result), result);
  return `<thead><tr><th scope="col">${both(LABELS.operand)}</th>${heads.join("")}</tr></thead>
    <tbody>${rows.join("")}</tbody><tfoot>${rowOf(whole, last)}</tfoot>`;
}

/** A column for each operand: three fit on a phone. */
function costTable({ operands }, itemsize) {
  const facts = {
    own: ({ strides }) => html(`\`${tuple(strides)}\``),
    expanded: ({ expanded }) => html(`\`${tuple(expanded)}\``),
    read: (one) => both(readWords(one, itemsize)),
    sums: (one) => both(sumWords(one)),
  };
  const heads = operands.map(({ shape }, k) => (
    `<th scope="col">${named(html(`\`${OPERANDS[k]}\``), shape)}</th>`));
  const rows = Object.entries(facts).map(([key, fact]) => rowOf(
    both(LABELS[key]), operands.map((one) => `<td>${fact(one)}</td>`)));
  return `${title("costs")}<div class="as-wide" role="group" data-label="costs"><table>
    <thead><tr><td></td>${heads.join("")}</tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}

const ATTRIBUTES = ["shapes", "itemsize"];

let serial = 0;

class AlignedShapes extends Widget {
  static observedAttributes = ATTRIBUTES;

  connectedCallback() {
    super.connectedCallback();
    if (!this.shapes) this.build();
    this.readAttributes();
  }

  // Attributes change one by one: read them together.
  attributeChangedCallback() {
    if (!this.shapes || this.pending) return;
    this.pending = true;
    queueMicrotask(() => { this.pending = false; this.readAttributes(); });
  }

  build() {
    this.innerHTML = FRAME;
    this.itemsize = FLOAT32;
    this.error = this.part("error");
    this.error.id = `aligned-shapes-error-${++serial}`;
    this.inputs = OPERANDS.map((_, k) => this.querySelector(`[name=operand${k}]`));
    this.inputs.forEach((input) => input.addEventListener("input", () => this.edit(input)));
    const select = this.querySelector("[name=itemsize]");
    select.onchange = () => {
      this.itemsize = +select.value;
      this.show(this.shapes, { edited: select });
    };
    this.querySelectorAll(".w-presets button").forEach((button, i) => {
      button.onclick = () => this.show(PRESETS[i].shapes, { edited: button });
    });
    new ResizeObserver(() => this.fit()).observe(this);
  }

  readAttributes() {
    const itemsize = Number(this.getAttribute("itemsize"));
    if (ITEMSIZES.includes(itemsize)) this.itemsize = itemsize;
    const text = this.getAttribute("shapes") ?? PRESETS[0].text;
    if (!this.shapes) this.show(PRESETS[0].shapes); // stays where the attribute is wrong
    if (this.given !== `${text} ${this.itemsize}`) this.show(readShapes(text));
    this.given = `${text} ${this.itemsize}`;
  }

  /** The fields as shapes; the third may be left empty. */
  edit(edited) {
    const texts = this.inputs.map((input) => input.value);
    const typed = texts[2].trim() ? texts : texts.slice(0, 2);
    this.show(typed.map(parseInts), { edited });
  }

  show(shapes, { edited } = {}) {
    const bad = unalignable(shapes);
    this.complain(bad);
    if (bad) return;
    this.shapes = shapes;
    this.inputs.forEach((input, k) => {
      if (input !== edited) input.value = shapes[k] ? tuple(shapes[k]) : "";
    });
    this.querySelector("[name=itemsize]").value = this.itemsize;
    this.draw(align(shapes));
    if (edited) this.tell();
  }

  complain(bad) {
    this.error.innerHTML = bad
      ? `${both(alignRefusal(bad))}<em>${both(LABELS.last)}</em>` : "";
    this.part("frame").toggleAttribute("data-stale", Boolean(bad));
    this.inputs.forEach((input, k) => {
      input.setAttribute("aria-describedby", this.error.id);
      input.setAttribute("aria-invalid", bad?.k === k);
    });
  }

  draw(aligned) {
    const { columns: list, conflict } = aligned, find = (name) => this.querySelector(`.as-${name}`);
    find("aligned").innerHTML = alignedTable(aligned, this.shapes);
    const lacks = list.some(({ sizes }) => sizes.includes(null));
    this.part("legend").innerHTML = lacks ? both(LABELS.absent) : "";
    find("verdicts").innerHTML = list.map((one, k) => (
      `<li><code>dim=${k}</code> ${both(verdictWords(one))}</li>`)).join("");
    const says = conflict && torchSays(conflict);
    find("outcome").innerHTML = both(outcomeWords(aligned, this.itemsize, says));
    find("costs").innerHTML = conflict ? "" : costTable(aligned, this.itemsize);
    this.querySelectorAll(".w-presets button").forEach((button, i) => {
      button.setAttribute("aria-pressed", PRESETS[i].text === shapesText(this.shapes));
    });
    this.label();
    this.fit();
  }

  label() { setLabels(this, LABELS); }

  /** A table that scrolls takes the focus, so that a keyboard can scroll it. */
  fit() { this.querySelectorAll(".as-wide").forEach(fitStage); }

  tell() {
    const detail = { shapes: shapesText(this.shapes), itemsize: this.itemsize };
    this.given = `${detail.shapes} ${detail.itemsize}`;
    Object.entries(detail).forEach(([name, value]) => this.setAttribute(name, value));
    this.dispatchEvent(new CustomEvent("view-change", { detail, bubbles: true }));
  }
}

define("aligned-shapes", AlignedShapes, FORM + STYLE);

const render = follower("aligned-shapes", ATTRIBUTES, "view-change");
export default { render };
