// Every word of the explorer, as pairs [Chinese, English].
import {
  DIMS, LIMIT, address, channelsLast, contiguity, numel, readers,
} from "./layout.js";
import { METHODS } from "./operations.js";
import { plural, tuple } from "./text.js";

export const at = (index) => `\`t[${index.join(", ") || "()"}]\``;
const list = (indexes) =>
  indexes.slice(0, 8).map(at).join(", ") + (indexes.length > 8 ? " …" : "");
const has = (dims) => `has ${plural(dims, "dimension")}`;

export const LABELS = {
  explorer: ["步长浏览器", "Stride explorer"],
  presets: ["现成的链", "Ready-made chains"],
  chain: ["一串操作，像写 Python 那样", "A chain of operations, as in Python"],
  size: ["`x` 的长度", "length of `x`"],
  steps: ["每一步（点一步，看那时的张量）", "Each step (tap one to see the tensor then)"],
  stepList: ["每一步", "Steps of the chain"],
  byHand: ["也可以自己填（相当于 `as_strided`）", "Or set the numbers yourself (as with `as_strided`)"],
  shape: ["形状", "shape"],
  offset: ["存储偏移", "storage offset"],
  tensor: ["张量（数字是存储格的编号）", "Tensor (showing storage cell numbers)"],
  storage: ["存储", "Storage"],
  empty: ["空张量：没有元素，不读存储", "An empty tensor: no elements, no storage cell is read"],
  unused: ["没有元素读", "not read by any element"],
  shared: ["n 个元素读同一格", "read by n elements"],
  keys: ["悬停、点击，或用方向键移动", "Hover, click, or use the arrow keys"],
  bytes: ["字节", "Bytes"],
  itemsize: ["每个元素几字节", "bytes per element"],
  byte: ["字节地址", "byte address"],
  stale: ["下面画的仍是上一个合法设置。", "The picture below still shows the last valid setting."],
  contiguous: ["连续", "Contiguous"],
  overlap: ["重叠", "Overlap"],
  gaps: ["未用的格", "Unused cells"],
  memory: ["占多少字节", "Size in bytes"],
};

export const KINDS = {
  new: ["新建", "new"],
  view: ["视图", "view"],
  copy: ["复制", "copy"],
  self: ["原张量", "itself"],
  refused: ["拒绝", "refused"],
};

/** The heading of the storage says whose it is. */
export const storageWords = ({ size, by }) => (by
  ? [`新存储，\`${by}\` 把数据复制到这里：${size} 格（小字是格里的值）`,
    `A new storage, filled by \`${by}\`: ${plural(size, "cell")} (small numbers: the values)`]
  : [`存储：${size} 格`, `Storage: ${plural(size, "cell")}`]);

// ------------------------------------------------------------------ what is refused, and why
const WANTED = {
  value: ["一个整数、元组或切片", "a whole number, a tuple or a slice"],
  whole: ["一个整数", "a whole number"],
  name: ["一个操作名", "the name of an operation"],
  operation: ["`.操作(…)` 或 `[…]`", "`.operation(…)` or `[…]`"],
};

