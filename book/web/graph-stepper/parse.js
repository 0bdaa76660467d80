// Statements as one writes them in Python, computed while they are read, without `eval`:
//   a = 2; b = -3; c = (a * b + a).tanh(); c * exp(b) ** 2
// Every number is a float. A name that gets a number is a leaf; one that gets an expression labels
// its node. The last statement is the root.
import { tokensOf } from "../widget/tokens.js";
import { LIMIT, NAMED, Scalar, binary, nodesBelow, unary } from "./scalar.js";

const LENGTH = 400; // characters: brackets cannot nest deep enough to exhaust the stack
const NUMBERS = { inf: Infinity, nan: NaN };
const TOKEN = /\s*?(?:(?<line>\n)|(?<digits>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?<name>[A-Za-z_]\w*)|\*\*|[^\s\w])/guy;
const SIGNS = { "×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "。": ".", "　": " " };

/** Thrown where a text cannot be read; `reason` is {code, …}. */
class Unreadable extends Error {
  constructor(reason) {
    super(reason.code);
    this.reason = reason;
  }
}

/** Full-width letters, digits and punctuation as the half-width ones, sign by sign. */
const plain = (text) => text
  .replace(/[\uff01-\uff5e]/g, (c) => String.fromCharCode(c.charCodeAt() - 0xfee0))
  .replace(/[×·÷−–。\u3000]/g, (c) => SIGNS[c]);

class Reader {
  constructor(text) {
    this.tokens = tokensOf(text, TOKEN);
    this.next = 0;
    this.names = new Map();
  }

  get token() { return this.tokens[this.next]; }

  is(text) { return this.token?.text === text; }

  skip(text) {
    if (!this.is(text)) return false;
    this.next++;
    return true;
  }

  /** `want` is a token or one of operand, end, call, function. */
  fail(want) {
    const { text, at, line } = this.token ?? {};
    if (text === "^") this.refuse("caret");
    this.refuse("syntax", { want, found: line ? undefined : text, at });
  }

  refuse(code, more) { throw new Unreadable({ code, ...more }); }

  expect(text) { if (!this.skip(text)) this.fail(text); }

  program() {
    let root;
    while (this.token) {
      if (this.skip(";")) continue;
      root = this.statement();
      if (this.token && !this.is(";")) this.fail("end");
    }
    return root;
  }

  /** A number that gets a name becomes a leaf; a node gets its first name as its label. */
  statement() {
    const name = this.token.name;
    if (!name || this.tokens[this.next + 1]?.text !== "=") return this.sum();
    if (NAMED.includes(name) || Object.hasOwn(NUMBERS, name)) this.refuse("taken", { name });
    this.next += 2;
    const made = this.sum();
    const value = made instanceof Scalar ? made : new Scalar(made);
    value.label ||= name;
    this.names.set(name, value);
    return value;
  }

  sum() { return this.leftToRight(["+", "-"], () => this.product()); }

  product() { return this.leftToRight(["*", "/"], () => this.signed()); }

  leftToRight(signs, part) {
    let left = part();
    for (let op; (op = signs.find((sign) => this.skip(sign))); ) left = binary(op, left, part());
    return left;
  }

  /** The sign binds more loosely than `**` on its right and more tightly than one on its left. */
  signed() {
    if (this.skip("-")) return unary("neg", this.signed());
    const base = this.called();
    if (this.skip("²")) return binary("**", base, 2);
    if (this.skip("³")) return binary("**", base, 3);
    return this.skip("**") ? binary("**", base, this.signed()) : base;
  }

  called() {
    let value = this.operand();
    while (this.skip(".")) {
      const name = this.token?.name;
      if (!name) this.fail("function");
      if (!NAMED.includes(name)) this.refuse("function", { name });
      this.next++;
      this.expect("(");
      this.expect(")");
      value = unary(name, value);
    }
    return value;
  }

  operand() {
    const { digits, name, text } = this.token ?? {};
    if (text === "(") return this.bracketed();
    if (!digits && !name) this.fail("operand");
    this.next++;
    if (digits) return Number(digits);
    if (this.is("(")) return this.function(name);
    if (this.names.has(name)) return this.names.get(name);
    if (Object.hasOwn(NUMBERS, name)) return NUMBERS[name];
    return this.refuse(NAMED.includes(name) ? "bare" : "name", { name });
  }

  bracketed() {
    this.expect("(");
    const value = this.sum();
    this.expect(")");
    return value;
  }

  function(name) {
    if (!NAMED.includes(name)) this.refuse("function", { name });
    return unary(name, this.bracketed());
  }
}

/** {nodes} of the last statement, exact as in scalar.js, or {error: {code, …}}. */
export function typed(text) {
  try {
    if (text.length > LENGTH) return { error: { code: "long", most: LENGTH } };
    const root = new Reader(plain(text)).program();
    if (root === undefined) return { error: { code: "empty" } };
    if (!(root instanceof Scalar)) return { error: { code: "number" } };
    const nodes = nodesBelow(root);
    return nodes.length > LIMIT ? { error: { code: "many", n: nodes.length } } : { nodes };
  } catch (error) {
    if (error instanceof Unreadable) return { error: error.reason };
    throw error;
  }
}

// ------------------------------------------------------------------ and back to text
const PLACES = { "+": 1, "-": 1, "*": 2, "/": 2, neg: 3, "**": 4 };

/** The statements that make these nodes, or "" where no text makes exactly them. */
export function textOf(nodes) {
  const uses = nodes.flatMap(({ operands }) => operands.map(({ node }) => node));
  const named = ({ number, op, label }) => (
    !op || label || uses.filter((n) => n === number).length > 1);
  const spelled = (n) => (named(nodes[n]) ? [nodes[n].label, 5] : inWords(nodes[n], part));
  const part = (o) => ("node" in o ? spelled(o.node) : [numberText(o.constant), 5]);
  const lines = nodes.filter((node, n) => named(node) || n === nodes.length - 1).map((node) => {
    const [words] = node.op ? inWords(node, part) : [numberText(node.value)];
    return node.label ? `${node.label} = ${words}` : words;
  });
  const text = lines.join("; ");
  return readable(typed(text).nodes) === readable(nodes) ? text : "";
}

/** As JSON, in which infinities, nan and -0 are texts. */
export const readable = (nodes) => JSON.stringify(nodes, (_, value) => (
  typeof value === "number" ? numberText(value) : value));

export const numberText = (x) => (Object.is(x, -0) ? "-0.0" : Number.isNaN(x) ? "nan"
  : String(x).replace("Infinity", "inf"));

/** [text, how tightly it binds] of an operation on what `part` writes for each operand. */
function inWords({ op, operands }, part) {
  const parts = operands.map(part), place = PLACES[op];
  const within = ([text, binds], least) => (
    binds < least || (text.startsWith("-") && least > 1) ? `(${text})` : text);
  if (!place) return [`${within(parts[0], 5)}.${op}()`, 5];
  if (op === "neg") return [`-${within(parts[0], 4)}`, place];
  const [left, right] = parts, power = op === "**";
  const [x, y] = [within(left, power ? 5 : place), within(right, power ? 4 : place + 1)];
  return [`${x} ${op} ${y}`, place];
}
