import assert from "node:assert/strict";
import { test } from "node:test";
import { Finder, lessonFirst, takeTurns, withoutTail } from "../../../book/web/search/find.js";
import { Library } from "../../../book/web/search/library.js";
import { make } from "../../../book/web/search/make.js";
import { cleaned, parse } from "../../../book/web/search/query.js";
import { merged } from "../../../book/web/search/reader.js";
import { allowed } from "../../../book/web/search/typos.js";

const entry = (page, anchor, [zh, en], [textZh, textEn], more = {}) => ({
  page, anchor, kind: "section", depth: anchor ? 2 : 1, title: { zh, en }, text: { zh: textZh, en: textEn }, code: [], errors: [], ...more });
const ENTRIES = [
  entry("hooks", "", ["钩子", "Hooks"], ["钩子在调用前后运行。钩子可以改结果。", "A hook runs before or after a call."]),
  entry("hooks", "silent", ["为什么有的钩子不响", "Why does a hook stay silent?"], ["直接调用 forward，钩子不运行。", "Calling forward directly skips it."]),
  entry("hooks", "order", ["先后", "Order"], ["先注册的钩子先运行。", "The hook that came first runs first."]),
  entry("views", "", ["视图与步长", "Views and strides"], ["步长决定连续。视图共享存储。步长是整数。", "Strides decide contiguity; a contiguous view shares."],
    { code: ["torch.Tensor.view", "as_strided"] }),
  entry("views", "fails", ["view 检查什么", "What view checks"], ["步长不合适就失败，报错说不兼容。", "It raises where the strides do not fit."],
    { errors: ["RuntimeError: view size is not compatible with input tensor's size and stride"] }),
  entry("buffers", "", ["参数还是缓冲", "Parameter or buffer"], ["用 register_buffer 注册，参数另说。", "register_buffer registers one."], { code: ["self.register_buffer"] }),
  entry("buffers", "card", ["buffer 会不会保存？", "Is a buffer saved?"], ["会，除非说了不要。", "Yes, unless told not to."], { kind: "card", depth: 4 }),
];
const SOUNDS = "bu步 chang长 fen分 gou钩 hang行 huan缓 chong冲 tu图 shi视 xing行 zi子 xian先 can参 shu数"; // enough for these tests
const TERMS = [["stride", "步长", "步幅"], ["graph break", "图中断"], ["view", "视图"]];

/** A finder over all of these entries, as a reader has it when every chapter has come. */
async function finder(entries, terms, lang) {
  const { first, chapters } = JSON.parse(JSON.stringify(make({ entries, terms, sounds: SOUNDS })));
  const library = new Library(first);
  for (const [folder, files] of Object.entries(chapters)) library.addChapter(folder, lang, files.both, files[lang]);
  return Finder.over(library, lang);
}
const whole = { zh: await finder(ENTRIES, TERMS, "zh"), en: await finder(ENTRIES, TERMS, "en") };
const find = (text, lang = /\p{Script=Han}/u.test(text) ? "zh" : "en") => whole[lang].search(text);
const names = (found) => found.map(({ page, anchor }) => `${page}#${anchor}`);

test("one and two Chinese characters find the title that has them", () => {
  assert.equal(names(find("响"))[0], "hooks#silent");
  assert.equal(names(find("钩子"))[0], "hooks#");
});

test("a form that the book refuses finds the term", () => {
  assert.equal(names(find("步幅"))[0], "views#");
});

test("a reader of Chinese who types English finds it, and the other way round", () => {
  assert.equal(names(find("stride", "zh"))[0], "views#");
  assert.equal(names(find("步长", "en"))[0], "views#");
});

test("an identifier is found whole, by a part, and with one letter missing", () => {
  for (const query of ["register_buffer", "buffer", "regster_buffer", "self.register_buffer"]) {
    assert.equal(find(query)[0]?.page, "buffers", query);
  }
});

test("a typing error finds the word, a short word has none", () => {
  assert.equal(names(find("contigous"))[0], "views#");
  assert.deepEqual(names(find("hok")), []);
});

const USED = ["stride", "tensor", "storage", "view", "contiguous", "broadcast", "dtype", "gradient", "autograd", "backward",
  "detach", "leaf", "hook", "module", "parameter", "buffer", "optimizer", "checkpoint", "dataset", "worker", "sampler",
  "collate", "compile", "recompile", "guard", "fusion", "kernel", "inductor", "dispatcher", "frame", "release", "share"];

test("neighbours that changed places are understood in every word that the book uses much", async () => {
  const some = await finder(USED.map((word, at) => entry(`p${at}`, "", [word, word], [`${word}。`, word])), [], "en");
  const lost = [];
  for (const [at, word] of USED.entries()) {
    for (let i = 1; i + 1 < word.length; i += 1) {
      const typed = `${word.slice(0, i)}${word[i + 1]}${word[i]}${word.slice(i + 2)}`;
      if (!some.search(typed).some(({ page }) => page === `p${at}`)) lost.push(typed);
    }
  }
  assert.deepEqual(lost, []);
});

