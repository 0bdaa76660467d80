import assert from "node:assert/strict";
import { test } from "node:test";

import { dayOf } from "../../book/web/drill/days.js";
import { freshCards, plan } from "../../book/web/drill/queue.js";
import { shuffled } from "../../book/web/drill/random.js";
import { fold } from "../../book/web/drill/schedule.js";
import { card, chance, DAY, event, MONDAY } from "./helpers.mjs";

const TODAY = dayOf(MONDAY, 0);
const planOf = (cards, events = [], changes = {}) =>
  plan({ cards, states: fold(events), events, today: TODAY, limit: 10, ...changes });

/** Answer what the queue asks until it is empty; the ids in order. */
function sitting(cards, { before = [], limit = 10, gradeOf = () => 3 } = {}) {
  const events = [...before];
  const asked = [];
  for (let n = 0; n < 200; n++) {
    const { next } = planOf(cards, events, { limit });
    if (next === null) return asked;
    asked.push(next);
    const grade = gradeOf(next, asked.filter((id) => id === next).length);
    events.push(event(1000 + n, { card: next, grade, time: MONDAY + n * 1000 }));
  }
  return assert.fail("the queue never ends");
}
const newOrder = (cards) => freshCards(cards, new Map(), 100).map((entry) => entry.card.id);
const names = (n) => Array.from({ length: n }, (_, i) => card(`tensors-${i}`));
const reviewed = (n, id, daysAgo, changes = {}) =>
  event(n, { card: id, time: MONDAY - daysAgo * DAY, ...changes });

test("reviews that are due come before new cards, the longest overdue first", () => {
  const cards = names(4);
  const before = [reviewed(1, "tensors-2", 3), reviewed(2, "tensors-3", 9)];
  assert.deepEqual(sitting(cards, { before }),
    ["tensors-3", "tensors-2", "tensors-0", "tensors-1"]);
});

test("what is not due yet is not asked", () => {
  const before = [reviewed(1, "tensors-0", 1)]; // Good on a new card: two days
  assert.deepEqual(planOf(names(1), before), { next: null, due: 0, fresh: 0, done: 0, left: 0 });
});

test("new cards are limited by the day, counting those already begun today", () => {
  const cards = names(8);
  assert.equal(sitting(cards, { limit: 3 }).length, 3);
  const begun = [event(1, { card: "tensors-7" })];
  assert.equal(sitting(cards, { before: begun, limit: 3 }).length, 2);
  const yesterday = [reviewed(1, "tensors-7", 1)];
  assert.equal(sitting(cards, { before: yesterday, limit: 3 }).length, 3);
  assert.equal(sitting(cards, { limit: 0 }).length, 0);
});

test("cards begun beyond the filter count against the limit too", () => {
  const begun = [event(1, { card: "autograd-elsewhere" })];
  assert.equal(sitting(names(8), { before: begun, limit: 3 }).length, 2);
});

test("within a concept new cards come by kind, however they stand in the book", () => {
  const kinds = ["predict", "compare", "bug", "explain", "estimate", "design"];
  for (let round = 0; round < 20; round++) {
    const cards = shuffled(kinds, String(round)).map(
      (kind) => card(`tensors-${kind}`, { kind, concept: "views" }));
    assert.deepEqual(newOrder(cards), kinds.map((kind) => `tensors-${kind}`));
  }
});

test("concepts come as in the book, each as a whole", () => {
  const cards = [card("a-1", { concept: "a" }), card("b-1", { concept: "b", kind: "design" }),
    card("a-2", { concept: "a", kind: "predict" }), card("c-1"), card("b-2", { concept: "b" })];
  assert.deepEqual(newOrder(cards), ["a-2", "a-1", "b-2", "b-1", "c-1"]);
});

test("a card waits for those named in `after`, over concepts and in chains", () => {
  const cards = [card("a-1", { after: ["c-1"] }), card("b-1"), card("c-1", { after: ["b-1"] })];
  assert.deepEqual(newOrder(cards), ["b-1", "c-1", "a-1"]);
  assert.deepEqual(sitting(cards), ["b-1", "c-1", "a-1"]);
});

