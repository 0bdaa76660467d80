// <graph-stepper>: a computation graph, forward and backward, one step at a time.
//
// One file, two hosts. On a page it defines the custom element and needs no kernel. In a live
// notebook anywidget loads the same file and calls `render` (see code/inside/graph_stepper.py,
// which describes the attribute `graph`). No imports: anywidget loads the module from a blob,
// where a relative import has no base.
//
//   <graph-stepper graph='{"nodes": […], "steps": […]}' step="0">a table</graph-stepper>
//
// All quantities are texts: this file draws them and never computes with them. The table inside
// is what readers without JavaScript see. After a step by the reader the element reflects it in
// the attribute `step` and fires `step-change`.

// ------------------------------------------------------------------ the state after a step
const byNumber = ({ nodes }) => new Map(nodes.map((node) => [node.number, node]));
const target = (graph, { node, operand }) => byNumber(graph).get(node).operands[operand].node;

/** What stands in the graph after step `k`: the nodes by number, the edges as "node/operand". */
export function stateAt(graph, k) {
  const step = graph.steps[k];
  const nodes = new Map(graph.nodes.map(({ number }) => (
    [number, { made: false, grad: null, sum: null, mark: null }])));
  const state = { nodes, flowed: new Set(), active: null, step };
  for (const past of graph.steps.slice(0, k + 1)) replay(graph, state, past);
  for (const number of step.ready ?? []) nodes.get(number).mark = "ready";
  const [next] = step.ready ?? [];
  if (next !== undefined) nodes.get(next).mark = "next";
  if (step.kind === "flow") state.active = `${step.node}/${step.operand}`;
  if (step.kind !== "done" && step.kind !== "start") nodes.get(step.node).mark = "now";
  return state;
}

function replay(graph, { nodes, flowed }, step) {
  const node = nodes.get(step.node);
  if (step.kind === "forward") node.made = true;
  if (step.kind === "start") for (const other of nodes.values()) other.grad = "0";
  if (step.kind === "start") node.grad = step.grad;
  if (step.kind === "take") node.mark = "done";
  if (step.kind !== "flow") return;
  const operand = nodes.get(target(graph, step));
  flowed.add(`${step.node}/${step.operand}`);
  operand.grad = step.after;
  if (step.flow !== null) operand.sum = `${step.before} + ${bracket(step.flow)}`;
}

// ------------------------------------------------------------------ words, in both languages
const bracket = (text) => (text.startsWith("-") ? `(${text})` : text);
const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt()};`);
const html = (text) => escape(text)
  .replace(/`(.+?)`/g, "<code>$1</code>").replace(/\*\*(\S.*?)\*\*/g, "<b>$1</b>");
const both = ([zh, en]) => `<span class="lang-zh" lang="zh-Hans">${html(zh)}</span> `
  + `<span class="lang-en" lang="en">${html(en)}</span>`;

/** One string in the language of the page, for aria-label; both where the page shows both. */
function inPageLanguage([zh, en]) {
  const lang = document.documentElement.dataset.lang;
  return lang === "zh" ? zh : lang === "en" ? en : `${zh} / ${en}`;
}

/** The label of a node, or #n where it has none or shares it. */
function nameOf(graph, number) {
  const { label } = byNumber(graph).get(number);
  const alone = label && graph.nodes.filter((node) => node.label === label).length === 1;
  return alone ? label : `#${number}`;
}

/** `w * x`, `tanh(#4)`, `(-2) ** 2`, with what `spell` writes for each operand. */
function expression({ op, operands }, spell) {
  const [first, ...rest] = operands.map(spell);
  if (/^\w/.test(op)) return `${op}(${[first, ...rest].join(", ")})`;
  return [op === "**" ? bracket(first) : first, ...rest.map(bracket)].join(` ${op} `);
}

const inNames = (graph, node) =>
  expression(node, ({ node: n, constant }) => constant ?? nameOf(graph, n));
const inValues = (graph, node) =>
  expression(node, ({ node: n, constant }) => constant ?? byNumber(graph).get(n).value);

/** #4 `f`, #3 (`w * x`) or #0 `w`, as a sentence mentions a node. */
function mention(graph, number) {
  const node = byNumber(graph).get(number);
  const label = node.label ? ` \`${node.label}\`` : "";
  const made = node.op && !node.label ? inNames(graph, node) : "";
  return [`#${number}${label}${made && `（\`${made}\`）`}`,
    `#${number}${label}${made && ` (\`${made}\`)`}`];
}

