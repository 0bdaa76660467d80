// The drawing as SVG: boxes for nodes, curves for edges.
import { bracket, stateAt, target } from "./state.js";
import { LABELS, MARKS, expression, isNumbered, nameOf } from "./words.js";
import { escape, spans } from "../common/bilingual.js";

const CHARACTER = 7.25; // width of a letter at 12 px in the monospaced fonts we ask for
const PAD = 10, LINE = 16, TOP = 21, BETWEEN = 26, GAP = 50, LONGEST = 14;

/** At an edge; a node of torch computes what it passes on and stores no local derivative. */
const timesLocal = ({ local }) => (local === undefined ? "" : `×${local ?? "None"}`);
const shorten = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);
const wide = (text) => text.length * CHARACTER;

/** How a node is headed: `p = w * x`, `tanh(#4)`, the label of a leaf. */
function title(graph, node) {
  const label = shorten(node.label);
  if (!node.op) return label;
  const made = expression(node, ({ node: n, constant }) => constant ?? shorten(nameOf(graph, n)));
  return label ? `${label} = ${made}` : made;
}

/** What stands in the badge of a box; empty where there is none. */
const signIn = (graph, node) => (isNumbered(graph, node) ? `#${node.number}` : "");

/** Sizes in px, fitted to the longest texts, and the edges as points from operand to result. */
export function geometry(graph) {
  const incoming = new Map(graph.nodes.map(({ number }) => [number, []]));
  for (const { number, operands } of graph.nodes) {
    operands.forEach((o, place) => o.via && incoming.get(o.node).push({ number, place, ...o }));
  }
  const width = boxWidth(graph);
  const labels = graph.nodes.flatMap(({ operands }) => operands.map((o) => (
    o.via ? wide(timesLocal(o)) : 0)));
  const lane = Math.max(width + BETWEEN, 0.4 * width + 2 * (Math.max(0, ...labels) + 8));
  const tall = ({ number }) => TOP + PAD + LINE * (incoming.get(number).length > 1 ? 3 : 2);
  const layers = layersOf(graph, tall);
  const boxes = new Map(graph.nodes.map((node) => {
    const { y, height } = layers[node.y];
    const x = node.x * lane, own = tall(node);
    const top = y + (height - own) / 2;
    return [node.number, { x, left: x - width / 2, width, top, height: own }];
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
  const heads = graph.nodes.map((node) => wide(title(graph, node)) + wide(signIn(graph, node)) + 18
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
      const side = ins.length === 1 ? 0 : (2 * i) / (ins.length - 1) - 1;
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
const inBoth = (pair) => spans(pair, '<tspan class="lang-both"> </tspan>', "tspan");

function drawEdge(key, edge, { nodes, flowed, empty, active }) {
  const made = nodes.get(edge.to).made;
  const none = made && (edge.local === null || empty.has(key));
  const state = key === active ? "active" : flowed.has(key) ? "flowed" : made ? "made" : "planned";
  const { x0, y0, x1, y1 } = edge;
  const up = (state === "active" || state === "flowed") && !none;
  const head = up ? `M${x0} ${y0 + 1}l-5 9h10z` : made ? `M${x1} ${y1 - 1}l-4 -7h8z` : "";
  const anchor = edge.side < 0 ? "end" : "start";
  const local = made ? textAt(x1 + (edge.side < 0 ? -6 : 6), y1 - 9, timesLocal(edge),
    ` class="gs-local" text-anchor="${anchor}"`) : "";
  return [`<g class="gs-edge gs-${state}${none ? " gs-none" : ""}">`
    + `<path${state === "active" && !none ? ' pathLength="1"' : ""} d="${pathOf(edge)}"/>`
    + `<path class="gs-head" d="${head}"/></g>`,
  local];
}

/** What arrives at the operand of the active edge, below the operand's box and its mark. */
function drawFlow(edge, step) {
  if (step.kind !== "flow" || step.flow === null) return "";
  const words = step.before === null ? step.flow : `+ ${bracket(step.flow)}`;
  return textAt(edge.x0 + 9, edge.y0 + 22, words, ' class="gs-flow"');
}

function drawBox(graph, node, box, { made, grad, sum, mark }, changed) {
  const { left, top, width, height } = box, right = left + width - PAD, x = left + PAD;
  const sign = signIn(graph, node), badge = wide(sign) + 8;
  const line = (n, key, value, more = "") => {
    const y = top + TOP + LINE * n + 10;
    return textAt(x, y, key, ' class="gs-key"')
      + textAt(right, y, value, ` text-anchor="end"${more}`);
  };
  const head = textAt(sign ? left + badge + 14 : x, top + 17, escape(title(graph, node)),
    ' class="gs-title"');
  const leaf = node.op ? "" : textAt(right, top + 17, inBoth(LABELS.leaf),
    ' class="gs-key gs-words" text-anchor="end"');
  const bold = (yes) => (yes ? ' class="gs-new"' : "");
  const below = height > TOP + PAD + LINE * 2
    ? textAt(right, top + TOP + LINE * 2 + 10, sum ? `= ${sum}` : "",
      ` text-anchor="end"${bold(changed === "grad")}`) : "";
  return `<g class="gs-box${made ? "" : " gs-unmade"}${mark ? ` gs-${mark}` : ""}"`
    + ` data-number="${node.number}">`
    + `<rect x="${left}" y="${top}" width="${width}" height="${height}" rx="7"/>`
    + (sign && drawBadge(left + 6, top + 5, badge, sign)) + head + leaf
    + line(0, "data", made ? node.value : "–", bold(changed === "data"))
    + line(1, "grad", grad ?? "–", bold(changed === "grad")) + below + drawMark(box, mark) + "</g>";
}

function drawBadge(x, y, width, sign) {
  return `<rect class="gs-badge" x="${x}" y="${y}" width="${width}" height="16" rx="4"/>`
    + textAt(x + width / 2, y + 12, sign, ' class="gs-number"');
}

function drawMark({ left, top, width, height }, mark) {
  if (!mark) return "";
  const [sign, zh, en] = MARKS[mark];
  const words = zh && `<tspan> </tspan>${inBoth([zh, en])}`;
  return textAt(left + width - 8, top + height + 4, sign + words, ' class="gs-mark"');
}

/** Which number a step writes, and into which node. */
export function change(graph, step) {
  if (step.kind === "forward") return [step.node, "data"];
  return [step.kind === "flow" ? target(graph, step) : step.node, "grad"];
}

export function draw(graph, { boxes, edges, left, width, height }, k) {
  const state = stateAt(graph, k), [where, what] = change(graph, state.step);
  const drawn = [...edges].map(([key, edge]) => drawEdge(key, edge, state));
  const box = (node) => drawBox(graph, node, boxes.get(node.number), state.nodes.get(node.number),
    node.number === where && state.step.kind !== "done" ? what : "");
  return `<svg role="img" data-label="graph" viewBox="${left} 0 ${width} ${height}"`
    + ` width="${width}" height="${height}">${drawn.map(([line]) => line).join("")}`
    + `${graph.nodes.map(box).join("")}${drawn.map(([, label]) => label).join("")}`
    + `${state.active ? drawFlow(edges.get(state.active), state.step) : ""}</svg>`;
}
