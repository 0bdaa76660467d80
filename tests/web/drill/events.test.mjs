import assert from "node:assert/strict";
import { test } from "node:test";

import { merge, problem } from "../../../book/web/drill/events.js";
import { exportText, FORMAT, importText } from "../../../book/web/drill/file.js";
import { newId, Refusal } from "../../../book/web/drill/record.js";
import { chance, event, mark, prediction, uuid } from "./helpers.mjs";

/** A random set of events; the same number always stands for the same event. */
function randomSet(random) {
  return Array.from({ length: random(30) }, () => {
    const n = random(40);
    return event(n, { time: 1_000_000 * (n % 7), grade: 1 + (n % 4) });
  });
}

const reasonOf = (run) => {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    return error.reason;
  }
  return assert.fail("was accepted");
};
const fileOf = (...events) => JSON.stringify({ format: FORMAT, schema: 1, events });

test("a merge is the union: any order and any number of times gives the same", () => {
  const random = chance(1);
  for (let round = 0; round < 300; round++) {
    const [a, b, c] = [randomSet(random), randomSet(random), randomSet(random)];
    const union = merge(a, b);
    assert.deepEqual(merge(b, a), union);
    assert.deepEqual(merge(union, b), union);
    assert.deepEqual(merge(merge(a, b), c), merge(a, merge(b, c)));
    assert.equal(union.length, new Set([...a, ...b].map(({ id }) => id)).size);
  }
});

test("merged events stand in order of time, then id", () => {
  const events = merge([event(3, { time: 5 }), event(2, { time: 9 })], [event(1, { time: 9 })]);
  assert.deepEqual(events.map(({ id }) => id), [uuid(3), uuid(1), uuid(2)]);
});

test("two different events with one id are refused, in either order", () => {
  const [a, b] = [[event(1)], [event(1, { grade: 1 })]];
  assert.equal(reasonOf(() => merge(a, b)).code, "differs");
  assert.equal(reasonOf(() => merge(b, a)).code, "differs");
  assert.equal(reasonOf(() => importText(fileOf(...a, ...b))).code, "differs");
});

test("an export reads back as the same events, and equal sets make equal files", () => {
  const events = merge(randomSet(chance(2)), randomSet(chance(3)));
  assert.ok(events.length > 10);
  const everything = { events, marks: [mark(1), prediction(2, { time: 9e12 })] };
  assert.deepEqual(importText(exportText(everything)), everything);
  const mixed = events.map((entry) => Object.fromEntries(Object.entries(entry).reverse()));
  assert.equal(exportText({ events: mixed.reverse(), marks: everything.marks.toReversed() }),
    exportText(everything));
  assert.deepEqual(importText(`\ufeff${exportText(everything)}`), everything);
});

test("a file of schema 1, as older editions wrote it, still reads: no marks", () => {
  const file = `{"format": "${FORMAT}", "schema": 1, "events": [\n${
    JSON.stringify(event(1))},\n${JSON.stringify(event(2))}\n]}\n`;
  assert.deepEqual(importText(file), { events: [event(1), event(2)], marks: [] });
});

test("an empty progress is a valid file", () => {
  const nothing = { events: [], marks: [] };
  assert.deepEqual(importText(exportText(nothing)), nothing);
});