const LABELS = {
  stepper: ["逐步看计算图", "Computation graph, step by step"],
  graph: ["计算图，内容与下面的表相同", "Computation graph; the table below says the same"],
  phases: ["阶段", "Passes"],
  forward: ["前向", "Forward"],
  backward: ["反向", "Backward"],
  first: ["第一步", "First step"],
  previous: ["上一步", "Previous"],
  next: ["下一步", "Next"],
  last: ["最后一步", "Last step"],
  slider: ["步", "Step"],
  table: ["节点表", "Table of nodes"],
  caption: ["走到这一步时的节点", "The nodes at this step"],
  leaf: ["叶子", "leaf"],
  number: ["建成的先后", "order of creation"],
  local: ["局部导数", "local derivative"],
  nothing: ["不传梯度", "nothing flows"],
  digits: ["小数取 4 位有效数字", "decimals to 4 significant digits"],
};
const MARKS = {
  now: ["▶", "当前", "now"],
  next: ["●", "下一个", "next"],
  ready: ["○", "就绪", "ready"],
  done: ["✓", "", ""],
};
const HEAD = [["节点", "node"], ["名字", "label"], ["运算", "op"],
  ["操作数 × 局部导数", "operand × local derivative"], ["值", "value"]];

const WORDS = {
  forward(graph, step) {
    const node = byNumber(graph).get(step.node), [zh, en] = mention(graph, step.node);
    if (!node.op) {
      return [`叶子 ${zh}，值是 **${node.value}**。`, `Leaf ${en}: its value is **${node.value}**.`];
    }
    const label = node.label && ` \`${node.label}\``;
    const result = `\`${inNames(graph, node)}\` = ${inValues(graph, node)} = **${node.value}**`;
    const [stored, kept] = locals(graph, node);
    return [`节点 #${step.node}${label}：${result}。${stored}`,
      `Node #${step.node}${label}: ${result}. ${kept}`];
  },
  start(graph, step) {
    const [zh, en] = mention(graph, step.node);
    return [`开始：所有 grad 先置 0，再把 ${zh} 的 grad 置为 **${step.grad}**，也就是对自己的导数。`,
      `Start: every grad is set to 0, then the grad of ${en} to **${step.grad}**, its derivative`
      + " with respect to itself."];
  },
  take(graph, step) {
    const [zh, en] = mention(graph, step.node), ready = [step.node, ...step.ready];
    const newest = step.node === Math.max(...ready);
    const leaf = !byNumber(graph).get(step.node).op;
    const list = (and) => ready.map((n) => `#${n}`).join(and);
    const why = ready.length === 1 ? [`只有 #${step.node} 就绪。`, `Only #${step.node} is ready.`]
      : [`就绪的有 ${list("、")}。${newest ? "编号最大的建得最晚，先走。" : ""}`,
        `Ready: ${list(", ")}.${newest ? " The largest number is newest and goes first." : ""}`];
    return [`${why[0]}取 ${zh}，grad **${step.grad}** 已收齐。${leaf ? "叶子没有操作数，到此为止。" : ""}`,
      `${why[1]} Take ${en}: its grad **${step.grad}** is complete.`
      + `${leaf ? " A leaf has no operands, so the flow ends here." : ""}`];
  },
  flow(graph, step) {
    const node = byNumber(graph).get(step.node), { node: to, local } = node.operands[step.operand];
    const [zh, en] = mention(graph, step.node), [toZh, toEn] = mention(graph, to);
    const [then, next] = step.waiting
      ? [`#${to} 还差 ${step.waiting} 份。`,
        `#${to} still waits for ${step.waiting} contribution${step.waiting > 1 ? "s" : ""}.`]
      : [`#${to} 已收齐，就绪。`, `#${to} has received everything and is ready.`];
    if (step.flow === null) {
      return [`节点 ${zh}：局部导数是 \`None\`，不传梯度，${toZh} 的 grad 还是 **${step.after}**。${then}`,
        `Node ${en}: the local derivative is \`None\`, so nothing flows and the grad of ${toEn}`
        + ` stays **${step.after}**. ${next}`];
    }
    const sum = `${step.before} + ${bracket(step.flow)} = **${step.after}**`;
    const factors = [step.grad, bracket(local)];
    return [`节点 ${zh}：grad ${factors.join(" × 局部导数 ")} = **${step.flow}**`
      + ` → 加到 ${toZh}：${sum}。${then}`,
      `Node ${en}: grad ${factors.join(" × local ")} = **${step.flow}**`
      + ` → added to ${toEn}: ${sum}. ${next}`];
  },
  done(graph) {
    const { nodes } = stateAt(graph, graph.steps.length - 1);
    const leaves = graph.nodes.filter((node) => !node.op).map(({ number }) => (
      `\`${nameOf(graph, number)}\` **${nodes.get(number).grad}**`)).join(", ");
    return [`结束。叶子的 grad：${leaves.replaceAll(", ", "，")}。`,
      `Done. The leaves hold these grads: ${leaves}.`];
  },
};

