// <stride-explorer>: type a chain of operations, or a shape, strides and an offset; see which cell
// each element reads, which bytes it has, and which step copied.
//
//   <stride-explorer shape="3,4" strides="4,1" offset="0" size="12">a table</stride-explorer>
//   <stride-explorer chain="torch.arange(12).view(3, 4).t()" itemsize="8">a table</stride-explorer>
//
// All numbers count elements, not bytes; size is that of the storage. The table inside is what
// readers without JavaScript see. What is shown is reflected in the attributes after each edit
// (chain is empty where the numbers were set by hand), and `view-change` is fired.
import {
  ITEMSIZES, address, contiguousStrides, indices, numel, readers, undrawable,
} from "./layout.js";
import { run } from "./operations.js";
import { STYLE } from "./style.js";
import { parseInts, tuple } from "./text.js";
import {
  KINDS, LABELS, at, byteWords, cellWords, contiguityWords, formula, gapWords, memoryWords, numbers,
  overlapWords, refusalWords, storageWords,
} from "./words.js";
import { Widget, define, follower } from "../widget/element.js";
import { FORM } from "../widget/form.js";
import { both, html, inPageLanguage, setLabels } from "../widget/words.js";

const PAUSE = 500; // ms without a key before a chain is called wrong: half-typed ones always are

const equal = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** What is drawn of a tensor: {shape, strides, offset, size}. */
const drawn = ({ shape, strides, offset, storage }) => (
  { shape, strides, offset, size: storage.size });

export const PRESETS = [ // every one is a chain on x = torch.arange(12)
  ["x.view(3, 4)", ["连续", "contiguous"]],
  ["x.view(3, 4).t()", ["转置", "transpose"]],
  ["x.view(3, 4)[:, 1:3]", ["切片", "slice"]],
  ["x.view(3, 4).diagonal()", ["对角线", "diagonal"]],
  ["x[:4].expand(3, 4)", ["扩展", "expand"]],
  ["x.unfold(0, 4, 2)", ["滑动窗口", "sliding window"]],
  ["x.view(2, 3, 2).mT", ["成批转置", "batch of transposes"]],
  ["x.view(3, 4).t().contiguous()", ["复制", "copy"]],
].map(([code, label]) => ({ code, label, view: drawn(run(code, 12).rows.at(-1).state) }));

/** A view set by hand as a chain; the plain one in the words that a reader would use. */
function handText({ shape, strides, offset, size }) {
  const plain = offset === 0 && numel(shape) === size && equal(strides, contiguousStrides(shape));
  return plain ? `x.view(${shape.join(", ") || "()"})`
    : `x.as_strided(${tuple(shape)}, ${tuple(strides)}, ${offset})`;
}

// ------------------------------------------------------------------ the skeleton
const times = (n, make) => Array.from({ length: n }, (_, i) => make(i));
const heading = (key) => `<p class="w-heading" aria-hidden="true">${both(LABELS[key])}</p>`;
const field = (name, label, type) =>
  `<label><span>${label}</span><input name="${name}" type="${type}"
  ${type === "text" ? "" : 'step="1"'} autocomplete="off"></label>`;
