// How the index is laid out, for who makes it and who reads it.

export const LANGS = ["zh", "en"];
export const OTHER = { zh: "en", en: "zh" };

/** The fields of an entry and what a find in each is worth. */
export const BOOSTS = { title: 6, other: 4, path: 1.5, errors: 2.5, text: 1, code: 0.8 };

/** What MiniSearch is made with; a field reaches it as a list of terms. */
export const OPTIONS = {
  fields: Object.keys(BOOSTS),
  tokenize: (terms) => terms.split("\n").filter(Boolean),
  processTerm: (term) => term,
};

export const KINDS = ["section", "card", "term"];
