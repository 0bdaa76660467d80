import assert from "node:assert/strict";
import { test } from "node:test";

import { dayOf } from "../../../book/web/drill/days.js";
import { freshCards, plan } from "../../../book/web/drill/queue.js";
import { shuffled } from "../../../book/web/drill/random.js";
import { fold } from "../../../book/web/drill/schedule.js";
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
  assert.deepEqual(planOf(names(1), before), { next: null, rests: false, due: 0, fresh: 0,
    done: 0, left: 0 });
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

const failing = (id, time, ids, times = 1) => (ids.includes(id) && time <= times ? 1 : 3);
/** For each showing of a card after its first: how many others stood between. */
const gapsOf = (asked) => asked.flatMap((id, i) => {
  const last = asked.lastIndexOf(id, i - 1);
  return i > 0 && last >= 0 ? [i - last - 1] : [];
});

test("a card graded Again returns the same day, at the end of the queue", () => {
  const asked = sitting(names(9), { gradeOf: (id, time) => failing(id, time, ["tensors-0"]) });
  assert.deepEqual(asked, [...names(9).map(({ id }) => id), "tensors-0"]);
});

test("a newcomer who fails all ten new cards sees each once before any twice", () => {
  const asked = sitting(names(12), { gradeOf: (_, time) => (time < 4 ? 1 : 3) });
  const round = names(10).map(({ id }) => id);
  assert.deepEqual(asked, [...round, ...round, ...round, ...round]);
});

test("failing one of a confusable pair does not call it up over and over", () => {
  const pair = [card("a-1", { confusable: ["b-1"] }), card("b-1")];
  const cards = [...pair, ...names(4)];
  const asked = sitting(cards, { gradeOf: (id, time) => failing(id, time, ["a-1", "b-1"], 3) });
  assert.deepEqual(asked.slice(0, 6).sort(), cards.map(({ id }) => id).sort());
  assert.deepEqual(asked.slice(6), ["a-1", "b-1", "a-1", "b-1", "a-1", "b-1"]);
});

test("while anything else waits, five others stand before a repeat: chains, pairs, reviews", () => {
  const random = chance(11);
  for (let round = 0; round < 60; round++) {
    const cards = shuffled(Array.from({ length: 14 }, (_, i) => card(`a-${i}`, {
      after: i ? [`a-${random(i)}`].filter(() => random(3) === 0) : [],
      confusable: random(2) ? [`a-${(i + 1 + random(13)) % 14}`] : [] })), String(round));
    const before = cards.slice(0, random(8)).map(({ id }, i) => reviewed(i, id, 30 + (i % 3)));
    const asked = sitting(cards, { before, gradeOf: () => (random(3) ? 1 : 3) });
    const firsts = asked.map((id, i) => (asked.indexOf(id) === i ? i : -1));
    const lastFirst = Math.max(...firsts);
    assert.equal(new Set(asked).size, before.length + Math.min(10, 14 - before.length));
    assert.deepEqual(gapsOf(asked.slice(0, lastFirst + 1)).filter((gap) => gap < 5), []);
    assert.ok(lastFirst < 30, asked.join(" "));
    const after = asked.slice(lastFirst);
    after.forEach((id, i) => {
      if (id === after[i - 1]) assert.deepEqual([...new Set(after.slice(i))], [id]);
    });
  }
});

test("failing everything for ever, a new card beside its failed rivals still gets its turn", () => {
  const ids = names(10).map(({ id }) => id);
  const rivals = [0, 3, 5, 7].map((n) => ids[n]); // in a round of nine, one is always near
  const cards = names(10).map((entry, i) => (
    { ...entry, after: ids.slice(0, i), confusable: i < 9 ? [] : rivals }));
  const events = [];
  for (let n = 0; n < 24; n++) {
    const { next } = planOf(cards, events);
    events.push(event(n, { card: next, grade: 1, time: MONDAY + n * 1000 }));
  }
  const asked = events.map((entry) => entry.card);
  assert.ok(asked.indexOf(ids[9]) >= 9 && asked.indexOf(ids[9]) <= 12, asked.join(" "));
});

test("a failed review comes after the other reviews and the new cards", () => {
  const before = [reviewed(1, "tensors-3", 9), reviewed(2, "tensors-2", 3)];
  assert.deepEqual(
    sitting(names(4), { before, gradeOf: (id, time) => failing(id, time, ["tensors-3"]) }),
    ["tensors-3", "tensors-2", "tensors-0", "tensors-1", "tensors-3"]);
});

test("a failed card that has rested goes between two confusable ones, not before others", () => {
  const ids = names(10).map(({ id }) => id);
  const cards = names(10).map((entry, i) => ({ ...entry, after: i < 8 ? [] : ids.slice(0, i),
    confusable: i < 9 ? [] : [ids[8]] })); // the pair comes last and is not to be brought forward
  const asked = sitting(cards, { gradeOf: (id, time) => failing(id, time, ids.slice(0, 3)) });
  assert.deepEqual(asked, [...ids.slice(0, 9), ...ids.slice(0, 3), ids[9]]);
});

test("with fewer left the one that waited longest comes first, none twice running", () => {
  const asked = sitting(names(3), { gradeOf: (_, time) => (time < 3 ? 1 : 3) });
  const round = names(3).map(({ id }) => id);
  assert.deepEqual(asked, [...round, ...round, ...round]);
});

test("the last card left comes again until it is known", () => {
  const asked = sitting(names(3), {
    gradeOf: (id, time) => failing(id, time, ["tensors-1"], 2) });
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
