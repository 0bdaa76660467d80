// <stride-explorer>: type a shape, strides and an offset; see which cell each element reads.
//
// One file, two hosts. On a page it defines the custom element and needs no kernel. In a live
// notebook anywidget loads the same file and calls `render` (see code/inside/stride_explorer.py).
// No imports: anywidget loads the module from a blob, where a relative import has no base.
//
//   <stride-explorer shape="3,4" strides="4,1" offset="0" size="12">a table</stride-explorer>
//
// All four numbers count elements, not bytes. The table inside is what readers without JavaScript
// see. After an edit the element reflects the view in its attributes and fires `view-change`.

// ------------------------------------------------------------------ the rules, as in torch
export const LIMIT = 64; // elements and storage cells a reader can still see at once

/** "3, 4", "(3, 4)" or "3，4" as [3, 4]; null where the text is anything else. */
export function parseInts(text) {
  const bare = text.trim().replace(/^\((.*)\)$/, "$1").replaceAll("，", ",").replace(/,\s*$/, "");
  return /^\s*-?\d+(\s*,\s*-?\d+)*\s*$/.test(bare) ? bare.split(",").map(Number) : null;
}

const numel = (shape) => shape.reduce((a, b) => a * b, 1);

/** Row-major strides: each is the product of the sizes to its right. */
function contiguousStrides(shape) {
  return shape.map((_, d) => numel(shape.slice(d + 1)));
}

export function address(index, strides, offset) {
  return index.reduce((sum, i, d) => sum + i * strides[d], offset);
}

/** Every index of the shape in row-major order: [[0, 0], [0, 1], …]. */
export function indices(shape) {
  return shape.reduce(
    (heads, n) => heads.flatMap((head) => Array.from({ length: n }, (_, i) => [...head, i])), [[]]);
}

/** Storage elements that a view needs: one past its last address, and none when it is empty. */
export function needed({ shape, strides, offset }) {
  return shape.includes(0) ? 0 : address(shape.map((n) => n - 1), strides, offset) + 1;
}

/** Why `as_strided` refuses this view, as {code, …}; null where it accepts. */
export function refusal({ shape, strides, offset, size }) {
  const dims = shape.length;
  if (dims !== strides.length) return { code: "rank", dims, got: strides.length };
  if (shape.some((n) => n < 0)) return { code: "shape" };
  const negative = strides.findIndex((s) => s < 0);
  if (negative >= 0) return { code: "stride", field: `stride${negative}`, dim: negative };
  if (offset < 0) return { code: "offset", field: "offset" };
  const need = needed({ shape, strides, offset });
  return need > size ? { code: "bounds", need, size, last: shape.map((n) => n - 1) } : null;
}

/** Why this element will not draw a view that torch may accept; null where it will. */
export function undrawable({ shape, size }) {
  const drawn = shape.length >= 1 && shape.length <= 3 && shape.every((n) => n > 0);
  if (!drawn) return { code: "shape", field: "shape" };
  if (numel(shape) > LIMIT) return { code: "many", field: "shape", n: numel(shape) };
  return size < 1 || size > LIMIT ? { code: "size", field: "size" } : null;
}

/** {contiguous: true}, or the first dimension from the right whose stride breaks the seam. */
export function contiguity({ shape, strides }) {
  if (shape.includes(0)) return { contiguous: true };
  for (let d = shape.length - 1, want = 1; d >= 0; d--) {
    if (shape[d] === 1) continue; // never stepped along, so its stride does not matter
    if (strides[d] !== want) return { contiguous: false, dim: d, stride: strides[d], want };
    want *= shape[d];
  }
  return { contiguous: true };
}

/** For each storage cell the list of indices that read it. */
export function readers({ shape, strides, offset, size }) {
  const cells = Array.from({ length: size }, () => []);
  for (const index of indices(shape)) cells[address(index, strides, offset)].push(index);
  return cells;
}

