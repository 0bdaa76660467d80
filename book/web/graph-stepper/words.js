// Every word of the stepper, as pairs [Chinese, English].
import { LIMIT, NAMED } from "./scalar.js";
import { bracket, byNumber, stateAt } from "./state.js";

/** The AccumulateGrad of a leaf has the largest number there is: its place here says nothing. */
export const isNumbered = ({ engine }, { op }) => !engine || Boolean(op);

/** What a node is called by itself: #n, a leaf of torch by its name. */
export function signOf(graph, number) {
  const node = byNumber(graph).get(number);
  return isNumbered(graph, node) ? `#${number}` : node.label || "AccumulateGrad";
}

/** The label of a node, or its sign where it has none or shares it. */
export function nameOf(graph, number) {
  const { label } = byNumber(graph).get(number);
  const alone = label && graph.nodes.filter((node) => node.label === label).length === 1;
  return alone ? label : signOf(graph, number);
}

/** `w * x`, `tanh(#4)`, `(-2) ** 2`, with what `spell` writes for each operand. */
export function expression({ op, operands }, spell) {
  const [first, ...rest] = operands.map(spell);
  if (/^\w/.test(op)) return `${op}(${[first, ...rest].join(", ")})`;
  return [op === "**" ? bracket(first) : first, ...rest.map(bracket)].join(` ${op} `);
}

const inNames = (graph, node) =>
  expression(node, ({ node: n, constant }) => constant ?? nameOf(graph, n));
const inValues = (graph, node) =>
  expression(node, ({ node: n, constant }) => constant ?? byNumber(graph).get(n).value);

/** #4 or `w`, as a sentence points to a node. */
function short(graph, number) {
  const sign = signOf(graph, number);
  return isNumbered(graph, byNumber(graph).get(number)) ? sign : `\`${sign}\``;
}

/** #4 `f`, #3 (`w * x`) or #0 `w`, as a sentence mentions a node; a leaf of torch is `w`. */
function mention(graph, number) {
  const node = byNumber(graph).get(number);
  if (!isNumbered(graph, node)) return [short(graph, number), short(graph, number)];
  const label = node.label ? ` \`${node.label}\`` : "";
  const made = node.op && !node.label ? inNames(graph, node) : "";
  return [`#${number}${label}${made && `（\`${made}\`）`}`,
    `#${number}${label}${made && ` (\`${made}\`)`}`];
}

export const LABELS = {
  stepper: ["逐步看计算图", "Computation graph, step by step"],
  graph: ["计算图，内容与下面的表相同", "Computation graph; the table below says the same"],
  text: ["自己写一个表达式（先给叶子赋值，用 `;` 隔开）",
    "Your own expression (give each leaf a value first; separate with `;`)"],
  examples: ["例子", "Examples"],
  given: ["原来的图", "original graph"],
  stale: ["下面画的仍是上一个能读懂的图。", "The picture below still shows the last graph that could be read."],
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
  numberInTorch: ["运算建成的先后", "order in which the operations were created"],
  local: ["局部导数", "local derivative"],
  nothing: ["不传梯度", "nothing flows"],
  unknown: ["没有节点存下这个值", "no node keeps this value"],
  operands: ["操作数", "operands"],
  digits: ["小数取 4 位有效数字", "decimals to 4 significant digits"],
};
export const MARKS = {
  now: ["▶", "当前", "now"],
  next: ["●", "下一个", "next"],
  ready: ["○", "就绪", "ready"],
  done: ["✓", "", ""],
};
export const HEAD = [["节点", "node"], ["名字", "label"], ["运算", "op"],
  ["操作数 × 局部导数", "operand × local derivative"], ["值", "value"]];