const REFUSALS = {
  // the text
  syntax: ({ want, found, at: place }) => {
    const tokens = want.split(" ").map((token) => `\`${token}\``);
    const [zh, en] = WANTED[want] ?? [tokens.join(" 或 "), tokens.join(" or ")];
    return found ? [`第 ${place + 1} 个字符 \`${found}\` 读不懂，这里应是${zh}。`,
      `Cannot read \`${found}\` at character ${place + 1}; expected ${en} here.`]
      : [`还没写完，接下来应是${zh}。`, `Not finished: ${en} should come next.`];
  },
  unknown: ({ name }) => [
    `没有 \`${name}\`。能用的有：\`[…]\`、\`T\`、\`mT\`、${Object.keys(METHODS).join("、")}。`,
    `\`${name}\` is not known here. Use \`[…]\`, \`T\`, \`mT\`, `
    + `${Object.keys(METHODS).join(", ")}.`],
  usage: ({ usage }) => {
    const [zh, en] = usage.includes("*")
      ? ["（`*` 可以是几个整数或一个元组）", " (`*`: several ints or one tuple)"] : ["", ""];
    return [`参数不对，写法是 \`${usage}\`${zh}。`, `These arguments do not fit \`${usage}\`${en}.`];
  },
  call: ({ usage }) => [`要加括号：\`${usage}\`。`, `Call it, with brackets: \`${usage}\`.`],
  property: ({ name }) => [`\`${name}\` 是属性，不加括号。`,
    `\`${name}\` is a property: write it without brackets.`],
  slice: () => ["切片的冒号两边只能是整数，或者空着。",
    "Each side of a colon in a slice must be a whole number or empty."],
  lists: () => ["用列表或元组作下标会复制数据，这里不画。",
    "Indexing with a list or tuple copies data and is not shown here."],
  length: ({ most }) => [`\`x\` 的长度取 0 到 ${most}。`,
    `The length of \`x\` must be from 0 to ${most}.`],
  long: ({ most }) => [`一条链最多 ${most} 步。`, `A chain can have at most ${most} steps.`],
  huge: ({ n, most }) => [`要复制 ${n} 个元素，这里最多 ${most} 个。`,
    `This would copy ${n} elements; at most ${most} can be copied here.`],
  // what this element does not draw
  dims: ({ dims }) => [`结果有 ${dims} 维，这里最多画 ${DIMS} 维。`,
    `The result ${has(dims)}; at most ${DIMS} can be drawn here.`],
  many: (e) => [`这里最多画 ${LIMIT} 个元素，这个形状有 ${e.n} 个。`,
    `At most ${LIMIT} elements can be drawn here; this shape has ${e.n}.`],
  size: ({ size }) => [`存储有 ${size} 格，这里画 0 到 ${LIMIT} 格。`,
    `The storage has ${plural(size, "cell")}; 0 to ${LIMIT} can be drawn here.`],
  // the fields
  shape: () => ["形状写几个整数，例如 `3, 4`、`(3, 4)` 或 `3x4`；0 维写 `()`。",
    "Write the shape as whole numbers, such as `3, 4`, `(3, 4)` or `3x4`; `()` has no dimensions."],
  whole: ({ field: name }) => {
    const [zh, en] = LABELS[name]
      ?? [`\`stride[${name.at(-1)}]\` `, `\`stride[${name.at(-1)}]\` value`];
    return [`${zh}要填一个整数。`, `The ${en} must be a whole number.`];
  },
  byte: ({ most }) => [`字节地址取 0 到 ${most} 的整数。`,
    `The byte address must be a whole number from 0 to ${most}.`],
  // as_strided
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
  // shapes
  negative: () => ["长度不能是负数（`-1` 有专门的含义，这里用不上）。",
    "A size cannot be negative (`-1` has a meaning of its own, which does not fit here)."],
  free: () => ["`-1` 只能写一个。", "Only one size can be `-1`."],
  ambiguous: () => ["张量是空的，其余长度之积是 0：`-1` 可以是任何数，推不出来。",
    "The tensor is empty and the other sizes multiply to 0: `-1` could be any number."],
  numel: ({ have, shape, rest }) => (shape.includes(-1)
    ? [`${have} 个元素，其余长度之积是 ${rest}，除不尽：\`-1\` 推不出来。`,
      `${plural(have, "element")} cannot be divided by ${rest}, the product of the other sizes.`]
    : [`有 ${have} 个元素，形状 \`${tuple(shape)}\` 要 ${rest} 个。`,
      `There are ${plural(have, "element")}; shape \`${tuple(shape)}\` needs ${rest}.`]),
  seam: ({ shape, dim, stride, want }) => [
    `要变成 \`${tuple(shape)}\`，得把 \`dim=${dim}\` 与它右边的维合起来走，`
    + `这要求 \`stride[${dim}]\` 是 ${want}，实际是 ${stride}。不复制办不到；\`reshape\` 会复制。`,
    `For \`${tuple(shape)}\`, \`dim=${dim}\` and the dimensions to its right must be walked as one,`
    + ` which needs \`stride[${dim}]\` to be ${want}; it is ${stride}.`
    + " Only a copy can do it: `reshape` makes one."],
  expandDims: ({ dims, got }) => [`张量有 ${dims} 维，只给了 ${got} 个长度：\`expand\` 不减少维数。`,
    `The tensor ${has(dims)} and you gave ${plural(got, "size")}: \`expand\` removes none.`],
  expand: ({ dim, old, want }) => [
    `\`dim=${dim}\` 的长度是 ${old}，不能扩展成 ${want}：只有长度为 1 的维能扩展。`,
    `\`dim=${dim}\` has size ${old} and cannot expand to ${want}: only size 1 can.`],
  leading: () => ["左边新增的维没有原来的长度，不能写 `-1`。",
    "A dimension added on the left has no size to keep, so it cannot be `-1`."],
  // dimensions and places
  dim: ({ dim, dims }) => [
    `没有 \`dim=${dim}\`：这里有 ${dims} 维，dim 取 ${-Math.max(dims, 1)} 到 ${Math.max(dims - 1, 0)}。`,
    `There is no \`dim=${dim}\`: with ${plural(dims, "dimension")}, dim runs from`
    + ` ${-Math.max(dims, 1)} to ${Math.max(dims - 1, 0)}.`],
  twice: ({ dim }) => [`\`dim=${dim}\` 写了两次。`, `\`dim=${dim}\` is given twice.`],
  permute: ({ dims, got }) => [`张量有 ${dims} 维，要把每一维各写一次，这里写了 ${got} 个。`,
    `The tensor ${has(dims)}: give each dimension once; you gave ${got}.`],
  flat: ({ dims }) => [`\`t()\` 只用于 2 维以内，这里有 ${dims} 维；用 \`mT\` 或 \`transpose\`。`,
    `\`t()\` is for at most 2 dimensions; this tensor ${has(dims)}. Use \`mT\` or \`transpose\`.`],
  matrix: () => ["`mT` 转置最后两维，1 维张量没有。",
    "`mT` transposes the last two dimensions; a tensor of 1 dimension has only one."],
  order: ({ start, end }) => [`\`start_dim=${start}\` 排在 \`end_dim=${end}\` 后面了。`,
    `\`start_dim=${start}\` comes after \`end_dim=${end}\`.`],
  diagonal: ({ dim }) => [`对角线要两个不同的维，这里都是 \`dim=${dim}\`。`,
    `A diagonal needs two different dimensions; both are \`dim=${dim}\`.`],
  scalar: () => ["0 维张量没有可以取下标的维。", "A tensor of 0 dimensions cannot be indexed."],
  index: ({ index, dim, size }) => [`下标 ${index} 越界：\`dim=${dim}\` 的长度是 ${size}。`,
    `Index ${index} is out of range: \`dim=${dim}\` has size ${size}.`],
  indices: ({ got, dims }) => [`下标写了 ${got} 个，落在 ${dims} 维之外。`,
    `${plural(got, "index value")} in the brackets reach past ${plural(dims, "dimension")}.`],
  step: ({ step }) => [`切片的间隔不能是 ${step}，要大于 0；要倒序用 \`flip\`，数据会复制。`,
    `A slice cannot step by ${step}; the step must be above 0. To reverse, \`flip\` copies data.`],
  narrow: ({ start, length, size }) => [
    `从 ${start} 起取 ${length} 个，不在长度 ${size} 之内。`,
    `${plural(length, "element")} from ${start} on do not lie within size ${size}.`],
  window: ({ size, step, length }) => [
    `窗口 ${size}、每次前移 ${step}：窗口要在 0 到 ${length} 之间，前移至少 1。`,
    `Window ${size}, step ${step}: the window must be from 0 to ${length}, the step at least 1.`],
};

