import assert from "node:assert/strict";
import { test } from "node:test";
import { line, marks, pieces } from "../../../book/web/search/context.js";

const hits = (text, ...terms) => pieces(text, new Set(terms)).filter(({ hit }) => hit).map(({ text: piece }) => piece);

test("inflected words and Chinese words are marked", () => {
  assert.deepEqual(hits("Two hooks, one hooked call", "hook"), ["hooks", "hooked"]);
  assert.deepEqual(hits("先清零梯度，再算梯度", "梯度"), ["梯度", "梯度"]);
});

test("overlapping marks are one, and a part of a word is none", () => {
  assert.deepEqual(hits("叶子张量", "叶子", "叶子张量"), ["叶子张量"]);
  assert.deepEqual(hits("unhooked", "hook"), []);
});

test("a shape is marked as a whole", () => {
  assert.deepEqual(hits("the shape (N, 1) and N", "(n,1)"), ["(N, 1)"]);
});

test("pieces put together are the text", () => {
  const text = "view 会失败：view 不兼容";
  assert.equal(pieces(text, new Set(["view"])).map(({ text: piece }) => piece).join(""), text);
});

test("the line is short, holds the match, and says where it was cut", () => {
  const text = `${"Nothing to see here at all ".repeat(20)}then the stride matters. ${"And more. ".repeat(30)}`;
  const cut = line(text, new Set(["stride"]), "en");
  assert.ok(cut.length < 130, cut);
  assert.ok(cut.includes("stride") && cut.startsWith("…") && cut.endsWith("…"), cut);
});

test("the line stands where most of the query is together", () => {
  const text = `hook here. ${"x ".repeat(200)} a hook with a stride. ${"y ".repeat(100)}`;
  assert.ok(line(text, new Set(["hook", "stride"]), "en").includes("a hook with a stride"));
});

test("without a match the text begins at its beginning", () => {
  assert.equal(line("Short.", new Set(["stride"]), "en"), "Short.");
  assert.equal(line("", new Set(["stride"]), "en"), "");
  assert.deepEqual(marks("", new Set(["x"])), []);
});
