// A chain as one writes it in Python, read without evaluating anything:
//   x.view(3, 4).t()[1:, ::2]   with or without `x`, `t =` or `torch.arange(12)` in front.
// A value is a number, an array, null for None or ELLIPSIS; a slice is {start, stop, step}.
import { tokensOf } from "../widget/tokens.js";
import { halfWidth } from "./text.js";

export const ELLIPSIS = "...";
const TOKEN = /\s*(?:(?<digits>\d+)|(?<name>[A-Za-z_]\w*)|\.{3}|[^\s\w])/gy;

/** Thrown where a chain cannot be read or torch refuses a step; `reason` is {code, …}. */
export class Refusal extends Error {
  constructor(code, more) {
    super(code);
    this.reason = { code, ...more };
  }
}

export const refuse = (code, more) => { throw new Refusal(code, more); };

class Parser {
  constructor(text) {
    this.tokens = tokensOf(text, TOKEN);
    this.next = 0;
  }

  is(...texts) {
    return texts.every((text, k) => this.tokens[this.next + k]?.text === text);
  }

  /** Take these tokens if they are next. */
  skip(...texts) {
    if (!this.is(...texts)) return false;
    this.next += texts.length;
    return true;
  }

  /** Take this token; `or` is what the message offers besides. */
  expect(text, or = "") { if (!this.skip(text)) this.fail(`${text} ${or}`.trim()); }

  /** `want` is tokens with spaces between, or one of value, name, operation, whole. */
  fail(want, next = this.next) {
    const token = this.tokens[next];
    refuse("syntax", { want, found: token?.text, at: token?.at });
  }

  chain() {
    if (this.tokens[this.next]?.name && this.tokens[this.next + 1]?.text === "=") this.next += 2;
    let length = null;
    if (this.skip("torch", ".", "arange")) {
      this.expect("(");
      length = this.whole();
      this.skip(",");
      this.expect(")");
    } else if (!this.skip("x") && this.tokens[this.next]?.name) {
      return { length, steps: [this.call(), ...this.steps()] };
    }
    return { length, steps: this.steps() };
  }

  steps() {
    const steps = [];
    while (this.next < this.tokens.length) {
      if (this.skip(".")) steps.push(this.call());
      else if (this.skip("[")) steps.push({ name: "[]", args: this.subscript(), named: {} });
      else this.fail("operation");
    }
    return steps;
  }

  name() {
    const token = this.tokens[this.next];
    if (!token?.name) this.fail("name");
    this.next++;
    return token.name;
  }

  /** `view(3, 4)`, `transpose(dim0=0, dim1=1)`, or a property such as `T`, without args. */
  call() {
    const name = this.name();
    if (!this.skip("(")) return { name, named: {} };
    const args = [], named = Object.create(null); // which has no `__proto__` either
    while (!this.skip(")")) {
      const key = this.tokens[this.next + 1]?.text === "=" ? this.name() : null;
      if (key in named) this.fail("value", this.next - 1);
      if (key && this.skip("=")) named[key] = this.value();
      else args.push(this.value());
      if (!this.is(")")) this.expect(",", ")");
    }
    return { name, args, named };
  }

  value() {
    if (this.skip("None")) return null;
    if (this.skip(ELLIPSIS) || this.skip("Ellipsis")) return ELLIPSIS;
    if (this.skip("(")) return this.list(")");
    if (this.skip("[")) return this.list("]");
    return this.whole();
  }

  whole() {
    const minus = this.skip("-"), token = this.tokens[this.next];
    if (!/^(0+|[1-9]\d{0,8})$/.test(token?.digits)) this.fail(minus ? "whole" : "value");
    this.next++;
    return minus ? -token.text : +token.text;
  }

  /** Values up to the closing bracket; `(3)` is 3, `(3,)` and `[3]` are lists. */
  list(close) {
    const values = [];
    let comma = close === "]";
    while (!this.skip(close)) {
      values.push(this.value());
      if (!this.is(close)) {
        this.expect(",", close);
        comma = true;
      }
    }
    return values.length === 1 && !comma ? values[0] : values;
  }

  /** The items between square brackets; `x[(1, 2)]` is `x[1, 2]`, as in Python. */
  subscript() {
    if (this.is("]")) this.fail("value");
    const tuple = this.is("("), items = [];
    let comma = false;
    while (!this.skip("]")) {
      items.push(this.item());
      if (!this.is("]")) {
        this.expect(",", "]");
        comma = true;
      }
    }
    return tuple && !comma && Array.isArray(items[0]) ? items[0] : items;
  }

  item() {
    const bound = () => (this.is(":") || this.is("]") || this.is(",") ? null : this.value());
    const start = this.is(":") ? null : this.value();
    if (!this.skip(":")) return start;
    const stop = bound();
    return { start, stop, step: this.skip(":") ? bound() : null };
  }
}

/** {length, steps}: length where the text says `torch.arange(length)`; else null. */
export const parseChain = (text) => new Parser(halfWidth(text).replace(/#.*/, "")).chain();

// ------------------------------------------------------------------ and back to text
const python = (value) => {
  if (value === null) return "None";
  if (Array.isArray(value)) {
    return `(${value.map(python).join(", ")}${value.length === 1 ? "," : ""})`;
  }
  if (typeof value !== "object") return String(value);
  const { start, stop, step } = value;
  const bound = (n) => (n === null ? "" : python(n));
  return `${bound(start)}:${bound(stop)}${step === null ? "" : `:${python(step)}`}`;
};

/** One step as Python writes it: `.view(3, 4)`, `.T`, `[1:, ::2]`. */
export function stepText({ name, args, named }) {
  if (name === "[]") return `[${args.map(python).join(", ") || "()"}]`;
  const given = Object.entries(named).map(([key, value]) => `${key}=${python(value)}`);
  return args ? `.${name}(${[...args.map(python), ...given].join(", ")})` : `.${name}`;
}
