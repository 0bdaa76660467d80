// How the index is laid out, for who makes it and who reads it.

export const LANGS = ["zh", "en"];
export const OTHER = { zh: "en", en: "zh" };

/** The fields of an entry and what a find in each is worth. */
export const BOOSTS = { title: 6, other: 4, path: 1.5, errors: 2.5, text: 1, code: 0.8 };
export const FIELDS = Object.keys(BOOSTS);

/** What MiniSearch is made with; it is given the terms, and asked for one at a time. */
export const OPTIONS = { fields: FIELDS, tokenize: (term) => [term], processTerm: (term) => term };

/** The folder of a page: the chapter that its bodies are loaded with. */
export const folderOf = (page) => page.split("/").at(-2) ?? "";