// ------------------------------------------------------------------ words, in both languages
const tuple = (a) => `(${a.join(", ")}${a.length === 1 ? "," : ""})`;
const at = (index) => `\`t[${index.join(", ")}]\``;
const list = (indexes) =>
  indexes.slice(0, 8).map(at).join(", ") + (indexes.length > 8 ? " …" : "");
const html = (text) =>
  text.replace(/`(.+?)`/g, "<code>$1</code>").replace(/\*\*(.+?)\*\*/g, "<b>$1</b>");
const both = ([zh, en]) => `<span class="lang-zh" lang="zh-Hans">${html(zh)}</span>`
  + `<span class="lang-en" lang="en">${html(en)}</span>`;
const plural = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;

/** One string in the language of the page, for aria-label; both where the page shows both. */
function inPageLanguage([zh, en]) {
  const lang = document.documentElement.dataset.lang;
  return (lang === "zh" ? zh : lang === "en" ? en : `${zh} / ${en}`).replaceAll("`", "");
}

export const PRESETS = [ // every one is a view of x = torch.arange(12)
  ["x.view(3, 4)", ["连续", "contiguous"], [3, 4], [4, 1], 0],
  ["x.view(3, 4).t()", ["转置", "transpose"], [4, 3], [1, 4], 0],
  ["x.view(3, 4)[:, 1:3]", ["切片", "slice"], [3, 2], [4, 1], 1],
  ["x[:4].expand(3, 4)", ["扩展", "expand"], [3, 4], [0, 1], 0],
  ["x.unfold(0, 4, 2)", ["滑动窗口", "sliding window"], [5, 4], [2, 1], 0],
  ["x.view(2, 3, 2).mT", ["成批转置", "batch of transposes"], [2, 2, 3], [6, 1, 2], 0],
].map(([code, label, shape, strides, offset]) => (
  { code, label, view: { shape, strides, offset, size: 12 } }));

const LABELS = {
  explorer: ["步长浏览器", "Stride explorer"],
  presets: ["现成的视图", "Ready-made views"],
  shape: ["形状", "shape"],
  offset: ["存储偏移", "storage offset"],
  size: ["存储长度", "storage length"],
  tensor: ["张量（数字是存储格的编号）", "Tensor (showing storage cell numbers)"],
  storage: ["存储", "Storage"],
  unused: ["没有元素读", "not read by any element"],
  shared: ["n 个元素读同一格", "read by n elements"],
  keys: ["悬停、点击，或用方向键移动", "Hover, click, or use the arrow keys"],
  contiguous: ["连续", "Contiguous"],
  overlap: ["重叠", "Overlap"],
  gaps: ["未用的格", "Unused cells"],
};

const REFUSALS = {
  shape: () => ["形状写 1 到 3 个正整数，用逗号隔开，例如 `3, 4`。",
    "Write the shape as 1 to 3 positive whole numbers, separated by commas, such as `3, 4`."],
  many: (e) => [`这里最多画 ${LIMIT} 个元素，这个形状有 ${e.n} 个。`,
    `At most ${LIMIT} elements can be drawn here; this shape has ${e.n}.`],
  size: () => [`存储长度取 1 到 ${LIMIT} 的整数。`,
    `The storage length must be a whole number from 1 to ${LIMIT}.`],
  whole: ({ field: name }) => {
    const [zh, en] = LABELS[name]
      ?? [`\`stride[${name.at(-1)}]\` `, `\`stride[${name.at(-1)}]\` value`];
    return [`${zh}要填一个整数。`, `The ${en} must be a whole number.`];
  },
  rank: (e) => [`形状有 ${e.dims} 维，步长却有 ${e.got} 个：每一维要有一个步长。`,
    `The shape has ${plural(e.dims, "dimension")} but you gave ${plural(e.got, "stride")}: `
    + "each dimension needs exactly one."],
  stride: (e) => [`\`dim=${e.dim}\` 的步长是负数：PyTorch 不支持，\`as_strided\` 报 RuntimeError。`
    + "要倒序用 `flip`，数据会复制。",
    `The stride of \`dim=${e.dim}\` is negative: PyTorch does not allow this, and`
    + " `as_strided` raises RuntimeError. To reverse the order, use `flip`, which copies data."],
  offset: () => ["存储偏移不能小于 0：`as_strided` 报 RuntimeError。",
    "The storage offset cannot be below 0: `as_strided` raises RuntimeError."],
  bounds: (e) => [`越界：${at(e.last)} 会落在 ${e.need - 1} 号格，需要 ${e.need} 格，`
    + `存储只有 ${e.size} 格。\`as_strided\` 报 RuntimeError。`,
    `Out of bounds: ${at(e.last)} would be in cell ${e.need - 1}, so ${e.need} cells are needed, `
    + `but the storage has ${e.size}. \`as_strided\` raises RuntimeError.`],
};

