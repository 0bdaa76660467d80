// One strided view: its addresses, why torch refuses it, what can be said of it. Pure functions of
// a view {shape, strides, offset, size}; all four count elements, and size is the storage's.

export const LIMIT = 64; // elements and storage cells a reader can still see at once
export const DIMS = 6; // dimensions this element draws: blocks of rows, and a letter for each
export const ITEMSIZES = [1, 2, 4, 8, 16]; // bytes

export const numel = (shape) => shape.reduce((a, b) => a * b, 1);

/** Row-major strides: products of the sizes to the right, where a size of 0 counts as 1. */
export function contiguousStrides(shape) {
  return shape.map((_, d) => numel(shape.slice(d + 1).map((n) => Math.max(n, 1))));
}

export function address(index, strides, offset) {
  return index.reduce((sum, i, d) => sum + i * strides[d], offset);
}

/** Every index of the shape in row-major order: [[0, 0], [0, 1], …]. */
export function indices(shape) {
  return shape.reduce(
    (heads, n) => heads.flatMap((head) => Array.from({ length: n }, (_, i) => [...head, i])), [[]]);
}

/** Storage elements that a view needs: one past its last address, and none when it is empty. */
export function needed({ shape, strides, offset }) {
  return shape.includes(0) ? 0 : address(shape.map((n) => n - 1), strides, offset) + 1;
}

/** Why `as_strided` refuses this view, as {code, …}; null where it accepts. */
export function refusal({ shape, strides, offset, size }) {
  const dims = shape.length;
  if (dims !== strides.length) return { code: "rank", dims, got: strides.length };
  if (shape.some((n) => n < 0)) return { code: "negative", field: "shape" };
  const dim = strides.findIndex((s) => s < 0);
  if (dim >= 0) return { code: "stride", field: `stride${dim}`, dim };
  if (offset < 0) return { code: "offset", field: "offset" };
  const need = needed({ shape, strides, offset });
  return need > size ? { code: "bounds", need, size, last: shape.map((n) => n - 1) } : null;
}

/** Why this element will not draw a view that torch may accept; null where it will. */
export function undrawable({ shape, size }) {
  if (shape.length > DIMS) return { code: "dims", field: "shape", dims: shape.length };
  if (numel(shape) > LIMIT) return { code: "many", field: "shape", n: numel(shape) };
  return size < 0 || size > LIMIT ? { code: "size", field: "size", size } : null;
}

/** {contiguous: true}, or the first dimension from the right whose stride breaks the seam. */
export function contiguity({ shape, strides }) {
  if (shape.includes(0)) return { contiguous: true };
  const rightToLeft = shape.map((_, d) => shape.length - 1 - d);
  const dim = seam({ shape, strides }, rightToLeft);
  return dim ? { contiguous: false, ...dim } : { contiguous: true };
}

/** Whether a view of four dimensions is contiguous in the order N, H, W, C. */
export const channelsLast = (view) => view.shape.length === 4 && !seam(view, [1, 3, 2, 0]);

/** Whether the elements fill a block of storage, in any order of dimensions, each cell once. */
export function dense({ shape, strides }) {
  const byStride = shape.map((_, d) => d).sort((a, b) => strides[a] - strides[b]);
  return shape.includes(0) || !seam({ shape, strides }, byStride);
}

/** The first dimension, in an order from the fastest on, whose stride is not the packed one. */
function seam({ shape, strides }, fastestFirst) {
  let want = 1;
  for (const dim of fastestFirst) {
    if (shape[dim] === 1) continue; // never stepped along, so its stride does not matter
    if (strides[dim] !== want) return { dim, stride: strides[dim], want };
    want *= shape[dim];
  }
  return null;
}

/** For each storage cell the list of indices that read it. */
export function readers({ shape, strides, offset, size }) {
  const cells = Array.from({ length: size }, () => []);
  for (const index of indices(shape)) cells[address(index, strides, offset)].push(index);
  return cells;
}