const BROKEN_FILES = {
  "cut short": [fileOf(event(1)).slice(0, -9), "not-json"],
  "not JSON": ["Front,Back\n", "not-json"],
  empty: ["", "not-json"],
  "a number": ["7", "foreign"],
  null: ["null", "foreign"],
  "a list of events": [JSON.stringify([event(1)]), "foreign"],
  "of another program": ['{"format": "anki", "schema": 1, "events": []}', "foreign"],
  "of a later version": [`{"format": "${FORMAT}", "schema": 3, "events": []}`, "newer"],
  "with an event of a later version": [fileOf(event(1), event(2, { schema: 2 })), "newer"],
  "without version": [`{"format": "${FORMAT}", "events": []}`, "no-schema"],
  "with a version in words": [`{"format": "${FORMAT}", "schema": "1", "events": []}`, "no-schema"],
  "without events": [`{"format": "${FORMAT}", "schema": 1}`, "no-events"],
  "of schema 2 without marks": [`{"format": "${FORMAT}", "schema": 2, "events": []}`, "no-marks"],
  "with a mark of a later version": [`{"format": "${FORMAT}", "schema": 2, "events": [], "marks": [
    ${JSON.stringify(mark(1, { schema: 2, kind: "dream" }))}]}`, "newer"],
  "with events by name": [`{"format": "${FORMAT}", "schema": 1, "events": {}}`, "no-events"],
};
for (const [name, [text, code]] of Object.entries(BROKEN_FILES)) {
  test(`a file ${name} is refused: ${code}`, () => {
    assert.equal(reasonOf(() => importText(text)).code, code);
  });
}

const BROKEN_FIELDS = {
  id: ["", "1", 7, null, uuid(1).toUpperCase().replaceAll("0", "A"), `${uuid(1)}0`],
  card: ["", "one", "Tensors-one", "a--b", "tensors-one\n", `a-${"b".repeat(120)}`, null],
  time: [-1, 1.5, "2026-01-05", null, 8.64e15 + 1],
  zone: [901, -901, 0.5, "+08:00", null],
  button: [0, 5, "3", null, 2.5],
  grade: [0, 5, "3", null],
  scheduler: [null, "ts-fsrs", {}, [], { name: "a", version: "1", parameters: "12" },
    { name: "a", version: "1", parameters: "0123456789abcdef", more: 1 },
    { name: "a", version: "", parameters: "0123456789abcdef" },
    { name: "A", version: "1", parameters: "0123456789abcdef" }],
  elapsed: [-1, 0.5, "1"],
  confidence: ["", "Sure", null, 1],
  response: ["", "d_1", 3, "a".repeat(65)],
  points: [null, "11", [1], [true, null], {}, Array(17).fill(true)],
  variant: [-1, 0.5, "0"],
  lang: ["de", null, "zh-Hans"],
  duration: [-1, 0.5, null],
  mode: ["", "Page", null],
  edition: ["", "0123456789a", "0123456789AB", null],
  schema: [0, 1.5, "1", null],
  device: ["", "laptop", null],
};
for (const [field, values] of Object.entries(BROKEN_FIELDS)) {
  test(`a broken ${field} is refused with the number of the event and the field`, () => {
    for (const value of values) {
      const reason = reasonOf(() => importText(fileOf(event(1), event(2, { [field]: value }))));
      assert.deepEqual([reason.code, reason.number, reason.reason.code, reason.reason.field],
        ["event", 2, "wrong", field], JSON.stringify(value));
    }
    const { [field]: _, ...rest } = event(2);
    const missing = reasonOf(() => importText(fileOf(event(1), rest))).reason;
    assert.deepEqual([missing.code, missing.field], ["missing", field]);
  });
}

test("the table breaks every field of the format", () => {
  assert.deepEqual(Object.keys(BROKEN_FIELDS).sort(), Object.keys(event(1)).sort());
});

test("a field too many, and an entry that is no record, are refused", () => {
  assert.deepEqual(problem({ ...event(1), note: 1 }), { code: "unknown", field: "note" });
  for (const entry of [null, 1, "x", []]) assert.equal(problem(entry).code, "not-a-record");
});

test("a field that only the prototype has is missing", () => {
  const { device, ...rest } = event(1);
  assert.deepEqual(problem(Object.assign(Object.create({ device }), rest)).field, "device");
});

test("new ids are valid and differ", () => {
  const ids = new Set(Array.from({ length: 1000 }, newId));
  assert.equal(ids.size, 1000);
  for (const id of ids) assert.equal(problem(event(1, { id, device: id })), null);
});
