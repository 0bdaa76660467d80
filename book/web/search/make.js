// The index of one edition of the book, made by the build: entries come in as JSON on stdin,
// the indices of both languages go out as JSON on stdout.
//
//   in   {entries: [{page, anchor, kind, depth, title, path, text, code, errors}], terms: [[word, …], …]}
//   out  {zh: {index, docs, pages, synonyms}, en: …}

import MiniSearch from "minisearch";
import { LANGS, OPTIONS, OTHER } from "./fields.js";
import { pack } from "./packed.js";
import { latinTerms, normal, numbers, pairs } from "./tokens.js";
import { collect, contained, grams } from "./words.js";

const listed = (...sets) => [...new Set(sets.flatMap((set) => [...set]))].join("\n");

/** Terms of a text; of a title also every character, pair of characters and number. */
function terms(text, words, isTitle = false) {
  const whole = normal(text);
  const more = isTitle ? [grams(whole), numbers(whole)] : [];
  return listed(latinTerms(whole), contained(whole, words), ...more);
}

function fields(entry, lang, words) {
  const code = entry.code.join(" ");
  return {
    title: terms(entry.title[lang], words, true),
    other: terms(entry.title[OTHER[lang]], words, true),
    path: terms(entry.path[lang], words),
    text: terms(entry.text[lang], words),
    code: listed(latinTerms(code)),
    errors: listed(latinTerms(entry.errors.join("\n")), entry.errors.flatMap(pairs)),
  };
}

/** A title that three pages or more have says nothing of its own: a part that every page has. */
function shared(entries) {
  const counts = new Map();
  for (const { title } of entries) counts.set(title.en, (counts.get(title.en) ?? 0) + 1);
  return (entry) => entry.kind === "section" && counts.get(entry.title.en) > 2;
}

export function make({ entries, terms: synonyms }) {
  const titles = entries.flatMap(({ title }) => [title.zh]);
  const chinese = synonyms.flat().filter((word) => /^\p{Script=Han}{2,8}$/u.test(word));
  const words = new Set([...collect([...titles, ...titles, ...entries.map(({ text }) => text.zh)]),
    ...chinese]);
  const isShared = shared(entries);
  const pages = [...new Set(entries.map(({ page }) => page))];
  return Object.fromEntries(LANGS.map((lang) => {
    const engine = new MiniSearch(OPTIONS);
    engine.addAll(entries.map((entry, id) => ({ id, ...fields(entry, lang, words) })));
    const docs = entries.map((entry) => [pages.indexOf(entry.page), entry.anchor, entry.kind,
      entry.depth, entry.title[lang], entry.title[OTHER[lang]], isShared(entry) ? 1 : 0]);
    return [lang, { index: pack(engine.toJSON()), docs, pages, synonyms }];
  }));
}
