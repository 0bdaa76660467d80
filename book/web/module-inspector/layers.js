// What each layer takes, holds and does to a shape, by torch's rules. A layer refuses with `Misfit`.
import { refuse } from "./parse.js";

export const LARGEST = 1_000_000; // elements of a tensor, as code/inside/widgets/typed_model.py

const size = (shape) => shape.reduce((a, b) => a * b, 1);
const isWhole = (n) => Number.isInteger(n);
const isPair = (fits) => (v) => fits(v) || (Array.isArray(v) && v.length === 2 && v.every(fits));
const one = (v) => isWhole(v) && v >= 1, none = (v) => isWhole(v) && v >= 0;
const pair = (v) => (Array.isArray(v) ? v : [v, v]);

// ------------------------------------------------------------------ arguments
const real = (v) => (Array.isArray(v) || v === null ? NaN : v.float ?? v);
const FITS = {
  count: one, pair: isPair(one), pads: isPair(none), int: isWhole,
  dims: (v) => one(v) || (Array.isArray(v) && v.length > 0 && v.every(one)),
  flag: (v) => typeof v === "boolean",
  number: (v) => Number.isFinite(real(v)),
  share: (v) => real(v) >= 0 && real(v) <= 1,
};
const INPLACE = "inplace:flag=false";
const NORM = `num_features:count eps:number=0.00001 momentum:number=0.1
  affine:flag=true track_running_stats:flag=true`;

/** The arguments by name, with defaults for those left out. */
function bind({ type, args, named }, takes) {
  const wanted = takes.split(/\s+/).filter(Boolean).map((one) => {
    const [, key, kind, preset] = one.match(/^(\w+):(\w+)(?:=(.*))?$/);
    return { key, kind, preset };
  });
  const names = wanted.map(({ key }) => key);
  if (args.length > names.length) refuse("many", { type, most: names.length });
  for (const key of Object.keys(named)) {
    if (!names.includes(key) || names.indexOf(key) < args.length) {
      refuse("unknown", { type, key, names: names.slice(args.length) });
    }
  }
  return Object.fromEntries(wanted.map(({ key, kind, preset }, n) => {
    const value = n < args.length ? args[n] : named[key];
    if (value === undefined && preset === undefined) refuse("missing", { type, key });
    const left = value === undefined || (value === null && preset === "null");
    if (!left && !FITS[kind](value)) refuse("value", { type, key, kind });
    return [key, left ? JSON.parse(preset) : value];
  }));
}

// ------------------------------------------------------------------ rules that several layers have
const wantDims = (shape, ...counts) => (
  counts.includes(shape.length) || refuse("dims", { counts }));

/** Height and width after a window passes over them. */
function slide(shape, kernel, { stride, padding, dilation = [1, 1] }) {
  const room = shape.slice(-2).map((n, d) => n + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1);
  if (room.some((n) => n < 0)) refuse("kernel", { kernel, padding });
  return room.map((n, d) => Math.floor(n / stride[d]) + 1);
}

function normalize(shape, { num_features: n, affine, track_running_stats: track }) {
  if (size(shape) / shape[1] === 1) refuse("one");
  if ((affine || track) && shape[1] !== n) refuse("channels", { n, dim: 1 });
  return shape;
}

function normHeld({ num_features: n, affine, track_running_stats: track }) {
  return {
    parameters: affine ? { weight: [n], bias: [n] } : {},
    buffers: track ? { running_mean: [n], running_var: [n], num_batches_tracked: [] } : {},
  };
}

// ------------------------------------------------------------------ the layers
const same = (shape) => shape;
const still = (takes) => ({ takes, forward: same });