const WORDS = {
  forward(graph, step) {
    const node = byNumber(graph).get(step.node), [zh, en] = mention(graph, step.node);
    if (graph.engine) return recorded(graph, node);
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
    if (graph.engine) {
      return [`开始：引擎把 **${step.grad}** 交给 ${zh}，也就是结果对自己的导数。`,
        `Start: the engine hands **${step.grad}**, the derivative of the result with respect to`
        + ` itself, to ${en}.`];
    }
    return [`开始：所有 grad 先置 0，再把 ${zh} 的 grad 置为 **${step.grad}**，也就是对自己的导数。`,
      `Start: every grad is set to 0, then the grad of ${en} to **${step.grad}**, its derivative`
      + " with respect to itself."];
  },
  take(graph, step) {
    const [zh, en] = mention(graph, step.node), ready = [step.node, ...step.ready];
    const isLeaf = (n) => !byNumber(graph).get(n).op, leaf = isLeaf(step.node);
    if (graph.engine) return takenByTorch(graph, step, ready, isLeaf);
    const newest = step.node === Math.max(...ready);
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
    const sign = short(graph, to);
    const [then, next] = step.waiting
      ? [`${sign} 还差 ${step.waiting} 份。`,
        `${sign} still waits for ${step.waiting} contribution${step.waiting > 1 ? "s" : ""}.`]
      : [`${sign} 已收齐，就绪。`, `${sign} has received everything and is ready.`];
    if (graph.engine) return flowInTorch(step, [zh, en], [toZh, toEn], [then, next]);
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
      `\`${nameOf(graph, number)}\` **${nodes.get(number).grad ?? "None"}**`)).join(", ");
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

// ------------------------------------------------------------------ a graph that torch ran
function recorded(graph, node) {
  const [zh, en] = mention(graph, node.number);
  if (!node.op) {
    return [`叶子 ${zh}，值是 **${node.value}**。图里代表这个叶子的是一个 \`AccumulateGrad\` 节点。`,
      `Leaf ${en}: its value is **${node.value}**. An \`AccumulateGrad\` node stands for it in the`
      + " graph."];
  }
  const label = node.label && ` \`${node.label}\``, made = inNames(graph, node);
  const list = node.saved.map(([name, text]) => `\`${name}\` = ${text}`);
  const [value, its] = node.value === "?" ? ["没有节点存下结果的值 **?**。", "No node keeps its value **?**."]
    : [`值是 **${node.value}**。`, `Its value is **${node.value}**.`];
  return [`节点 #${node.number}${label}：\`${made}\`。${value}${
    list.length ? `为反向存下的张量：${list.join("，")}。` : "不为反向存任何张量。"}`,
  `Node #${node.number}${label}: \`${made}\`. ${its} ${
    list.length ? `Tensors saved for backward: ${list.join(", ")}.`
      : "It saves no tensor for backward."}`];
}

/** AccumulateGrad has the largest number there is, so a leaf never waits once it is ready. */
function takenByTorch(graph, step, ready, isLeaf) {
  const leaf = isLeaf(step.node), [zh, en] = runOf(graph, step.node, leaf);
  const list = (and) => ready.map((n) => short(graph, n)).join(and);
  const inner = ready.filter((n) => !isLeaf(n)), newest = step.node === Math.max(...ready);
  const [why, because] = leaf && inner.length
    ? ["`AccumulateGrad` 的编号最大，先走。", " `AccumulateGrad` has the largest number and goes first."]
    : !leaf && inner.length === ready.length && newest
      ? ["编号最大的建得最晚，先走。", " The largest number is newest and goes first."] : ["", ""];
  const [only, alone] = ready.length === 1
    ? [`只有 ${list()} 就绪。`, `Only ${list()} is ready.`]
    : [`就绪的有 ${list("、")}。${why}`, `Ready: ${list(", ")}.${because}`];
  return [`${only}运行 ${zh}，收到的梯度是 **${step.grad}**。${leaf ? "这份梯度加进叶子的 `.grad`。" : ""}`,
    `${alone} Run ${en}: the gradient it receives is **${step.grad}**.`
    + `${leaf ? " It adds this to the \`.grad\` of the leaf." : ""}`];
}

