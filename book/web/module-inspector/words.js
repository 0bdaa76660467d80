// Every word of the inspector, as pairs [Chinese, English].
export const KINDS = {
  parameter: ["参数", "parameter"],
  frozen: ["参数，`requires_grad=False`", "parameter, `requires_grad=False`"],
  buffer: ["buffer，进 `state_dict`", "buffer, in `state_dict`"],
  "non-persistent": ["buffer，不进 `state_dict`", "buffer, not in `state_dict`"],
  unregistered: ["没有注册", "not registered"],
};
export const LABELS = {
  inspector: ["模块检视器", "Module inspector"],
  text: ["自己写一个模型", "A model of your own"],
  hint: ["按一个列表，看模型的哪些张量在里面。", "Press a list to see which of the model's tensors are in it."],
  shape: ["输入的形状", "shape of the input"],
  examples: ["例子", "Examples"],
  given: ["本页的模型", "this page's"],
  lists: ["这个列表里有什么", "What is in this list"],
  tree: ["模型持有什么", "What the model holds"],
  calls: ["一次前向里的调用", "The calls of one forward pass"],
  first: ["回到开头", "Start"],
  previous: ["上一步", "Previous step"],
  next: ["下一步", "Next"],
  last: ["走到最后", "End"],
  slider: ["步骤", "Step"],
  stale: ["下面还是上一个合得上的模型，一步步走的也是它，不是你刚写的。",
    "What stands below, its steps included, is still the last model that fitted, not what you typed."],
  old: ["上一个合得上的模型，不是你刚写的：", "The last model that fitted, not what you typed:"],
  layers: ["可以写哪些层", "Layers you can type"],
  module: ["同一个模块：", "one module:"],
  tensor: ["同一个张量：", "one tensor:"],
  storage: ["共用一块存储：", "on one storage:"],
  ...Object.fromEntries(Object.entries(KINDS).map(([kind, pair]) => [`kind-${kind}`, pair])),
};
export const HEAD = {
  name: ["名字", "name"], shape: ["形状", "shape"], bytes: ["字节", "bytes"],
  shared: ["共用", "shared"], listed: ["在列", "listed"],
  called: ["模块", "module"], received: ["收到", "received"], returned: ["返回", "returned"],
};

// ------------------------------------------------------------------ the four lists
export const LISTS = { p: "parameters()", b: "buffers()", t: "to(…)", s: "state_dict()" };
const number = (n) => n.toLocaleString("en");
const tensors = (n) => `${n} tensor${n === 1 ? "" : "s"}`;
const SAME = ["标 = 的就是前面出现过的那个张量，不重复算。", " What is marked = is a tensor from further up, not counted again."];
const MISSED = ["标 ✗ 的不在里面。", " What is marked ✗ isn't in it."];
const LEFT = ["标 ✗ 的留在原处。", " What is marked ✗ stays where it is."];

/** What a list holds; `marks` are those that occur in the tree. */
export function listWords(list, [n, bytes], marks) {
  const said = {
    p: [`\`parameters()\` 给出 ${n} 个张量，背后的存储共 ${number(bytes)} 字节。优化器拿到的就是它们。`,
      `\`parameters()\` yields ${tensors(n)}, on ${number(bytes)} bytes of storage. ${n === 1 ? "It's" : "They're"} what you hand to the optimizer.`],
    b: [`\`buffers()\` 给出 ${n} 个张量，背后的存储共 ${number(bytes)} 字节。它们跟着模型走，但是优化器不更新它们。`,
      `\`buffers()\` yields ${tensors(n)}, on ${number(bytes)} bytes of storage. ${n === 1 ? "It goes" : "They go"} where the model goes, but no optimizer updates ${n === 1 ? "it" : "them"}.`],
    t: [`\`to\` 搬参数，也搬 buffer，一共 ${n} 个张量、${number(bytes)} 字节。`,
      `\`to\` moves parameters and buffers: ${tensors(n)}, ${number(bytes)} bytes.`],
    s: [`\`state_dict()\` 有 ${n} 项，一个名字一项；背后的存储共 ${number(bytes)} 字节，各算一次。`,
      n === 1 ? `\`state_dict()\` has 1 entry. Its storage has ${number(bytes)} bytes.`
        : `\`state_dict()\` has ${n} entries, one for each name. Their storages, each counted once, have ${number(bytes)} bytes.`],
  }[list];
  const more = [...(marks.has("=") ? [SAME] : []),
    ...(marks.has("✗") ? [list === "t" ? LEFT : MISSED] : [])];
  return [0, 1].map((k) => said[k] + more.map((pair) => pair[k]).join(""));
}

// ------------------------------------------------------------------ the steps
const title = ({ path, type }) => `\`${path || type}\``;
const kindOf = ({ path, type }) => (path ? [`（\`${type}\`）`, ` (\`${type}\`)`] : ["", ""]);

