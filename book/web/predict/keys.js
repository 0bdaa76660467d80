// Arrow keys in the form of a prediction: up and down among options, left and right among how sure.
// S, T and G commit to the option that has the focus: sure, I think so, a guess.

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const LEVELS = { s: "sure", t: "think", g: "guess" };

const buttonsOf = (row) => [...row.querySelectorAll("button")];

/** Do what a key asks for; false for a key that is none of ours. */
export function moved(rows, { key, code, target, ctrlKey, altKey, metaKey }) {
  if (ctrlKey || altKey || metaKey) return false;
  const row = target.closest(".predict-option");
  // an input method for Chinese hides a letter behind "Process"
  const level = LEVELS[(key === "Process" ? code.replace("Key", "") : key).toLowerCase()];
  if (level) return press(row, level);
  const step = STEPS[key];
  if (!step) return false;
  const [down, right] = step;
  const y = (rows.indexOf(row) + down + rows.length) % rows.length;
  const beside = buttonsOf(rows[y]);
  const x = Math.min(Math.max(buttonsOf(row).indexOf(target) + right, 0), beside.length - 1);
  for (const button of rows.flatMap(buttonsOf)) button.tabIndex = button === beside[x] ? 0 : -1;
  beside[x].focus();
  return true;
}

function press(row, level) {
  row.querySelector(`[data-confidence=${level}]`)?.click();
  return true;
}
