import assert from "node:assert/strict";
import { test } from "node:test";

import { FEW, tally } from "../../../book/web/predict/record.js";
import { texts } from "../../../book/web/predict/record-texts.js";
import { mark, prediction } from "./helpers.mjs";

const FOLDERS = ["chapters/01-tensors", "chapters/02-autograd"];
const wrong = { response: "d-00000001", right: false };
const unsure = { response: "unsure", right: false, confidence: null };
const of = (...marks) => tally(marks, FOLDERS);

test("each level counts how often it was said and how often that was right", () => {
  const { all } = of(prediction(1, { cell: "a" }), prediction(2, { cell: "b", ...wrong }),
    prediction(3, { cell: "c", confidence: "guess" }), prediction(4, { cell: "d", ...unsure }));
  assert.deepEqual(all, { page: null, total: 4, unsure: 1, sure: { said: 2, right: 1 },
    think: { said: 0, right: 0 }, guess: { said: 1, right: 1 } });
});

test("the first answer to a question counts, whatever came later", () => {
  const { all } = of(prediction(1, wrong), prediction(2), prediction(3, unsure));
  assert.deepEqual([all.total, all.sure, all.unsure], [1, { said: 1, right: 0 }, 0]);
});

test("a question that was edited, and the same cell of another page, is another question", () => {
  const { all } = of(prediction(1), prediction(2, { edition: "ba9876543210" }),
    prediction(3, { page: "chapters/01-tensors/copies" }));
  assert.equal(all.sure.said, 3);
});

test("chapters stand in their order, and another page counts in all only", () => {
  const { all, chapters } = of(prediction(1, { page: "chapters/02-autograd/leaf" }),
    prediction(2, { page: "book/index" }), prediction(3, { page: "chapters/02-autograd-more/x" }));
  assert.equal(all.total, 3);
  assert.deepEqual(chapters.map(({ page, total }) => [page, total]),
    [[FOLDERS[0], 0], [FOLDERS[1], 1]]);
});

test("a section that was read is no prediction", () => {
  assert.equal(of(mark(1)).all.total, 0);
});

test("few answers are said to tell nothing", () => {
  const few = texts.summary({ sure: { said: FEW - 1, right: 0 } });
  const enough = texts.summary({ sure: { said: FEW, right: 5 } });
  assert.ok(few[0].includes("还看不出") && few[1].includes("tells nothing"));
  assert.ok(enough[0].includes("对了 5 次") && enough[1].includes("right 5 times"));
});
