// The operations of a chain, as torch does them: which strides and which offset a view gets, when
// data are copied, what is refused. A tensor is {shape, strides, offset, storage}; a storage is
// {size, values, by}: values[cell] is the element of x that lies there, by the step that made it.
import { expand, relaid } from "./expand.js";
import {
  address, contiguity, contiguousStrides, dense, indices, numel, refusal,
} from "./layout.js";
import { ELLIPSIS, Refusal, parseChain, refuse, stepText } from "./parse.js";

const STEPS = 20; // rows that a reader can still follow
const MOST = 4096; // elements of a copy; torch has no such limit
const LONGEST = 999; // elements of x: more than are drawn, so that a chain may start there

const INT_LISTS = { as_strided: ["size", "stride"] };
const without = (list, d) => list.filter((_, k) => k !== d);
const swap = (list, a, b) => list.map((v, k) => list[k === a ? b : k === b ? a : k]);

/** `dim` counted from the left. A 0-dim tensor has dimensions 0 and -1. */
function wrap(dim, dims) {
  const most = Math.max(dims, 1);
  if (dim < -most || dim >= most) refuse("dim", { dim, dims });
  return (dim + most) % most;
}

function wrapAll(list, dims) {
  const wrapped = list.map((dim) => wrap(dim, dims));
  const twice = wrapped.find((dim, k) => wrapped.indexOf(dim) < k);
  if (twice !== undefined) refuse("twice", { dim: twice });
  return wrapped;
}

// ------------------------------------------------------------------ views and copies of data
/** The elements of `t` (or those that `source` names) in a storage of their own. */
function copied(t, strides, source = (index) => index) {
  const size = numel(t.shape);
  if (size > MOST) refuse("huge", { n: size, most: MOST });
  const values = Array(size);
  for (const index of indices(t.shape)) {
    const cell = address(source(index), t.strides, t.offset);
    values[address(index, strides, 0)] = t.storage.values[cell];
  }
  return { shape: t.shape, strides, offset: 0, storage: { size, values } };
}

/** Strides of a copy that keeps the order of dimensions: ATen's infer_dense_strides. */
function preserved({ shape, strides }) {
  if (dense({ shape, strides })) return strides;
  const order = shape.map((_, d) => d).reverse();
  const swaps = (a, b) => {
    if (!strides[a] || !strides[b]) return 0; // a stride of 0 tells nothing about the order
    return Math.sign(strides[a] - strides[b]) || (shape[a] > shape[b] ? 1 : 0);
  };
  for (let start = 1; start < order.length; start++) {
    for (let at = start, before = start - 1; before >= 0; before--) {
      const answer = swaps(order[before], order[at]);
      if (answer < 0) break;
      if (answer > 0) [order[before], order[at], at] = [order[at], order[before], before];
    }
  }
  const packed = Array(shape.length);
  let step = 1;
  for (const d of order) {
    packed[d] = step;
    step *= Math.max(shape[d], 1);
  }
  return packed;
}

// ------------------------------------------------------------------ view and reshape
/** The shape with its -1 filled in. */
function inferred(t, shape) {
  const have = numel(t.shape), free = shape.indexOf(-1);
  if (shape.some((n) => n < -1)) refuse("negative");
  if (free !== shape.lastIndexOf(-1)) refuse("free");
  const rest = numel(shape.filter((n) => n !== -1));
  if (free >= 0 && rest === 0 && have === 0) refuse("ambiguous");
  if (free >= 0 ? !rest || have % rest : rest !== have) refuse("numel", { have, shape, rest });
  return shape.map((n) => (n === -1 ? have / rest : n));
}

/** Strides that show `t` in another shape without a copy, or the seam {dim, …} in the way. */
function viewStrides(t, shape) {
  if (!numel(t.shape)) return same(t.shape, shape) ? t.strides : contiguousStrides(shape);
  const strides = Array(shape.length).fill(1);
  let v = shape.length - 1;
  for (let d = t.shape.length - 1, chunk = 1, base = t.strides[d]; d >= 0; d--) {
    chunk *= t.shape[d]; // the chunk so far: dimensions that one stride steps through
    if (d > 0 && (t.shape[d - 1] === 1 || t.strides[d - 1] === chunk * base)) continue;
    let filled = 1;
    while (v >= 0 && (filled < chunk || shape[v] === 1)) {
      strides[v] = filled * base;
      filled *= shape[v--];
    }
    if (filled !== chunk) return { dim: d - 1, stride: t.strides[d - 1], want: chunk * base };
    [chunk, base] = [1, t.strides[d - 1]];
  }
  return strides;
}