function contiguityWords(view) {
  const c = contiguity(view);
  return c.contiguous
    ? ["**是**：每个步长都等于右边各维尺寸之积（尺寸为 1 的维不算）",
      "**Yes**: each stride is the product of the sizes to its right"
      + " (size-1 dimensions do not count)"]
    : [`**否**：\`dim=${c.dim}\` 的步长是 ${c.stride}，连续要求 ${c.want}（右边各维尺寸之积）`,
      `**No**: \`dim=${c.dim}\` has stride ${c.stride}; contiguity needs ${c.want},`
      + " the product of the sizes to its right"];
}

function overlapWords(view) {
  const cells = readers(view), n = numel(view.shape);
  const used = cells.filter((r) => r.length).length;
  if (used === n) {
    return [`**无**：${n} 个元素，各占一格`,
      `**None**: ${plural(n, "element")}, each in a cell of its own`];
  }
  const cell = cells.findIndex((r) => r.length > 1), [a, b] = cells[cell];
  return [`**有**：${n} 个元素只用 ${used} 格，如 ${at(a)} 与 ${at(b)} 同在 ${cell} 号格`,
    `**Yes**: ${n} elements in ${plural(used, "cell")}; `
    + `${at(a)} and ${at(b)} share cell ${cell}`];
}

function gapWords(view) {
  const free = readers(view).flatMap((r, a) => (r.length ? [] : [a]));
  if (!free.length) return ["**无**", "**None**"];
  const which = free.slice(0, 12).join(", ") + (free.length > 12 ? " …" : "");
  return [`**${free.length} / ${view.size}**：编号 ${which}`,
    `**${free.length} of ${view.size}**, by number: ${which}`];
}

function cellWords(cell, who) {
  if (!who.length) return [`${cell} 号格：没有元素读`, `cell ${cell}: not read by any element`];
  return [`${cell} 号格：有 ${who.length} 个元素读，${list(who)}`,
    `cell ${cell}: read by ${plural(who.length, "element")}, ${list(who)}`];
}

/** The formula of the cell as [sign, words, numbers of this element], term by term. */
function formula(index, { strides, offset }) {
  const terms = index.map((i, d) => ["+", `${"ijk"[d]} × stride[${d}]`, `${i} × ${strides[d]}`]);
  return [["", "offset", offset], ...terms, ["=", "cell", address(index, strides, offset)]];
}

const numbers = (index, view) =>
  formula(index, view).map(([sign, , number]) => `${sign} ${number}`).join(" ").trim();

// ------------------------------------------------------------------ the element
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const times = (n, make) => Array.from({ length: n }, (_, i) => make(i));
const heading = (key) => `<p class="se-heading" aria-hidden="true">${both(LABELS[key])}</p>`;
const field = (name, label, type) =>
  `<label><span>${label}</span><input name="${name}" type="${type}"
  ${type === "text" ? 'inputmode="numeric"' : 'step="1"'} autocomplete="off"></label>`;
