// A change of the page that leaves the reader where he reads.

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
export function inPlace(change) {
  const block = blockBeingRead();
  const before = block?.getBoundingClientRect().top;
  const root = document.documentElement;
  root.style.overflowAnchor = "none"; // else the browser corrects the position once more
  change();
  if (block) {
    scrollBy({ top: block.getBoundingClientRect().top - before, behavior: "instant" });
  }
  requestAnimationFrame(() => requestAnimationFrame(() => { root.style.overflowAnchor = ""; }));
}