const same = (a, b) => a.length === b.length && a.every((n, k) => n === b[k]);

function view(t, size) {
  const shape = inferred(t, size), strides = viewStrides(t, shape);
  if (!Array.isArray(strides)) refuse("seam", { shape, ...strides });
  return relaid(t, shape, strides);
}

function reshape(t, size) {
  const shape = inferred(t, size), strides = viewStrides(t, shape);
  if (Array.isArray(strides)) return relaid(t, shape, strides);
  const copy = copied(t, contiguousStrides(t.shape));
  return relaid(copy, shape, contiguousStrides(shape));
}

function flatten(t, start, end) {
  const dims = t.shape.length, first = wrap(start, dims), last = wrap(end, dims);
  if (first > last) refuse("order", { start, end });
  if (dims > 0 && first === last) return t;
  const middle = numel(t.shape.slice(first, last + 1));
  return reshape(t, [...t.shape.slice(0, first), middle, ...t.shape.slice(last + 1)]);
}

// ------------------------------------------------------------------ dimensions
function transpose(t, dim0, dim1) {
  const [a, b] = [dim0, dim1].map((dim) => wrap(dim, t.shape.length));
  return relaid(t, swap(t.shape, a, b), swap(t.strides, a, b));
}

function permute(t, dims) {
  if (dims.length !== t.shape.length) refuse("permute", { dims: t.shape.length, got: dims.length });
  const order = wrapAll(dims, dims.length);
  return relaid(t, order.map((d) => t.shape[d]), order.map((d) => t.strides[d]));
}

function t2(t) {
  const dims = t.shape.length;
  if (dims > 2) refuse("flat", { dims });
  return dims < 2 ? relaid(t, t.shape, t.strides) : transpose(t, 0, 1);
}

function squeeze(t, dims) {
  const all = t.shape.map((_, d) => d), drop = dims ? wrapAll(dims, all.length) : all;
  const kept = all.filter((d) => t.shape[d] !== 1 || !drop.includes(d));
  return relaid(t, kept.map((d) => t.shape[d]), kept.map((d) => t.strides[d]));
}

function unsqueeze(t, dim) {
  const dims = t.shape.length, d = wrap(dim, dims + 1);
  const stride = d < dims ? t.shape[d] * t.strides[d] : 1;
  return relaid(t, t.shape.toSpliced(d, 0, 1), t.strides.toSpliced(d, 0, stride));
}

// ------------------------------------------------------------------ parts
function select(t, dim, index) {
  if (!t.shape.length) refuse("scalar");
  const d = wrap(dim, t.shape.length), size = t.shape[d];
  if (index < -size || index >= size) refuse("index", { index, dim: d, size });
  const offset = t.offset + (index < 0 ? index + size : index) * t.strides[d];
  return relaid(t, without(t.shape, d), without(t.strides, d), offset);
}

/** Elements start, start + step, … before stop, as Python counts. */
function slice(t, d, { start, stop, step }) {
  const size = t.shape[d], by = step ?? 1;
  if (by < 1) refuse("step", { step: by });
  const inside = (n, least) => Math.min(Math.max(n < 0 ? n + size : n, least), size);
  const from = inside(start ?? 0, 0), to = inside(stop ?? size, from);
  return relaid(t, t.shape.with(d, Math.ceil((to - from) / by)),
    t.strides.with(d, t.strides[d] * by), t.offset + from * t.strides[d]);
}

function narrow(t, dim, start, length) {
  if (!t.shape.length) refuse("scalar");
  const d = wrap(dim, t.shape.length), size = t.shape[d];
  const from = start < 0 ? start + size : start;
  if (length < 0 || from < 0 || from + length > size) refuse("narrow", { start, length, size });
  return slice(t, d, { start: from, stop: from + length, step: 1 });
}

