// The entries of the book as a file carries them: titles and places, and no more. What a title is
// found by is made of it where it is read.

import { LANGS } from "./fields.js";
import { latinTerms, normal, numbers } from "./tokens.js";
import { contained, grams } from "./words.js";

const KINDS = { c: "card", t: "term", p: "planned" }; // a digit is the depth of a section
const BELOW = 4; // the depth of a card or a term

/** An anchor as headings get theirs: most need not be told. */
const slug = (title) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

/** Entries in columns, and the Chinese words that stand in their titles. */
export function pack(entries, pages, words) {
  const column = (of) => entries.map(of).join("\n");
  const titles = Object.fromEntries(LANGS.map((lang) => [lang, column(({ title }) => title[lang])]));
  return {
    titles,
    anchors: column(({ anchor, title }) => (anchor && anchor === slug(title.en) ? "=" : anchor)),
    kinds: entries.map(({ kind, depth }) => (kind === "section" ? depth : kind[0])).join(""),
    places: entries.map(({ page }) => pages.indexOf(page)),
    words: [...contained(normal(Object.values(titles).join("\n")), words)].join("\n"),
  };
}

/** The entries of a file: {page, anchor, kind, depth, title: {zh, en}}. */
export function unpack({ titles, anchors, kinds, places }, pages) {
  const [zh, en, names] = [titles.zh, titles.en, anchors].map((column) => column.split("\n"));
  return places.map((place, at) => ({
    page: pages[place], title: { zh: zh[at], en: en[at] },
    anchor: names[at] === "=" ? slug(en[at]) : names[at],
    kind: KINDS[kinds[at]] ?? "section",
    depth: kinds[at] === "p" ? (names[at] ? 2 : 1) : kinds[at] in KINDS ? BELOW : Number(kinds[at]) }));
}

/** Terms of a text. */
export const terms = (text, words) => new Set([...latinTerms(normal(text)), ...contained(normal(text), words)]);

/** Terms of a title: also every character, pair of characters and number. */
export function titleTerms(title, words) {
  const whole = normal(title);
  return new Set([...terms(title, words), ...grams(whole), ...numbers(whole)]);
}

/** The titles above each of these entries, which are whole pages, in a language. A card and a term
 *  have that of the page alone. */
export function paths(entries, lang) {
  let above = [];
  return entries.map(({ kind, depth, title }) => {
    if (kind === "card" || kind === "term") return above[0] ?? "";
    above = above.slice(0, depth - 1);
    const path = above.join(" › ");
    above[depth - 1] = title[lang];
    return path;
  });
}