const SKELETON = `<div class="w-frame w-form" role="group" data-label="explorer">
  <div class="w-presets" role="group" data-label="presets">${PRESETS.map((p) =>
    `<button type="button"><span>${both(p.label)}</span><code>${p.code}</code></button>`).join("")}
  </div>
  <div class="w-fields">
    <div class="w-row">
      ${field("size", both(LABELS.size), "number")}
      <label class="se-chain"><span>${both(LABELS.chain)}</span><textarea name="chain" rows="1"
      spellcheck="false" autocapitalize="off" autocomplete="off"></textarea></label>
    </div>
    ${heading("steps")}<ol class="se-steps" data-label="stepList"></ol>
    ${heading("byHand")}
    <div class="w-row">
      ${field("shape", both(LABELS.shape), "text")}<span class="se-strides"></span>
      ${field("offset", both(LABELS.offset), "number")}
    </div>
    <div class="w-error" role="alert"></div>
  </div>
  <div class="w-picture">
    <div class="se-stage">
      <div>
        ${heading("tensor")}<div class="se-tensor" role="grid" data-label="tensor"></div>
      </div>
      <div>
        <p class="se-which" aria-hidden="true"></p>
        <div class="se-formula" aria-hidden="true"></div>
        <p class="se-hint">${both(LABELS.keys)}</p>
        <p class="se-live" aria-live="polite"></p>
      </div>
    </div>
    <p class="w-heading se-whose"></p>
    <div class="se-storage" role="listbox" data-label="storage"></div>
    <p class="w-legend">
      <span><i class="se-cell se-unused"></i>${both(LABELS.unused)}</span>
      <span><sup>×n</sup>${both(LABELS.shared)}</span>
    </p>
    <div class="se-bytes">
      ${heading("bytes")}
      <div class="se-memory">
        <label><span>${both(LABELS.itemsize)}</span><select name="itemsize">${
          ITEMSIZES.map((n) => `<option>${n}</option>`).join("")}</select></label>
        ${field("byte", both(LABELS.byte), "number")}
        <div class="se-strip" role="listbox" data-label="bytes"></div>
      </div>
      <p class="se-owners"></p>
    </div>
    <dl>${["contiguous", "overlap", "gaps", "memory"].map((key) =>
      `<div><dt>${both(LABELS[key])}</dt><dd data-fact="${key}"></dd></div>`).join("")}</dl>
  </div>
</div>`;

/** Badge and value are drawn by the style: the label of the cell says the same in words. */
function storageCell(who, a, values) {
  const shared = who.length > 1 ? ` data-readers="×${who.length}"` : "";
  const unused = who.length ? "" : " se-unused";
  const value = values ? ` data-value="${values[a]}"` : "";
  return `<span class="se-cell${unused}" role="option" data-address="${a}"${shared}${value}>${
    a}</span>`;
}

function stepButton({ text, kind, state }, k) {
  const part = (name, value) => `<span><small>${name}</small><code>${value}</code></span>`;
  const layout = state ? part("shape", tuple(state.shape)) + part("stride", tuple(state.strides))
    + part("offset", state.offset) : "";
  const code = html(`\`${text}\``);
  return `<li><button type="button" data-step="${k}"${state ? "" : " disabled"}>${code}${
    layout}<span class="se-kind se-kind-${kind}">${both(KINDS[kind])}</span></button></li>`;
}

const VIEW = ["shape", "strides", "offset", "size", "chain", "itemsize"]; // traits, attributes

let serial = 0;

class StrideExplorer extends Widget {
  static observedAttributes = VIEW;

  connectedCallback() {
    super.connectedCallback();
    if (!this.view) this.build();
    this.readAttributes();
  }

  label() { this.paint(); }

  // Attributes change one by one: read them together, so that no half-changed view is judged.
  attributeChangedCallback() {
    if (!this.view || this.pending) return;
    this.pending = true;
    queueMicrotask(() => { this.pending = false; this.readAttributes(); });
  }

  readAttributes() {
    if (!this.view) this.run(PRESETS[0].code, 12); // stays where the attributes are wrong
    const itemsize = Number(this.getAttribute("itemsize"));
    if (ITEMSIZES.includes(itemsize)) this.setItemsize(itemsize);
    const chain = this.getAttribute("chain"), size = this.ints("size", [12])[0];
    if (chain) {
      if (chain !== this.shownChain()) this.run(chain, size);
      return;
    }
    const shape = this.ints("shape", [3, 4]);
    const strides = this.ints("strides", contiguousStrides(shape));
    const view = { shape, strides, offset: this.ints("offset", [0])[0], size };
    if (!equal(view, this.view) || this.shownChain()) this.byHand(view);
  }

  ints(name, otherwise) {
    return this.hasAttribute(name) ? parseInts(this.getAttribute(name) || "()") ?? [] : otherwise;
  }

