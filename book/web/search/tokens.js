// A text as terms of the index. The build and the page use this one module, and nothing in it
// depends on a browser: Chinese words come from a list (words.js), not from Intl.Segmenter.

import { stemmer } from "stemmer";

const LATIN = /[A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)*/g;
const PIECES = /[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+/g;
const HAN = /\p{Script=Han}+/gu;
const NUMBERS = /(?<![\w.])\d+(?:\.\d+)?(?![\w.])/g;
const SHAPE = /(?<!\w)\((?:\s*-?\w{1,5}\s*,)+(?:\s*-?\w{1,5}\s*)?\)/g; // not the arguments of a call
export const STOP = new Set(("a an and any are as at be been but by can could did do does doing for from get gets "
  + "had has have having he her his how i if in into is it its just me my no nor of off on one or our out "
  + "over own she should so some such than that the their them then there these they this those to too "
  + "up us use used using was we were what when where which while who why will with would you your").split(" "));

export const normal = (text) => text.normalize("NFKC");
export const hanRuns = (text) => text.match(HAN) ?? [];

/** Numbers of two digits or more: a single one stands in a hundred titles. */
export const numbers = (text) => (text.match(NUMBERS) ?? []).filter((number) => number.length > 1);

/** Shapes, each with its place: `(N, 1)` is one term, however it is spaced. */
export const shapes = (text) => [...text.matchAll(SHAPE)].map((found) =>
  ({ from: found.index, to: found.index + found[0].length, term: found[0].replace(/\s/g, "").toLowerCase() }));

/** One word as it stands in the index: plain words by their stem, names with _ or digits as they are. */
export function term(word) {
  const lower = word.toLowerCase();
  if (/[_\d]/.test(lower)) return lower;
  if (!stems.has(lower)) stems.set(lower, stemmer(lower));
  return stems.get(lower);
}
const stems = new Map();

/** The parts of a name: `register_buffer`, `DataLoader`, `__init__`; none for a plain word. */
export function parts(name) {
  const pieces = name.split("_").flatMap((piece) => piece.match(PIECES) ?? []);
  const bare = name.replace(/^_+|_+$/g, "");
  const found = [bare, ...(pieces.length > 1 ? pieces : [])].filter((piece) => piece !== name);
  return found.filter((piece) => piece.length > 1).map(term);
}

/** The Latin words of a text: each with its whole term, the names of a dotted path, their parts. */
export function latin(text) {
  return (text.match(LATIN) ?? []).map((word) => {
    const names = word.split(".").filter((name) => name.length > 1);
    return { word, whole: word.toLowerCase(), names: names.map(term), parts: names.flatMap(parts) };
  });
}

/** Whether a Latin word says nothing alone; a name in code is never one. */
export const isStop = (word) => STOP.has(word.toLowerCase()) && word !== word.toUpperCase();

/** Terms of the shapes and the Latin words of a text, each once, a path of torch also as a whole. */
export function latinTerms(text) {
  const found = new Set(shapes(text).map(({ term: shape }) => shape));
  for (const { word, whole, names, parts: inner } of latin(text)) {
    if (isStop(word)) continue;
    if (whole.startsWith("torch.")) found.add(whole);
    for (const one of [...names, ...inner]) found.add(one);
  }
  return found;
}

/** Neighbours in a line that names an error, so that a pasted text finds it by its phrases. */
export function pairs(text) {
  const words = latin(text).filter(({ word }) => !isStop(word)).flatMap(({ names }) => names);
  return words.slice(1).map((word, place) => `${words[place]} ${word}`);
}