/** Why something was refused, with the step that was. */
export function refusalWords(error) {
  const [zh, en] = REFUSALS[error.code](error);
  return error.step ? [`\`${error.step}\`：${zh}`, `\`${error.step}\`: ${en}`] : [zh, en];
}

// ------------------------------------------------------------------ what can be said of a view
export function contiguityWords(view) {
  if (view.shape.includes(0)) {
    return ["**是**：空张量不论步长都算连续", "**Yes**: an empty tensor counts as contiguous,"
      + " whatever its strides"];
  }
  const c = contiguity(view), [zh, en] = c.contiguous
    ? ["**是**：每个步长都等于右边各维长度之积（长度为 1 的维不算）",
      "**Yes**: each stride is the product of the sizes to its right"
      + " (size-1 dimensions do not count)"]
    : [`**否**：\`dim=${c.dim}\` 的步长是 ${c.stride}，连续要求 ${c.want}（右边各维长度之积）`,
      `**No**: \`dim=${c.dim}\` has stride ${c.stride}; contiguity needs ${c.want},`
      + " the product of the sizes to its right"];
  if (view.shape.length !== 4) return [zh, en];
  const last = channelsLast(view);
  return [`${zh}。\`channels_last\`：**${last ? "是" : "否"}**`,
    `${en}. \`channels_last\`: **${last ? "yes" : "no"}**`];
}