const SKELETON = `<div class="se-frame" role="group" data-label="explorer">
  <div class="se-presets" role="group" data-label="presets">${PRESETS.map((p) =>
    `<button type="button"><span>${both(p.label)}</span><code>${p.code}</code></button>`).join("")}
  </div>
  <div class="se-form">
    ${field("shape", both(LABELS.shape), "text")}<span class="se-strides"></span>
    ${field("offset", both(LABELS.offset), "number")}${field("size", both(LABELS.size), "number")}
  </div>
  <p class="se-error" role="alert"></p>
  <p class="se-code"><code></code></p>
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
  ${heading("storage")}<div class="se-storage" role="listbox" data-label="storage"></div>
  <p class="se-legend">
    <span><i class="se-cell se-unused"></i>${both(LABELS.unused)}</span>
    <span><sup>×n</sup>${both(LABELS.shared)}</span>
  </p>
  <dl>${["contiguous", "overlap", "gaps"].map((key) =>
    `<div><dt>${both(LABELS[key])}</dt><dd data-fact="${key}"></dd></div>`).join("")}</dl>
</div>`;

/** The badge is drawn by the style: the label of the cell says the same in words. */
function storageCell(who, a) {
  const shared = who.length > 1 ? ` data-readers="×${who.length}"` : "";
  const unused = who.length ? "" : " se-unused";
  return `<span class="se-cell${unused}" role="option" data-address="${a}"${shared}>${a}</span>`;
}

const Base = globalThis.HTMLElement ?? class {}; // node imports this file to test the rules
let serial = 0;

export class StrideExplorer extends Base {
  static observedAttributes = ["shape", "strides", "offset", "size"];

  connectedCallback() {
    addStyle();
    if (!this.view) this.build();
    this.readAttributes();
    this.language ??= new MutationObserver(() => this.paint());
    this.language.observe(document.documentElement, { attributeFilter: ["data-lang"] });
  }

  disconnectedCallback() { this.language.disconnect(); }

  // Attributes change one by one: read them together, so that no half-changed view is judged.
  attributeChangedCallback() {
    if (!this.view || this.pending) return;
    this.pending = true;
    queueMicrotask(() => { this.pending = false; this.readAttributes(); });
  }

  readAttributes() {
    const ints = (name, otherwise) =>
      this.hasAttribute(name) ? parseInts(this.getAttribute(name)) ?? [] : otherwise;
    const shape = ints("shape", [3, 4]), strides = ints("strides", contiguousStrides(shape));
    const [offset = 0] = ints("offset", [0]);
    const [size = 12] = ints("size", [Math.max(12, needed({ shape, strides, offset }))]);
    if (!this.view) this.propose(PRESETS[0].view); // stays on screen where the attributes are wrong
    this.propose({ shape, strides, offset, size });
  }

  find(name) { return this.querySelector(`.se-${name}`); }

  inputs() { return [...this.find("form").querySelectorAll("input")]; }

  build() {
    this.innerHTML = SKELETON;
    this.find("error").id = `stride-explorer-error-${++serial}`;
    const pick = ({ target }) => this.pickNode(target.closest?.("[data-address]"));
    const frame = this.find("frame");
    for (const type of ["pointerover", "focusin", "click"]) frame.addEventListener(type, pick);
    frame.addEventListener("keydown", (event) => this.walk(event));
    this.find("form").addEventListener("input", (event) => this.edit(event.target));
    this.find("presets").querySelectorAll("button").forEach((button, i) => {
      button.onclick = () => this.propose(PRESETS[i].view, { edited: "preset" });
    });
  }

