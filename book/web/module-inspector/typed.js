// From a typed model to what the inspector shows: the same JSON as code/inside/widgets/
// module_inspector.py makes of the model in torch.
import { LARGEST, makeLayer, pass } from "./layers.js";
import { Misfit, readLayers, refuse } from "./parse.js";

const MANY = 120; // modules and calls that a page can still show

const product = (shape) => shape.reduce((a, b) => a * b, 1);
const bytesOf = ({ shape, name }) => product(shape) * (name === "num_batches_tracked" ? 8 : 4);

/** A shape as Python writes it, with a dtype that is not float32. */
export function spellShape(shape, ints = false) {
  return `(${shape.join(", ")}${shape.length === 1 ? "," : ""})${ints ? " int64" : ""}`;
}

// ------------------------------------------------------------------ the modules
/** Make each layer once, whatever the number of its places; count the places. */
function makeAll(layer, found = new Map()) {
  const known = found.get(layer);
  found.set(layer, (known ?? 0) + 1);
  if (known) return found;
  if (found.size > MANY) refuse("modules", { most: MANY });
  if (layer.modules) layer.modules.forEach((inner) => makeAll(inner, found));
  else layer.made = makeLayer(layer);
  return found;
}

const heldBy = ({ made }) => (made ? ["parameters", "buffers"].flatMap((group) => (
  Object.entries(made[group]).map(([name, shape]) => (
    { name, shape, kind: group.slice(0, -1) })))) : []);

/** All that `state_dict` lists of a layer: a tensor once for each of its places. */
const saved = (layer) => (layer.modules ?? []).reduce((n, inner) => n + saved(inner),
  heldBy(layer).length);

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const nthLetter = (n) => (n < 26 ? LETTERS[n] : nthLetter(Math.floor(n / 26) - 1) + LETTERS[n % 26]);

/** The rows of the tree; `state` knows the places, the letters and the layers met before. */
function branch(layer, name, path, depth, state) {
  const again = state.paths.has(layer);
  if (!again) state.paths.set(layer, path);
  if (state.places.get(layer) > 1 && !state.letters.has(layer)) {
    state.letters.set(layer, nthLetter(state.letters.size));
  }
  const letter = state.letters.get(layer) ?? "", inner = (below) => (path ? `${path}.${below}` : below);
  if (letter) (state.ties[letter] ??= []).push(path);
  const row = { depth, path, name, type: layer.type, kind: "module", letter, again, mode: "",
    hooks: [], lists: again && saved(layer) ? "s" : "" };
  if (again) return [row];
  const tensors = heldBy(layer).map((held) => ({
    depth: depth + 1, path: inner(held.name), name: held.name, kind: held.kind,
    shape: spellShape(held.shape, held.name === "num_batches_tracked"), bytes: bytesOf(held),
    letter: "", lists: held.kind === "parameter" ? "pts" : "bts" }));
  return [row, ...tensors, ...(layer.modules ?? []).flatMap((below, n) => (
    branch(below, String(n), inner(String(n)), depth + 1, state)))];
}

function sumsOf(rows, root) {
  const of = (list) => {
    const found = rows.filter(({ shape, lists }) => shape && lists.includes(list));
    return [found.length, found.reduce((n, { bytes }) => n + bytes, 0)];
  };
  return { p: of("p"), b: of("b"), t: of("t"), s: [saved(root), of("s")[1]] };
}

// ------------------------------------------------------------------ the forward pass
/** The layer that is called first, which decides what the input holds. */
function firstOf(layer) {
  if (!layer.modules) return layer;
  for (const inner of layer.modules) {
    const found = firstOf(inner);
    if (found) return found;
  }
  return null;
}

function call(layer, input, depth, paths, calls) {
  if (calls.length >= MANY) refuse("calls", { most: MANY });
  const made = { path: paths.get(layer), type: layer.type, depth,
    received: spellShape(input.shape, input.ints), returned: "", values: "" };
  calls.push(made);
  let output = input;
  if (layer.modules) {
    for (const inner of layer.modules) output = call(inner, output, depth + 1, paths, calls);
  } else {
    try {
      output = pass(layer, input);
    } catch (error) {
      if (error instanceof Misfit) error.reason.call ??= made;
      throw error;
    }
  }
  made.returned = spellShape(output.shape, output.ints);
  return output;
}

/** {model} of a typed text and the shape of its input, or {error: {code, …}}. */
export function inspected(text, shape) {
  try {
    const root = readLayers(text), places = makeAll(root);
    if (!shape || shape.some((n) => n < 1)) refuse("shape");
    if (product(shape) > LARGEST) refuse("large", { most: LARGEST });
    const state = { places, paths: new Map(), letters: new Map(), ties: {} };
    const rows = branch(root, "", "", 0, state), calls = [];
    call(root, { shape, ints: firstOf(root)?.type === "Embedding" }, 0, state.paths, calls);
    const ties = Object.entries(state.ties).map(([letter, paths]) => (
      { letter, what: "module", paths }));
    return { model: { rows, ties, sums: sumsOf(rows, root), calls } };
  } catch (error) {
    if (error instanceof Misfit) return { error: error.reason };
    throw error;
  }
}
