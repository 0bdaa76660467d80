// The switch "read straight through": outputs and explanations of all predictions show, and
// answers that were to be said first, on all pages and in all tabs. early.js sets it before the first paint; predict.js follows the event.
import { inPlace } from "./common/in-place.js";
import { place, tell } from "./common/notice.js";

const KEY = "book-open";
const DONE = {
  true: ["通读：结果、解释和答案都显示", "Reading through: outputs, explanations and answers show"],
  false: ["先预测：结果和解释等你作答", "Predicting: outputs and explanations wait for you"],
};
const root = document.documentElement;
const buttons = document.querySelectorAll(".reading-switch");

function apply(isOpen) {
  root.toggleAttribute("data-open", isOpen);
  for (const button of buttons) button.setAttribute("aria-pressed", String(isOpen));
  for (const answer of document.querySelectorAll("details.answer")) answer.open = isOpen;
  document.dispatchEvent(new Event("reading"));
}

function remember(isOpen) {
  try {
    if (isOpen) localStorage.setItem(KEY, "1");
    else localStorage.removeItem(KEY);
  } catch { /* private mode: this page only */ }
}

for (const button of buttons) {
  button.addEventListener("click", () => {
    const isOpen = !root.hasAttribute("data-open");
    inPlace(() => apply(isOpen));
    remember(isOpen);
    tell(DONE[isOpen]);
  });
}
addEventListener("storage", ({ key, newValue }) => {
  if (key === KEY) inPlace(() => apply(newValue !== null));
});
place();
apply(root.hasAttribute("data-open"));
