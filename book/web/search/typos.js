// Typing errors. MiniSearch proposes words by plain edit distance, in which two letters that changed
// places are two edits; the commonest error of all is one here.

/** Edits between two words; neighbours that changed places are one. */
export function edits(a, b) {
  let before = [], last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1));
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped && before.length) row[j] = Math.min(row[j], before[j - 2] + 1);
    }
    [before, last] = [last, row];
  }
  return last[b.length];
}

const LONGEST = 40;

/** How many edits a word of this length may hold: below four letters each would be another word. */
export const allowed = (length) => (length < 4 || length > LONGEST ? 0 : length < 8 ? 1 : 2);

/** Whether a word of the index may be meant by what was typed: the first letter is right. */
export function meant(typed, word) {
  return word[0] === typed[0] && word.length > 3 && !word.includes(" ")
    && edits(typed, word) <= allowed(typed.length);
}
