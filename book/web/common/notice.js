// What a button has just done, told for a moment at the foot of the screen: on a phone it is a mere
// sign. A screen reader hears it after what it is reading.
import { spans } from "./bilingual.js";

const LONG = 2500; // ms

/** Have the place where it is told: a screen reader listens to what was there before. */
export function place() {
  const there = document.querySelector(".notice");
  if (there) return there;
  const made = Object.assign(document.createElement("p"), { className: "notice" });
  made.setAttribute("role", "status");
  document.body.append(made);
  return made;
}

/** Tell a pair [zh, en]; the latest wins. */
export function tell(pair) {
  const line = place();
  line.innerHTML = spans(pair, '<span class="lang-sep"> · </span>');
  clearTimeout(line.timer);
  line.timer = setTimeout(() => line.replaceChildren(), LONG);
}
