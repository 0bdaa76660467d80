// From an exact graph to what is drawn of it: the steps of the backward pass, every quantity as
// text, and the layout. code/inside/widgets/graph_stepper.py describes what the attribute holds.
import { arrange } from "./layout.js";
import { times } from "./scalar.js";

// ------------------------------------------------------------------ the steps
/** Every step with exact numbers: forward by age, then backward from grads of 0. */
export function stepsOf(nodes) {
  const forward = nodes.map(({ number }) => ({ kind: "forward", node: number }));
  return [...forward, ...new Backward(nodes).run()];
}

/** `Scalar.backward`, contribution by contribution.
 *
 * It counts the edges that have yet to deliver, as torch's engine does, and takes the newest of
 * the ready nodes; `Scalar` sorts beforehand and finds the same order.
 */
class Backward {
  constructor(nodes) {
    this.nodes = nodes;
    this.grad = nodes.map(() => 0);
    this.waiting = nodes.map(() => 0);
    for (const { operands } of nodes) for (const { node } of operands) this.waiting[node]++;
    this.ready = [nodes.length - 1];
  }

  run() {
    const root = this.nodes.length - 1;
    this.grad[root] = 1;
    const steps = [this.step("start", root, { grad: 1 })];
    while (this.ready.length) {
      const number = this.ready.shift();
      steps.push(this.step("take", number, { grad: this.grad[number] }));
      this.nodes[number].operands.forEach((o, place) => {
        if ("node" in o) steps.push(this.flow(number, place, o));
      });
    }
    return [...steps, this.step("done", root)];
  }

  /** Send the gradient of node `number` along one edge. */
  flow(number, place, { node: to, local }) {
    const grad = this.grad[number], before = this.grad[to];
    const flow = local === null ? null : times(grad, local);
    if (flow !== null) this.grad[to] += flow;
    this.waiting[to] -= 1;
    if (!this.waiting[to]) this.ready = [...this.ready, to].sort((a, b) => b - a);
    return this.step("flow", number,
      { operand: place, grad, flow, before, after: this.grad[to], waiting: this.waiting[to] });
  }

  step(kind, node, more) { return { kind, node, ...more, ready: [...this.ready] }; }
}

// ------------------------------------------------------------------ quantities as text
/** Whole numbers in full, else 4 significant digits, as Python's `.4g` writes them. */
export function spell(value) {
  if (value === null) return null;
  if (typeof value === "object") {
    const below = spell(value.over);
    return below.startsWith("-") ? `1/(${below})` : `1/${below}`;
  }
  if (Number.isNaN(value)) return "nan";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "", size = Math.abs(value);
  if (size === Infinity) return `${sign}inf`;
  return sign + (Number.isInteger(size) && size < 1e6 ? String(size) : fourDigits(size));
}

function fourDigits(size) {
  const [digits, exponent] = rounded(size).split("e"), e = Number(exponent);
  if (e < -4 || e >= 4) {
    const power = String(Math.abs(e)).padStart(2, "0");
    return `${withoutZeros(digits)}e${e < 0 ? "-" : "+"}${power}`;
  }
  return withoutZeros(Number(`${digits}e${e}`).toFixed(3 - e));
}

/** To 4 digits; where two are equally near the even one, as in Python and in IEEE 754. */
function rounded(size) {
  const [, digits, zeros, e] = size.toExponential(60).match(/^(.{5})5(0+)e(.*)$/) ?? [];
  const tie = zeros?.length === 56 && digits.at(-1) % 2 === 0;
  return tie ? `${digits}e${e}` : size.toExponential(3);
}

const withoutZeros = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

/** A quantity of the attribute, the `repr` of a float or `1/…`, as the number it stands for. */
export function exactly(text) {
  if (text === null) return null;
  if (text.startsWith("1/")) return { over: exactly(text.slice(2)) };
  return { inf: Infinity, "-inf": -Infinity, nan: NaN }[text] ?? Number(text);
}

const inEach = (fields, change) => (thing) => ({
  ...thing,
  ...Object.fromEntries(fields.filter((f) => f in thing).map((f) => [f, change(thing[f])])),
});

/** Change every quantity of the nodes. */
const inNodes = (nodes, change) => nodes.map((node) => ({
  ...inEach(["value"], change)(node),
  operands: node.operands.map(inEach(["local", "constant"], change)),
}));

// ------------------------------------------------------------------ what is drawn
/** The nodes of the attribute `graph` with exact numbers; null where it brings its own steps. */
export const exactNodes = ({ nodes, steps }) => (steps ? null : inNodes(nodes, exactly));

/** Exact nodes as they are drawn: steps, texts, places. */
export function displayed(nodes) {
  const steps = stepsOf(nodes).map(inEach(["grad", "flow", "before", "after"], spell));
  return { nodes: arrange(inNodes(nodes, spell)), steps };
}

/** The attribute `graph` as it is drawn. */
export function readGraph(graph) {
  const nodes = exactNodes(graph);
  return nodes ? displayed(nodes) : { ...graph, nodes: arrange(graph.nodes) };
}
