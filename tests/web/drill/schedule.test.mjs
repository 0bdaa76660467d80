import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { shuffled } from "../../../book/web/drill/random.js";
import { advance, elapsedOn, fold, intervals, PARAMETERS, SCHEDULER }
  from "../../../book/web/drill/schedule.js";
import { texts } from "../../../book/web/drill/texts.js";
import { chance, DAY, event, MONDAY } from "./helpers.mjs";

const graded = (...grades) => grades.map((grade, i) =>
  event(i, { grade, time: MONDAY + 1000 * i }));
const only = (events) => fold(events).get("tensors-one");

test("the hash in each event is that of the parameters in use", () => {
  const digest = createHash("sha256").update(JSON.stringify(PARAMETERS)).digest("hex");
  assert.equal(SCHEDULER.parameters, digest.slice(0, 16));
  assert.match(SCHEDULER.version, /FSRS-6/);
  assert.equal(PARAMETERS.w.length, 21);
});

test("Again stays due on its day until another grade, and on the next day if none came", () => {
  const again = only(graded(1));
  assert.equal(again.due, again.day);
  const twice = only(graded(1, 1));
  assert.equal(twice.due, twice.day);
  const mended = only(graded(1, 1, 3));
  assert.equal(mended.due, mended.day + mended.interval);
  assert.ok(mended.interval >= 1);
});

test("Hard, Good and Easy return on a later day, each not before the one below", () => {
  const first = intervals(undefined, 100);
  assert.deepEqual(first, { 1: 0, 2: 1, 3: 2, 4: 8 });
  const later = intervals(only(graded(3)), only(graded(3)).day + 2);
  assert.ok(0 < later[2] && later[2] < later[3] && later[3] < later[4]);
});

test("the days on a button are the days that pressing it gives", () => {
  const before = only(graded(3, 1));
  const time = MONDAY + 3 * DAY;
  const days = intervals(before, before.day + 3);
  for (const grade of [1, 2, 3, 4]) {
    const after = advance(before, event(9, { grade, time }));
    assert.equal(after.due - after.day, days[grade]);
  }
});

test("a fold depends on the set of events, not on their order", () => {
  const random = chance(4);
  const events = Array.from({ length: 60 }, (_, n) => event(n, {
    card: `tensors-${random(5)}`, grade: 1 + random(4), time: MONDAY + random(40) * DAY }));
  const expected = fold(events);
  assert.equal(expected.size, 5);
  for (let round = 0; round < 20; round++) {
    assert.deepEqual(fold(shuffled(events, String(round))), new Map(expected));
  }
});

test("reps and the first day are counted, and the fold leaves its events alone", () => {
  const events = [event(2, { time: MONDAY + 4 * DAY }), event(1)];
  const state = only(Object.freeze(events));
  assert.equal(state.reps, 2);
  assert.equal(state.day - state.introduced, 4);
});

test("sure and wrong is remembered until the card is answered otherwise", () => {
  const wrong = event(1, { grade: 1, confidence: "sure" });
  assert.equal(only([wrong]).refute, true);
  assert.equal(only([event(1, { grade: 1, confidence: "think" })]).refute, false);
  assert.equal(only([event(1, { grade: 2, confidence: "sure" })]).refute, false);
  const after = event(2, { time: MONDAY + 1000, grade: 3, confidence: "sure" });
  assert.equal(only([wrong, after]).refute, false);
});

test("a journey west cannot make days run backwards", () => {
  const beijing = event(1, { zone: 480, time: Date.UTC(2026, 0, 5, 21) });
  const seattle = event(2, { zone: -480, time: Date.UTC(2026, 0, 5, 22) });
  const [first, second] = [only([beijing]), only([beijing, seattle])];
  assert.equal(second.day, first.day);
  assert.equal(elapsedOn(first, first.day - 1), 0);
  assert.ok(second.due > first.day);
});

test("a review late in the evening and one after four are one day apart", () => {
  const late = event(1, { time: Date.UTC(2026, 0, 6, 3, 59) });
  const early = event(2, { time: Date.UTC(2026, 0, 6, 4, 1), grade: 4 });
  const apart = only([late, early]);
  const together = only([late, event(2, { time: Date.UTC(2026, 0, 6, 3, 59, 30), grade: 4 })]);
  assert.equal(apart.day - apart.introduced, 1);
  assert.equal(together.day, together.introduced);
  assert.notEqual(apart.stability, together.stability);
});

test("ten years of an eager reader fold in about ten times the time of one", () => {
  const events = Array.from({ length: 40_000 }, (_, n) => event(n, {
    card: `tensors-${n % 400}`, grade: 1 + (n % 4), time: MONDAY + n * 60_000 * 100 }));
  const took = (some) => {
    const before = process.cpuUsage();
    assert.equal(fold(some).size, 400);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const rounds = [1, 2, 3, 4, 5].map(() => [took(events.slice(0, 4000)), took(events)]);
  const [one, ten] = [0, 1].map((i) => Math.min(...rounds.map((round) => round[i])));
  assert.ok(ten < 40 * one, `${ten} us, ${one} us`); // 100 times, if each event looked at all
});

test("a card that is always Good returns after 2, 13 and 59 days, as the start screen says", () => {
  const events = [], days = [];
  for (let n = 0, day = 0; n < 4; n += 1) {
    days.push(day);
    events.push(event(n, { time: MONDAY + day * DAY }));
    day += [...fold(events).values()][0].interval;
  }
  assert.deepEqual(days, [0, 2, 13, 59]);
  assert.ok(texts.why.every((text) => /2\D+13\D+59/.test(text)));
});
