// A button that copies the code of a cell.
import { spans } from "../common/bilingual.js";
import { label } from "../common/label.js";

const NAME = (number) => [`复制第 ${number} 段代码`, `Copy code ${number}`];
const DONE = ["已复制", "Copied"];
const ICON = '<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">'
  + '<rect x="9" y="9" width="11" height="11" rx="2"/><path d="M5 15V6a2 2 0 0 1 2-2h8"/></svg>';
const SHOWN = 1500; // ms for which a button says that it is done

/** Copy without the clipboard API, which pages without https do not have. */
function copyBySelection(text) {
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

async function answer({ currentTarget: button }) {
  const code = button.parentElement.querySelector("pre").textContent.replace(/\n$/, "");
  if (!await copy(code)) return;
  button.focus();
  button.innerHTML = `<span role="status">${spans(DONE)}</span>`;
  setTimeout(() => { button.innerHTML = ICON; }, SHOWN);
}

export function addCopyButtons() {
  for (const [at, code] of document.querySelectorAll("article div.highlight:not(.cell_output *)").entries()) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    label(button, NAME(at + 1));
    button.innerHTML = ICON;
    button.addEventListener("click", answer);
    code.append(button);
  }
}