  find(name) { return this.querySelector(`.se-${name}`); }

  input(name) { return this.querySelector(`[name=${name}]`); }

  fields() { return [...this.part("fields").querySelectorAll("input, textarea")]; }

  build() {
    this.innerHTML = SKELETON;
    this.itemsize = 8; // of torch.arange: int64
    this.input("itemsize").value = this.itemsize;
    this.part("error").id = `stride-explorer-error-${++serial}`;
    const pick = ({ target }) => this.pickNode(target.closest?.("[data-address], [data-byte]"));
    const frame = this.part("frame");
    for (const type of ["pointerover", "focusin", "click"]) frame.addEventListener(type, pick);
    frame.addEventListener("keydown", (event) => this.walk(event));
    this.part("fields").addEventListener("input", ({ target }) => this.edit(target));
    this.input("chain").addEventListener("change", ({ target }) => {
      if (this.pause) this.edit(target, true); // what is wrong is said at the latest on leaving
    });
    this.find("steps").addEventListener("click", ({ target }) => {
      const step = target.closest("[data-step]");
      if (step) this.show(+step.dataset.step, { edited: "step" });
    });
    this.input("itemsize").onchange = ({ target }) => this.setItemsize(+target.value, true);
    this.input("byte").oninput = ({ target }) => this.typeByte(target);
    this.part("presets").querySelectorAll("button").forEach((button, i) => {
      button.onclick = () => this.run(PRESETS[i].code, 12, { edited: "preset" });
    });
  }

  // ---- from the reader to a chain
  /** Read the fields. A new shape starts contiguous at offset 0; other edits keep the rest. */
  edit(input, sure = false) {
    const [size] = parseInts(this.input("size").value) ?? [];
    const { name } = input, count = name === "size";
    if (name === "chain" || (count && size !== undefined && !this.hand)) {
      return this.run(this.input("chain").value, size ?? this.length, { edited: name, sure });
    }
    const value = Object.fromEntries(this.fields().map((i) => [i.name, parseInts(i.value)]));
    if (!value.shape) return this.showError({ code: "shape", field: "shape" }, name);
    const bad = this.fields().find(
      (i) => !["shape", "chain"].includes(i.name) && value[i.name]?.length !== 1);
    if (bad && name !== "shape") return this.showError({ code: "whole", field: bad.name }, name);
    return this.byHand(this.typed(value, name), { edited: name });
  }

  /** The view that the fields describe, in the storage that is drawn (after a copy not x's). */
  typed({ shape, offset, size: cells, ...value }, name) {
    const size = this.hand ? cells?.[0] ?? this.length : this.view.size;
    if (name === "shape") return { shape, strides: contiguousStrides(shape), offset: 0, size };
    const strides = shape.map((_, d) => value[`stride${d}`]?.[0]);
    return { shape, strides, offset: offset[0], size };
  }

  byHand(view, { edited } = {}) {
    const misfit = view.strides.length !== view.shape.length
      || [...view.strides, view.offset, view.size].includes(undefined);
    if (misfit) return this.showError({ code: "shape", field: "shape" }, edited);
    this.fill(view, edited);
    return this.run(handText(view), view.size, { edited, hand: true });
  }

  /** Run a chain; show its last step where torch and this element accept it, else say why not. */
  run(text, length, { edited, hand = false, sure = true } = {}) {
    clearTimeout(this.pause);
    this.pause = null;
    const { rows, error, length: n } = run(text, length), last = rows.at(-1).state;
    const bad = error ?? undrawable(drawn(last));
    if (!(bad && !sure)) Object.assign(this, { rows, hand, length: n });
    for (const [name, value] of [["chain", text], ["size", n]]) {
      const input = this.input(name);
      if (name !== edited && input.value !== String(value)) input.value = value;
    }
    if (!bad) return this.show(rows.length - 1, { edited });
    if (sure) {
      this.shown = -1;
      this.drawSteps();
      return this.showError(bad, edited);
    }
    this.pause = setTimeout(() => this.edit(this.input("chain"), true), PAUSE);
  }

