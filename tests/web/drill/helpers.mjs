// What the tests of the drill's logic share: seeded chance, events and cards made to measure.

import { SCHEDULER } from "../../../book/web/drill/schedule.js";

export const DAY = 86_400_000;
export const MONDAY = Date.UTC(2026, 0, 5, 12); // noon in UTC, far from any turn of the day

/** Integers below a bound from a seed (a linear congruential generator). */
export function chance(seed) {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

export const uuid = (n) => `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`;

export function event(n, changes = {}) {
  return {
    id: uuid(n), card: "tensors-one", time: MONDAY, zone: 0, button: 3, grade: 3,
    scheduler: SCHEDULER, elapsed: null, confidence: "think", response: null,
    points: [true, false], variant: null, lang: "zh", duration: 30_000, mode: "page",
    edition: "0123456789ab", schema: 1, device: uuid(0xd), ...changes,
  };
}

export function mark(n, changes = {}) {
  return {
    id: uuid(n), kind: "read", page: "chapters/01-tensors/views", time: MONDAY, zone: 0,
    lang: "zh", schema: 1, device: uuid(0xd), ...changes,
  };
}

export function prediction(n, changes = {}) {
  return mark(n, { kind: "prediction", cell: "guess-1", edition: "0123456789ab",
    response: "answer", right: true, confidence: "sure", ...changes });
}

export function card(id, changes = {}) {
  return { id, chapter: "01-tensors", section: "views", kind: "explain", level: "senior",
    after: [], confusable: [], scored: false, ...changes };
}
