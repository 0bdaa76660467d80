// What scrolls sideways can be reached by Tab, and nothing else of its kind.
const BOXES = "article :is(pre, .wide-table, figure.drawing, .cell_output > .output, .katex-display)";

function see({ target }) {
  const box = target.closest(BOXES); // none if it has left the page: a widget replaces what it finds
  if (box) box.tabIndex = box.scrollWidth > box.clientWidth + 1 ? 0 : -1;
}

/** A box is looked at when it shows, and whenever its size or that of what it holds changes. */
export function reachable() {
  const observer = new ResizeObserver((entries) => entries.forEach(see));
  for (const box of document.querySelectorAll(BOXES)) {
    for (const part of [box, ...box.children]) {
      if (part === box || part.matches("table, svg, pre, div")) observer.observe(part);
    }
  }
}
