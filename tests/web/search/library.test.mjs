import assert from "node:assert/strict";
import { test } from "node:test";
import MiniSearch from "minisearch";
import { engine } from "../../../book/web/search/engine.js";
import * as packed from "../../../book/web/search/entries.js";
import { BOOSTS, FIELDS, OPTIONS, OTHER } from "../../../book/web/search/fields.js";
import { Library } from "../../../book/web/search/library.js";
import { make } from "../../../book/web/search/make.js";
import { Reader } from "../../../book/web/search/reader.js";
import { latinTerms, pairs } from "../../../book/web/search/tokens.js";

const entry = (page, anchor, kind, depth, [zh, en], [textZh, textEn], more = {}) => ({
  page, anchor, kind, depth, title: { zh, en }, text: { zh: textZh, en: textEn }, code: [], errors: [], ...more });
const ENTRIES = [
  entry("chapters/01-a/hooks", "", "section", 1, ["钩子", "Hooks"], ["前后运行。钩子。", "It runs before a call."]),
  entry("chapters/01-a/hooks", "order", "section", 2, ["谁先", "Order"], ["先注册的先运行。", "The older runs first."],
    { code: ["register_hook"], errors: ["RuntimeError: a hook returned None"] }),
  entry("chapters/01-a/hooks", "term-hook", "term", 4, ["钩子", "hook"], ["一个函数。", "A function."]),
  entry("chapters/01-a/hooks", "card-order", "card", 4, ["哪个钩子先？", "Which hook is first?"], ["旧的。", "The older."]),
  entry("chapters/02-b/views", "", "section", 1, ["视图", "Views"], ["共享存储。存储。", "Storage is shared with a hook."]),
  entry("chapters/02-b/views", "card-shared", "card", 4, ["共享吗？", "Shared?"], ["是。", "Yes."], { code: ["as_strided"] }),
  entry("book/glossary", "", "section", 1, ["术语", "Terms"], ["词。", "Words."]),
];
const made = JSON.parse(JSON.stringify(make({ entries: ENTRIES, terms: [["hook", "钩子"]] })));
const FILES = { first: "first", chapters: Object.fromEntries(Object.keys(made.chapters)
  .map((folder) => [folder, { both: `${folder} both`, zh: `${folder} zh`, en: `${folder} en` }])) };

/** A reader whose files come from memory; those that `lacks` tells of never come. */
class Local extends Reader {
  constructor(lacks = () => false) {
    super(FILES, null);
    Object.assign(this, { lacks, log: [] });
  }

  async fetched(name) {
    this.log.push(name);
    if (this.lacks(name)) throw new Error(name);
    const [folder, part] = name.split(" ");
    return structuredClone(part ? made.chapters[folder][part] : made.first);
  }
}
const names = (found) => found.map(({ page, anchor }) => `${page.split("/").at(-1)}#${anchor}`);

test("what is packed comes out as it was", () => {
  const pages = made.first.pages;
  const early = ENTRIES.filter(({ kind }) => kind !== "card");
  assert.deepEqual(packed.unpack(made.first, pages),
    early.map(({ page, anchor, kind, depth, title }) => ({ page, anchor, kind, depth, title })));
});

test("the index of all chapters is the one that MiniSearch makes of whole entries", async () => {
  for (const lang of ["zh", "en"]) {
    const library = new Library(made.first);
    for (const [folder, parts] of Object.entries(made.chapters)) library.addChapter(folder, lang, parts.both, parts[lang]);
    const ids = Object.keys(library.docs).map(Number);
    const { words, docs } = library;
    const own = (doc) => ENTRIES.find(({ page, anchor }) => page === doc.page && anchor === doc.anchor);
    const top = (page) => ENTRIES.find((one) => one.page === page).title[lang];
    const whole = new MiniSearch({ ...OPTIONS, tokenize: (list) => list.split("\n").filter(Boolean) });
    const spelled = (list) => [...list].join("\n");
    const texts = new Set([...words, ...Object.values(made.chapters).flatMap((parts) => parts.zh.terms.split("\n"))]);
    whole.addAll(ids.map((id) => {
      const { title, text, code, errors, page, depth } = own(docs[id]);
      return { id, title: spelled(packed.titleTerms(title[lang], words)), other: spelled(packed.titleTerms(title[OTHER[lang]], words)),
        path: spelled(depth > 1 ? packed.terms(top(page), words) : []), text: spelled(packed.terms(text[lang], texts)),
        code: spelled(latinTerms(code.join(" "))), errors: spelled(new Set([...latinTerms(errors.join("\n")), ...errors.flatMap(pairs)])) };
    }));
    const ours = await engine(library.index(lang), ids);
    for (const word of ["hook", "钩子", "先", "register_hook", "share", "共享", "runtimeerror", "as_strided", "call"]) {
      const scores = (one) => one.search(word, { boost: BOOSTS }).map(({ id, score }) => [id, score.toFixed(9)]).sort();
      assert.deepEqual(scores(ours), scores(whole), `${lang} ${word}`);
    }
    assert.ok(ours.search("hook", { boost: BOOSTS }).length > 2);
    assert.equal(FIELDS.length, 6);
  }
});

test("headings and terms answer from the first file alone", async () => {
  const reader = new Local();
  assert.deepEqual(names(await reader.search("hooks", "en", false)).sort(), ["hooks#", "hooks#order", "hooks#term-hook"]);
  assert.deepEqual(names(await reader.search("register_hook", "en", false)), []);
  assert.deepEqual([...new Set(reader.log)], ["first"]);
});

test("cards, code and texts answer once the chapters are here, and each file is asked for once", async () => {
  const reader = new Local();
  await reader.search("hooks", "en", false);
  assert.equal(names(await reader.search("register_hook", "en", true))[0], "hooks#order");
  assert.ok(names(await reader.search("which hook is first", "en", true)).includes("hooks#card-order"));
  assert.equal(names(await reader.search("存储", "zh", true))[0], "views#");
  const asked = reader.log.filter((name) => name.endsWith(" en") || name.endsWith(" zh"));
  assert.equal(asked.length, new Set(asked).size);
  assert.equal(reader.missing.size, 0);
});

test("a chapter that does not come leaves its headings and the rest, and is told of", async () => {
  for (const lost of ["chapters/02-b", "02-b en", "02-b both"]) {
    const reader = new Local((name) => name.includes(lost.replace("chapters/", "")));
    assert.equal(names(await reader.search("views", "en", true))[0], "views#");
    assert.equal(names(await reader.search("register_hook", "en", true))[0], "hooks#order");
    assert.deepEqual(names(await reader.search("as_strided", "en", true)), []);
    assert.deepEqual([...reader.missing], ["02-b"]);
  }
});

test("without the first file a search fails, and the next one asks again", async () => {
  let isGone = true;
  const reader = new Local(() => isGone);
  await assert.rejects(reader.search("hooks", "en", false));
  isGone = false;
  assert.equal(names(await reader.search("hooks", "en", false))[0], "hooks#");
});

test("an entry has the same number in both languages, in whatever order chapters come", async () => {
  const [reader, other] = [new Local(), new Local()];
  const ids = async (one, lang) => Object.fromEntries((await one.search("hook", lang, true)).map(({ id, page, anchor }) => [`${page}#${anchor}`, id]));
  const [en, zh] = [await ids(reader, "en"), await ids(reader, "zh")];
  for (const key of Object.keys(en)) assert.ok(zh[key] === undefined || zh[key] === en[key], key);
  assert.deepEqual(await ids(other, "zh"), zh);
  assert.equal(Object.keys(en).length, new Set(Object.values(en)).size);
});