/** What happens at a step; `more` is {caller, turn, row}, the turn being how often it was called. */
export function stepWords(call, kind, { caller, turn, row }) {
  const name = title(call), [zhKind, enKind] = kindOf(call), by = caller && title(caller);
  const { received, returned, values } = call, calls = kind === "leaf" ? "" : kind;
  const said = {
    enter: [`${by ? `${by} 调用` : "你调用"} ${name}${zhKind}，传入 \`${received}\`。它的 \`forward\` 还要调用别的模块。`,
      `${by ?? "You"} call${by ? "s" : ""} ${name}${enKind} with \`${received}\`. Its \`forward\` calls other modules in turn.`],
    "": [`${by ? `${by} 调用` : "你调用"} ${name}${zhKind}：${received === returned
      ? `形状不变，还是 \`${returned}\`` : `\`${received}\` 变成 \`${returned}\``}。`,
    `${by ?? "You"} call${by ? "s" : ""} ${name}${enKind}: ${received === returned
      ? `the shape stays \`${returned}\`` : `\`${received}\` becomes \`${returned}\``}.`],
    return: by ? [`${name} 把 \`${returned}\` 返回给 ${by}。`, `${name} returns \`${returned}\` to ${by}.`]
      : [`${name} 返回 \`${returned}\`，前向结束。`,
        `${name} returns \`${returned}\`, and the forward pass is over.`],
  }[calls];
  const more = [];
  if (kind !== "return" && turn > 1) {
    more.push([`这是同一个模块第 ${turn} 次被调用，参数还是那一份。`,
      `This is call ${turn} of the same module, with the same parameters.`]);
  }
  if (kind !== "return" && row?.kind === "unregistered") {
    more.push(["它没有注册，可是照样能调用，所以这一步看不出错。",
      "It isn't registered, yet it can be called all the same, so nothing looks wrong here."]);
  }
  if (row?.hooks?.length) {
    const list = row.hooks.map(([kind_, n]) => `\`${kind_}\` ×${n}`);
    more.push([`它身上有钩子：${list.join("、")}。`, `It carries hooks: ${list.join(", ")}.`]);
  }
  if (kind !== "enter" && values) more.push([`开头几个值：\`${values}\``, `First values: \`${values}\``]);
  return [said[0] + more.map(([zh]) => zh).join(""), [said[1], ...more.map(([, en]) => en)].join(" ")];
}

// ------------------------------------------------------------------ what does not fit
const WANTS = {
  layer: ["一层，比如 `Linear(4, 8)`", "a layer such as `Linear(4, 8)`"],
  value: ["一个数、一个元组、`True`、`False` 或 `None`", "a number, a tuple, `True`, `False` or `None`"],
  named: ["带名字的参数，因为前面已经有带名字的", "a named argument, because one came before"],
  end: ["`;` 或者换行", "`;` or a new line"],
};
const FORMS = {
  count: ["至少是 1 的整数", "a whole number from 1"],
  pair: ["至少是 1 的整数，或者两个这样的数", "a whole number from 1, or two of them"],
  pads: ["不小于 0 的整数，或者两个这样的数", "a whole number from 0, or two of them"],
  int: ["整数", "a whole number"], number: ["数", "a number"],
  dims: ["至少是 1 的整数，或者它们的元组", "a whole number from 1, or a tuple of them"],
  flag: ["`True` 或 `False`", "`True` or `False`"], share: ["0 到 1 之间的数", "a number from 0 to 1"],
};
const tuple = (shape) => `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
const named = (list) => list.map((name) => `\`${name}\``).join(", ");

/** Of a layer that got a shape: what it wanted. */
const FIT = {
  last: ({ n }) => [`最后一维的长度应该是 ${n}`, `it wants a last dimension of size ${n}`],
  dims: ({ counts }) => [`它只收 ${counts.join(" 或 ")} 维张量`,
    `it wants a tensor of ${counts.join(" or ")} dimensions`],
  channels: ({ n, dim }) => [`\`dim=${dim}\` 的长度应该是 ${n}`, `it wants size ${n} at \`dim=${dim}\``],
  tail: ({ tail }) => [`最后几维应该是 \`${tuple(tail)}\``, `it wants a shape that ends in \`${tuple(tail)}\``],
  kernel: ({ kernel, padding }) => [
    `高和宽加上 padding \`${tuple(padding)}\`，装不下 \`${tuple(kernel)}\` 的窗口`,
    `with padding \`${tuple(padding)}\`, height and width must hold a window of \`${tuple(kernel)}\``],
  half: ({ kernel }) => [`padding 不能超过窗口 \`${tuple(kernel)}\` 的一半`,
    `its padding may be at most half of the window \`${tuple(kernel)}\``],
  one: () => ["训练模式下，每个通道要有不止一个值才能求方差",
    "in training it needs more than one value per channel for a variance"],
  ints: () => ["它要的是整数下标，所以只能最先调用", "it wants integer indices, so it has to be called first"],
  range: ({ dim }) => [`没有 \`dim=${dim}\``, `there is no \`dim=${dim}\``],
  order: ({ from, to }) => [`\`start_dim=${from}\` 落在 \`end_dim=${to}\` 后面`,
    `\`start_dim=${from}\` comes after \`end_dim=${to}\``],
  large: ({ most }) => [`结果超过 ${number(most)} 个元素，这里装不下`,
    `its result has more than ${number(most)} elements, too many for this page`],
};

