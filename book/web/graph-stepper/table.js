// The table in the fold: what the drawing says, in cells.
import { bracket, stateAt } from "./state.js";
import { escape } from "../common/bilingual.js";
import { both } from "../widget/words.js";
import { HEAD, LABELS, signOf } from "./words.js";

/** The rows as texts at step `k`: sign, label, op, operands, value, grad. */
export function rows(graph, k) {
  const { nodes } = stateAt(graph, k);
  return graph.nodes.map((node) => {
    const { made, grad } = nodes.get(node.number);
    const operands = node.operands.map((operand) => operandWords(graph, operand, made)).join(", ");
    const sign = signOf(graph, node.number);
    return [sign, node.label, node.op, operands, made ? node.value : "–", grad ?? "–"];
  });
}

function operandWords(graph, { node, local, constant }, made) {
  if (constant !== undefined) return constant;
  if (!made || local === undefined) return signOf(graph, node);
  return `#${node} × ${local === null ? "None" : bracket(local)}`;
}

export function tableOf(graph, k) {
  const { kind, node } = graph.steps[k], now = kind === "done" ? null : node;
  const words = graph.engine ? HEAD.with(3, LABELS.operands) : HEAD;
  const head = [...words.map(both), "grad"].map((title) => `<th scope="col">${title}</th>`);
  const body = rows(graph, k).map(([sign, label, op, ...rest], number) => {
    const cells = [escape(label), op ? `<code>${escape(op)}</code>` : both(LABELS.leaf), ...rest];
    const current = now === number ? ' aria-current="true"' : "";
    return `<tr${current}><th scope="row">${escape(sign)}</th>${
      cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
  });
  return `<table><caption>${both(LABELS.caption)}</caption><tr>${head.join("")}</tr>${
    body.join("")}</table>`;
}
