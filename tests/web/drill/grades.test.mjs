import assert from "node:assert/strict";
import { test } from "node:test";

import { AGAIN, counted, EASY, GOOD, HARD, QUICK, suggested } from "../../../book/web/drill/grades.js";

const BUTTONS = [AGAIN, HARD, GOOD, EASY];
const LEVELS = ["sure", "think", "guess"];
const RESPONSES = [null, "answer"];
const WRONG = ["unsure", "d-01234567"];

test("a wrong option, and not sure, count as Again whatever is pressed", () => {
  for (const button of BUTTONS) for (const confidence of LEVELS) for (const response of WRONG) {
    assert.equal(counted({ button, confidence, response }), AGAIN);
  }
});

test("a guess counts at most as Hard", () => {
  for (const response of RESPONSES) {
    const grades = BUTTONS.map((button) => counted({ button, confidence: "guess", response }));
    assert.deepEqual(grades, [AGAIN, HARD, HARD, HARD]);
  }
});

test("in every other case the button holds", () => {
  for (const response of RESPONSES) for (const confidence of ["sure", "think"]) {
    const grades = BUTTONS.map((button) => counted({ button, confidence, response }));
    assert.deepEqual(grades, BUTTONS);
  }
});

const POINTS = [{ must: true }, { must: true }, { must: true }, { must: false }];
const suggest = (hits, changes = {}) => suggested({ points: POINTS,
  hits: [...hits].map((x) => x === "1"), confidence: "think", response: null, thinking: 30_000,
  ...changes });

test("every must is Good, one missing is Hard, more missing is Again", () => {
  const grades = { 1110: GOOD, 1111: GOOD, 1100: HARD, "0111": HARD, 1001: AGAIN, "0000": AGAIN };
  for (const [hits, grade] of Object.entries(grades)) assert.equal(suggest(hits), grade, hits);
});

test("Easy needs every point, certainty and speed", () => {
  assert.equal(suggest("1111", { confidence: "sure" }), EASY);
  assert.equal(suggest("1110", { confidence: "sure" }), GOOD);
  assert.equal(suggest("1111", { confidence: "think" }), GOOD);
  assert.equal(suggest("1111", { confidence: "sure", thinking: QUICK }), EASY);
  assert.equal(suggest("1111", { confidence: "sure", thinking: QUICK + 1 }), GOOD);
});

test("the only must missing is Again", () => {
  const points = [{ must: true }, { must: false }];
  const grade = suggested({ points, hits: [false, true], confidence: "sure", response: null,
    thinking: 0 });
  assert.equal(grade, AGAIN);
});

test("a right option is worth Hard without any point, a wrong one Again with all of them", () => {
  assert.equal(suggest("0000", { response: "answer" }), HARD);
  assert.equal(suggest("1110", { response: "answer" }), GOOD);
  for (const response of WRONG) assert.equal(suggest("1111", { response }), AGAIN);
});

test("a guess is suggested at most Hard, and no suggestion is above what would count", () => {
  assert.equal(suggest("1111", { confidence: "guess" }), HARD);
  for (let bits = 0; bits < 16; bits++) {
    for (const confidence of LEVELS) for (const response of [...RESPONSES, ...WRONG]) {
      const hits = bits.toString(2).padStart(4, "0");
      const grade = suggest(hits, { confidence, response });
      assert.equal(counted({ button: grade, confidence, response }), grade);
    }
  }
});
