// The switch 中文 / English / 对照: remembered, shared by tabs, and the reading position stays.
import { inPlace } from "./common/in-place.js";
import { relabel } from "./common/label.js";

const root = document.documentElement;
const fullTitle = document.title;

function titleFor(lang) {
  if (lang === "both") return fullTitle;
  return fullTitle.split(" — ").map((part) => {
    const halves = part.split(" · ");
    return halves.length === 2 ? halves[lang === "zh" ? 0 : 1] : part;
  }).join(" — ");
}

function apply(lang) {
  root.dataset.lang = lang;
  root.lang = lang === "en" ? "en" : "zh-Hans";
  document.title = titleFor(lang);
  relabel();
  for (const button of document.querySelectorAll("[data-set-lang]")) {
    button.setAttribute("aria-pressed", String(button.dataset.setLang === lang));
  }
}

function remember(lang) {
  try { localStorage.setItem("book-lang", lang); } catch { /* private mode: this page only */ }
}

function choose(lang) {
  inPlace(() => apply(lang));
  remember(lang);
  const address = new URL(location);
  address.searchParams.delete("lang"); // a reload keeps the choice, not what the link asked for
  history.replaceState(history.state, "", address);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-set-lang]");
  if (button) choose(button.dataset.setLang);
});
addEventListener("storage", (event) => {
  const isMode = ["zh", "en", "both"].includes(event.newValue);
  if (event.key === "book-lang" && isMode) inPlace(() => apply(event.newValue));
});
apply(root.dataset.lang);
if (new URLSearchParams(location.search).get("lang") === root.dataset.lang) {
  remember(root.dataset.lang); // a link in one language leads to pages in that language
}
