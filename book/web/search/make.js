// The index of one edition of the book, made by the build: entries come in as JSON on stdin, the
// contents of the index's files go out as JSON on stdout.
//
//   in   {entries: [{page, anchor, kind, depth, title, text, code, errors}], terms: [[word, …], …],
//         sounds: "ban版半 ben本"}
//   out  {first: {pages, synonyms, sounds, …headings and terms}, chapters: {folder: {both, zh, en}}}

import * as packed from "./entries.js";
import { LANGS, folderOf } from "./fields.js";
import { pack } from "./postings.js";
import { latinTerms, pairs } from "./tokens.js";
import { collect } from "./words.js";

/** Chinese words of the book: what a segmenter finds in its texts, and its terms. */
function wordsOf(entries, synonyms) {
  const titles = entries.map(({ title }) => title.zh);
  const chinese = synonyms.flat().filter((word) => /^\p{Script=Han}{2,8}$/u.test(word));
  return new Set([...collect([...titles, ...titles, ...entries.map(({ text }) => text.zh)]), ...chinese]);
}

const codeTerms = ({ code }) => latinTerms(code.join(" "));
const errorTerms = ({ errors }) => new Set([...latinTerms(errors.join("\n")), ...errors.flatMap(pairs)]);

/** What a chapter adds: its cards; what code and errors have, for both languages; each one's texts. */
function chapter(early, cards, from, pages, words) {
  const docs = [...early, ...cards];
  const texts = LANGS.map((lang) => [lang,
    pack({ text: docs.map(({ text }) => packed.terms(text[lang], words)) })]);
  return { both: { cards: { from, ...packed.pack(cards, pages, words) },
                   code: pack({ errors: docs.map(errorTerms), code: docs.map(codeTerms) }) },
           ...Object.fromEntries(texts) };
}

export function make({ entries, terms: synonyms, sounds = "" }) {
  const words = wordsOf(entries, synonyms);
  const pages = [...new Set(entries.map(({ page }) => page))];
  const early = entries.filter(({ kind }) => kind !== "card");
  const chapters = {};
  let from = early.length;
  for (const folder of new Set(pages.map(folderOf))) {
    const own = entries.filter(({ page }) => folderOf(page) === folder);
    const cards = own.filter(({ kind }) => kind === "card");
    chapters[folder] = chapter(own.filter(({ kind }) => kind !== "card"), cards, from, pages, words);
    from += cards.length;
  }
  return { first: { pages, synonyms, sounds, ...packed.pack(early, pages, words) }, chapters };
}
