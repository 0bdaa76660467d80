// What is the same in all widgets: their two hosts and the language of the page.
//
// On a page a widget is a custom element and needs no kernel. In a live notebook anywidget calls
// `render`; it loads one file from a blob, where a relative import has no base, so
// code/inside/widgets/web_module.py joins a widget's file and the ones it imports.
import { addStyle } from "./style.js";

const Base = globalThis.HTMLElement ?? class {}; // node imports the widgets to test functions

/**
 * An element whose `label()` is called when the reader changes the language. It has the class
 * `widget`, and the parts that widgets share have classes `w-…`: style.js knows these alone.
 */
export class Widget extends Base {
  connectedCallback() {
    this.classList.add("widget");
    this.language ??= new MutationObserver(() => this.label());
    this.language.observe(document.documentElement, { attributeFilter: ["data-lang"] });
  }

  disconnectedCallback() { this.language.disconnect(); }

  /** A part as other widgets have it too: frame, error, legend, status, stage, table … */
  part(name) { return this.querySelector(`.w-${name}`); }
}

export function define(name, widget, style) {
  if (!globalThis.customElements || customElements.get(name)) return;
  addStyle(style);
  customElements.define(name, widget);
}

/**
 * anywidget's entry: the kernel's traits and the element's attributes of the same names follow
 * each other. The detail of `event` has the traits that the reader changed.
 */
export const follower = (tag, traits, event, text = String) => ({ model, el }) => {
  const element = document.createElement(tag);
  const pull = () => traits.forEach((name) => element.setAttribute(name, text(model.get(name))));
  const push = ({ detail }) => {
    Object.entries(detail).forEach(([name, value]) => model.set(name, value));
    model.save_changes();
  };
  pull();
  traits.forEach((name) => model.on(`change:${name}`, pull));
  element.addEventListener(event, push);
  el.append(element);
  return () => traits.forEach((name) => model.off(`change:${name}`, pull));
};