export function overlapWords(view) {
  const cells = readers(view), n = numel(view.shape);
  const used = cells.filter((r) => r.length).length;
  if (used === n) {
    return n ? [`**无**：${n} 个元素，各占一格`,
      `**None**: ${plural(n, "element")}, each in a cell of its own`]
      : ["**无**：没有元素", "**None**: there are no elements"];
  }
  const cell = cells.findIndex((r) => r.length > 1), [a, b] = cells[cell];
  return [`**有**：${n} 个元素只用 ${used} 格，如 ${at(a)} 与 ${at(b)} 同在 ${cell} 号格`,
    `**Yes**: ${n} elements in ${plural(used, "cell")}; `
    + `${at(a)} and ${at(b)} share cell ${cell}`];
}

export function gapWords(view) {
  const free = readers(view).flatMap((r, a) => (r.length ? [] : [a]));
  if (!free.length) return ["**无**", "**None**"];
  const which = free.slice(0, 12).join(", ") + (free.length > 12 ? " …" : "");
  return [`**${free.length} / ${view.size}**：编号 ${which}`,
    `**${free.length} of ${view.size}**, by number: ${which}`];
}

export function memoryWords({ shape, offset, size }, itemsize) {
  const n = numel(shape), all = n * itemsize, whole = size * itemsize;
  return [`\`t.nbytes\` = ${n} × ${itemsize} = **${all}**，存储 ${size} × ${itemsize} = **${whole}**；`
    + `\`t.data_ptr()\` 在存储起点之后 ${offset} × ${itemsize} = **${offset * itemsize}** 字节`,
  `\`t.nbytes\` = ${n} × ${itemsize} = **${all}**, storage ${size} × ${itemsize} = **${whole}**; `
    + `\`t.data_ptr()\` is ${offset} × ${itemsize} = **${offset * itemsize}** bytes`
    + " into the storage"];
}

export function cellWords(cell, who, value) {
  const [zh, en] = value === undefined ? [`${cell} 号格`, `cell ${cell}`]
    : [`${cell} 号格，值 ${value}`, `cell ${cell}, value ${value}`];
  if (!who.length) return [`${zh}：没有元素读`, `${en}: not read by any element`];
  return [`${zh}：有 ${who.length} 个元素读，${list(who)}`,
    `${en}: read by ${plural(who.length, "element")}, ${list(who)}`];
}

/** Where a byte lies and to whom it belongs. */
export function byteWords(byte, itemsize, who) {
  const cell = Math.floor(byte / itemsize), inside = byte % itemsize;
  const [zh, en] = who.length ? [`属于 ${who.length} 个元素：${list(who)}`,
    `belongs to ${plural(who.length, "element")}: ${list(who)}`]
    : ["不属于任何元素", "belongs to no element"];
  return [`存储起点之后第 **${byte}** 字节：在 **${cell}** 号格（${byte} // ${itemsize} = ${cell}），`
    + `格内第 ${inside} 字节（从 0 数）；${zh}`,
  `Byte **${byte}** from the start of the storage: in cell **${cell}** `
    + `(${byte} // ${itemsize} = ${cell}), its byte ${inside} counting from 0; ${en}`];
}

/** The formula of the cell as [sign, words, numbers of this element], term by term. */
export function formula(index, { strides, offset }) {
  const terms = index.map((i, d) => (
    ["+", `${"ijklmn"[d]} × stride[${d}]`, `${i} × ${strides[d]}`]));
  return [["", "offset", offset], ...terms, ["=", "cell", address(index, strides, offset)]];
}

export const numbers = (index, view) =>
  formula(index, view).map(([sign, , number]) => `${sign} ${number}`).join(" ").trim();
