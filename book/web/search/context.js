// The line of a text in which a query was found, with the places to mark.

import { shapes, term } from "./tokens.js";

const WORD = /[A-Za-z_]\w*/g;

/** Places [from, to) of a text that match terms of the index, in order, overlaps joined. */
export function marks(text, terms) {
  const found = [];
  for (const word of text.matchAll(WORD)) {
    if (terms.has(term(word[0]))) found.push([word.index, word.index + word[0].length]);
  }
  for (const { from, to, term: shape } of shapes(text)) if (terms.has(shape)) found.push([from, to]);
  for (const word of terms) {
    if (!/^\p{Script=Han}+$/u.test(word)) continue;
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
      found.push([at, at + word.length]);
    }
  }
  return joined(found.sort(([a], [b]) => a - b));
}

function joined(places) {
  const found = [];
  for (const [from, to] of places) {
    const last = found.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else found.push([from, to]);
  }
  return found;
}

/** A text as pieces {text, hit}. */
export function pieces(text, terms) {
  const found = [];
  let at = 0;
  for (const [from, to] of marks(text, terms)) {
    if (from > at) found.push({ text: text.slice(at, from), hit: false });
    found.push({ text: text.slice(from, to), hit: true });
    at = to;
  }
  if (at < text.length) found.push({ text: text.slice(at), hit: false });
  return found;
}

/** How a text writes terms of the index; the terms, where only its code has them. */
export function forms(text, terms) {
  const found = pieces(text, terms).filter(({ hit }) => hit).map(({ text: piece }) => piece.toLowerCase());
  return found.length ? [...new Set(found)] : [...terms];
}

/** About a line of a text, around the place with the most different matches. */
export function line(text, terms, lang) {
  const width = lang === "zh" ? 56 : 120;
  const places = marks(text, terms);
  const kinds = ([from]) => new Set(places.filter(([at, to]) => at >= from && to <= from + width * 0.8)
    .map(([at, to]) => text.slice(at, to).toLowerCase())).size;
  const best = places.reduce((one, other) => (kinds(other) > kinds(one) ? other : one), places[0] ?? [0, 0]);
  const from = beginning(text, best[0], width);
  const rest = text.slice(from, from + width), isCut = from + width < text.length;
  const word = isCut && lang === "en" ? rest.lastIndexOf(" ") : -1; // no word is cut in two
  const cut = (word > width / 2 ? rest.slice(0, word) : rest).trimEnd();
  return `${from ? "…" : ""}${cut}${isCut ? "…" : ""}`;
}

/** Where the sentence begins, if that is near; else a few characters before the match, at a space. */
function beginning(text, at, width) {
  if (text.length <= width) return 0;
  const before = text.slice(Math.max(0, at - width * 0.5), at);
  const sentence = Math.max(before.lastIndexOf("。"), before.lastIndexOf(". "), before.lastIndexOf("？"));
  if (sentence >= 0) return at - before.length + sentence + (before[sentence] === "." ? 2 : 1);
  if (at < width * 0.5) return 0;
  const near = Math.max(0, at - Math.round(width * 0.25));
  const space = text.indexOf(" ", near);
  return space >= 0 && space < at ? space + 1 : near;
}
