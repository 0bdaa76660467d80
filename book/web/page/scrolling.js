// What scrolls sideways can be reached by Tab, and has a name there; nothing else of its kind.
import { label } from "../common/label.js";

const BOXES = "article :is(pre, .wide-table, figure.drawing, .cell_output > .output, .katex-display)";

function see({ target }) {
  const box = target.closest(BOXES); // none if it has left the page: a widget replaces what it finds
  if (!box) return;
  const isWide = box.scrollWidth > box.clientWidth + 1;
  box.tabIndex = isWide ? 0 : -1;
  if (isWide && !box.hasAttribute("role")) {
    // A figure is a named group by itself; a region would be a landmark, of which a page has few.
    if (box.localName !== "figure") box.setAttribute("role", "group");
    label(box, nameOf(box));
  } else if (!isWide && box.dataset.names) {
    for (const name of ["role", "aria-label", "data-names"]) box.removeAttribute(name);
  }
}

const NAMES = [[".cell_output, .card-shown", ["输出，可以横向滚动", "Output, scrolls sideways"]],
  ["pre", ["代码，可以横向滚动", "Code, scrolls sideways"]],
  [".wide-table", ["表格，可以横向滚动", "Table, scrolls sideways"]],
  [".katex-display", ["公式，可以横向滚动", "Formula, scrolls sideways"]],
  ["*", ["图，可以横向滚动", "Figure, scrolls sideways"]]];

const nameOf = (box) => NAMES.find(([kind]) => box.matches(kind) || (kind[0] === "."
  && box.closest(".cell_output") && kind.includes("cell_output")))[1];

/** A box is looked at when it shows, and whenever its size or that of what it holds changes. */
export function reachable() {
  const observer = new ResizeObserver((entries) => entries.forEach(see));
  for (const box of document.querySelectorAll(BOXES)) {
    for (const part of [box, ...box.children]) {
      if (part === box || part.matches("table, svg, pre, div")) observer.observe(part);
    }
  }
}
