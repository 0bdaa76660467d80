// Finding: MiniSearch scores each group of the query; what is here puts the groups together.

import { engine } from "./engine.js";
import { BOOSTS, OTHER } from "./fields.js";
import { spellings } from "./pinyin.js";
import { parse } from "./query.js";
import { allowed, meant } from "./typos.js";
import { hanRuns, isStop, latin, normal } from "./tokens.js";

const AT_ONCE = 2, TERMS = 3; // entries of one page, and terms, before all others had their turn
const SHOWN = 12, ALWAYS = 5, TAIL = 0.15; // after so many, those that are worth a share of the first
const EDGE = 1.6;    // a title that begins or ends with the one character that is asked for
const CARD = 0.75, PLANNED = 0.6, SHARED = 0.5, SHEET = 0.8, ABOUT = 0.5;

/** What an index of so many entries knows of a term, other names of the book's terms, and the words
 *  that a spelling by sound may mean, of which `spell` makes a map once it is asked for one. */
export function lexicon(index, size, synonyms, spell) {
  const counts = new Map();
  for (const [word, row] of index) counts.set(word, Math.max(...Object.values(row).map((ids) => ids.length)));
  const others = new Map();
  const phrases = [];
  for (const words of synonyms) {
    for (const word of words) {
      const rest = words.filter((one) => one !== word);
      const stems = latin(word).flatMap(({ names }) => names);
      if (stems.length > 1) phrases.push({ stems, others: rest.flatMap(terms) });
      else {
        const name = stems[0] ?? word;
        others.set(name, [...(others.get(name) ?? []), ...rest.flatMap(terms)]);
      }
    }
  }
  const chinese = [...counts.keys()].filter((word) => /^\p{Script=Han}{2,}$/u.test(word));
  let spelled;
  return {
    size, phrases,
    has: (word) => counts.has(word) || others.has(word),
    count: (word) => counts.get(word) ?? 0,
    synonyms: (word) => others.get(word) ?? [],
    near: (char) => chinese.filter((word) => word.startsWith(char) || word.endsWith(char))
      .sort((a, b) => counts.get(b) - counts.get(a)).slice(0, 8),
    sounding: (typed) => (spelled ??= spell()).get(typed) ?? [],
  };
}

/** Another name as terms: a Chinese one is a term, a single Latin word too; of several Latin words
 *  those that tell something, with spaces, if there are two or more. */
function terms(word) {
  const words = latin(word), names = words.flatMap(({ names: inner }) => inner);
  if (!names.length) return [word];
  if (words.length < 2) return names.length === 1 ? names : [];
  const telling = words.filter((one) => !isStop(one.word)).flatMap(({ names: inner }) => inner);
  return telling.length > 1 ? [telling.join(" ")] : [];
}

const IN_TITLE = { fields: ["title", "other"], tokenize: (words) => words.split(" "), combineWith: "AND" };

/** A search, in one language, over what a library has by now: `search(text)` gives entries, best first. */
export class Finder {
  static async over(library, lang) {
    const finder = new Finder(), index = library.index(lang);
    finder.docs = library.docs.map(({ title, ...doc }) => ({
      ...doc, title: title[lang], other: title[OTHER[lang]] }));
    const ids = Object.keys(finder.docs).map(Number); // a chapter that isn't here leaves a gap
    finder.lexicon = lexicon(index, ids.length, library.synonyms,
      () => spellings(library.words, library.sounds));
    finder.engine = await engine(index, ids);
    return finder;
  }

  /** The same text again, as the box asks where nothing has come since, costs nothing. */
  search(text) {
    if (this.last?.text !== text) this.last = { text, found: this.ranked(text) };
    return this.last.found;
  }

  /** What has enough of all that is asked for; where nothing has, what has the words that the book
   *  knows, if those are most of them. */
  ranked(text) {
    const { groups, pasted } = parse(text, this.lexicon);
    const found = this.among(groups, pasted, text);
    if (found.length || pasted) return found;
    const words = groups.filter(({ label, extra }) => !extra && !/^\p{Script=Han}$/u.test(label));
    const known = words.filter(({ alts: [[word]] }) => this.lexicon.count(word));
    return known.length * 2 > words.length ? this.among(known, pasted, text) : [];
  }

  among(groups, pasted, text) {
    const whole = groups.reduce((sum, { weight, extra }) => sum + (extra ? 0 : weight), 0);
    if (!whole) return [];
    const found = this.collect(groups, pasted);
    const least = pasted ? 0.2 : 0.35;
    const scored = [...found].filter(([, one]) => one.covered / whole >= least)
      .map(([id, one]) => ({ ...this.docs[id], covered: Math.min(1, one.covered / whole),
                             terms: one.terms, asked: one.asked,
                             score: this.score(this.docs[id], one, whole, text, pasted) }));
    const best = lessonFirst(takeTurns(withoutTail(scored.sort((a, b) => b.score - a.score))));
    return best.slice(0, SHOWN);
  }