export const LAYERS = {
  Linear: {
    takes: "in_features:count out_features:count bias:flag=true",
    held: ({ in_features: i, out_features: o, bias }) => (
      { parameters: { weight: [o, i], ...(bias && { bias: [o] }) } }),
    forward(shape, { in_features: n, out_features: out }) {
      if (shape.at(-1) !== n) refuse("last", { n });
      return [...shape.slice(0, -1), out];
    },
  },
  Conv2d: {
    takes: `in_channels:count out_channels:count kernel_size:pair stride:pair=1 padding:pads=0
      dilation:pair=1 groups:count=1 bias:flag=true`,
    held({ in_channels: i, out_channels: o, kernel_size: kernel, groups, bias }) {
      if (i % groups || o % groups) refuse("groups", { groups, i, o });
      return { parameters: { weight: [o, i / groups, ...pair(kernel)], ...(bias && { bias: [o] }) } };
    },
    forward(shape, { in_channels: n, out_channels: out, kernel_size, stride, padding, dilation }) {
      wantDims(shape, 3, 4);
      if (shape.at(-3) !== n) refuse("channels", { n, dim: -3 });
      const window = { stride: pair(stride), padding: pair(padding), dilation: pair(dilation) };
      return [...shape.slice(0, -3), out, ...slide(shape, pair(kernel_size), window)];
    },
  },
  MaxPool2d: {
    takes: "kernel_size:pair stride:pair=null padding:pads=0",
    forward(shape, { kernel_size, stride, padding }) {
      const kernel = pair(kernel_size), pads = pair(padding);
      wantDims(shape, 3, 4);
      if (pads.some((n, d) => n > Math.floor(kernel[d] / 2))) refuse("half", { kernel });
      const window = { stride: pair(stride ?? kernel_size), padding: pads };
      return [...shape.slice(0, -2), ...slide(shape, kernel, window)];
    },
  },
  BatchNorm1d: {
    takes: NORM, held: normHeld,
    forward: (shape, options) => wantDims(shape, 2, 3) && normalize(shape, options),
  },
  BatchNorm2d: {
    takes: NORM, held: normHeld,
    forward: (shape, options) => wantDims(shape, 4) && normalize(shape, options),
  },
  LayerNorm: {
    takes: "normalized_shape:dims eps:number=0.00001 elementwise_affine:flag=true bias:flag=true",
    held({ normalized_shape, elementwise_affine: affine, bias }) {
      const shape = [normalized_shape].flat();
      return { parameters: affine ? { weight: shape, ...(bias && { bias: shape }) } : {} };
    },
    forward(shape, { normalized_shape }) {
      const tail = [normalized_shape].flat();
      if (String(shape.slice(-tail.length)) !== String(tail)) refuse("tail", { tail });
      return shape;
    },
  },
  Embedding: {
    takes: "num_embeddings:count embedding_dim:count padding_idx:int=null",
    held({ num_embeddings: n, embedding_dim: d, padding_idx: at }) {
      if (at !== null && (at >= n || at < -n)) refuse("padding", { n });
      return { parameters: { weight: [n, d] } };
    },
    forward: (shape, { embedding_dim: d }) => [...shape, d],
  },
  Flatten: {
    takes: "start_dim:int=1 end_dim:int=-1",
    forward(shape, { start_dim: from, end_dim: to }) {
      const dims = Math.max(1, shape.length);
      const [start, end] = [from, to].map((dim) => {
        if (dim < -dims || dim >= dims) refuse("range", { dim });
        return dim < 0 ? dim + dims : dim;
      });
      if (start > end) refuse("order", { from, to });
      return [...shape.slice(0, start), size(shape.slice(start, end + 1)), ...shape.slice(end + 1)];
    },
  },
  Dropout: still(`p:share=0.5 ${INPLACE}`), ReLU: still(INPLACE), SiLU: still(INPLACE),
  GELU: still(""), Tanh: still(""), Sigmoid: still(""), Identity: still(""),
};

/** A layer as it is made: its parameters and buffers as {name: shape}, and `forward`. */
export function makeLayer(layer) {
  const { type, args, named } = layer;
  if (!Object.hasOwn(LAYERS, type)) refuse("layer", { type });
  const { takes, held, forward } = LAYERS[type], options = bind(layer, takes);
  const numbers = [...args, ...Object.values(named)].flat().filter(isWhole);
  if (size(numbers.map((n) => Math.max(1, n))) > LARGEST) refuse("large", { most: LARGEST });
  return { parameters: {}, buffers: {}, ...held?.(options),
    forward: (shape) => forward(shape, options) };
}

/** The shape that a layer returns; only Embedding takes integers, and takes nothing else. */
export function pass(layer, { shape, ints }) {
  if (ints !== (layer.type === "Embedding")) refuse("ints");
  const returned = layer.made.forward(shape);
  if (size(returned) > LARGEST) refuse("large", { most: LARGEST });
  return { shape: returned, ints: false };
}
