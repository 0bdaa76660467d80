// What stands in the graph after a step, replayed from the steps.

export const bracket = (text) => (text.startsWith("-") ? `(${text})` : text);
export const byNumber = ({ nodes }) => new Map(nodes.map((node) => [node.number, node]));
export const target = (graph, { node, operand }) =>
  byNumber(graph).get(node).operands[operand].node;

/** What stands in the graph after step `k`: the nodes by number, the edges as "node/operand". */
export function stateAt(graph, k) {
  const step = graph.steps[k];
  const nodes = new Map(graph.nodes.map(({ number }) => (
    [number, { made: false, grad: null, sum: null, mark: null }])));
  const state = { nodes, flowed: new Set(), empty: new Set(), active: null, step };
  for (const past of graph.steps.slice(0, k + 1)) replay(graph, state, past);
  for (const number of step.ready ?? []) nodes.get(number).mark = "ready";
  const [next] = step.ready ?? [];
  if (next !== undefined) nodes.get(next).mark = "next";
  if (step.kind === "flow") state.active = `${step.node}/${step.operand}`;
  if (step.kind !== "done" && step.kind !== "start") nodes.get(step.node).mark = "now";
  return state;
}

function replay(graph, { nodes, flowed, empty }, step) {
  const node = nodes.get(step.node);
  if (step.kind === "forward") node.made = true;
  // torch has no gradient before the first one arrives, Scalar has 0
  if (step.kind === "start" && !graph.engine) for (const other of nodes.values()) other.grad = "0";
  if (step.kind === "start") node.grad = step.grad;
  if (step.kind === "take") node.mark = "done";
  if (step.kind !== "flow") return;
  const operand = nodes.get(target(graph, step));
  flowed.add(`${step.node}/${step.operand}`);
  operand.grad = step.after;
  if (step.flow === null) empty.add(`${step.node}/${step.operand}`);
  else if (step.before !== null) operand.sum = `${step.before} + ${bracket(step.flow)}`;
}
