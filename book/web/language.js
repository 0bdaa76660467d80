// The switch 中文 / English / 对照: remembered, shared by tabs, and the reading position stays.
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
  for (const button of document.querySelectorAll("[data-set-lang]")) {
    button.setAttribute("aria-pressed", String(button.dataset.setLang === lang));
  }
}

function remember(lang) {
  try { localStorage.setItem("book-lang", lang); } catch { /* private mode: this page only */ }
}

/** The first block that begins on the screen below the header, else the one that fills it. */
function blockBeingRead() {
  const blocks = [...document.querySelectorAll(
    "article :is(h1, h2, h3, h4, .bi-pair, .cell, predict-cell, .card, summary)",
  )].filter((block) => block.checkVisibility());
  const top = (block) => block.getBoundingClientRect().top;
  return blocks.find((block) => top(block) >= 48 && top(block) < innerHeight)
    ?? blocks.findLast((block) => top(block) < 48);
}

/** Make a change of the page and put the block that is being read back where it was. */
function inPlace(change) {
  const block = blockBeingRead();
  const before = block?.getBoundingClientRect().top;
  root.style.overflowAnchor = "none"; // else the browser corrects the position once more
  change();
  for (const box of document.querySelectorAll(".pst-scrollable-table-container")) {
    box.tabIndex = box.scrollWidth > box.clientWidth ? 0 : -1; // as the theme does at first
  }
  if (block) {
    scrollBy({ top: block.getBoundingClientRect().top - before, behavior: "instant" });
  }
  requestAnimationFrame(() => requestAnimationFrame(() => { root.style.overflowAnchor = ""; }));
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
  if (event.key === "book-lang" && event.newValue) inPlace(() => apply(event.newValue));
});
apply(root.dataset.lang);
if (new URLSearchParams(location.search).get("lang") === root.dataset.lang) {
  remember(root.dataset.lang); // a link in one language leads to pages in that language
}