const REFUSALS = {
  syntax: ({ want, found, at }) => {
    const [zh, en] = WANTS[want] ?? [0, 1].map((k) => want.split(" ").map((sign) => `\`${sign}\``).join(
      k ? " or " : " 或 "));
    return found === undefined ? [`写到这里还缺${zh}。`, `It ends too early: ${en} is missing.`]
      : [`第 ${at + 1} 个字符 \`${found}\` 这里应该是${zh}。`,
        `At character ${at + 1} there is \`${found}\`, where ${en} belongs.`];
  },
  empty: () => ["这里写一个模型，比如 `Sequential(Linear(4, 8), ReLU())`。",
    "Write a model, for example `Sequential(Linear(4, 8), ReLU())`."],
  long: ({ most }) => [`最多写 ${most} 个字符。`, `At most ${most} characters.`],
  name: ({ name }) => [`\`${name}\` 还没有定义；写成 \`${name}(…)\`，或者先写 \`${name} = Linear(4, 4);\`。`,
    `\`${name}\` isn't defined; write \`${name}(…)\`, or \`${name} = Linear(4, 4);\` before it.`],
  layer: ({ type }) => [`这里没有 \`${type}\`；有 `, `There is no \`${type}\` here; there are `],
  uncalled: ({ type }) => [`\`${type}\` 没有 \`forward\`，不能调用；要让几层接着跑，写成 \`Sequential(…)\`。`,
    `\`${type}\` has no \`forward\`, so it can't be called. To run layers in turn, write \`Sequential(…)\`.`],
  many: ({ type, most }) => [`\`${type}\` 在这里最多收 ${most} 个参数。`,
    `Here \`${type}\` takes at most ${most} arguments.`],
  unknown: ({ type, key, names }) => [`\`${type}\` 不收 \`${key}\`${names.length ? `；还可以写 ${named(names)}` : ""}。`,
    `\`${type}\` doesn't take \`${key}\`${names.length ? `; it still takes ${named(names)}` : ""}.`],
  missing: ({ type, key }) => [`\`${type}\` 还缺 \`${key}\`。`, `\`${type}\` needs \`${key}\`.`],
  value: ({ type, key, kind }) => [`\`${type}\` 的 \`${key}\` 应该是${FORMS[kind][0]}。`,
    `\`${key}\` of \`${type}\` has to be ${FORMS[kind][1]}.`],
  groups: ({ groups, i, o }) => [`\`Conv2d\` 的 \`groups=${groups}\` 要同时整除 ${i} 和 ${o}。`,
    `\`groups=${groups}\` of \`Conv2d\` has to divide both ${i} and ${o}.`],
  padding: ({ n }) => [`\`Embedding\` 的 \`padding_idx\` 要落在 ${n} 行之内。`,
    `\`padding_idx\` of \`Embedding\` has to be one of its ${n} rows.`],
  shape: () => ["输入的形状写成 `(2, 4)` 这样，每个长度至少是 1。",
    "Write the shape of the input like `(2, 4)`, every size at least 1."],
  large: ({ most }) => [`超过 ${number(most)} 个元素，这里装不下。`,
    `More than ${number(most)} elements are too many for this page.`],
  modules: ({ most }) => [`最多 ${most} 个模块。`, `At most ${most} modules.`],
  calls: ({ most }) => [`最多 ${most} 次调用。`, `At most ${most} calls.`],
};

/** Why a typed model is refused: which layer, what came, what it wanted. */
export function refusalWords(reason, layers) {
  const { code, call, type } = reason;
  if (call && FIT[code]) {
    const [zh, en] = FIT[code](reason), layer = `\`${call.path ? `${call.path}: ` : ""}${call.type}\``;
    return [`${layer} 收到 \`${call.received}\`，但是${zh}。`, `${layer} got \`${call.received}\`, but ${en}.`];
  }
  const [zh, en] = REFUSALS[code](reason);
  return code !== "layer" || !type ? [zh, en]
    : [`${zh}${named(layers)}。`, `${en}${named(layers)}.`];
}
