// Every word of the shapes that are aligned, as pairs [Chinese, English].
import { OPERANDS } from "./broadcast.js";
import { DIMS } from "../stride-explorer/layout.js";
import { plural, tuple } from "../stride-explorer/text.js";

export const LABELS = {
  aligner: ["把形状对齐", "Aligning shapes"],
  presets: ["现成的形状", "Ready-made shapes"],
  operand0: ["`a` 的形状", "shape of `a`"],
  operand1: ["`b` 的形状", "shape of `b`"],
  operand2: ["`c` 的形状（可不填）", "shape of `c` (optional)"],
  bytesEach: ["每个元素几字节", "bytes per element"],
  aligned: ["靠右对齐，一列是一维", "Aligned at the right, one dimension a column"],
  operand: ["张量", "tensor"],
  result: ["结果", "result"],
  absent: ["括号里的 1：形状里没有这一维，按 1 算", "(1): the shape lacks this dimension, so it counts as 1"],
  costs: ["每个张量要付出什么（按各自连续算）", "What each tensor costs (each taken as contiguous)"],
  own: ["自己的步长", "its own strides"],
  expanded: ["`expand` 之后的步长", "strides after `expand`"],
  read: ["要读的字节", "bytes to read"],
  sums: ["反向在哪些维上求和", "backward sums over"],
  last: ["下面画的仍是上一组合法的形状。", "The picture below still shows the last valid shapes."],
};

// What stands below a size in the table: the part of the operand in this dimension.
export const PARTS = {
  equal: ["相等", "equal"],
  sets: ["由它定", "sets the size"],
  stretched: ["扩展", "stretched"],
  added: ["缺，扩展", "missing, stretched"],
  filled: ["缺，按 1 算", "missing, is 1"],
  conflict: ["冲突", "conflict"],
  one: ["是 1，不冲突", "1 fits"],
};

const WHY_NOT = {
  operands: ({ got }) => [`要两个或三个形状，现在是 ${got} 个。`,
    `Give two or three shapes, not ${got}.`],
  shape: ({ name }) => [
    `${name} 的形状写几个整数，每个最多 9 位，例如 \`3, 1\`、\`(3, 1)\` 或 \`3x1\`；0 维写 \`()\`。`,
    `Write the shape of ${name} as whole numbers of up to 9 digits, such as \`3, 1\`, `
    + "`(3, 1)` or `3x1`; `()` has no dimensions."],
  negative: ({ name }) => [`${name} 的形状里有负数：长度不能小于 0。`,
    `The shape of ${name} has a negative size; a size is 0 or more.`],
  dims: ({ name, dims }) => [`${name} 有 ${dims} 维，这里最多画 ${DIMS} 维。`,
    `${name} has ${plural(dims, "dimension")}; at most ${DIMS} can be drawn here.`],
  large: () => ["对齐后的元素超过 2⁴⁹ 个，它们的字节数这里算不准。",
    "Aligned, the shapes have more than 2⁴⁹ elements; their bytes cannot be exact here."],
};

/** Why the shapes that were typed are not shown. */
export const alignRefusal = (error) =>
  WHY_NOT[error.code]({ ...error, name: `\`${OPERANDS[error.k]}\`` });

/** What happens to one operand in a dimension of size `size`; null where nothing does. */
const SAID = {
  stretched: (name, size) => [`${name} 从 1 扩展到 ${size}`, `${name} goes from 1 to ${size}`],
  added: (name, size) => [`${name} 缺这一维，补 1 再扩展到 ${size}`,
    `${name} lacks it, counts as 1 and goes to ${size}`],
  filled: (name) => [`${name} 缺这一维，按 1 算`, `${name} lacks it and counts as 1`],
};

const VERDICTS = [ // the first that an operand has is the dimension's
  ["added", ["从缺失扩展", "stretched from missing"]], ["stretched", ["扩展", "stretched"]],
  ["filled", ["相等", "equal"]], ["equal", ["相等", "equal"]],
];

function conflictWords(sizes, parts) {
  const at = parts.flatMap((part, k) => (part === "conflict" ? [k] : []));
  const each = at.map((k) => `\`${OPERANDS[k]}\``), n = at.map((k) => sizes[k]);
  return [`**冲突**：${each.map((name, i) => `${name} 是 ${n[i]}`).join("，")}，既不相等，也没有一个是 1`,
    `**conflict**: ${each.map((name, i) => `${name} has ${n[i]}`).join(", ")}; `
    + "they differ, and none of them is 1"];
}

/** The verdict on one dimension: the word, and what happens to whom. */
export function verdictWords({ size, sizes, parts }) {
  if (size === null) return conflictWords(sizes, parts);
  const [, [zh, en]] = VERDICTS.find(([part]) => parts.includes(part));
  const said = parts.map((part, k) => SAID[part]?.(`\`${OPERANDS[k]}\``, size)).filter(Boolean);
  const [zhSaid, enSaid] = [[0, "；"], [1, "; "]].map(([lang, mark]) => (
    said.map((pair) => pair[lang]).join(mark)));
  return said.length ? [`**${zh}**：${zhSaid}`, `**${en}**: ${enSaid}`]
    : [`**${zh}**：都是 ${size}`, `**${en}**: all have ${size}`];
}

/** Whom torch means by tensor a and b: it broadcasts the first two, then the third. */
function pairWords({ k, dims, all }) {
  if (k === 2) return ["。这里的 tensor a 是 `a` 和 `b` 广播的结果，tensor b 是 `c`",
    ". Its tensor a is what `a` and `b` give together, its tensor b is `c`"];
  return dims === all ? ["", ""] : [`。这个维数是在 \`a\` 和 \`b\` 的 ${dims} 维里数的`,
    `. Its dimension counts among the ${dims} of \`a\` and \`b\``];
}

/** The outcome in one sentence; `says` is the text of torch's error. */
export function outcomeWords({ result, numel: n, conflict }, itemsize, says) {
  if (conflict) {
    const [zh, en] = pairWords(conflict);
    return [`**不能广播**，torch 报 RuntimeError：\`${says}\`${zh}`,
      `**They cannot be broadcast.** torch raises RuntimeError: \`${says}\`${en}`];
  }
  return [`**结果的形状是 \`${tuple(result)}\`**：${n} 个元素，${n * itemsize} 字节`,
    `**The result has shape \`${tuple(result)}\`**: ${plural(n, "element")}, `
    + `${plural(n * itemsize, "byte")}`];
}

export const readWords = ({ numel: n, read, times }, itemsize) => (read
  ? [`**${read * itemsize}**（${n} × ${itemsize}），每个元素用 ${times} 次`,
    `**${read * itemsize}** (${n} × ${itemsize}), each element used ${
      times === 1 ? "once" : `${times} times`}`]
  : ["**0**：结果是空的", "**0**: the result is empty"]);

/** The dimensions that backward sums over; those the operand lacks are gone afterwards. */
export function sumWords({ sums, shape }) {
  if (!sums.length) return ["不求和：梯度的形状已经对了", "none: the gradient has its shape already"];
  const dims = sums.map((d) => `\`dim=${d}\``);
  return [`${dims.join("、")}，得到 \`${tuple(shape)}\``, `${dims.join(", ")}, leaving \`${tuple(shape)}\``];
}