  /** Show the tensor after step `k`, and tell whoever listens. */
  show(k, { edited } = {}) {
    const { state } = this.rows[k], view = drawn(state), bad = undrawable(view);
    if (bad) return this.showError(bad, edited);
    const storage = this.state?.storage;
    this.shown = k;
    this.state = state;
    this.showError(null);
    this.fill(view, edited);
    this.drawSteps();
    if (!equal(view, this.view) || storage !== state.storage) {
      this.view = view;
      this.draw();
    } else this.paint();
    if (edited) this.tell();
  }

  /** The chain up to the step that is shown; empty where the numbers were set by hand. */
  shownChain() {
    if (this.hand || this.shown < 0) return "";
    const steps = this.rows.slice(1, this.shown + 1).map(({ text }) => text).join("");
    return `torch.arange(${this.length})${steps}`;
  }

  tell() {
    const detail = { ...this.view, chain: this.shownChain(), itemsize: this.itemsize };
    VIEW.forEach((name) => this.setAttribute(name, detail[name]));
    this.dispatchEvent(new CustomEvent("view-change", { detail, bubbles: true }));
  }

  showError(error, edited) {
    const line = this.part("error"), stale = `<em>${both(LABELS.stale)}</em>`;
    const field = error && (error.field === "chain" && this.hand ? edited : error.field);
    const wrong = this.input(field) ?? this.input(edited) ?? this.input("chain");
    if (error) wrong.closest(".w-row").after(line);
    const said = error && refusalWords(this.hand ? { ...error, step: "" } : error);
    line.innerHTML = said ? both(said) + stale : "";
    this.part("frame").toggleAttribute("data-stale", Boolean(error));
    for (const input of this.fields()) {
      input.setAttribute("aria-describedby", line.id);
      input.setAttribute("aria-invalid", Boolean(error) && input === wrong);
    }
  }

  /** Write a view into the fields, except the one being typed in: the cursor must stay. */
  fill({ shape, strides, offset }, edited) {
    const box = this.find("strides");
    if (box.children.length !== shape.length) {
      const one = (d) => field(`stride${d}`, `<code>stride[${d}]</code>`, "number");
      box.innerHTML = times(shape.length, one).join("");
    }
    const value = { shape: shape.join(", ") || "()", offset };
    strides.forEach((s, d) => { value[`stride${d}`] = s; });
    for (const input of this.fields()) {
      if (input.name in value && input.name !== edited) input.value = value[input.name];
    }
  }

  // ---- from the view to the page
  drawSteps() {
    const steps = this.find("steps");
    if (this.listed !== this.rows) steps.innerHTML = this.rows.map(stepButton).join("");
    this.listed = this.rows;
    steps.querySelectorAll("button").forEach((button, k) => {
      button.setAttribute("aria-pressed", k === this.shown);
    });
  }

  /** New cells for a new view; the picked element stays picked where it still exists. */
  draw() {
    const { shape, strides, offset } = this.view, { storage } = this.state;
    const refocus = this.find("tensor").contains(document.activeElement);
    this.elements = indices(shape).map(
      (index) => ({ index, address: address(index, strides, offset) }));
    this.readers = readers(this.view);
    const blocks = this.elements.length ? indices(shape.slice(0, -2)) : [];
    this.find("tensor").innerHTML = blocks.map((lead, b) => this.block(lead, b)).join("")
      || `<p>${both(LABELS.empty)}</p>`;
    const values = storage.by ? storage.values : null;
    this.find("tensor").setAttribute("role", blocks.length ? "grid" : "group");
    this.find("storage").innerHTML = this.readers.map((who, a) => (
      storageCell(who, a, values))).join("");
    this.find("storage").classList.toggle("se-copied", Boolean(values));
    const off = shape.map((n, d) => Math.min(d + 1, n - 1)); // not t[0, 0]: its formula says little
    if (!this.elements.length) this.picked = { cell: 0 };
    else if (!(this.picked?.element < this.elements.length)) {
      this.picked = { element: this.elements.findIndex((e) => equal(e.index, off)) };
    }
    this.paint();
    if (refocus) this.find("tensor").querySelector("[tabindex='0']")?.focus();
  }