test("another name of several words finds the titles that have them all, and no texts", async () => {
  const some = [entry("given", "", ["数据集怎么到手", "How a worker gets the dataset"], ["x", "x"]),
    entry("half", "", ["工作进程", "What a worker knows"], ["x", "A worker has a dataset."])];
  const found = await finder(some, [["fork", "how a worker gets the dataset"], ["memory", "out of memory"]], "en");
  assert.deepEqual(names(found.search("fork")), ["given#"]);
  assert.deepEqual(names(found.search("memory")), []);
});

test("what is typed so far already finds", () => assert.equal(find("strid")[0]?.page, "views"));

test("an error text pasted whole finds its section", () => {
  const pasted = `Traceback (most recent call last):
  File "/home/me/hooks/order.py", line 7, in <module>
RuntimeError: view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.`;
  assert.equal(names(find(pasted))[0], "views#fails");
});

test("a traceback is cut down to its error, without paths, lines and shapes", () => {
  const { text, pasted } = cleaned(`Traceback (most recent call last):
  File "/home/me/a.py", line 7
RuntimeError: at /home/me/b.py line 8: shape [64, 128] is 0x7f00 invalid`);
  assert.ok(pasted);
  for (const noise of ["home", "a.py", "64", "0x7f00", "line"]) assert.ok(!text.includes(noise), text);
  assert.ok(text.includes("RuntimeError") && text.includes("invalid"));
  assert.deepEqual(cleaned("view 报错"), { text: "view 报错", pasted: false });
});

test("a traceback that lost its line ends is cut down to its error too", () => {
  const { text } = cleaned('Traceback (most recent call last): File "/home/me/a.py", line 7, in f x.view(2) '
    + "RuntimeError: view size is not compatible");
  assert.equal(text.trim(), "RuntimeError: view size is not compatible");
});

test("of a very long text a part is looked at, of a long word nothing is guessed", () => {
  const lexicon = { ...whole.zh.lexicon };
  let asked = 0;
  lexicon.has = () => { asked += 1; return false; };
  parse("步长".repeat(20_000), lexicon);
  assert.ok(asked < 2000 * 8, String(asked));
  assert.equal(allowed(10_000), 0);
  const long = `Traceback\nRuntimeError: view size ${"Missing key. ".repeat(1000)}`;
  assert.ok(cleaned(long).text.startsWith("RuntimeError: view size"));
  assert.ok(cleaned(long).text.length <= 2000);
});

test("a whole identifier comes before entries that have its parts in their titles", async () => {
  const some = [entry("a", "parts", ["zeros_ 之后", "zeros_ and grad"], ["归零。grad。", "After zero and grad."], { code: ["opt.zero_grad"] }),
    entry("b", "whole", ["何时清零", "When to clear"], ["调用 zero_grad。", "Call zero_grad() before, zero_grad() it is."])];
  assert.deepEqual(names((await finder(some, [], "en")).search("zero_grad")), ["b#whole", "a#parts"]);
});

test("of one character, titles that begin or end with it come first", async () => {
  const some = [["视图与复制", "Views"], ["计算图", "Graph"], ["看图说话", "Said"]].map((title, at) =>
    entry(`p${at}`, "x", title, ["图。图。", "x"]));
  assert.equal((await finder(some, [], "zh")).search("图")[0].title, "计算图");
});

test("shapes are found by readers who space them otherwise, name no letter or leave out the parentheses", async () => {
  const some = [entry("draws", "", ["抽到 0 或 1", "A draw of 1"], ["x", "x"]),
    entry("stretch", "", ["广播", "Broadcasting"], ["形状是 (N, 1) 和 (N,)。", "The shapes (N, 1) and (N,)."])];
  for (const query of ["(N,1) and (N,)", "( N, 1 )(N,)", "(N,)", "N,1", "(32, 1) minus (32,)"]) {
    assert.deepEqual(names((await finder(some, [], "en")).search(query)), ["stretch#"], query);
  }
  assert.deepEqual(names((await finder(some, [], "zh")).search("（N，1）和（N，）")), ["stretch#"]);
  assert.deepEqual(names((await finder(some, [], "en")).search("1")), []);
});

test("what is far below the first is left out, but five stay", () => {
  const scores = (...list) => withoutTail(list.map((score) => ({ score }))).map(({ score }) => score);
  assert.deepEqual(scores(100, 90, 9, 8, 7, 6, 5), [100, 90, 9, 8, 7]);
  assert.deepEqual(scores(100, 90, 80, 70, 60, 50, 16, 14), [100, 90, 80, 70, 60, 50, 16]);
});

