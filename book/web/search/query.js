// What a reader typed or pasted, as groups: a group is one thing asked for, with the terms of the
// index that would answer it and what each is worth.

import { hanRuns, isStop, latin, normal, numbers, shapes } from "./tokens.js";
import { STOP, cut } from "./words.js";

const PASTED_MOST = 20_000, LONGEST = 2000; // characters looked at, and searched for at every key
const LONG = 8;       // groups from which a query is a sentence or a pasted text
const KEPT = 16;      // the rarest groups of a pasted text say what it is about
const PASTED = /\b[A-Z]\w*(?:Error|Exception|Warning|Unsupported)\b|Traceback|^\s*File "/m;
// What is of the reader's machine and not of the error: paths, lines, addresses, numbers, shapes.
const NOISE = [/^\s*File ".*$/gm, /^Traceback.*$/gm, /(?:[A-Za-z]:)?(?:[\\/][\w.-]+){2,}/g,
  /\[pid \d+\]|\(pid \d+\)|\bline \d+\b|\b0x[0-9a-f]+\b|\bcuda:\d+\b/gi, /\[[\d, ]*\]|\b\d+(?:\.\d+)*\b/g];

const SAYS = /^\s*[\w.]*(?:Error|Exception|Warning|Unsupported)\b/;
const SAYS_WITHIN = /(?<=\s)(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning|Unsupported): /g;

/** What a traceback says at its end, also where its line ends were lost on the way here. */
function said(text) {
  const lines = text.split("\n");
  const at = lines.findLastIndex((line) => SAYS.test(line));
  if (at > 0) return lines.slice(at).join("\n");
  const within = [...text.matchAll(SAYS_WITHIN)].at(-1);
  return within ? text.slice(within.index) : text;
}

/** A pasted text without noise; a traceback is cut down to what it says at its end. */
export function cleaned(query) {
  const text = query.slice(-PASTED_MOST);
  if (!PASTED.test(text)) return { text: text.slice(0, LONGEST), pasted: false };
  const kept = (/Traceback/.test(text) ? said(text) : text).slice(0, LONGEST);
  return { text: NOISE.reduce((rest, noise) => rest.replace(noise, " "), kept), pasted: true };
}

/** The groups of a query, in its order. `lexicon` knows the index: has(term), count(term), near(char),
 *  sounding(pinyin). */
export function parse(query, lexicon) {
  const { text, pasted } = cleaned(normal(query).trim());
  const groups = [...phrases(text, lexicon), ...names(text, lexicon, pasted), ...chinese(text, lexicon)];
  if (!pasted) for (const number of numbers(text)) groups.push(group(number, [[number, 1]], { weight: 0.4 }));
  groups.push(...shapeGroups(text, lexicon));
  for (const one of groups) one.weight *= rarity(one, lexicon);
  const known = ({ alts }) => !pasted || alts.some(([one]) => lexicon.count(one));
  const found = once(groups).filter(known); // what a pasted text says in no word of the book
  if (found.length <= KEPT) return { groups: found, pasted: pasted || found.length > LONG };
  const rarest = [...found].sort((a, b) => b.weight - a.weight).slice(0, KEPT);
  return { groups: found.filter((one) => rarest.includes(one)), pasted: true };
}

/** `extra` helps an entry that has it and is not missed in one that lacks it. */
const group = (label, alts, { weight = 1, typed = "", extra = false } = {}) =>
  ({ label, alts, weight, typed, extra });

function once(groups) {
  return groups.filter((one, at) => groups.findIndex(({ label }) => label === one.label) === at);
}

/** Names and words of Latin letters. */
function names(text, lexicon, pasted) {
  const found = latin(text).filter(({ word, names: inner }) => inner.length && !isStop(word));
  const groups = found.map(({ word, whole, names: inner, parts }) => {
    const last = inner.at(-1);
    const alts = [[last, 1]];
    if (inner.length > 1) alts.unshift([whole, 1.3]);
    const rest = lexicon.count(last) ? [] : parts; // a name that the book has is meant as a whole
    for (const part of [...inner.slice(0, -1), ...rest]) alts.push([part, 0.3]);
    for (const other of lexicon.synonyms(last)) alts.push([other, 0.8]);
    const typed = word.toLowerCase().split(".").at(-1);
    const meant = lexicon.has(last) ? [] : lexicon.sounding(typed);
    for (const one of meant) alts.push([one, 0.9]);
    return group(last, alts, { typed: meant.length ? "" : typed });
  });
  if (pasted) for (const one of pairGroups(text)) groups.push(one);
  return groups;
}

/** Shapes that the book has, with or without their parentheses; a length that it has not is any N. */
function shapeGroups(text, lexicon) {
  const found = shapes(text);
  return (found.length ? found : shapes(`(${text})`))
    .map(({ term }) => (lexicon.count(term) ? term : term.replace(/(?<!\w)(?:[2-9]|\d{2,})(?!\w)/g, "n")))
    .filter(lexicon.count).map((term) => group(term, [[term, 1]]));
}

/** Neighbours of a pasted text: they say more than the words alone, and never less. */
function pairGroups(text) {
  const words = latin(text).filter(({ word }) => !isStop(word)).flatMap(({ names: inner }) => inner);
  return words.slice(1).map((word, at) => group(`${words[at]} ${word}`,
    [[`${words[at]} ${word}`, 1]], { extra: true }));
}

/** Chinese words by the book's list; a character that no word holds counts alone. */
function chinese(text, lexicon) {
  const words = hanRuns(text).flatMap((run) => cut(run, lexicon.has)).filter((word) => !STOP.has(word));
  return words.flatMap((word) => {
    const alts = [[word, 1], ...lexicon.synonyms(word).map((other) => [other, 0.9])];
    if (word.length === 1) alts.push(...lexicon.near(word).map((other) => [other, 0.5]));
    const inner = lexicon.count(word) ? cut(word, (one) => one !== word && lexicon.count(one)) : [];
    if (inner.length < 2 || inner.some((one) => one.length < 2)) return [group(word, alts)];
    return [group(word, alts, { extra: true }), ...inner.map((one) => group(one, [[one, 1]]))];
  });
}

/** Terms of the book in several Latin words (`graph break`): another name of each is a group. */
function phrases(text, lexicon) {
  const words = latin(text).flatMap(({ names: inner }) => inner);
  return lexicon.phrases.filter(({ stems }) => follows(words, stems)).map(({ stems, others }) =>
    group(stems.join(" "), others.map((other) => [other, 0.9]), { extra: true }));
}

function follows(words, stems) {
  return words.some((_, at) => stems.every((stem, place) => words[at + place] === stem));
}

/** How much a group tells: by its most frequent meaning, unknown ones as much as the rarest. */
function rarity({ alts }, lexicon) {
  const count = lexicon.count(alts[0][0]) || Math.max(0, ...alts.map(([one]) => lexicon.count(one)));
  return Math.log(1 + lexicon.size / Math.max(count, 4));
}