/** Whether an item has only ints, or nothing, around its colons. */
const cuts = (item) => item?.start === undefined
  || [item.start, item.stop, item.step].every((n) => n === null || isInt(n));

/** `t[…]`: ints select, slices cut, None adds a dimension, an ellipsis skips to the right. */
function subscript(t, items) {
  if (items.some(Array.isArray)) refuse("lists");
  if (!items.every(cuts)) refuse("slice");
  const dims = t.shape.length, used = items.filter((i) => i !== null && i !== ELLIPSIS).length;
  if (used && !dims) refuse("scalar");
  if (used > dims) refuse("indices", { got: used, dims });
  let at = 0, now = relaid(t, t.shape, t.strides);
  for (const item of items) {
    if (item === ELLIPSIS) at += dims - used;
    else if (item === null) now = unsqueeze(now, at++);
    else if (at >= now.shape.length) at = past(item, at, { got: used, dims });
    else if (typeof item === "number") now = select(now, at, item);
    else now = slice(now, at++, item);
  }
  return now;
}

/** A second ellipsis can lead past the last dimension, where torch passes over `:` alone. */
function past(item, at, more) {
  const whole = typeof item === "object" && !item.start && item.stop === null;
  return whole && (item.step ?? 1) === 1 ? at + 1 : refuse("indices", more);
}

function diagonal(t, offset, dim1, dim2) {
  const [a, b] = [dim1, dim2].map((dim) => wrap(dim, t.shape.length));
  if (a === b) refuse("diagonal", { dim: a });
  const [down, right] = [Math.max(-offset, 0), Math.max(offset, 0)];
  const size = Math.max(Math.min(t.shape[a] - down, t.shape[b] - right), 0);
  const first = size && down * t.strides[a] + right * t.strides[b];
  const rest = (list, last) => [...list.filter((_, d) => d !== a && d !== b), last];
  return relaid(t, rest(t.shape, size), rest(t.strides, t.strides[a] + t.strides[b]),
    t.offset + first);
}

/** Windows of `size` elements every `step`; inside the window one steps as in the dimension. */
function unfold(t, dimension, size, step) {
  const d = wrap(dimension, t.shape.length), length = t.shape[d] ?? 1, stride = t.strides[d] ?? 1;
  if (size < 0 || size > length || step < 1) refuse("window", { size, step, length });
  if (!t.shape.length) return relaid(t, [size], [1]);
  return relaid(t, [...t.shape.with(d, Math.floor((length - size) / step) + 1), size],
    [...t.strides.with(d, step * stride), stride]);
}

function asStrided(t, shape, strides, offset) {
  const placed = { shape, strides, offset: offset ?? t.offset };
  const reason = refusal({ ...placed, size: t.storage.size });
  if (reason) refuse(reason.code, reason);
  return relaid(t, shape, strides, placed.offset);
}

// ------------------------------------------------------------------ copies
const contiguous = (t) =>
  (contiguity(t).contiguous ? t : copied(t, contiguousStrides(t.shape)));

function flip(t, dims) {
  const flipped = wrapAll(dims, t.shape.length);
  return copied(t, preserved(t),
    (index) => index.map((i, d) => (flipped.includes(d) ? t.shape[d] - 1 - i : i)));
}

// ------------------------------------------------------------------ from text to steps
// Written as in torch's documentation: `*` takes several ints or one list, `=` gives a default.
export const METHODS = Object.fromEntries([
  ["view(*size)", view], ["reshape(*shape)", reshape],
  ["transpose(dim0, dim1)", transpose], ["permute(*dims)", permute], ["t()", t2],
  ["expand(*size)", expand], ["squeeze(*dim)", squeeze], ["unsqueeze(dim)", unsqueeze],
  ["flatten(start_dim=0, end_dim=-1)", flatten], ["select(dim, index)", select],
  ["narrow(dim, start, length)", narrow], ["unfold(dimension, size, step)", unfold],
  ["diagonal(offset=0, dim1=0, dim2=1)", diagonal],
  ["as_strided(size, stride, storage_offset=None)", asStrided],
  ["contiguous()", contiguous], ["clone()", (t) => copied(t, preserved(t))],
  ["flip(*dims)", flip],
].map(([usage, apply]) => {
  const [, name, list] = /(\w+)\((.*)\)/.exec(usage);
  const params = list.split(", ").filter(Boolean).map((text) => {
    const [, many, param, preset] = /(\*?)(\w+)(?:=(.+))?/.exec(text);
    return { many, param, preset: preset && JSON.parse(preset === "None" ? "null" : preset) };
  });
  return [name, { usage, apply, params }];
}));

