// Which grade an answer counts as, and which one the page suggests.

export const AGAIN = 1;
export const HARD = 2;
export const GOOD = 3;
export const EASY = 4;

export const QUICK = 60_000; // ms: reading the question and a spoken answer of 20–40 s

/** Whether the page scored this answer as wrong; null is a spoken answer, which it cannot score. */
export const isWrong = (response) => response !== null && response !== "answer";

/**
 * The grade that counts when the reader presses a button. A wrong option, or "not sure", is Again;
 * an answer that was a guess is at most Hard; otherwise the button holds.
 */
export function counted({ button, confidence, response }) {
  if (isWrong(response)) return AGAIN;
  return confidence === "guess" ? Math.min(button, HARD) : button;
}

/**
 * The grade that the page suggests.
 *
 * A wrong option is Again. Every point marked must said: Good; and every other point too, when
 * sure and within QUICK: Easy. One must missing: Hard. More missing, or all: Again, but a right
 * option is worth Hard in any case. A guess is at most Hard.
 */
export function suggested({ points, hits, confidence, response, thinking }) {
  if (isWrong(response)) return AGAIN;
  const grade = byPoints(points, hits);
  const floor = response === "answer" ? HARD : AGAIN;
  const easy = grade === GOOD && hits.every(Boolean) && confidence === "sure" && thinking <= QUICK;
  return counted({ button: easy ? EASY : Math.max(grade, floor), confidence, response });
}

function byPoints(points, hits) {
  const musts = points.map((point, i) => ({ ...point, hit: hits[i] })).filter((p) => p.must);
  const missing = musts.filter((point) => !point.hit).length;
  if (missing === 0) return GOOD;
  return missing === 1 && musts.length > 1 ? HARD : AGAIN;
}