  // ---- from the reader to the view
  /** Read the fields. A new shape starts contiguous at offset 0; other edits keep the rest. */
  edit(input) {
    const value = Object.fromEntries(this.inputs().map((i) => [i.name, parseInts(i.value)]));
    const shape = value.shape, size = value.size?.[0] ?? this.view.size;
    const misread = shape ? undrawable({ shape, size }) : { code: "shape", field: "shape" };
    if (misread) return this.showError(misread);
    if (input.name === "shape") {
      const view = { shape, strides: contiguousStrides(shape), offset: 0, size };
      return this.propose(view, { edited: "shape" });
    }
    const bad = this.inputs().find((i) => i.name !== "shape" && value[i.name]?.length !== 1);
    if (bad) return this.showError({ code: "whole", field: bad.name });
    const strides = shape.map((_, d) => value[`stride${d}`][0]);
    return this.propose({ shape, strides, offset: value.offset[0], size }, { edited: input.name });
  }

  /** Show the view if torch and this element accept it; else say why and keep the last good one. */
  propose(view, { edited } = {}) {
    const error = undrawable(view) ?? refusal(view);
    if (error?.field !== "shape") this.fill(view);
    this.showError(error, edited);
    if (error || same(view, this.view)) return;
    this.view = view;
    this.draw();
    if (!edited) return;
    StrideExplorer.observedAttributes.forEach((name) => this.setAttribute(name, view[name]));
    this.dispatchEvent(new CustomEvent("view-change", { detail: view, bubbles: true }));
  }

  showError(error, edited) {
    const line = this.find("error");
    line.innerHTML = error ? both(REFUSALS[error.code](error)) : "";
    for (const input of this.inputs()) {
      input.setAttribute("aria-describedby", line.id);
      input.setAttribute("aria-invalid", Boolean(error) && input.name === (error.field ?? edited));
    }
  }

  /** Write a view into the fields, except the one being typed in: the cursor must stay. */
  fill({ shape, strides, offset, size }) {
    const box = this.find("strides");
    if (box.children.length !== shape.length) {
      const one = (d) => field(`stride${d}`, `<code>stride[${d}]</code>`, "number");
      box.innerHTML = times(shape.length, one).join("");
    }
    const value = { shape: shape.join(", "), offset, size };
    strides.forEach((s, d) => { value[`stride${d}`] = s; });
    for (const input of this.inputs()) {
      if (input !== document.activeElement) input.value = value[input.name];
    }
  }

  // ---- from the view to the page
  /** New cells for a new view; the picked element stays picked where it still exists. */
  draw() {
    const { shape, strides, offset, size } = this.view;
    const refocus = this.find("tensor").contains(document.activeElement);
    this.elements = indices(shape).map(
      (index) => ({ index, address: address(index, strides, offset) }));
    this.readers = readers(this.view);
    const blocks = shape.length > 2 ? shape[0] : 1;
    this.find("tensor").innerHTML = times(blocks, (b) => this.block(b)).join("");
    this.find("storage").innerHTML = this.readers.map(storageCell).join("");
    this.find("code").firstChild.textContent =
      `x = torch.arange(${size}); t = x.as_strided(${tuple(shape)}, ${tuple(strides)}, ${offset})`;
    const off = shape.map((n, d) => Math.min(d + 1, n - 1)); // not t[0, 0]: its formula says little
    if (!(this.picked?.element < this.elements.length)) {
      this.picked = { element: this.elements.findIndex((e) => same(e.index, off)) };
    }
    this.paint();
    if (refocus) this.find("tensor").querySelector("[tabindex='0']").focus();
  }