/** The local derivatives that a node stores, as a sentence. */
function locals(graph, { operands }) {
  const edges = operands.filter((operand) => "node" in operand);
  const zh = edges.map(({ node, local }) => (
    `对 \`${nameOf(graph, node)}\` 是 ${local ?? "\`None\`（不传梯度）"}`));
  const en = edges.map(({ node, local }) => (
    `${local ?? "\`None\` (nothing flows)"} for \`${nameOf(graph, node)}\``));
  return [`局部导数同时存下：${zh.join("，")}。`, edges.length === 1
    ? `The local derivative is stored with it: ${en}.`
    : `The local derivatives are stored with it: ${en.join(", ")}.`];
}

/** What step `k` does, in words and with its numbers: [Chinese, English]. */
export function describe(graph, k) {
  return WORDS[graph.steps[k].kind](graph, graph.steps[k]);
}

// ------------------------------------------------------------------ the table
/** The rows as texts at step `k`: number, label, op, operands, value, grad. */
export function rows(graph, k) {
  const { nodes } = stateAt(graph, k);
  return graph.nodes.map((node) => {
    const { made, grad } = nodes.get(node.number);
    const operands = node.operands.map((operand) => operandWords(operand, made)).join(", ");
    return [`#${node.number}`, node.label, node.op, operands, made ? node.value : "–", grad ?? "–"];
  });
}

function operandWords({ node, local, constant }, made) {
  if (constant !== undefined) return constant;
  return made ? `#${node} × ${local === null ? "None" : bracket(local)}` : `#${node}`;
}

