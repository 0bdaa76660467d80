// Making elements, and texts that show in the reader's language by the rules of book.css.

import { escape, spans } from "../common/bilingual.js";

const SEPARATOR = '<span class="lang-sep"> · </span>';

/** An element: properties starting with "on" are listeners, others attributes; null is left out. */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(key, value);
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null));
  return element;
}

/** A pair [zh, en] of plain texts, inline. */
export function both(pair) {
  return parsed(spans(pair.map(escape), SEPARATOR));
}

/** A pair {zh, en} of HTML made by the build, inline. */
export function inline(html) {
  return parsed(spans([html.zh, html.en], SEPARATOR));
}

/** The same one below the other when both languages show; a heading asks for `span`s. */
export function block(html, name = "div") {
  return parsed(spans([html.zh, html.en], "", name));
}

/** An element filled with HTML that the build has made (never with what a reader imports). */
export function filled(name, html) {
  const element = document.createElement(name);
  element.innerHTML = html;
  return element;
}

const parsed = (html) => filled("template", html).content;

export function fold(summary, ...children) {
  return h("details", { class: "drill-fold" }, h("summary", {}, summary), ...children);
}

/** A group of radios or checkboxes with a legend that is a pair. */
export function group(legend, attributes, ...children) {
  return h("fieldset", attributes, h("legend", {}, both(legend)), ...children);
}
