// What has been loaded of the index. The first file has the headings and the terms of the whole
// book: what they are found by is made of their titles here. A chapter adds its cards, and the
// postings of what stands below its headings. All of it together is the index of the book.

import * as packed from "./entries.js";
import { FIELDS, LANGS, OTHER, folderOf } from "./fields.js";
import { unpack } from "./postings.js";

const [TITLE, OTHERS, PATH] = ["title", "other", "path"].map((field) => FIELDS.indexOf(field));

export class Library {
  constructor(first) {
    const { pages, synonyms, sounds } = first;
    Object.assign(this, { pages, synonyms, sounds, docs: [], words: new Set() });
    this.heads = Object.fromEntries(LANGS.map((lang) => [lang, { titles: new Map(), paths: new Map() }]));
    this.bodies = Object.fromEntries(LANGS.map((lang) => [lang, new Map()]));
    this.chapters = new Set();
    const entries = packed.unpack(first, first.pages);
    const above = LANGS.map((lang) => packed.paths(entries, lang));
    this.add(first.words, entries, (_, at) => ({ zh: above[0][at], en: above[1][at] }));
    this.tops = new Map(entries.filter(({ depth }) => depth === 1).map(({ page, title }) => [page, title]));
    markShared(this.docs);
  }

  /** Entries that come after those that are here; `path` gives the titles above one. */
  add(words, entries, path, from = 0) {
    for (const word of words.split("\n")) this.words.add(word);
    entries.forEach((entry, at) => {
      const id = from + at, above = path(entry, at);
      this.docs[id] = { ...entry, id };
      for (const lang of LANGS) {
        const { titles, paths } = this.heads[lang];
        for (const term of packed.titleTerms(entry.title[lang], this.words)) put(titles, term, id);
        for (const term of packed.terms(above[lang], this.words)) put(paths, term, id);
      }
    });
  }

  /** A chapter in a language: `cards` and the postings of its code stand in one file for both. */
  addChapter(folder, lang, { cards, code }, text) {
    if (!this.chapters.has(folder)) {
      this.chapters.add(folder);
      const entries = packed.unpack(cards, this.pages);
      this.add(cards.words, entries, ({ page }) => this.tops.get(page), cards.from);
    }
    this.bodies[lang].set(folder, [code, text]);
  }

  /** Of each term of all that is here, in a language, the entries that have it: [of each field]. */
  index(lang) {
    const index = new Map();
    const row = (term) => index.get(term) ?? index.set(term, []).get(term);
    const { titles, paths } = this.heads[lang];
    for (const [field, found] of [[TITLE, titles], [OTHERS, this.heads[OTHER[lang]].titles], [PATH, paths]]) {
      for (const [term, ids] of found) row(term)[field] = [...ids]; // cards may come meanwhile
    }
    for (const [folder, files] of this.bodies[lang]) {
      const ids = this.idsOf(folder);
      for (const file of files) {
        unpack(file, (term, field, places) => (row(term)[field] ??= []).push(...places.map((place) => ids[place])));
      }
    }
    return index;
  }

  /** The entries of a chapter in the order of its postings: what the first file has, then its cards. */
  idsOf(folder) {
    const own = this.docs.filter(({ page }) => folderOf(page) === folder);
    return own.map(({ id }) => id);
  }
}

/** A title that three pages or more have says nothing of its own: a part that every page has. */
function markShared(docs) {
  const counts = new Map();
  for (const { title } of docs) counts.set(title.en, (counts.get(title.en) ?? 0) + 1);
  for (const doc of docs) doc.isShared = doc.kind === "section" && counts.get(doc.title.en) > 2;
}

function put(map, term, id) {
  const ids = map.get(term);
  if (ids) ids.push(id);
  else map.set(term, [id]);
}
