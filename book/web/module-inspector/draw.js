// The tree and the calls as HTML.
import { escape } from "../common/bilingual.js";
import { both } from "../widget/words.js";
import { HEAD, KINDS, LABELS } from "./words.js";

const code = (text) => `<code>${escape(String(text))}</code>`;
const bytes = (n) => `${n.toLocaleString("en")} B`;
export const sign = (kind) => `<i class="mi-sign mi-${kind}" role="img" data-label="kind-${
  kind}"></i>`;
const letter = (name) => (name ? `<b class="mi-letter">${escape(name)}</b>` : "");
const headOf = (keys) => `<tr>${keys.map((key) => (
  `<th scope="col">${both(HEAD[key])}</th>`)).join("")}</tr>`;

export const isTensor = (row) => "shape" in row;

/** ✓ where the list has the row, = where it has that tensor under an earlier name, else ✗. */
export function markOf(row, list) {
  if (row.lists.includes(list)) return "✓";
  if (!isTensor(row)) return row.lists ? "=" : "";
  const could = { parameter: "pts", frozen: "pts", buffer: "bts", "non-persistent": "bt" };
  return could[row.kind]?.includes(list) ? "=" : "✗";
}

function rowOf(row, list, now) {
  const name = isTensor(row) ? sign(row.kind) + code(row.name).replace(/_(?=\w)/g, "_<wbr>")
    : `${row.kind === "module" ? "" : sign(row.kind)}<b>${
      row.name ? `${code(row.name)}: ` : ""}${code(row.type)}</b>${
      row.mode ? ` <small>${code(row.mode)}</small>` : ""}`;
  const hooks = (row.hooks ?? []).map(([kind, n]) => `<small>${code(`${kind}: ${n}`)}</small>`);
  const mark = list ? markOf(row, list) : "";
  return `<tr class="${isTensor(row) ? "" : "mi-module"}"${
    now && row.path === now.path && !isTensor(row) && !row.again ? ' aria-current="step"' : ""}${
    list ? ` data-mark="${mark}"` : ""}><th scope="row"${isTensor(row) ? "" : ' colspan="3"'}
    style="--depth:${row.depth}">${name}${hooks.join("")}</th>${isTensor(row)
    ? `<td>${code(row.shape)}</td><td>${bytes(row.bytes)}</td>` : ""}<td>${
    letter(row.letter)}</td>${list ? `<td class="mi-mark">${mark}</td>` : ""}</tr>`;
}

/** The tree with the module of the call `now`, and for a list what is in it. */
export const treeOf = ({ rows }, list, now) => `<table class="mi-tree">${
  headOf(["name", "shape", "bytes", "shared", ...(list ? ["listed"] : [])])}${
  rows.map((row) => rowOf(row, list, now)).join("")}</table>`;

/** The calls; `begun` and `done` are those that have received something, that have returned. */
export function callsOf({ calls }, { at, begun, done }) {
  const body = calls.map((call, n) => (
    `<tr data-call="${n}"${n === at ? ' aria-current="step"' : ""}><th scope="row"
      style="--depth:${call.depth}">${code(call.path || call.type)}${
      call.path ? ` <small>${code(call.type)}</small>` : ""}</th>${[[begun, call.received], [done, call.returned]].map(
      ([those, shape]) => `<td>${those.has(n) ? code(shape) : "…"}</td>`).join("")}</tr>`));
  return `<table class="mi-calls">${headOf(["called", "received", "returned"])}${
    body.join("")}</table>`;
}

/** The signs that occur, then a line for what each letter stands for. */
export function legendOf({ rows, ties }) {
  const kinds = Object.keys(KINDS).filter((kind) => kind !== "module" && rows.some(
    (row) => row.kind === kind));
  const signs = kinds.map((kind) => `<span>${sign(kind)}${both(KINDS[kind])}</span>`);
  const shared = ties.map(({ letter: name, what, paths }) => `<span>${letter(name)} ${
    both(LABELS[what])} ${code(paths.map((path) => path || rows[0].type).join(" = "))}</span>`);
  return signs.join("") + shared.join("");
}

// ------------------------------------------------------------------ the steps of a forward pass
/** Steps {call, kind}: enter and return of a module that calls others, else one step, leaf. */
export function stepsOf({ calls }) {
  const steps = [], open = [];
  const close = (depth) => {
    while (open.length && calls[open.at(-1)].depth >= depth) {
      steps.push({ call: open.pop(), kind: "return" });
    }
  };
  calls.forEach(({ depth }, n) => {
    close(depth);
    const calling = calls[n + 1]?.depth > depth;
    steps.push({ call: n, kind: calling ? "enter" : "leaf" });
    if (calling) open.push(n);
  });
  close(0);
  return steps;
}

/** Who called a call: the nearest one before it that is less deep. */
export const callerOf = (calls, n) => (
  calls.slice(0, n).findLast(({ depth }) => depth < calls[n].depth));