  /** One matrix of the tensor (all of it below three dimensions), with its indices at the edges. */
  block(lead, b) {
    const { shape } = this.view, columns = shape.at(-1) ?? 1, rows = shape.at(-2) ?? 1;
    const axis = (text) => `<span class="se-axis" aria-hidden="true">${text}</span>`;
    const row = (r) => `<div role="row">${axis(shape.length > 1 ? r : "")}${times(columns, (j) => {
      const n = (b * rows + r) * columns + j;
      return `<span class="se-cell" role="gridcell" data-element="${n}" data-address="${
        this.elements[n].address}">${this.elements[n].address}</span>`;
    }).join("")}</div>`;
    const top = times(columns, (j) => axis(shape.length ? j : "")).join("");
    const long = lead.length > 1, which = lead.length ? `[${lead.join(", ")}]` : "";
    return `<div role="rowgroup">${long ? `<p class="se-lead" aria-hidden="true">${which}</p>` : ""}
      <div aria-hidden="true">${axis(long ? "" : which)}${top}</div>${
      times(rows, row).join("")}</div>`;
  }

  pickNode(node) {
    if (!node) return;
    const { element, byte } = node.dataset;
    if (byte) return this.pickByte(+byte);
    this.picked = element ? { element: +element } : { cell: +node.dataset.address };
    this.paint();
  }

  /** The picked element stays where it owns the byte. */
  pickByte(byte) {
    const cell = Math.floor(byte / this.itemsize);
    if (this.cell() !== cell) this.picked = { cell };
    this.byte = byte;
    this.paint();
    this.find("live").innerHTML = this.find("owners").innerHTML;
  }

  typeByte(input) {
    const [byte] = parseInts(input.value) ?? [], most = this.view.size * this.itemsize - 1;
    const bad = !(byte >= 0 && byte <= most);
    input.setAttribute("aria-invalid", bad);
    if (!bad) this.pickByte(byte);
    else this.find("owners").innerHTML = both(refusalWords({ code: "byte", most }));
  }

  setItemsize(itemsize, edited) {
    if (this.itemsize === itemsize) return;
    Object.assign(this, { itemsize, byte: undefined });
    this.input("itemsize").value = itemsize;
    this.paint();
    if (edited) this.tell();
  }

  cell() { return this.elements[this.picked.element]?.address ?? this.picked.cell; }

  /** Show what is picked, and every label in the language of the page. */
  paint() {
    const index = this.elements[this.picked.element]?.index, cell = this.cell();
    const first = this.elements.findIndex((e) => e.address === cell);
    this.light("tensor", cell, this.picked.element ?? Math.max(first, 0));
    this.light("storage", cell, cell);
    this.explain(index, cell);
    this.paintBytes(cell);
    const facts = { contiguous: contiguityWords, overlap: overlapWords, gaps: gapWords,
      memory: memoryWords };
    for (const dd of this.querySelectorAll("[data-fact]")) {
      dd.innerHTML = both(facts[dd.dataset.fact](this.view, this.itemsize));
    }
    this.find("whose").innerHTML = both(storageWords(this.state.storage));
    this.part("presets").querySelectorAll("button").forEach((button, i) => {
      const copied = Boolean(this.state.storage.by), last = i === PRESETS.length - 1;
      button.setAttribute("aria-pressed", copied === last && equal(PRESETS[i].view, this.view));
    });
    setLabels(this, LABELS);
  }

  /** The bytes of the lit cell, and to whom the picked one belongs. */
  paintBytes(cell) {
    const { itemsize } = this, from = cell * itemsize, strip = this.find("strip");
    this.find("bytes").hidden = this.view.size === 0;
    if (this.view.size === 0) return;
    if (!(this.byte >= from && this.byte < from + itemsize)) this.byte = from;
    if (strip.firstChild?.dataset.byte !== String(from) || strip.children.length !== itemsize) {
      strip.innerHTML = times(itemsize, (k) => (
        `<span class="se-cell" role="option" data-byte="${from + k}">${from + k}</span>`)).join("");
    }
    const who = this.readers[cell];
    for (const node of strip.children) {
      const byte = +node.dataset.byte, picked = byte === this.byte;
      node.classList.toggle("se-lit", picked);
      node.tabIndex = picked ? 0 : -1;
      node.setAttribute("aria-selected", picked);
      node.setAttribute("aria-label", inPageLanguage(byteWords(byte, itemsize, who)));
    }
    this.find("owners").innerHTML = both(byteWords(this.byte, itemsize, who));
    const input = this.input("byte");
    input.max = this.view.size * itemsize - 1;
    if (input === document.activeElement) return;
    input.value = this.byte;
    input.setAttribute("aria-invalid", false);
  }

  /** The answer in words and numbers, and once more as a line for screen readers. */
  explain(index, cell) {
    const who = this.readers[cell] ?? [], words = cellWords(cell, who);
    const spoken = index ? `${at(index).replaceAll("`", "")}: ${numbers(index, this.view)}` : "";
    this.find("which").innerHTML = index ? html(at(index)) : both(words);
    const column = (above, below) => `<span><small>${above}</small>${below}</span>`;
    const term = ([sign, name, number]) =>
      `<span>${sign && column(sign, sign)}${column(name, number)}</span>`;
    const line = (i) => `<div>${html(at(i))} → ${numbers(i, this.view)}</div>`;
    this.find("formula").innerHTML = index ? formula(index, this.view).map(term).join("")
      : who.slice(0, 4).map(line).join("");
    this.find("live").innerHTML = index ? spoken : both(words);
  }

  /** Light what lies at address `cell`; only the cell number `stop` takes part in the Tab order. */
  light(grid, cell, stop) {
    this.find(grid).querySelectorAll("[data-address]").forEach((node, n) => {
      const lit = +node.dataset.address === cell, element = this.elements[node.dataset.element];
      const words = element ? [element, element].map((e) => `${at(e.index)} → ${e.address}`)
        : cellWords(n, this.readers[n], node.dataset.value);
      node.classList.toggle("se-lit", lit);
      node.classList.toggle("se-picked", n === (element ? this.picked.element : this.picked.cell));
      node.tabIndex = n === stop ? 0 : -1;
      node.setAttribute("aria-selected", lit);
      node.setAttribute("aria-label", inPageLanguage(words));
    });
  }

  /** Arrow keys: left and right follow the order of the cells, up and down jump one row. */
  walk(event) {
    if (event.target.name === "chain" && event.key === "Enter") {
      event.preventDefault();
      return this.edit(event.target, true);
    }
    const grid = event.target.closest("[role=grid],[role=listbox]");
    if (!grid) return;
    const cells = [...grid.querySelectorAll(".se-cell")], from = cells.indexOf(event.target);
    const wrapped = cells.filter((c) => c.offsetTop === cells[0].offsetTop).length;
    const row = grid === this.find("tensor") ? this.view.shape.at(-1) ?? 1 : wrapped;
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, ArrowUp: from - row,
      ArrowDown: from + row, Home: 0, End: cells.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    if (grid === this.find("strip") && !cells[to]) this.nextByte(to < 0 ? -1 : 1);
    else cells[to]?.focus();
  }

  /** From the last byte of a cell to the first of the next, and back. */
  nextByte(step) {
    const byte = this.byte + step;
    if (byte < 0 || byte >= this.view.size * this.itemsize) return;
    this.pickByte(byte);
    this.find("strip").querySelector("[tabindex='0']").focus();
  }
}

define("stride-explorer", StrideExplorer, FORM + STYLE);

const render = follower("stride-explorer", VIEW, "view-change");
export default { render };
