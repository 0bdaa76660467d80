// What the box asks for: first the headings of the whole book, which answer at once, then what
// stands below them, chapter by chapter; and the texts that results quote. Each file is fetched once.

import { Finder } from "./find.js";
import { Library } from "./library.js";

const FEW = 5; // results below which the other language is asked too
const OF_SCRIPT = { zh: /\p{Script=Han}/u, en: /[A-Za-z]{2}/ };

export class Reader {
  constructor(files, place) {
    this.files = files;
    this.place = place;
    this.asked = new Map();
    this.finders = {}; // over headings alone, then over all that could be had
    this.missing = new Set(); // chapters of which something did not load
  }

  fetched(name) {
    return this.once(name, () => fetch(new URL(name, this.place)).then((one) => {
      if (!one.ok) throw new Error(`${name}: ${one.status}`);
      return one.json();
    }));
  }

  /** What `make` gives, made once; the next try after a failure makes it again. */
  once(name, make) {
    if (!this.asked.has(name)) {
      const answer = make();
      answer.catch(() => this.asked.delete(name));
      this.asked.set(name, answer);
    }
    return this.asked.get(name);
  }

  library() {
    return this.once("library", async () => new Library(await this.fetched(this.files.first)));
  }

  async finder(lang) {
    const library = await this.library();
    return this.finders[lang] ??= Finder.over(library, lang);
  }

  /** A finder over the texts too; `missing` says of which chapters it has headings only. */
  whole(lang) {
    return this.once(`whole ${lang}`, async () => {
      const library = await this.library();
      await Promise.all(Object.entries(this.files.chapters).map(async ([folder, names]) => {
        try {
          const files = await Promise.all([names.both, names[lang]].map((name) => this.fetched(name)));
          library.addChapter(folder, lang, ...files);
        } catch {
          this.missing.add(folder);
        }
      }));
      return this.finders[lang] = await Finder.over(library, lang);
    });
  }

  /** Results in the order to show; `mode` is zh, en or both. Each has the language it was found in.
   *  Of what is here by now, or of all that can be had. */
  async search(text, mode, isWhole) {
    const [first, second] = mode === "en" ? ["en", "zh"] : ["zh", "en"];
    const found = await this.found(text, first, isWhole);
    const enough = mode !== "both" && (found.length >= FEW || !OF_SCRIPT[second].test(text));
    if (enough) return found;
    return merged(found, await this.found(text, second, isWhole), mode === "both" ? 1 : 0.5);
  }

  async found(text, lang, isWhole) {
    const finder = await (isWhole ? this.whole(lang) : this.finder(lang));
    return finder.search(text).map((one) => ({ ...one, lang }));
  }

  /** The title of a page: {zh, en}; none where it has no heading. */
  async top(page) { return (await this.library()).tops.get(page); }

  /** The text of an entry, in a language. */
  async text({ page, anchor }, lang) {
    const { pages } = await this.library();
    return (await this.fetched(this.files.texts[lang][pages.indexOf(page)]))[anchor] ?? "";
  }
}

/** Two lists as one, the second worth so much: an entry of both has its better place. */
export function merged(first, second, worth) {
  const best = new Map(first.map((one) => [one.id, one]));
  for (const one of second) {
    const score = one.score * worth;
    if (score > (best.get(one.id)?.score ?? 0)) best.set(one.id, { ...one, score });
  }
  return [...best.values()].sort((a, b) => b.score - a.score);
}

/** An entry's title in a language. */
export const titleOf = ({ title, other, lang }, wanted) => (wanted === lang ? title : other);
