import assert from "node:assert/strict";
import { test } from "node:test";
import { latinTerms, numbers, pairs, shapes, term } from "../../../book/web/search/tokens.js";
import { contained, collect, cut, grams } from "../../../book/web/search/words.js";
import { allowed, edits, meant } from "../../../book/web/search/typos.js";

const has = (text, ...words) => {
  const found = latinTerms(text);
  for (const word of words) assert.ok(found.has(word), `${text}: no ${word} in ${[...found]}`);
};

test("an identifier is found whole and by its parts", () => {
  has("register_buffer", "register_buffer", term("register"), term("buffer"));
  has("DataLoader", term("dataloader"), term("data"), term("loader"));
  has("AOTAutograd", term("aotautograd"), "aot", term("autograd"));
  has("__torch_dispatch__", "__torch_dispatch__", "torch_dispatch", term("dispatch"));
  has("mul_", "mul_", "mul");
});

test("a dotted path is found by each name, one of torch also whole", () => {
  has("torch.func.functional_call", "torch.func.functional_call", "functional_call", "func");
  assert.ok(!latinTerms("model.eval()").has("model.eval"));
});

test("inflected words are one word, and stop words none", () => {
  assert.equal(term("hooks"), term("hook"));
  assert.equal(term("contiguous"), term("contiguity").slice(0, term("contiguous").length));
  assert.deepEqual([...latinTerms("how does the")], []);
});

test("a shape is one term however it is spaced, the arguments of a call are none", () => {
  has("The shapes are ( N,1 ) and (N,).", "(n,1)", "(n,)");
  for (const text of ["torch.add(x, y)", "(N)", "(see, for instance, below)"]) assert.deepEqual(shapes(text), [], text);
});

test("a single digit is no term", () => assert.deepEqual(numbers("1 of 64, 0.5"), ["64", "0.5"]));

test("full-width letters are letters", () => has("ｖｉｅｗ".normalize("NFKC"), "view"));

test("neighbours of an error text are kept as pairs", () => {
  assert.ok(pairs("RuntimeError: a leaf Variable that requires grad").includes(`${term("leaf")} ${term("variable")}`));
});

test("a listed word is found however a segmenter would cut the text", () => {
  const words = new Set(["张量", "叶子", "叶子张量"]);
  assert.deepEqual([...contained("叶子张量的梯度", words)].sort(), ["叶子", "叶子张量", "张量"].sort());
});

test("a query is cut by the list, with as few characters left over as possible", () => {
  const known = (word) => ["版本", "计数器", "版本计数器", "梯度"].includes(word);
  assert.deepEqual(cut("版本计数器", known), ["版本计数器"]);
  assert.deepEqual(cut("梯度版本", known), ["梯度", "版本"]);
  assert.deepEqual(cut("为什么梯度", known), ["为什么", "梯度"]);
  assert.deepEqual(cut("", known), []);
});

test("collected words stand twice in the texts and neither begin nor end in a particle", () => {
  const words = collect(["梯度累加，梯度清零", "张量的梯度，张量的形状"]);
  assert.ok(words.includes("梯度"));
  assert.ok(!words.some((word) => word.endsWith("的")));
});

test("of a title every character and every pair can be found", () => {
  assert.deepEqual([...grams("钩子不响")].sort(), ["钩", "子", "不", "响", "钩子", "子不", "不响"].sort());
});

test("two letters that changed places are one edit", () => {
  assert.equal(edits("dyanmic", "dynamic"), 1);
  assert.equal(edits("recieve", "receive"), 1);
  assert.equal(edits("", "abc"), 3);
  assert.equal(edits("kitten", "sitting"), 3);
});

test("short words allow no edit, longer ones one, long ones two", () => {
  assert.deepEqual([3, 4, 7, 8].map(allowed), [0, 1, 1, 2]);
  assert.ok(meant("contigous", "contiguous"));
  assert.ok(!meant("ingress", "progress"), "another first letter is another word");
  assert.ok(!meant("ingress", "increas"));
});