test("nonsense and stop words find nothing", () => {
  for (const query of ["qwertyuiop", "the", "of the", "的", "红烧肉", "!!!", "", "   ", "kubernetes ingress"]) {
    assert.deepEqual(names(find(query)), [], query);
  }
});

test("a card comes after the section of the same words", async () => {
  const same = (anchor, more) => entry("state", anchor, ["缓冲保存吗", "Is a buffer saved?"], ["会。", "Yes."], more);
  const some = [entry("state", "", ["状态", "State"], ["x", "x"]), same("card", { kind: "card", depth: 4 }), same("section", {})];
  assert.deepEqual(names((await finder(some, [], "en")).search("buffer saved")), ["state#section", "state#card"]);
});

test("no page takes the third place before others had a turn", () => {
  const pages = takeTurns(["a", "a", "a", "b", "a", "c"].map((page) => ({ page }))).map(({ page }) => page);
  assert.deepEqual(pages, ["a", "a", "b", "c", "a", "a"]);
});

test("two languages make one list: an entry of both stands once, at its better place", () => {
  const list = merged([{ id: 1, score: 4, lang: "zh" }, { id: 2, score: 3, lang: "zh" }],
    [{ id: 2, score: 9, lang: "en" }, { id: 3, score: 2, lang: "en" }], 1);
  assert.deepEqual(list.map(({ id, lang }) => [id, lang]), [[2, "en"], [1, "zh"], [3, "en"]]);
});

test("the lesson stands before the glossary where that would be the first", () => {
  const at = (page, kind) => ({ page, kind });
  const [term, card, lesson] = [at("book/glossary", "term"), at("a/b", "card"), at("a/b", "section")];
  assert.deepEqual(lessonFirst([term, card, lesson]), [lesson, term, card]);
  assert.deepEqual(lessonFirst([card, term, lesson]), [card, term, lesson]);
  assert.deepEqual(lessonFirst([term, card]), [term, card]);
  assert.deepEqual(lessonFirst([]), []);
});

test("where nothing has all words, what has most of them is found; one known word of two is not", () => {
  assert.equal(names(find("忘了 view"))[0].split("#")[0], "views");
  assert.notDeepEqual(find("qwertyuiop asdfghjkl hooks silent calling order"), []);
  assert.deepEqual(find("qwertyuiop asdfghjkl hooks"), []);
});

test("a Chinese word is found by its sound, in either language, and by each sound of a character", async () => {
  for (const lang of ["zh", "en"]) {
    assert.equal(names(find("gouzi", lang))[0], "hooks#", lang);
    assert.equal(names(find("buchang", lang))[0], "views#", lang);
  }
  const rows = [entry("rows", "", ["行数与分行", "Rows"], ["行数。", "x"]), entry("lanes", "", ["分行", "Lanes"], ["分行。分行。", "x"])];
  const some = await finder(rows, [], "zh");
  for (const query of ["fenhang", "fenxing"]) assert.ok(names(some.search(query)).includes("lanes#"), query);
});

test("a word that the book has, an identifier and a part of a sound are not taken for a sound", async () => {
  const some = await finder([...ENTRIES, entry("zi", "", ["Gouzi", "Gouzi"], ["gouzi", "The Gouzi river."])], TERMS, "zh");
  assert.deepEqual(names(some.search("gouzi")).map((name) => name.split("#")[0]), ["zi"]);
  for (const query of ["gou", "ouzi", "gouzi_x"]) assert.deepEqual(names(find(query, "zh")).filter((name) => name === "hooks#"), [], query);
});

test("a chapter that is being written stands where its words are in no heading", async () => {
  const some = [...ENTRIES, entry("book/index", "", ["书", "Book"], ["书。", "x"]),
    entry("book/index", "far", ["分布式训练：多卡", "Distributed training: several GPUs"], ["", ""], { kind: "planned" }),
    entry("deep", "", ["别的", "Other"], ["多卡。分布式。", "A distributed GPU."])];
  for (const [query, lang] of [["多卡", "zh"], ["分布式", "zh"], ["distributed", "en"], ["GPUs", "en"]]) {
    const found = (await finder(some, [], lang)).search(query);
    assert.equal(names(found)[0], "book/index#far", query);
    assert.equal(found[0].kind, "planned");
  }
  assert.equal(names((await finder(some, [], "en")).search("book"))[0], "book/index#");
});

test("a signal is found by its name in words", async () => {
  const entries = [...ENTRIES, entry("dead", "", ["死掉", "A dead worker"], ["SIGBUS。", "It ends by SIGBUS."])];
  const made = await finder(entries, [["SIGBUS", "bus error"]], "en");
  assert.ok(names(made.search("Bus error")).includes("dead#"));
});
