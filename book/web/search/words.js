// Chinese words: the book's own list of them, made once by the build.
//
// Intl.Segmenter cuts 张量的 into 张 and 量的, and each browser cuts in its own way. So the build
// only collects words with it; a text holds every listed word that it contains, however it was cut,
// and a query is cut by the same list.

import { hanRuns } from "./tokens.js";

const LONGEST = 8;
const EDGE = /^[很的了着吗呢吧啊么就也都把被让又却而与和在是这那]|[的了着吗呢吧啊么就也都把被让又却而与和在是这那]$/;
export const STOP = new Set(["为什么", "什么", "怎么", "怎样", "怎么办", "如何", "有", "没有", "是", "不", "会", "吗",
  "呢", "的", "了", "在", "和", "与", "跟", "哪些", "哪个", "哪里", "之后", "以后", "时候", "可以", "能", "要", "我", "你",
  "它", "这", "那", "一个", "一下", "到底", "还", "也", "都", "就", "又", "才", "把", "被", "让", "吧", "着", "得", "地",
  "个", "这个", "那个", "是不是", "有没有", "这样", "那样", "应该", "该", "到", "从", "对", "里", "上", "下", "中",
  "时", "后", "前", "很", "只", "不会", "不能", "需要", "使用", "问题", "区别", "办", "忘", "忘了",
  "忘记", "忘记了", "设", "多少", "设多少", "开多少"]);

/** Words of two characters or more that Intl.Segmenter finds at least twice in these texts. */
export function collect(texts) {
  const segmenter = new Intl.Segmenter("zh", { granularity: "word" });
  const counts = new Map();
  for (const run of texts.flatMap(hanRuns)) {
    for (const { segment } of segmenter.segment(run)) {
      if (segment.length > 1 && segment.length <= LONGEST && !EDGE.test(segment)) {
        counts.set(segment, (counts.get(segment) ?? 0) + 1);
      }
    }
  }
  return [...counts].filter(([, count]) => count > 1).map(([word]) => word);
}

/** Every listed word that a text contains, overlapping ones too. */
export function contained(text, words) {
  const found = new Set();
  for (const run of hanRuns(text)) {
    for (let from = 0; from < run.length; from += 1) {
      for (let to = from + 2; to <= Math.min(run.length, from + LONGEST); to += 1) {
        const word = run.slice(from, to);
        if (words.has(word)) found.add(word);
      }
    }
  }
  return found;
}

/** Single characters and pairs of a title: few, and nothing in a title may be missed. */
export function grams(text) {
  const found = new Set();
  for (const run of hanRuns(text)) {
    for (let at = 0; at < run.length; at += 1) {
      found.add(run[at]);
      if (at + 1 < run.length) found.add(run.slice(at, at + 2));
    }
  }
  return found;
}

/** Cut a run of Chinese characters into listed words, leaving as few characters over as possible. */
export function cut(run, known) {
  const best = [{ cost: 0 }]; // of the run up to here: what it costs, and where its last word begins
  for (let to = 1; to <= run.length; to += 1) {
    for (let from = Math.max(0, to - LONGEST); from < to; from += 1) {
      const cost = best[from].cost + price(run.slice(from, to), known);
      if (cost < (best[to]?.cost ?? Infinity)) best[to] = { cost, from };
    }
  }
  const words = [];
  for (let to = run.length; to > 0; to = best[to].from) words.unshift(run.slice(best[to].from, to));
  return words;
}

function price(word, known) {
  if (STOP.has(word)) return 0.9;
  if (word.length > 1) return known(word) ? 1 - 0.01 * word.length : Infinity;
  return 1.5;
}