/** The node that runs; a leaf has one that stands for it. */
function runOf(graph, number, leaf) {
  if (!leaf || !byNumber(graph).get(number).label) return mention(graph, number);
  const name = short(graph, number);
  return [`${name} 的 \`AccumulateGrad\``, `the \`AccumulateGrad\` of ${name}`];
}

function flowInTorch(step, [zh, en], [toZh, toEn], [then, next]) {
  if (step.flow === null) {
    const [still, stays] = step.after === null ? ["还没有梯度", "has no gradient yet"]
      : [`的梯度还是 **${step.after}**`, `keeps the gradient **${step.after}**`];
    return [`节点 ${zh}：返回 \`None\`，不传梯度，${toZh} ${still}。${then}`,
      `Node ${en} returns \`None\`: nothing flows, and ${toEn} ${stays}. ${next}`];
  }
  const [sum, total] = step.before === null ? ["这是第一份", "the first to arrive"]
    : [1, 1].fill(`${step.before} + ${bracket(step.flow)} = **${step.after}**`);
  return [`节点 ${zh}：收到 ${step.grad}，返回 **${step.flow}** → 交给 ${toZh}：${sum}。${then}`,
    `Node ${en} receives ${step.grad} and returns **${step.flow}** → passed to ${toEn}: ${total}.`
    + ` ${next}`];
}

/** What step `k` does, in words and with its numbers: [Chinese, English]. */
export function describe(graph, k) {
  return WORDS[graph.steps[k].kind](graph, graph.steps[k]);
}

// ------------------------------------------------------------------ why a text is not read
const CALLABLE = NAMED.map((name) => `\`${name}\``);
const WANTED = {
  operand: ["一个数、一个名字、函数或 `(`", "a number, a name, a function or `(`"],
  end: ["运算符或 `;`", "an operator or `;`"],
  function: ["函数名", "the name of a function"],
};

const REFUSALS = {
  syntax: ({ want, found, at }) => {
    const [zh, en] = WANTED[want] ?? [`\`${want}\``, `\`${want}\``];
    return found ? [`第 ${at + 1} 个字符 \`${found}\` 读不懂，这里应是${zh}。`,
      `Cannot read \`${found}\` at character ${at + 1}; expected ${en} here.`]
      : [`还没写完，接下来应是${zh}。`, `Not finished: ${en} should come next.`];
  },
  caret: () => ["`^` 在 Python 里是按位异或；乘方写 `**`。",
    "In Python `^` is bitwise xor; write `**` for a power."],
  name: ({ name }) => [`\`${name}\` 还没有值，在前面写上 \`${name} = 1;\` 这样的一句。`,
    `\`${name}\` has no value yet: write something like \`${name} = 1;\` before it.`],
  taken: ({ name }) => [`\`${name}\` 在这里已有含义，换一个名字。`,
    `\`${name}\` has a meaning of its own here; use another name.`],
  function: ({ name }) => [`没有函数 \`${name}\`。能用的有：${CALLABLE.join("、")}。`,
    `There is no function \`${name}\` here. Use ${CALLABLE.join(", ")}.`],
  bare: ({ name }) => [`\`${name}\` 是函数，后面要有括号：\`${name}(…)\`。`,
    `\`${name}\` is a function: call it, as in \`${name}(…)\`.`],
  empty: () => ["写一个表达式，例如 `a = 2; a * a`。", "Write an expression, such as `a = 2; a * a`."],
  number: () => ["结果只是一个数，没有叶子可求导；先写 `a = 2`，再用 `a`。",
    "The result is a plain number without a leaf: write `a = 2` first, then use `a`."],
  many: ({ n }) => [`这个图有 ${n} 个节点，这里最多画 ${LIMIT} 个。`,
    `This graph has ${n} nodes; at most ${LIMIT} can be shown here.`],
  long: ({ most }) => [`最多 ${most} 个字符。`, `At most ${most} characters can be read here.`],
};

export const refusalWords = (error) => REFUSALS[error.code](error);
