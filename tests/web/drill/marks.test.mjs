import assert from "node:assert/strict";
import { test } from "node:test";

import { exportText, importText } from "../../../book/web/drill/file.js";
import { merge, newMark, problem } from "../../../book/web/drill/marks.js";
import { Refusal } from "../../../book/web/drill/record.js";
import { openStore } from "../../../book/web/drill/store.js";
import { notice } from "../../../book/web/drill/texts.js";
import { event, mark, prediction, uuid } from "./helpers.mjs";

const CELL = { cell: "guess-1", edition: "0123456789ab" };
const PAGE = "chapters/01-tensors/views";

test("a new mark is whole and valid", () => {
  const made = newMark({ kind: "prediction", page: PAGE, ...CELL, response: "d-00000001",
    right: false, confidence: "guess" }, uuid(1));
  assert.equal(problem(made), null);
  assert.deepEqual(Object.keys(made), Object.keys(prediction(1)));
  assert.equal(made.device, uuid(1));
  assert.ok(Math.abs(Date.now() - made.time) < 60_000);
});

test("broken fields make no mark and store nothing", async () => {
  const store = await openStore();
  await assert.rejects(store.mark({ kind: "dream", page: PAGE }), TypeError);
  await assert.rejects(store.mark({ kind: "read" }), TypeError);
  await assert.rejects(store.mark({ kind: "read", page: PAGE, cell: "x" }), TypeError);
  assert.deepEqual(await store.marks(), []);
});

test("the store gives marks back in order of time", async () => {
  const store = await openStore();
  const later = mark(1, { time: 9e12, page: "chapters/01-tensors/other" });
  await store.join({ events: [], marks: [later, mark(2, { time: 5 })] });
  const { id } = await store.mark({ kind: "read", page: PAGE });
  assert.deepEqual((await store.marks()).map((one) => one.id), [uuid(2), id, uuid(1)]);
});

test("what is done now comes last, whatever clock made the marks of the same place", async () => {
  const store = await openStore();
  await store.join({ events: [], marks: [mark(1, { time: 9e12 }), prediction(2, { time: 9.1e12 })] });
  const { id, time } = await store.mark({ kind: "unread", page: PAGE });
  assert.equal(time, 9e12 + 1);
  assert.deepEqual((await store.marks()).map((one) => one.id), [uuid(1), id, uuid(2)]);
});

test("a mark of a newer edition is passed on as it is, and stops nothing", async () => {
  const store = await openStore();
  const kind = mark(1, { kind: "highlight", schema: 2, words: "a view" });
  const schema = prediction(2, { schema: 2, seconds: 4 });
  await store.join({ events: [], marks: [kind, schema] });
  await store.mark({ kind: "read", page: PAGE });
  assert.equal((await store.marks()).length, 3);
  assert.match(exportText({ events: [], marks: await store.marks() }), /"words":"a view"/);
  assert.deepEqual(merge([kind], [{ ...kind }]).length, 1);
});

test("what contradicts a stored mark is refused, and no event of the file is taken", async () => {
  const store = await openStore();
  await store.join({ events: [], marks: [mark(1)] });
  await assert.rejects(store.join({ events: [event(1)], marks: [mark(1, { zone: 60 })] }), Refusal);
  assert.deepEqual([await store.events(), await store.marks()], [[], [mark(1)]]);
});

test("a merge of marks is the union, in any order", () => {
  const [a, b] = [[mark(1), prediction(2)], [prediction(2), mark(3)]];
  assert.deepEqual(merge(a, b), merge(b, a));
  assert.deepEqual(merge(a, b).map(({ id }) => id), [uuid(1), uuid(2), uuid(3)]);
});

const BROKEN = {
  id: ["", null, 1], kind: ["", "Read", null, "toString", 1], time: [-1, 1.5, null],
  page: ["", "/a", "a/", "a.html", "../a", "A/b", "a".repeat(201), null, 1], zone: [901, null],
  lang: ["de", null], schema: [0, "1", null], device: ["laptop"],
  cell: ["", "a b", "a".repeat(65), null], edition: ["0123456789a", null],
  response: ["d-1", "yes", null, "answer\n"], right: [false, null, 1],
  confidence: [null, "Sure", "unsure"],
};
for (const [field, values] of Object.entries(BROKEN)) {
  test(`a broken ${field} is refused with the number of the mark, the field and the reason`, () => {
    for (const value of values) {
      const marks = [mark(1), prediction(2, { [field]: value })];
      const file = JSON.stringify({ ...JSON.parse(exportText({ events: [], marks: [] })), marks });
      assert.throws(() => importText(file), ({ reason }) => {
        assert.deepEqual([reason.code, reason.number, reason.reason.code, reason.reason.field],
          ["mark", 2, "wrong", field], JSON.stringify(value));
        const [zh, en] = notice({ code: "refused", reason });
        assert.ok(zh.includes("第 2 条阅读记录") && en.includes("mark 2"), `${zh} ${en}`);
        assert.ok(en.includes(`${field} is`) && !/\n/.test(zh + en));
        return true;
      });
    }
    const { [field]: _, ...rest } = prediction(2);
    assert.deepEqual([problem(rest).code, problem(rest).field], ["missing", field]);
  });
}

test("the table breaks every field of the format", () => {
  assert.deepEqual(Object.keys(BROKEN).sort(), Object.keys(prediction(1)).sort());
});

test("who is not sure names no confidence and is not right", () => {
  const unsure = { response: "unsure", right: false, confidence: null };
  assert.equal(problem(prediction(1, unsure)), null);
  assert.equal(problem(prediction(1, { ...unsure, right: true })).field, "right");
  assert.equal(problem(prediction(1, { ...unsure, confidence: "guess" })).field, "confidence");
});

test("a section that was read has no answer", () => {
  assert.equal(problem(mark(1)), null);
  assert.deepEqual(problem(mark(1, { right: true })), { code: "unknown", field: "right" });
});
