// A text in both languages is a pair [Chinese, English]; `code` and **bold** become elements.
import { escape, spans } from "../common/bilingual.js";

export const html = (text) => escape(text)
  .replace(/`(.+?)`/g, "<code>$1</code>").replace(/\*\*(\S.*?)\*\*/g, "<b>$1</b>");
export const both = (pair) => (pair[0] === pair[1] ? html(pair[0]) : spans(pair.map(html)));

/** One string in the language of the page, for aria-label; both where the page shows both. */
export function inPageLanguage([zh, en]) {
  const lang = document.documentElement.dataset.lang;
  const text = lang === "zh" || zh === en ? zh : lang === "en" ? en : `${zh} / ${en}`;
  return text.replace(/`|\*\*/g, "");
}

/** Name the elements below `root` whose `data-label` is a key of `labels`. */
export function setLabels(root, labels) {
  for (const node of root.querySelectorAll("[data-label]")) {
    node.setAttribute("aria-label", inPageLanguage(labels[node.dataset.label]));
  }
}
