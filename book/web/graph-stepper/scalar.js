// `Scalar` of code/pytorch_deep_dive.py once more, for expressions that a reader types: the same
// values, local derivatives and nodes, in the same order. Python's float division and its math
// functions raise where JavaScript's answer inf or nan, as IEEE 754 and torch do.

export const LIMIT = 24; // nodes that a reader can still follow one by one

let creation = 0;

/** One node. `operands`: {node, local} or {constant}; `local` is null where nothing flows. */
export class Scalar {
  constructor(value, op = "", operands = [], label = "") {
    Object.assign(this, { number: creation++, label, op, value, operands });
  }
}

const operand = (x, local) => (x instanceof Scalar ? { node: x, local } : { constant: x });
const worth = (x) => (x instanceof Scalar ? x.value : x);

/** `g` times a local derivative; one kept as {over: y} is a division, the engine's Over. */
export const times = (g, local) => (typeof local === "object" ? g / local.over : g * local);

// ------------------------------------------------------------------ arithmetic
const log = (x) => (x === 0 ? -Infinity : Math.log(x));

/** As C has it, and Python: 1 to any power is 1, and so is (-1) to an infinite one. */
const power = (x, n) => (x === 1 || (x === -1 && Math.abs(n) === Infinity) ? 1 : x ** n);

/** x ** n as torch has it for a number n: -0.0 ** 0.5 is -0.0, where pow gives 0.0. */
function powerByNumber(x, n) {
  if (n === -0.5 || n === -1 || n === -2) return 1 / powerByNumber(x, -n);
  if (n === 0.5) return Math.sqrt(x);
  if (n === 1 || n === 2 || n === 3) return n === 1 ? x : n === 2 ? x * x : x * x * x;
  return power(x, n);
}

// Each rule answers [value, derivative by the left, derivative by the right].
const RULES = {
  "+": (x, y) => [x + y, 1, 1],
  "-": (x, y) => [x - y, 1, -1],
  "*": (x, y) => [x * y, y, x],
  "/": (x, y) => [x / y, { over: y }, -(x / y / y)],
};

function powerRule(x, n) {
  const y = power(x, n);
  return [y, n === 0 ? null : n * power(x, n - 1), x === 0 && n >= 0 ? 0 : y * log(x)];
}

const powerOfNode = (x, n) => (
  [powerByNumber(x, n), n === 0 ? null : n * powerByNumber(x, n - 1), null]);

function powerOfNumber(c, n) {
  const y = power(c, n);
  return [y, null, c === 0 && n >= 0 ? 0 : y * log(c)];
}

// Each answers [value, derivative].
const FUNCTIONS = {
  neg: (x) => [-x, -1],
  reciprocal: (x) => [1 / x, -(1 / x * (1 / x))],
  relu: (x) => [x < 0 ? 0 : x, x <= 0 ? null : 1],
  tanh: (x) => { const t = Math.tanh(x); return [t, (1 - t) * (1 + t)]; },
  sigmoid: (x) => { const s = 1 / (1 + Math.exp(-x)); return [s, (1 - s) * s]; },
  exp: (x) => [Math.exp(x), Math.exp(x)],
  log: (x) => [log(x), { over: x }],
};
export const NAMED = Object.keys(FUNCTIONS).filter((name) => name !== "neg");

// ------------------------------------------------------------------ operations
/** One operation on Scalars and numbers; of numbers alone it is a number. */
export function binary(op, x, y) {
  const left = x instanceof Scalar, right = y instanceof Scalar;
  if (right && !left && "+*".includes(op)) return binary(op, y, x); // as __radd__ and __rmul__
  if (right && !left && op === "/") return binary("*", unary("reciprocal", y), x);
  const rule = op !== "**" ? RULES[op]
    : left === right ? powerRule : left ? powerOfNode : powerOfNumber;
  const [value, byLeft, byRight] = rule(worth(x), worth(y));
  return left || right ? new Scalar(value, op, [operand(x, byLeft), operand(y, byRight)]) : value;
}

export function unary(op, x) {
  const [value, local] = FUNCTIONS[op](worth(x));
  return x instanceof Scalar ? new Scalar(value, op, [operand(x, local)]) : value;
}

/** The nodes below `root` as plain objects, oldest first, numbered from 0. */
export function nodesBelow(root) {
  const found = new Set([root]);
  for (const scalar of found) {
    for (const { node } of scalar.operands) if (node) found.add(node);
  }
  const made = [...found].sort((a, b) => a.number - b.number);
  const place = new Map(made.map((scalar, n) => [scalar, n]));
  return made.map(({ label, op, value, operands }, number) => ({
    number, label, op, value,
    operands: operands.map((o) => (o.node ? { ...o, node: place.get(o.node) } : o)),
  }));
}
