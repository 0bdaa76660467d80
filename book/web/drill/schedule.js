// What is due, derived from the events: a fold over each card's events in order of time.
//
// The memory model is ts-fsrs (FSRS-6, its default parameters); py-fsrs gives the same numbers.
// Time enters as whole drill days (days.js), so there are no learning steps in minutes: a card
// graded Again stays due on its day until it gets another grade. Fuzz is off.

import { default_w, FSRSAlgorithm, FSRSVersion } from "ts-fsrs";

import { dayOf } from "./days.js";
import { byTime } from "./record.js";
import { AGAIN, EASY, GOOD, HARD } from "./grades.js";

export const PARAMETERS = {
  w: [...default_w],
  request_retention: 0.9,
  maximum_interval: 36500,
  enable_fuzz: false,
  enable_short_term: true,
  learning_steps: [],
  relearning_steps: [],
};

/** What stored events name; the hash is that of `JSON.stringify(PARAMETERS)`, held by a test. */
export const SCHEDULER = {
  name: "ts-fsrs",
  version: FSRSVersion,
  parameters: "91dbc039db9b5429",
};

const model = new FSRSAlgorithm(PARAMETERS);

/**
 * @typedef {object} CardState
 * @property {number} stability    Days after which recall is 90 % likely.
 * @property {number} difficulty   1 … 10.
 * @property {number} interval     Days from the last review to the next.
 * @property {number} day          Drill day of the last review.
 * @property {number} due          Drill day of the next one; `day` itself after Again.
 * @property {number} introduced   Drill day of the first review.
 * @property {number} reps         Number of reviews.
 * @property {boolean} again       The last grade was Again.
 * @property {boolean} refute      … and the reader had been sure.
 */

/** Days since the last review on a given drill day; a journey west can make a day repeat. */
export const elapsedOn = (state, day) => (state ? Math.max(0, day - state.day) : null);

/** Memory and interval after a review; `state` is undefined before the first. */
export function review(state, day, grade) {
  const elapsed = elapsedOn(state, day) ?? 0;
  const memory = model.next_state(state ?? null, elapsed, grade);
  return { ...memory, interval: model.next_interval(memory.stability, elapsed) };
}

/** The state of a card after one more event. */
export function advance(state, event) {
  const day = Math.max(dayOf(event.time, event.zone), state?.day ?? -Infinity);
  const after = review(state, day, event.grade);
  const again = event.grade === AGAIN;
  return {
    ...after,
    day,
    due: again ? day : day + after.interval,
    introduced: state?.introduced ?? day,
    reps: (state?.reps ?? 0) + 1,
    again,
    refute: again && event.confidence === "sure",
  };
}

/** Card id -> state, from any collection of events. */
export function fold(events) {
  const states = new Map();
  for (const event of [...events].sort(byTime)) {
    states.set(event.card, advance(states.get(event.card), event));
  }
  return states;
}

/** Days until the card returns, for each grade: 0 is today. */
export function intervals(state, day) {
  const later = (grade) => review(state, day, grade).interval;
  return { [AGAIN]: 0, [HARD]: later(HARD), [GOOD]: later(GOOD), [EASY]: later(EASY) };
}
