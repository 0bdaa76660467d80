// What the widgets share in which a reader goes from step to step.
import { both } from "./words.js";

const ICONS = {
  first: "M5 4v12M16 4l-8 6 8 6z", previous: "M14 4l-8 6 8 6z",
  next: "M6 4l8 6-8 6z", last: "M15 4v12M4 4l8 6-8 6z",
};

export const goButtons = (labels) => Object.entries(ICONS).map(([go, icon]) => (
  `<button type="button" data-go="${go}" data-label="${go}">
  <svg viewBox="0 0 20 20" aria-hidden="true"><path d="${icon}"/></svg>${
  go === "next" ? `<span>${both(labels.next)}</span>` : ""}</button>`)).join("");

/** The button whose work a key does, unless it has a meaning of its own in what is focused. */
export function goOfKey({ key, target, altKey, ctrlKey, metaKey }, own) {
  const go = { ArrowRight: "next", ArrowLeft: "previous", Home: "first", End: "last" }[key];
  return altKey || ctrlKey || metaKey || target.matches(own) ? undefined : go;
}

/** The stage takes the focus where it scrolls, so that a keyboard can scroll it. */
export function fitStage(stage) {
  const wide = stage.scrollWidth > stage.clientWidth;
  if (wide || stage.scrollHeight > stage.clientHeight) stage.tabIndex = 0;
  else stage.removeAttribute("tabindex");
}

/** Scroll the stage, never the page. */
export function scrollStage(stage, left, top = 0) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  stage.scrollBy({ left, top, behavior: calm ? "instant" : "smooth" });
}