  /** By entry: the sum over groups of the best term, how much of the query that is, where it was, and
   *  the terms: all, and for each group its own or else what stands for it. */
  collect(groups, pasted) {
    const found = new Map();
    groups.forEach((group, at) => {
      for (const [id, hit] of this.hits(group, !pasted, at === groups.length - 1)) {
        const one = found.get(id) ?? { score: 0, covered: 0, titled: 0, terms: new Set(), asked: [] };
        one.score += hit.score;
        one.covered += group.weight * Math.min(1, hit.worth);
        one.titled += group.weight * Math.min(1, hit.titled);
        for (const word of hit.terms) one.terms.add(word);
        one.asked.push(hit.terms.includes(group.label) ? [group.label] : hit.terms);
        found.set(id, one);
      }
    });
    return found;
  }

  /** The entries that one group finds, each by the best of its terms; what was pasted has no typos. */
  hits(group, isTyped, isLast) {
    const best = new Map();
    const { count } = this.lexicon;
    const alts = group.alts.flatMap(([word, worth]) => {
      if (count(word)) return [[word, worth, {}]]; // a name of several words is looked for in titles
      return word.includes(" ") && word.split(" ").every(count) ? [[word, worth, IN_TITLE]] : [];
    });
    if (isTyped && group.typed) alts.push(...this.guesses(group, isLast));
    for (const [word, worth, more] of alts) {
      for (const { id, score, match, terms: words } of this.engine.search(word, { boost: BOOSTS, ...more })) {
        const titled = Object.values(match).some((fields) => fields.includes("title") || fields.includes("other"));
        const one = best.get(id) ?? { score: 0, worth: 0, titled: 0, terms: [] };
        best.set(id, { score: Math.max(one.score, score * worth), worth: Math.max(one.worth, worth),
                       titled: Math.max(one.titled, titled ? worth : 0), terms: [...one.terms, ...words] });
      }
    }
    return best;
  }

  /** A word that is still being typed, or mistyped. */
  guesses({ label, typed }, isLast) {
    const found = [];
    if (isLast && label.length > 2) found.push([label, 0.6, { prefix: true }]);
    if (this.lexicon.count(label)) return found;
    // The stemmer takes off what only looks like an ending, and leaves an ending that is mistyped:
    // so the whole word is tried too, and what an ending of two to four letters leaves.
    const stems = [-2, -3, -4].map((end) => typed.slice(0, end)).filter(({ length }) => length > 4);
    for (const word of new Set([label, typed, ...stems])) {
      const filter = ({ terms: words }) => words.some((one) => meant(word, one));
      if (allowed(word.length)) found.push([word, 0.65, { fuzzy: 2, filter }]);
    }
    return found;
  }

  /** One character is in a hundred titles: it means those that begin or end with it, known words first. */
  alone({ title, other, kind }, char) {
    const [name] = [title, other].filter((one) => one.startsWith(char) || one.endsWith(char));
    if (!name) return 1;
    return EDGE * (kind === "term" ? 1 + Math.log1p(this.lexicon.count(name)) / 4 : 1);
  }

  score(doc, { score, covered, titled }, whole, text, pasted) {
    const share = Math.min(1, covered / whole), inTitle = Math.min(1, titled / whole);
    const exact = !pasted && phrase(doc, text);
    let factor = (share ** 2) * (1 + inTitle) * (1 + inTitle * filled(doc, inTitle)) * (exact ? 1.5 : 1);
    if (doc.kind === "card") factor *= inTitle > 0.9 ? 0.9 : CARD;
    if (doc.isShared) factor *= SHARED;
    if (doc.page.endsWith("cheat-sheet")) factor *= SHEET;
    if (doc.kind === "planned") factor *= PLANNED;
    else if (/^book\/(status|drill|index)/.test(doc.page)) factor *= ABOUT;
    if (doc.depth === 1 && inTitle > 0.5) factor *= 1.2;
    if (/^\p{Script=Han}$/u.test(text.trim())) factor *= this.alone(doc, text.trim());
    return score * factor;
  }
}

/** How much of a title the query is: a short title that is asked for word by word comes first. */
function filled(doc, inTitle) {
  const length = hanRuns(doc.title).join("").length / 2 + latin(doc.title).length;
  return inTitle / Math.max(1, length / 2);
}

/** What is worth a share of the first, and as many as a reader looks at in any case. */
export function withoutTail(entries) {
  return entries.filter(({ score }, at) => at < ALWAYS || score >= TAIL * entries[0].score);
}

function phrase({ title, other }, text) {
  const asked = normal(text).toLowerCase().trim();
  return asked.length > 1 && [title, other].some((one) => one.toLowerCase().includes(asked));
}

/** Where an entry of the glossary is the best, the first of the lessons stands before it. */
export function lessonFirst(entries) {
  if (!isGlossary(entries[0])) return entries;
  const at = entries.findIndex((one) => one.kind === "section" && !isGlossary(one));
  return at < 0 ? entries : [entries[at], ...entries.filter((_, place) => place !== at)];
}

const isGlossary = (one) => one?.page === "book/glossary";

/** No page fills the list: its third entry waits until every other page had a turn. */
export function takeTurns(entries) {
  const counts = new Map();
  const first = [], later = [];
  for (const entry of entries) {
    const count = counts.get(entry.page) ?? 0;
    counts.set(entry.page, count + 1);
    (count < (entry.kind === "term" ? TERMS : AT_ONCE) ? first : later).push(entry);
  }
  return [...first, ...later];
}

