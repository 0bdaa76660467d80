// How often a reader who was sure, thought so or guessed was right, from the marks of predictions.

export const LEVELS = ["sure", "think", "guess"];
export const FEW = 8; // said less often than this, a share of right ones tells nothing

/**
 * Count the first prediction of each question; a question that was edited is another one.
 * @param {object[]} marks  in order of time, of all kinds
 * @param {string[]} folders  of the chapters, in their order: `chapters/01-tensors`
 * @returns {{all: object, chapters: object[]}}  each {page, total, unsure, sure, think, guess}; a
 *   level is {said, right}. What stands on no page of a chapter counts in `all` only.
 */
export function tally(marks, folders) {
  const all = counts(null);
  const chapters = folders.map(counts);
  for (const mark of firsts(marks)) {
    const chapter = chapters.find(({ page }) => mark.page.startsWith(`${page}/`));
    for (const row of chapter ? [all, chapter] : [all]) add(row, mark);
  }
  return { all, chapters };
}

function firsts(marks) {
  const first = new Map();
  for (const mark of marks) {
    const question = `${mark.page} ${mark.cell} ${mark.edition}`;
    if (mark.kind === "prediction" && !first.has(question)) first.set(question, mark);
  }
  return first.values();
}

function counts(page) {
  const level = () => ({ said: 0, right: 0 });
  return { page, total: 0, unsure: 0, sure: level(), think: level(), guess: level() };
}

function add(row, { confidence, right }) {
  row.total += 1;
  if (confidence === null) {
    row.unsure += 1;
    return;
  }
  row[confidence].said += 1;
  row[confidence].right += Number(right);
}
