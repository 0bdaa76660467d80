// What the box asks for: the index of the reader's language, of the other where it is of use, and
// the texts that results quote. Each file is fetched once.

import { Finder } from "./find.js";

const FEW = 5; // results below which the other language is asked too
const OF_SCRIPT = { zh: /\p{Script=Han}/u, en: /[A-Za-z]{2}/ };

export class Reader {
  constructor(files, place) {
    this.files = files;
    this.place = place;
    this.asked = new Map();
  }

  fetched(name) {
    if (!this.asked.has(name)) {
      const answer = fetch(new URL(name, this.place)).then((one) => {
        if (!one.ok) throw new Error(`${name}: ${one.status}`);
        return one.json();
      });
      answer.catch(() => this.asked.delete(name)); // the next try asks again
      this.asked.set(name, answer);
    }
    return this.asked.get(name);
  }

  async finder(lang) {
    const data = await this.fetched(this.files[lang]);
    data.finder ??= new Finder(data);
    return data.finder;
  }

  /** Results in the order to show; `mode` is zh, en or both. Each has the language it was found in. */
  async search(text, mode) {
    const [first, second] = mode === "en" ? ["en", "zh"] : ["zh", "en"];
    const found = await this.found(text, first);
    const enough = mode !== "both" && (found.length >= FEW || !OF_SCRIPT[second].test(text));
    if (enough) return found;
    return merged(found, await this.found(text, second), mode === "both" ? 1 : 0.5);
  }

  async found(text, lang) {
    return (await this.finder(lang)).search(text).map((one) => ({ ...one, lang }));
  }

  /** The text of an entry, in a language; empty where it cannot be had. */
  async text({ page, anchor }, lang) {
    const { pages, texts } = await this.fetched(this.files[lang]);
    return (await this.fetched(texts[pages.indexOf(page)]))[anchor] ?? "";
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
