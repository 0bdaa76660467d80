import { tell } from "../common/notice.js";

// The button auto / light / dark: remembered, shared by tabs.
import { label } from "../common/label.js";

const root = document.documentElement;
const MODES = ["auto", "light", "dark"];
const NAMES = { auto: ["跟随系统", "as the system"], light: ["亮色", "light"], dark: ["暗色", "dark"] };
const system = matchMedia("(prefers-color-scheme: dark)");

function apply(mode) {
  root.dataset.mode = mode;
  root.dataset.theme = mode === "auto" ? (system.matches ? "dark" : "light") : mode;
  const [zh, en] = NAMES[mode];
  label(document.querySelector(".theme-button"), [`明暗配色：${zh}`, `Colour mode: ${en}`]);
}

function remember() {
  try {
    for (const key of ["mode", "theme"]) localStorage.setItem(key, root.dataset[key]);
  } catch { /* private mode: this page only */ }
}

export function themes() {
  const button = document.querySelector(".theme-button");
  button.addEventListener("click", () => {
    apply(MODES[(MODES.indexOf(root.dataset.mode) + 1) % MODES.length]);
    remember();
    const [zh, en] = NAMES[root.dataset.mode];
    tell([`明暗配色：${zh}`, `Colour mode: ${en}`]);
  });
  system.addEventListener("change", () => apply(root.dataset.mode));
  addEventListener("storage", ({ key, newValue }) => {
    if (key === "mode" && MODES.includes(newValue)) apply(newValue);
  });
  apply(root.dataset.mode);
}
