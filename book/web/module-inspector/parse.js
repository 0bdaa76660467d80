// A model as one writes it in Python, read without evaluating anything:
//   a = Linear(4, 4); Sequential(a, nn.ReLU(), a)
// A layer is {type, args, named} or, for Sequential, {type, modules}; a name stands for the very
// same object. code/inside/widgets/typed_model.py reads the same text for torch.
import { tokensOf } from "../widget/tokens.js";

const LENGTH = 600; // characters: brackets cannot nest deep enough to exhaust the stack
const TOKEN = /\s*?(?:(?<line>\n)|(?<digits>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)|(?<name>[A-Za-z_]\w*)|[^\s\w])/guy;
const SIGNS = { "。": ".", "、": ",", "【": "(", "】": ")", "−": "-", "×": "x" };
const UNCALLED = ["ModuleList", "ModuleDict"]; // they hold modules and have no forward
const VALUES = { True: true, False: false, None: null };

/** Thrown where a text cannot be read or a layer refuses; `reason` is {code, …}. */
export class Misfit extends Error {
  constructor(code, more) {
    super(code);
    this.reason = { code, ...more };
  }
}

export const refuse = (code, more) => { throw new Misfit(code, more); };

/** Full-width letters, digits and punctuation as the half-width ones that Python reads. */
export const plain = (text) => text.normalize("NFKC").replace(/[。、【】−×]/g, (c) => SIGNS[c]);

/** "2, 4", "(2, 4)" or "2x4" as [2, 4], "()" as []; null for anything else. */
export function shapeOf(text) {
  const bare = plain(text).trim().replace(/^\((.*)\)$|^\[(.*)\]$/, "$1$2").trim();
  if (!bare) return text.trim() ? [] : null;
  return /^\d{1,7}(\s*[,x*]\s*\d{1,7}|\s+\d{1,7}){0,5}\s*,?$/.test(bare)
    ? bare.match(/\d+/g).map(Number) : null;
}

class LayerReader {
  constructor(text) {
    this.tokens = tokensOf(text, TOKEN);
    this.next = 0;
    this.names = new Map();
  }

  get token() { return this.tokens[this.next]; }

  is(text, ahead = 0) { return this.tokens[this.next + ahead]?.text === text; }

  skip(text) {
    if (!this.is(text)) return false;
    this.next++;
    return true;
  }

  /** `want` is tokens with spaces between, or one of layer, value, end. */
  fail(want) {
    const { text, at, line } = this.token ?? {};
    refuse("syntax", { want, found: line ? undefined : text, at });
  }

  expect(text, or = "") { if (!this.skip(text)) this.fail(`${text} ${or}`.trim()); }

  program() {
    let root;
    while (this.token) {
      if (this.skip(";")) continue;
      root = this.statement();
      if (this.token && !this.is(";")) this.fail("end");
    }
    return root ?? refuse("empty");
  }

  statement() {
    const name = this.token.name;
    if (!name || !this.is("=", 1)) return this.layer();
    this.next += 2;
    const made = this.layer();
    this.names.set(name, made);
    return made;
  }

  layer() {
    for (const prefix of ["torch", "nn"]) {
      if (this.is(prefix) && this.is(".", 1)) this.next += 2;
    }
    const type = this.token?.name;
    if (!type) this.fail("layer");
    this.next++;
    if (!this.is("(")) return this.names.get(type) ?? refuse("name", { name: type });
    if (UNCALLED.includes(type)) refuse("uncalled", { type });
    this.next++;
    return type === "Sequential" ? { type, modules: this.modules() }
      : { type, ...this.args() };
  }

  modules() {
    const modules = [];
    while (!this.skip(")")) {
      modules.push(this.layer());
      if (!this.is(")")) this.expect(",", ")");
    }
    return modules;
  }

  args() {
    const args = [], named = {};
    while (!this.skip(")")) {
      const key = this.is("=", 1) ? this.token.name : undefined;
      if (key) {
        if (Object.hasOwn(named, key)) this.fail(")");
        this.next += 2;
        named[key] = this.value();
      } else if (Object.keys(named).length) this.fail("named");
      else args.push(this.value());
      if (!this.is(")")) this.expect(",", ")");
    }
    return { args, named };
  }

  /** A whole number is a number, one with a point or an exponent is {float}. */
  value() {
    const minus = this.skip("-"), { text, digits } = this.token ?? {};
    if (digits) {
      const number = minus ? -digits : +digits;
      this.next++;
      return /^\d+$/.test(digits) ? number : { float: number };
    }
    if (minus || !text) this.fail("value");
    if (this.skip("(")) return this.tuple();
    if (!Object.hasOwn(VALUES, text)) this.fail("value");
    this.next++;
    return VALUES[text];
  }

  /** `(3)` is 3 and `(3,)` a tuple, as in Python. */
  tuple() {
    const values = [];
    let comma = false;
    while (!this.skip(")")) {
      values.push(this.value());
      if (!this.is(")")) {
        this.expect(",", ")");
        comma = true;
      }
    }
    return values.length === 1 && !comma ? values[0] : values;
  }
}

/** The layer that the last statement makes. Throws `Misfit`. */
export function readLayers(text) {
  if (text.length > LENGTH) refuse("long", { most: LENGTH });
  return new LayerReader(plain(text)).program();
}
