// The name of what shows no words, in the language that is read; without scripts in both.
const root = document.documentElement;

function tell(element, attribute) {
  const [zh, en] = element.dataset[attribute === "title" ? "titles" : "names"].split(" · ");
  const { lang } = root.dataset;
  element.setAttribute(attribute, lang === "zh" ? zh : lang === "en" ? en : `${zh} · ${en}`);
}

/** Name an element in both languages, [zh, en]; it is told again when the language changes. */
export function label(element, names) {
  element.dataset.names = names.join(" · ");
  tell(element, "aria-label");
}

/** Tell all names again: those of the page's frame, and of what was named here. */
export function relabel() {
  for (const attribute of ["aria-label", "title"]) {
    const kept = attribute === "title" ? "titles" : "names";
    const framed = `:is([${attribute}*=" · "]:not(article *), .letters[${attribute}])`;
    for (const element of document.querySelectorAll(`[data-${kept}], ${framed}`)) {
      element.dataset[kept] ??= element.getAttribute(attribute);
      tell(element, attribute);
    }
  }
}