const PROPERTIES = {
  T: (t) => relaid(t, t.shape.toReversed(), t.strides.toReversed()),
  mT: (t) => {
    if (t.shape.length === 1) refuse("matrix");
    return t.shape.length ? transpose(t, -2, -1) : t;
  },
};

const isInt = (value) => typeof value === "number";
const isInts = (value) => Array.isArray(value) && value.every(isInt);

/** The arguments in the order of the parameters; refuses what does not fit the usage. */
function bind(method, { name, args, named }) {
  const bad = () => refuse("usage", { usage: method.usage });
  const [first] = method.params;
  if (first?.many && args.length > (isInts(args[0]) ? 1 : 0)) {
    const list = isInts(args[0]) && args.length === 1 ? args[0] : args;
    return isInts(list) && !Object.keys(named).length ? [list] : bad();
  }
  if (name === "squeeze" && !Object.keys(named).length && !args.length) return [null];
  const given = Object.fromEntries(args.map((value, k) => [method.params[k]?.param, value]));
  if (Object.keys({ ...given, ...named }).length < args.length + Object.keys(named).length) bad();
  const all = { ...given, ...named }, params = method.params;
  if (Object.keys(all).some((key) => !params.some(({ param }) => param === key))) bad();
  return params.map(({ param, preset, many }) => {
    const value = param in all ? all[param] : preset;
    if (many && name === "squeeze" && isInt(value)) return [value]; // the only one with an int
    if (many) return isInts(value) ? value : bad();
    const fits = INT_LISTS[name]?.includes(param) ? isInts(value)
      : isInt(value) || (preset === null && value === null);
    return fits ? value : bad();
  });
}

function apply(t, step) {
  const { name, args } = step;
  if (name === "[]") return subscript(t, args);
  if (Object.hasOwn(PROPERTIES, name)) {
    return args ? refuse("property", { name }) : PROPERTIES[name](t);
  }
  const method = Object.hasOwn(METHODS, name) ? METHODS[name] : refuse("unknown", { name });
  return args ? method.apply(t, ...bind(method, step)) : refuse("call", { usage: method.usage });
}

const arange = (n) => ({ shape: [n], strides: [1], offset: 0,
  storage: { size: n, values: Array.from({ length: n }, (_, i) => i) } });

/** One row of the table of steps: kind is new, view, copy or self (the same tensor again). */
function row(t, step) {
  const text = stepText(step), next = apply(t, step);
  const kind = next === t ? "self" : next.storage === t.storage ? "view" : "copy";
  if (kind === "copy") next.storage.by = text;
  return { text, kind, state: next };
}

/**
 * {length, rows, error} of a chain on `x = torch.arange(length)`. The rows are x and each step that
 * torch accepts; where it refuses one, the last row has kind `refused`, and error is {code, …}.
 */
export function run(text, length) {
  const done = { length, rows: [{ text: "x", kind: "new", state: arange(length) }], error: null };
  try {
    const parsed = parseChain(text);
    done.length = parsed.length ?? length;
    if (done.length < 0 || done.length > LONGEST) refuse("length", { most: LONGEST });
    done.rows[0].state = arange(done.length);
    if (parsed.steps.length > STEPS) refuse("long", { most: STEPS });
    for (const step of parsed.steps) {
      try { done.rows.push(row(done.rows.at(-1).state, step)); }
      catch (error) {
        done.rows.push({ text: stepText(step), kind: "refused" });
        throw error;
      }
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    done.error = { ...error.reason, field: "chain" };
    if (done.rows.at(-1).kind === "refused") done.error.step = done.rows.at(-1).text;
  }
  return done;
}
