// `expand` by itself: shapes that are aligned need no other operation.
import { refuse } from "./parse.js";

export const relaid = (t, shape, strides, offset = t.offset) => ({ ...t, shape, strides, offset });

/** Stretch dimensions of size 1, and add dimensions on the left: both with stride 0. */
export function expand(t, size) {
  const added = size.length - t.shape.length;
  if (added < 0) refuse("expandDims", { dims: t.shape.length, got: size.length });
  const shape = [], strides = [];
  for (let d = size.length - 1; d >= 0; d--) {
    const old = d >= added ? t.shape[d - added] : 1, want = size[d];
    if (want < (d < added ? 0 : -1)) refuse(want === -1 ? "leading" : "negative");
    if (want !== -1 && want !== old && old !== 1) refuse("expand", { dim: d, old, want });
    const stays = want === -1 || want === old;
    // torch gives an added dimension of size 1 the stride it would have in a contiguous tensor
    const kept = d >= added ? t.strides[d - added] : (shape[0] ?? 0) * (strides[0] ?? 0);
    strides.unshift(stays && t.shape.length ? kept : 0);
    shape.unshift(want === -1 ? old : want);
  }
  return relaid(t, shape, strides);
}