  /** One matrix of the tensor (all of it below three dimensions), with its indices at the edges. */
  block(b) {
    const shape = this.view.shape, columns = shape.at(-1), rows = shape.at(-2) ?? 1;
    const axis = (text) => `<span class="se-axis" aria-hidden="true">${text}</span>`;
    const row = (r) => `<div role="row">${axis(shape.length > 1 ? r : "")}${times(columns, (j) => {
      const n = (b * rows + r) * columns + j;
      return `<span class="se-cell" role="gridcell" data-element="${n}" data-address="${
        this.elements[n].address}">${this.elements[n].address}</span>`;
    }).join("")}</div>`;
    return `<div role="rowgroup"><div aria-hidden="true">${axis(shape.length > 2 ? `[${b}]` : "")}${
      times(columns, axis).join("")}</div>${times(rows, row).join("")}</div>`;
  }

  pickNode(node) {
    if (!node) return;
    const element = node.dataset.element;
    this.picked = element ? { element: +element } : { cell: +node.dataset.address };
    this.paint();
  }

  /** Show what is picked, and every label in the language of the page. */
  paint() {
    const index = this.elements[this.picked.element]?.index;
    const cell = this.elements[this.picked.element]?.address ?? this.picked.cell;
    const first = this.elements.findIndex((e) => e.address === cell);
    this.light("tensor", cell, this.picked.element ?? Math.max(first, 0));
    this.light("storage", cell, cell);
    this.explain(index, cell);
    const facts = { contiguous: contiguityWords, overlap: overlapWords, gaps: gapWords };
    for (const dd of this.querySelectorAll("[data-fact]")) {
      dd.innerHTML = both(facts[dd.dataset.fact](this.view));
    }
    for (const node of this.querySelectorAll("[data-label]")) {
      node.setAttribute("aria-label", inPageLanguage(LABELS[node.dataset.label]));
    }
    this.find("presets").querySelectorAll("button").forEach((button, i) => {
      button.setAttribute("aria-pressed", same(PRESETS[i].view, this.view));
    });
  }

  /** The answer in words and numbers, and once more as a line for screen readers. */
  explain(index, cell) {
    const who = this.readers[cell], words = cellWords(cell, who);
    const spoken = index ? `t[${index}]: ${numbers(index, this.view)}` : "";
    this.find("which").innerHTML = index ? html(at(index)) : both(words);
    const column = (above, below) => `<span><small>${above}</small>${below}</span>`;
    const term = ([sign, words, number]) =>
      `<span>${sign && column(sign, sign)}${column(words, number)}</span>`;
    const line = (i) => `<div>${html(at(i))} → ${numbers(i, this.view)}</div>`;
    this.find("formula").innerHTML = index ? formula(index, this.view).map(term).join("")
      : who.slice(0, 4).map(line).join("");
    this.find("live").innerHTML = index ? spoken : both(words);
  }

  /** Light what lies at address `cell`; only the cell number `stop` takes part in the Tab order. */
  light(grid, cell, stop) {
    this.find(grid).querySelectorAll("[data-address]").forEach((node, n) => {
      const lit = +node.dataset.address === cell, element = this.elements[node.dataset.element];
      const words = element ? [element, element].map((e) => `t[${e.index}] → ${e.address}`)
        : cellWords(n, this.readers[n]);
      node.classList.toggle("se-lit", lit);
      node.classList.toggle("se-picked", n === (element ? this.picked.element : this.picked.cell));
      node.tabIndex = n === stop ? 0 : -1;
      node.setAttribute("aria-selected", lit);
      node.setAttribute("aria-label", inPageLanguage(words));
    });
  }

  /** Arrow keys: left and right follow the order of the cells, up and down jump one row. */
  walk(event) {
    const grid = event.target.closest("[role=grid],[role=listbox]");
    if (!grid) return;
    const cells = [...grid.querySelectorAll("[data-address]")], from = cells.indexOf(event.target);
    const wrapped = cells.filter((c) => c.offsetTop === cells[0].offsetTop).length;
    const row = grid === this.find("tensor") ? this.view.shape.at(-1) : wrapped;
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, ArrowUp: from - row,
      ArrowDown: from + row, Home: 0, End: cells.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    cells[to]?.focus();
  }
}

// ------------------------------------------------------------------ how it looks
const STYLE = `
stride-explorer {
  display: block; width: 100%; margin-block: 1.25rem; container-type: inline-size;
  --se-text: var(--pst-color-text-base, var(--jp-ui-font-color1, CanvasText));
  --se-quiet: var(--pst-color-text-muted, var(--jp-ui-font-color1, CanvasText));
  --se-ground: var(--pst-color-background, var(--jp-layout-color0, Canvas));
  --se-accent: var(--pst-color-primary, var(--jp-brand-color1, LinkText));
  --se-line: color-mix(in srgb, var(--se-text) 28%, transparent);
  --se-edge: color-mix(in srgb, var(--se-text) 58%, transparent);
  --se-mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
html[data-lang=zh] stride-explorer .lang-en,
html[data-lang=en] stride-explorer .lang-zh { display: none; }
html:not([data-lang=zh], [data-lang=en]) stride-explorer {
  .lang-zh + .lang-en { margin-inline-start: .5em; }
  :is(dd, .se-error) > span { display: block; margin: 0 !important; }
}
stride-explorer .se-frame {
  padding: 1rem; border: 1px solid var(--se-line); border-radius: .6rem;
  color: var(--se-text); background: var(--se-ground); font-size: .9375rem; line-height: 1.5;
  p, dl, dd, dt { margin: 0; font-weight: inherit; }
  code, b, sup, small { all: unset; }
  code, input, .se-cell, .se-axis, .se-formula { font-family: var(--se-mono); }
  code { font-size: .92em; }
  b, .se-which { font-weight: 650; }
  dt, label, small, .se-code, .se-heading, .se-axis, .se-hint, .se-legend {
    color: var(--se-quiet);
  }
  label, .se-code, .se-heading, .se-hint, .se-legend { font-size: .8125rem; }
  :is(button, input, .se-cell):focus-visible {
    outline: 2px solid var(--se-accent); outline-offset: 2px;
  }

  .se-presets {
    display: grid; grid-template-columns: repeat(auto-fill, minmax(10.5rem, 1fr)); gap: .4rem;
  }
  button {
    display: grid; gap: .1rem; align-content: start; padding: .4rem .5rem; text-align: start;
    border: 1px solid var(--se-line); border-radius: .4rem; background: none;
    color: inherit; font: inherit; line-height: 1.35; cursor: pointer;
    code { font-size: .75rem; color: var(--se-quiet); overflow-wrap: anywhere; }
  }
  button:hover { border-color: var(--se-accent); }
  button[aria-pressed=true] {
    border-color: var(--se-accent); box-shadow: inset 3px 0 var(--se-accent);
    background: color-mix(in srgb, var(--se-accent) 12%, transparent);
    > span { font-weight: 650; }
  }

  .se-form, .se-strides { display: flex; flex-wrap: wrap; align-items: end; gap: .6rem .75rem; }
  .se-form { margin-top: 1rem; }
  label { display: grid; gap: .2rem; margin: 0; }
  input {
    box-sizing: border-box; width: 5.25rem; height: 2.25rem; margin: 0; padding: 0 .5rem;
    border: 1px solid var(--se-edge); border-radius: .4rem;
    color: var(--se-text); background: var(--se-ground); font-size: 1rem;
  }
  input[name=shape] { width: 7.5rem; }
  input[aria-invalid=true] { border: 2px dashed var(--se-text); }
  .se-error:not(:empty) {
    margin-top: .75rem; padding: .4rem .75rem; border-inline-start: 3px solid var(--se-text);
    background: color-mix(in srgb, var(--se-text) 8%, transparent);
  }
  .se-code {
    margin-block: .75rem 1rem; padding-bottom: .85rem; border-bottom: 1px solid var(--se-line);
    overflow-wrap: anywhere;
  }

  .se-stage {
    display: grid; gap: 1rem 2rem;
    grid-template-columns: minmax(0, max-content) minmax(14rem, 1fr);
  }
  .se-heading { margin-bottom: .4rem; }
  .se-stage + .se-heading { margin-top: 1.1rem; }
  .se-tensor {
    display: flex; flex-wrap: wrap; gap: .5rem 1.25rem;
    margin: -4px; padding: 4px; overflow-x: auto;
  }
  [role=rowgroup] > div, .se-storage { display: flex; gap: 4px; }
  [role=rowgroup] > div + div { margin-top: 4px; }
  .se-storage { flex-wrap: wrap; }
  .se-axis { flex: none; width: 2.5rem; text-align: center; font-size: .75rem; }
  .se-axis:first-child { align-self: center; width: 1.5rem; text-align: start; }
  .se-cell {
    position: relative; flex: none; display: inline-grid; place-items: center;
    box-sizing: border-box; width: 2.5rem; height: 2.25rem;
    border: 1px solid var(--se-edge); border-radius: .3rem; font-variant-numeric: tabular-nums;
    cursor: pointer; transition: background-color .12s;
  }
  .se-unused {
    border-style: dashed; background: repeating-linear-gradient(135deg, transparent 0 5px,
      color-mix(in srgb, var(--se-text) 10%, transparent) 5px 6px);
  }
  .se-lit {
    border: 2px solid var(--se-accent); font-weight: 700;
    background: color-mix(in srgb, var(--se-accent) 20%, transparent);
  }
  .se-picked { box-shadow: 0 0 0 2px var(--se-ground), 0 0 0 4px var(--se-accent); }
  sup, .se-cell[data-readers]::after {
    padding: 0 .2rem; border: 1px solid var(--se-edge); border-radius: .3rem;
    font: .6875rem/1.25 var(--se-mono); background: var(--se-ground);
  }
  .se-cell[data-readers]::after {
    content: attr(data-readers); position: absolute; inset: -.45rem -.3rem auto auto;
  }

  .se-formula { display: flex; flex-wrap: wrap; align-content: start; gap: .35rem .6rem; }
  .se-formula { margin-top: .35rem; min-height: 3rem; }
  .se-formula > span { display: flex; gap: .6rem; }
  .se-formula > span > span { display: grid; justify-items: center; }
  .se-formula > span:last-child > span:last-child { font-weight: 700; }
  .se-formula small { font-size: .75rem; font-weight: 400; }
  .se-formula > div { width: 100%; font-size: .875rem; }
  .se-hint { margin-top: .5rem; }
  .se-legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin-top: .6rem; }
  .se-legend :is(.se-cell, sup) { margin-inline-end: .5rem; cursor: default; }
  .se-legend .se-cell { width: 1.25rem; height: 1.1rem; vertical-align: -.2rem; }
  .se-live { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }

  dl {
    display: grid; gap: .35rem;
    margin-top: 1rem; padding-top: .85rem; border-top: 1px solid var(--se-line);
  }
  dl > div { display: grid; grid-template-columns: 8.5rem 1fr; gap: 0 1rem; }
  @container (max-width: 36rem) {
    .se-stage, dl > div { grid-template-columns: minmax(0, 1fr); }
    .se-presets { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  }
}
@media (prefers-reduced-motion: reduce) { stride-explorer .se-frame .se-cell { transition: none; } }
`;

function addStyle() {
  if (document.getElementById("stride-explorer-style")) return;
  const style = document.createElement("style");
  Object.assign(style, { id: "stride-explorer-style", textContent: STYLE });
  document.head.append(style);
}

if (globalThis.customElements && !customElements.get("stride-explorer")) {
  customElements.define("stride-explorer", StrideExplorer);
}

// ------------------------------------------------------------------ the live notebook
/** anywidget's entry: the kernel's traits and the element's attributes follow each other. */
function render({ model, el }) {
  const explorer = document.createElement("stride-explorer");
  const names = StrideExplorer.observedAttributes;
  const pull = () => names.forEach((name) => explorer.setAttribute(name, model.get(name)));
  const push = ({ detail }) => {
    names.forEach((name) => model.set(name, detail[name]));
    model.save_changes();
  };
  pull();
  names.forEach((name) => model.on(`change:${name}`, pull));
  explorer.addEventListener("view-change", push);
  el.append(explorer);
  return () => names.forEach((name) => model.off(`change:${name}`, pull));
}

export default { render };
