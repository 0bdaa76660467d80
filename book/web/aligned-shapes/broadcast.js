// Broadcasting: two or three shapes aligned at the right, dimension by dimension, as torch does it.
// Pure functions of shapes, which are lists of sizes; nothing here knows the page.
import { expand } from "../stride-explorer/expand.js";
import { DIMS, contiguousStrides, numel } from "../stride-explorer/layout.js";
import { parseInts } from "../stride-explorer/text.js";

export const OPERANDS = ["a", "b", "c"];

const EXACT = 2 ** 49; // elements whose bytes are still exact: 16 each make 2⁵³

/** "(3, 1) | (4,)" as [[3, 1], [4]]; a part that is no shape is null. */
export const readShapes = (text) => text.split("|").map(parseInts);

/** Why these shapes are not aligned here, as {code, k, …} with k the operand; null where they are. */
export function unalignable(shapes) {
  const where = (code, bad, more = () => ({})) => {
    const k = shapes.findIndex(bad);
    return k < 0 ? null : { code, k, ...more(shapes[k]) };
  };
  if (shapes.length < 2 || shapes.length > OPERANDS.length) {
    return { code: "operands", k: 0, got: shapes.length };
  }
  return where("shape", (shape) => !shape) ?? where("negative", (s) => s.some((n) => n < 0))
    ?? where("dims", (s) => s.length > DIMS, (s) => ({ dims: s.length }))
    ?? (spanned(shapes) > EXACT ? { code: "large", k: 0 } : null);
}

/** Elements of the largest sizes, where a size of 0 counts as 1, as it does in strides. */
const spanned = (shapes) =>
  numel(columns(shapes).map(({ sizes }) => Math.max(1, ...sizes))); // null counts as 0

/**
 * One dimension of the result, `d` counted from the right (-1 is the last): its size, null where
 * the sizes conflict, and the part that each operand has in it:
 *   equal      has this very size         stretched  has 1, which is repeated `size` times
 *   added      lacks it: counts as 1, which is repeated        filled   lacks it, and 1 is enough
 *   conflict   neither 1 nor the other size                    one      has 1 beside a conflict
 */
function column(shapes, d) {
  const sizes = shapes.map((shape) => shape.at(d) ?? null);
  const wanted = [...new Set(sizes.map((n) => n ?? 1))].filter((n) => n !== 1);
  const size = wanted.length > 1 ? null : wanted[0] ?? 1;
  const part = (n) => {
    if (n === null) return size === 1 || size === null ? "filled" : "added";
    if (n === size) return "equal";
    if (n !== 1) return "conflict";
    return size === null ? "one" : "stretched";
  };
  return { d, size, sizes, parts: sizes.map(part) };
}

export function columns(shapes) {
  const dims = Math.max(...shapes.map((shape) => shape.length));
  return Array.from({ length: dims }, (_, k) => column(shapes, k - dims));
}

/** The shape of the result, or null where the shapes conflict. */
function resultOf(shapes) {
  const sizes = columns(shapes).map(({ size }) => size);
  return sizes.includes(null) ? null : sizes;
}

/**
 * What torch's error names: it takes the operands one after the other, and in each pair the
 * dimensions from the right. `left` is the size so far, `right` that of operand `k`, and `dim`
 * counts in the pair, which may have fewer dimensions than all of them.
 */
function firstConflict(shapes) {
  for (let k = 1; k < shapes.length; k++) {
    const pair = [resultOf(shapes.slice(0, k)), shapes[k]];
    const dims = Math.max(...pair.map((shape) => shape.length));
    for (let d = -1; d >= -dims; d--) {
      const [left, right] = pair.map((shape) => shape.at(d) ?? 1);
      if (left === right || left === 1 || right === 1) continue;
      return { k, dim: dims + d, dims, left, right, all: columns(shapes).length };
    }
  }
  return null;
}

/** A contiguous operand of `shape` as it takes part in a result of shape `result`. */
function operand(shape, result) {
  const strides = contiguousStrides(shape), missing = result.length - shape.length;
  const n = numel(shape), all = numel(result);
  const summed = (size, d) => d < missing || (shape[d - missing] === 1 && size !== 1);
  return {
    shape, strides, numel: n,
    expanded: expand({ shape, strides }, result).strides,
    read: all && n, // elements of the operand that are read, each `times` times
    times: all && all / n,
    sums: result.flatMap((size, d) => (summed(size, d) ? [d] : [])), // as sum_to_size does
  };
}

/** {columns, result, operands} of shapes that fit, {columns, conflict} of those that do not. */
export function align(shapes) {
  const result = resultOf(shapes), aligned = columns(shapes);
  if (!result) return { columns: aligned, conflict: firstConflict(shapes) };
  return { columns: aligned, result, numel: numel(result),
    operands: shapes.map((shape) => operand(shape, result)) };
}

/** The text of torch's RuntimeError. */
export const torchSays = ({ left, right, dim }) => `The size of tensor a (${left}) must match the `
  + `size of tensor b (${right}) at non-singleton dimension ${dim}`;
