// A reader who comes from the search looks for words: where they stand in nothing but what waits for
// a prediction, that shows. The search leaves them (search-box.js), and they serve once.

const KEY = "book-found";

/** The cells of the section that was found whose output or explanation, while they wait, are all in
 *  it that has one of the words. */
export function soughtIn(cells) {
  const { section, words } = taken() ?? {};
  const asking = cells.filter((cell) => cell.dataset.state === "asking" && cell.closest("section") === section);
  if (!asking.length) return [];
  const shown = seen(section);
  const missing = words.filter((forms) => !has(shown, forms)).flat();
  return asking.filter((cell) => has(waiting(cell), missing));
}

const has = (text, forms) => forms.some((form) => text.includes(form));

/** What was found, if it is on this page; each word is given in its forms. */
function taken() {
  try {
    const { page, anchor, words } = JSON.parse(sessionStorage.getItem(KEY));
    sessionStorage.removeItem(KEY);
    if (page !== document.body.dataset.page) return null; // that one has nothing to predict
    const section = anchor ? document.getElementById(anchor) : document.querySelector("article section[id]");
    return section && { section, words };
  } catch { return null; } // none, not ours, or no storage
}

/** What a reader sees of a section without those in it: its text, and options to choose from. */
function seen(section) {
  const texts = document.createTreeWalker(section, NodeFilter.SHOW_TEXT);
  const parts = [];
  while (texts.nextNode()) {
    const box = texts.currentNode.parentElement;
    const ours = !box.closest("predict-cell, .explanation-note") || box.closest(".predict-choice");
    if (ours && box.closest("section") === section && box.checkVisibility()) parts.push(texts.currentNode.data);
  }
  return parts.join("").toLowerCase();
}

function waiting(cell) {
  const next = cell.closest(".cell").nextElementSibling;
  const parts = next?.matches(".explanation") ? [cell.output, next] : [cell.output];
  return parts.map(({ textContent }) => textContent).join(" ").toLowerCase();
}