function tableOf(graph, k) {
  const { kind, node } = graph.steps[k], now = kind === "done" ? null : node;
  const head = [...HEAD.map(both), "grad"].map((words) => `<th scope="col">${words}</th>`);
  const body = rows(graph, k).map(([number, label, op, ...rest]) => {
    const cells = [escape(label), op ? `<code>${escape(op)}</code>` : both(LABELS.leaf), ...rest];
    const current = now === +number.slice(1) ? ' aria-current="true"' : "";
    return `<tr${current}><th scope="row">${number}</th>${
      cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
  });
  return `<table><caption>${both(LABELS.caption)}</caption><tr>${head.join("")}</tr>${
    body.join("")}</table>`;
}

// ------------------------------------------------------------------ where everything stands
const CHARACTER = 7.25; // width of a letter at 12 px in the monospaced fonts we ask for
const PAD = 10, LINE = 16, TOP = 21, BETWEEN = 26, GAP = 50, LONGEST = 14;

const shorten = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);
const wide = (text) => text.length * CHARACTER;

/** How a node is headed: `p = w * x`, `tanh(#4)`, the label of a leaf. */
function title(graph, node) {
  const label = shorten(node.label);
  if (!node.op) return label;
  const made = expression(node, ({ node: n, constant }) => constant ?? shorten(nameOf(graph, n)));
  return label ? `${label} = ${made}` : made;
}

/** Sizes in px, fitted to the longest texts, and the edges as points from operand to result. */
export function geometry(graph) {
  const incoming = new Map(graph.nodes.map(({ number }) => [number, []]));
  for (const { number, operands } of graph.nodes) {
    operands.forEach((o, place) => o.via && incoming.get(o.node).push({ number, place, ...o }));
  }
  const width = boxWidth(graph);
  const labels = graph.nodes.flatMap(({ operands }) => operands.map((o) => (
    o.via ? wide(`×${o.local ?? "None"}`) : 0)));
  const lane = Math.max(width + BETWEEN, 0.4 * width + 2 * (Math.max(0, ...labels) + 8));
  const tall = ({ number }) => TOP + PAD + LINE * (incoming.get(number).length > 1 ? 3 : 2);
  const layers = layersOf(graph, tall);
  const boxes = new Map(graph.nodes.map((node) => {
    const { y, height } = layers[node.y];
    const x = node.x * lane, own = tall(node);
    return [node.number, { x, left: x - width / 2, width, top: y + (height - own) / 2, height: own }];
  }));
  const right = Math.max(...[...boxes.values()].map((box) => box.left + width),
    ...graph.nodes.flatMap((n) => n.operands.flatMap((o) => (o.via ?? []).map(([x]) => x * lane))));
  const left = Math.min(...[...boxes.values()].map((box) => box.left));
  const edges = edgesOf({ graph, incoming, boxes, layers, lane });
  return { boxes, edges, left: left - 12, width: right - left + 24, height: layers.at(-1).end };
}

function boxWidth(graph) {
  const grads = graph.steps.flatMap(({ grad, after }) => [grad, after]).filter(Boolean);
  const sums = graph.steps.filter(({ flow }) => flow)
    .map(({ before, flow }) => `= ${before} + ${bracket(flow)}`);
  const texts = [...graph.nodes.map(({ value }) => `data ${value}`),
    ...grads.map((grad) => `grad ${grad}`), ...sums];
  const heads = graph.nodes.map((node) => wide(title(graph, node)) + wide(`#${node.number}`) + 18
    + (node.op ? 0 : 60));
  return Math.ceil(Math.max(112, ...heads, ...texts.map(wide)) + 2 * PAD);
}

function layersOf({ nodes }, tall) {
  const layers = [];
  for (let layer = 0, y = 8; nodes.some((node) => node.y >= layer); layer++) {
    const height = Math.max(...nodes.filter((node) => node.y === layer).map(tall));
    layers.push({ y, height, end: y + height + 14 });
    y += height + GAP;
  }
  return layers;
}

/** Each edge leaves its operand below and enters its result above, in the order of the far ends. */
function edgesOf({ graph, incoming, boxes, layers, lane }) {
  const edges = new Map();
  for (const { number, operands } of graph.nodes) {
    const { x, top, width } = boxes.get(number);
    const ins = operands.flatMap((o, place) => (o.via ? [{ ...o, place }] : []));
    const from = (o) => (o.via.at(-1)?.[0] ?? boxes.get(o.node).x / lane);
    ins.sort((a, b) => from(a) - from(b) || a.place - b.place).forEach((o, i) => {
      const side = ins.length === 1 ? 0 : i ? 1 : -1;
      const bends = o.via.map(([at, layer]) => ({ x: at * lane, ...layers[layer] }));
      edges.set(`${number}/${o.place}`,
        { ...o, to: number, side, bends, x1: x + 0.2 * width * side, y1: top });
    });
  }
  for (const [number, outs] of incoming) {
    const { x, top, height, width } = boxes.get(number);
    const mine = outs.map((o) => edges.get(`${o.number}/${o.place}`));
    const to = (edge) => edge.bends[0]?.x ?? edge.x1;
    const apart = Math.min(26, (0.8 * width) / mine.length);
    mine.sort((a, b) => to(a) - to(b)).forEach((edge, i) => {
      Object.assign(edge, { x0: x + (i - (mine.length - 1) / 2) * apart, y0: top + height });
    });
  }
  return edges;
}

const curve = (x, y, x1, y1) => `C${x} ${(y + y1) / 2} ${x1} ${(y + y1) / 2} ${x1} ${y1}`;

/** The line of an edge from the result up to the operand, as gradients flow. */
function pathOf({ x0, y0, x1, y1, bends }) {
  let d = `M${x1} ${y1}`, x = x1, y = y1;
  for (const bend of [...bends].reverse()) {
    d += `${curve(x, y, bend.x, bend.y + bend.height)}L${bend.x} ${bend.y}`;
    [x, y] = [bend.x, bend.y];
  }
  return d + curve(x, y, x0, y0);
}

// ------------------------------------------------------------------ the drawing
const textAt = (x, y, words, more = "") => `<text x="${x}" y="${y}"${more}>${words}</text>`;
const spans = ([zh, en]) => `<tspan class="lang-zh" lang="zh-Hans">${zh}</tspan>`
  + `<tspan class="lang-both"> </tspan><tspan class="lang-en" lang="en">${en}</tspan>`;

function drawEdge(key, edge, { nodes, flowed, active }) {
  const made = nodes.get(edge.to).made, none = made && edge.local === null;
  const state = key === active ? "active" : flowed.has(key) ? "flowed" : made ? "made" : "planned";
  const { x0, y0, x1, y1 } = edge;
  const up = (state === "active" || state === "flowed") && !none;
  const head = up ? `M${x0} ${y0 + 1}l-5 9h10z` : made ? `M${x1} ${y1 - 1}l-4 -7h8z` : "";
  const anchor = edge.side < 0 ? "end" : "start";
  const local = made ? textAt(x1 + (edge.side < 0 ? -6 : 6), y1 - 9, `×${edge.local ?? "None"}`,
    ` class="gs-local" text-anchor="${anchor}"`) : "";
  return [`<g class="gs-edge gs-${state}${none ? " gs-none" : ""}">`
    + `<path${state === "active" && !none ? ' pathLength="1"' : ""} d="${pathOf(edge)}"/>`
    + `<path class="gs-head" d="${head}"/></g>`,
  local];
}

/** What arrives at the operand of the active edge, below the operand's box and its mark. */
function drawFlow(edge, step) {
  if (step.kind !== "flow" || step.flow === null) return "";
  return textAt(edge.x0 + 9, edge.y0 + 22, `+ ${bracket(step.flow)}`, ' class="gs-flow"');
}

function drawBox(graph, node, box, { made, grad, sum, mark }, changed) {
  const { left, top, width, height } = box, right = left + width - PAD, x = left + PAD;
  const badge = wide(`#${node.number}`) + 8;
  const line = (n, key, value, more = "") => {
    const y = top + TOP + LINE * n + 10;
    return textAt(x, y, key, ' class="gs-key"')
      + textAt(right, y, value, ` text-anchor="end"${more}`);
  };
  const head = textAt(left + badge + 14, top + 17, escape(title(graph, node)), ' class="gs-title"');
  const leaf = node.op ? "" : textAt(right, top + 17, spans(LABELS.leaf),
    ' class="gs-key gs-words" text-anchor="end"');
  const bold = (yes) => (yes ? ' class="gs-new"' : "");
  const below = height > TOP + PAD + LINE * 2
    ? textAt(right, top + TOP + LINE * 2 + 10, sum ? `= ${sum}` : "",
      ` text-anchor="end"${bold(changed === "grad")}`) : "";
  return `<g class="gs-box${made ? "" : " gs-unmade"}${mark ? ` gs-${mark}` : ""}"`
    + ` data-number="${node.number}">`
    + `<rect x="${left}" y="${top}" width="${width}" height="${height}" rx="7"/>`
    + `<rect class="gs-badge" x="${left + 6}" y="${top + 5}" width="${badge}" height="16" rx="4"/>`
    + textAt(left + 6 + badge / 2, top + 17, `#${node.number}`, ' class="gs-number"') + head + leaf
    + line(0, "data", made ? node.value : "–", bold(changed === "data"))
    + line(1, "grad", grad ?? "–", bold(changed === "grad")) + below + drawMark(box, mark) + "</g>";
}

function drawMark({ left, top, width, height }, mark) {
  if (!mark) return "";
  const [sign, zh, en] = MARKS[mark];
  const words = zh && `<tspan> </tspan>${spans([zh, en])}`;
  return textAt(left + width - 8, top + height + 4, sign + words, ' class="gs-mark"');
}

/** Which number a step writes, and into which node. */
function change(graph, step) {
  if (step.kind === "forward") return [step.node, "data"];
  return [step.kind === "flow" ? target(graph, step) : step.node, "grad"];
}

function draw(graph, { boxes, edges, left, width, height }, k) {
  const state = stateAt(graph, k), [where, what] = change(graph, state.step);
  const drawn = [...edges].map(([key, edge]) => drawEdge(key, edge, state));
  const box = (node) => drawBox(graph, node, boxes.get(node.number), state.nodes.get(node.number),
    node.number === where && state.step.kind !== "done" ? what : "");
  return `<svg role="img" data-label="graph" viewBox="${left} 0 ${width} ${height}"`
    + ` width="${width}" height="${height}">${drawn.map(([line]) => line).join("")}`
    + `${graph.nodes.map(box).join("")}${drawn.map(([, label]) => label).join("")}`
    + `${state.active ? drawFlow(edges.get(state.active), state.step) : ""}</svg>`;
}

// ------------------------------------------------------------------ the element
const ICONS = {
  first: "M5 4v12M16 4l-8 6 8 6z", previous: "M14 4l-8 6 8 6z",
  next: "M6 4l8 6-8 6z", last: "M15 4v12M4 4l8 6-8 6z",
};
const button = (go) => `<button type="button" data-go="${go}" data-label="${go}">
  <svg viewBox="0 0 20 20" aria-hidden="true"><path d="${ICONS[go]}"/></svg>${
  go === "next" ? `<span>${both(LABELS.next)}</span>` : ""}</button>`;
const phase = (key) =>
  `<button type="button" data-go="${key}">${both(LABELS[key])}<small></small></button>`;
const legend = (sign, words) => `<span><code>${sign}</code> ${both(words)}</span>`;

const skeleton = (graph) => `<div class="gs-frame" role="group" data-label="stepper">
  <div class="gs-phases" role="group" data-label="phases">${phase("forward")}${phase("backward")}</div>
  <div class="gs-controls">
    ${button("first")}${button("previous")}${button("next")}${button("last")}
    <input type="range" min="0" max="${graph.steps.length - 1}" data-label="slider">
    <output></output>
  </div>
  <p class="gs-status" aria-live="polite"></p>
  <div class="gs-stage" role="group" data-label="graph"></div>
  <p class="gs-legend">${legend("#0, #1 …", LABELS.number)}${legend("×", LABELS.local)}${
  graph.nodes.some(({ operands }) => operands.some(({ local }) => local === null))
    ? legend("×None", LABELS.nothing) : ""}<span>${both(LABELS.digits)}</span></p>
  <details><summary>${both(LABELS.table)}</summary>
    <div class="gs-table" role="group" data-label="table" tabindex="0"></div></details>
</div>`;

const Base = globalThis.HTMLElement ?? class {}; // node imports this file to test its functions

export class GraphStepper extends Base {
  static observedAttributes = ["graph", "step"];

  connectedCallback() {
    addStyle();
    if (!this.graph) this.readGraph();
    this.language ??= new MutationObserver(() => this.graph && this.label());
    this.language.observe(document.documentElement, { attributeFilter: ["data-lang"] });
  }

  disconnectedCallback() { this.language.disconnect(); }

  /** Drawing anew takes the focus away: only for what is new. */
  attributeChangedCallback(name, before, after) {
    if (!this.isConnected || before === after) return;
    if (name === "graph") this.readGraph();
    else if (this.graph) this.go(this.wanted());
  }

  /** Draw the graph of the attribute; without one the table inside stays. */
  readGraph() {
    if (!this.hasAttribute("graph")) return;
    this.graph = JSON.parse(this.getAttribute("graph"));
    this.geometry = geometry(this.graph);
    this.innerHTML = skeleton(this.graph);
    this.step = null;
    this.listen();
    this.go(this.wanted());
  }

  wanted() { return Math.trunc(this.getAttribute("step")) || 0; }

  find(name) { return this.querySelector(`.gs-${name}`); }

  listen() {
    const frame = this.find("frame"), slider = this.querySelector("input");
    frame.addEventListener("click", (event) => {
      const go = event.target.closest("[data-go]")?.dataset.go;
      if (go) this.edit(this.places()[go]);
    });
    slider.addEventListener("input", () => this.edit(slider.valueAsNumber));
    frame.addEventListener("keydown", (event) => this.press(event));
    this.resized?.disconnect();
    this.resized = new ResizeObserver(() => this.fit());
    this.resized.observe(this.find("stage"));
  }

  /** Where each button leads. */
  places() {
    const { steps } = this.graph, last = steps.length - 1;
    return { first: 0, previous: this.step - 1, next: this.step + 1, last,
      forward: 0, backward: steps.findIndex(({ kind }) => kind === "start") };
  }

  /** Arrow keys step; in the slider the browser does it, in what scrolls they scroll. */
  press(event) {
    const to = { ArrowRight: "next", ArrowLeft: "previous", Home: "first", End: "last" }[event.key];
    const own = event.target.matches("input, .gs-stage, .gs-table");
    if (!to || own || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.edit(this.places()[to]);
  }

  /** A step by the reader: show it and tell whoever listens. */
  edit(step) {
    if (!this.go(step)) return;
    this.follow();
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
    this.find("stage").innerHTML = draw(this.graph, this.geometry, to);
    this.find("table").innerHTML = tableOf(this.graph, to);
    this.find("status").innerHTML = both(describe(this.graph, to));
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
    for (const node of this.querySelectorAll("[data-label]")) {
      node.setAttribute("aria-label", inPageLanguage(LABELS[node.dataset.label]));
    }
    const { kind } = this.graph.steps[this.step];
    const [zh, en] = LABELS[kind === "forward" ? "forward" : "backward"];
    const text = this.querySelector("output").textContent;
    this.querySelector("input").setAttribute(
      "aria-valuetext", inPageLanguage([`${text}，${zh}`, `${text}, ${en}`]));
  }

  /** The stage takes the focus where it scrolls, so that a keyboard can scroll it. */
  fit() {
    const stage = this.find("stage");
    const scrolls = stage.scrollWidth > stage.clientWidth || stage.scrollHeight > stage.clientHeight;
    if (scrolls) stage.tabIndex = 0; else stage.removeAttribute("tabindex");
  }

  /** Scroll the stage, never the page, until the node that changed is in sight. */
  follow() {
    const stage = this.find("stage"), { step } = stateAt(this.graph, this.step);
    const [where] = change(this.graph, step);
    const frame = stage.getBoundingClientRect();
    const box = stage.querySelector(`[data-number="${where}"]`).getBoundingClientRect();
    const shift = (from, to, low, high, room = 16) =>
      (from - room < low ? from - room - low : to + room > high ? to + room - high : 0);
    const left = shift(box.left, box.right, frame.left, frame.right);
    const top = shift(box.top, box.bottom, frame.top, frame.bottom);
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    stage.scrollBy({ left, top, behavior: calm ? "instant" : "smooth" });
  }
}

// ------------------------------------------------------------------ how it looks
const STYLE = `
graph-stepper {
  display: block; width: 100%; margin-block: 1.25rem; container-type: inline-size;
  --gs-text: var(--pst-color-text-base, var(--jp-ui-font-color1, CanvasText));
  --gs-quiet: var(--pst-color-text-muted, var(--jp-ui-font-color1, CanvasText));
  --gs-ground: var(--pst-color-background, var(--jp-layout-color0, Canvas));
  --gs-accent: var(--pst-color-primary, var(--jp-brand-color1, LinkText));
  --gs-line: color-mix(in srgb, var(--gs-text) 28%, transparent);
  --gs-edge: color-mix(in srgb, var(--gs-text) 58%, transparent);
  --gs-mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
html[data-lang=zh] graph-stepper :is(.lang-en, .lang-both),
html[data-lang=en] graph-stepper :is(.lang-zh, .lang-both) { display: none; }
html:not([data-lang=zh], [data-lang=en]) graph-stepper .gs-status > span { display: block; }
graph-stepper .gs-frame {
  padding: 1rem; border: 1px solid var(--gs-line); border-radius: .6rem;
  color: var(--gs-text); background: var(--gs-ground); font-size: .9375rem; line-height: 1.5;
  p, details, output { margin: 0; }
  code, b, small { all: unset; }
  code { font-family: var(--gs-mono); font-size: .92em; overflow-wrap: anywhere; }
  b { font-weight: 700; }
  :is(button, input, summary, .gs-stage, .gs-table):focus-visible {
    outline: 2px solid var(--gs-accent); outline-offset: 2px;
  }

  .gs-phases { display: grid; grid-template-columns: 1fr 1fr; gap: .4rem; margin-bottom: .5rem; }
  button {
    display: inline-flex; align-items: center; justify-content: center; gap: .4rem;
    min-width: 2.75rem; min-height: 2.75rem; margin: 0; padding: .25rem .6rem;
    border: 1px solid var(--gs-edge); border-radius: .4rem; background: none;
    color: inherit; font: inherit; cursor: pointer; touch-action: manipulation;
  }
  button:hover { border-color: var(--gs-accent); }
  button svg { width: 1.1rem; height: 1.1rem; fill: currentColor; stroke: currentColor; }
  button[aria-disabled=true] { border-style: dashed; cursor: default; svg { opacity: .45; } }
  button[data-go=next] { padding-inline: .9rem 1.1rem; }
  button[data-go=next]:not([aria-disabled=true]), .gs-phases button[aria-pressed=true] {
    border-color: var(--gs-accent); font-weight: 650;
    background: color-mix(in srgb, var(--gs-accent) 12%, transparent);
  }
  .gs-phases button { min-height: 2.75rem; }
  .gs-phases button[aria-pressed=true] { box-shadow: inset 0 -3px var(--gs-accent); }
  .gs-controls { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem; }
  input {
    flex: 1 1 8rem; min-width: 0; height: 2.75rem; margin: 0 .35rem;
    accent-color: var(--gs-accent); cursor: pointer; touch-action: manipulation;
  }
  output { min-width: 4.2rem; text-align: end; font: .875rem var(--gs-mono); }

  .gs-status {
    min-height: 5.4em; margin-block: .75rem; padding: .5rem .85rem;
    border-inline-start: 3px solid var(--gs-accent); border-radius: 0 .4rem .4rem 0;
    background: color-mix(in srgb, var(--gs-text) 5%, transparent);
  }
  .gs-stage {
    max-height: clamp(18rem, 100vh - 19rem, 46rem); overflow: auto; overscroll-behavior-x: contain;
    border-radius: .3rem;
    > svg { display: block; margin-inline: auto; max-width: none; height: auto; }
  }
  .gs-legend {
    display: flex; flex-wrap: wrap; gap: .15rem 1.25rem; margin-top: .6rem;
    color: var(--gs-quiet); font-size: .8125rem;
  }

  .gs-stage text {
    fill: var(--gs-text); font: 12px var(--gs-mono); font-variant-numeric: tabular-nums;
    user-select: text;
  }
  .gs-box > rect { fill: var(--gs-ground); stroke: var(--gs-edge); stroke-width: 1.2; }
  .gs-box > .gs-badge { fill: color-mix(in srgb, var(--gs-text) 10%, transparent); stroke: none; }
  .gs-number { text-anchor: middle; }
  .gs-title, .gs-new, .gs-number { font-weight: 700 !important; }
  .gs-stage .gs-key { fill: var(--gs-quiet); }
  .gs-stage .gs-words, .gs-stage .gs-mark { font-family: system-ui, "Noto Sans CJK SC", sans-serif; }
  .gs-unmade > rect:first-child { stroke-dasharray: 4 4; fill: none; }
  .gs-unmade .gs-title { font-weight: 400 !important; }
  .gs-done > rect:first-child { fill: color-mix(in srgb, var(--gs-text) 6%, var(--gs-ground)); }
  .gs-next > rect:first-child, .gs-ready > rect:first-child { stroke: var(--gs-text); stroke-width: 2; }
  .gs-now > rect:first-child {
    stroke: var(--gs-accent); stroke-width: 3;
    fill: color-mix(in srgb, var(--gs-accent) 13%, var(--gs-ground));
  }
  .gs-now > .gs-badge { fill: var(--gs-text); }
  .gs-stage .gs-now > .gs-number { fill: var(--gs-ground); }
  .gs-stage :is(.gs-mark, .gs-local, .gs-flow) {
    paint-order: stroke; stroke: var(--gs-ground); stroke-width: 5px; stroke-linejoin: round;
  }
  .gs-stage .gs-mark { text-anchor: end; font-weight: 650; font-size: 11.5px; }
  .gs-stage .gs-local { fill: var(--gs-quiet); }
  .gs-stage .gs-flow { font-weight: 700; font-size: 13px; }

  .gs-edge path { fill: none; stroke: var(--gs-edge); stroke-width: 1.5; }
  .gs-edge .gs-head { fill: var(--gs-edge); stroke: none; }
  .gs-planned path { stroke-width: 1; stroke-dasharray: 1 2; }
  .gs-none path { stroke-dasharray: 6 5; }
  .gs-flowed:not(.gs-none) path:first-child { stroke: var(--gs-text); stroke-width: 2; }
  .gs-flowed .gs-head { fill: var(--gs-text); }
  .gs-active path:first-child { stroke: var(--gs-accent); stroke-width: 3.5; }
  .gs-active .gs-head { fill: var(--gs-accent); }
  @media (prefers-reduced-motion: no-preference) {
    .gs-active:not(.gs-none) path:first-child { stroke-dasharray: 1; animation: gs-flow .45s ease-out; }
  }

  summary { min-height: 2.75rem; display: flex; align-items: center; gap: .4rem; cursor: pointer; }
  summary::before { content: "▸"; }
  [open] > summary::before { content: "▾"; }
  .gs-table { overflow-x: auto; }
  table {
    display: table; width: auto; margin: 0; border-collapse: collapse; font-size: .8125rem;
    caption { caption-side: top; padding: 0 0 .35rem; text-align: start; color: var(--gs-quiet); }
    th, td { padding: .25rem .7rem; border: 1px solid var(--gs-line); text-align: start; white-space: nowrap; }
    td { font-family: var(--gs-mono); font-variant-numeric: tabular-nums; }
    td > span { font-family: system-ui, sans-serif; }
    tr, th, td { background: none; color: inherit; }
    [aria-current] > * { font-weight: 700; box-shadow: inset 0 2px var(--gs-accent), inset 0 -2px var(--gs-accent); }
  }
  @container (max-width: 34rem) {
    .gs-controls > button { flex: 1 1 2.75rem; }
    button[data-go=next] { flex-grow: 3; }
    .gs-status { min-height: 8.2em; }
  }
}
@keyframes gs-flow { from { stroke-dashoffset: 1; } }
@media print {
  graph-stepper .gs-frame :is(.gs-phases, .gs-controls) { display: none; }
  graph-stepper .gs-frame .gs-stage { max-height: none; overflow: visible; }
}
`;

function addStyle() {
  if (document.getElementById("graph-stepper-style")) return;
  const style = document.createElement("style");
  Object.assign(style, { id: "graph-stepper-style", textContent: STYLE });
  document.head.append(style);
}

if (globalThis.customElements && !customElements.get("graph-stepper")) {
  customElements.define("graph-stepper", GraphStepper);
}

// ------------------------------------------------------------------ the live notebook
/** anywidget's entry: the kernel's traits and the element's attributes follow each other. */
function render({ model, el }) {
  const stepper = document.createElement("graph-stepper");
  const pull = () => GraphStepper.observedAttributes.forEach(
    (name) => stepper.setAttribute(name, model.get(name)));
  const push = ({ detail }) => {
    model.set("step", detail.step);
    model.save_changes();
  };
  pull();
  model.on("change:step", pull);
  stepper.addEventListener("step-change", push);
  el.append(stepper);
  return () => model.off("change:step", pull);
}

export default { render };