test("`after` is stronger than the order of kinds", () => {
  const cards = [card("a-1", { concept: "a", kind: "predict", after: ["a-2"] }),
    card("a-2", { concept: "a", kind: "explain" })];
  assert.deepEqual(newOrder(cards), ["a-2", "a-1"]);
});

test("what the reader filtered out, or the book lacks, holds nothing up", () => {
  assert.deepEqual(sitting([card("a-1", { after: ["a-hidden"] })]), ["a-1"]);
});

test("a circle of `after` is entered somewhere instead of blocking", () => {
  const cards = [card("a-1", { after: ["b-1"] }), card("b-1", { after: ["a-1"] })];
  assert.deepEqual(sitting(cards), ["a-1", "b-1"]);
});

test("random wishes: each new card comes once, after those it waits for", () => {
  const random = chance(5);
  for (let round = 0; round < 40; round++) {
    const cards = shuffled(Array.from({ length: 12 }, (_, i) => card(`a-${i}`, {
      after: Array.from({ length: random(3) }, () => `a-${random(i + 1)}`)
        .filter((id) => id !== `a-${i}`),
      confusable: [`a-${random(12)}`] })), String(round));
    const asked = sitting(cards, { limit: 50 });
    assert.deepEqual([...asked].sort(), cards.map(({ id }) => id).sort());
    for (const { id, after } of cards) {
      for (const first of after) assert.ok(asked.indexOf(first) < asked.indexOf(id));
    }
  }
});

test("three others stand between two confusable cards, new or due, named on either side", () => {
  const pairs = [card("a-1", { confusable: ["b-1"] }), card("b-1"),
    card("a-2"), card("b-2", { confusable: ["a-2"] })];
  for (let round = 0; round < 50; round++) {
    const cards = shuffled([...pairs, ...names(6)], String(round));
    const before = cards.map(({ id }, i) => reviewed(i, id, 30 + (i % 2)));
    for (const asked of [sitting(cards), sitting(cards, { before })]) {
      assert.equal(asked.length, 10);
      for (const n of [1, 2]) {
        const gap = Math.abs(asked.indexOf(`a-${n}`) - asked.indexOf(`b-${n}`));
        assert.ok(gap > 3, asked.join(" "));
      }
    }
  }
});

test("the gap holds over a reload and over what another device answered today", () => {
  const cards = [card("a-1", { confusable: ["b-1"] }), card("b-1"), ...names(8)];
  const elsewhere = [event(1, { card: "b-1" })];
  assert.notEqual(planOf(cards, elsewhere).next, "a-1");
});

test("where only confusable cards are left they still come", () => {
  const cards = [card("a-1", { confusable: ["b-1"] }), card("b-1")];
  assert.deepEqual(sitting(cards), ["a-1", "b-1"]);
});

test("a card graded Again returns the same day after five others", () => {
  const asked = sitting(names(9), {
    gradeOf: (id, time) => (id === "tensors-0" && time === 1 ? 1 : 3) });
  assert.equal(asked[0], "tensors-0");
  assert.equal(asked.indexOf("tensors-0", 1), 6);
  assert.equal(asked.length, 10);
});

test("with fewer left it returns when they are done, and again until it is known", () => {
  const asked = sitting(names(3), {
    gradeOf: (id, time) => (id === "tensors-1" && time < 3 ? 1 : 3) });
  assert.deepEqual(asked, ["tensors-0", "tensors-1", "tensors-2", "tensors-1", "tensors-1"]);
});

test("one graded Again yesterday and left is due today like any other", () => {
  const before = [reviewed(1, "tensors-0", 1, { grade: 1 })];
  assert.equal(planOf(names(1), before).due, 1);
});

test("done counts cards, not presses", () => {
  const events = [event(1, { card: "tensors-0", grade: 1 }),
    event(2, { card: "tensors-0", time: MONDAY + 1 }), event(3, { card: "tensors-1" })];
  assert.equal(planOf(names(3), events).done, 2);
});

test("the order of a day's reviews is mixed, and the same at every look", () => {
  const cards = names(20);
  const before = cards.map(({ id }, i) => reviewed(i, id, 2));
  const asked = sitting(cards, { before });
  assert.deepEqual(sitting(cards, { before: before.toReversed() }), asked);
  assert.notDeepEqual(asked, cards.map(({ id }) => id));
});
