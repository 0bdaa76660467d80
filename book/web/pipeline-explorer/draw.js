// The explorer's data as HTML.
import { escape } from "../common/bilingual.js";
import { both } from "../widget/words.js";

/** The rows of a stage that come from any of the lines. */
export const litRows = (parts, lines) => parts.flatMap(({ rows }) => rows)
  .filter(([, , own]) => own.some((line) => lines.includes(line)));

/** The stages that a function has, in their order. */
export const stagesOf = (stages, { parts }) => stages.filter(({ key }) => parts[key]);

/** Those of its stages, after the source, that have rows from the source's lines. */
export const linkedStages = (stages, one) => stagesOf(stages, one).slice(1).filter(
  ({ key }) => one.parts[key].some(({ rows }) => rows.some(([, , own]) => own.length)));

const cell = (name, text) => `<code class="pe-${name}">${escape(text)}</code>`;

/** A row; it can be chosen where it comes from a line. */
function rowOf([head, text, lines]) {
  const inner = `${cell("head", head)}${text ? ` ${cell("text", text)}` : ""}`;
  return lines.length
    ? `<li><button type="button" class="pe-row" tabindex="-1" data-lines="${lines}">${
      inner}</button></li>`
    : `<li><span class="pe-row">${inner}</span></li>`;
}

const partOf = ({ title, rows }) => `${title ? `<p class="pe-title"><code>${
  escape(title)}</code></p>` : ""}<ol>${rows.map(rowOf).join("")}</ol>`;

/** All stages of a function; `source` and the one that is chosen are seen on a narrow page. */
export const panelsOf = (stages, one) => stagesOf(stages, one).map(({ key, name, what }) => (
  `<div class="pe-stage" role="group"${one.parts[key].some(({ rows }) => rows.some(([, , lines]) => (
    lines.length))) ? "" : ' tabindex="0"'} data-panel="${key}" data-of="${key}">
    <p class="pe-name"><b>${both(name)}</b></p><p class="pe-what"><small>${both(what)}</small></p>
    ${one.parts[key].map(partOf).join("")}</div>`)).join("");

export const tabsOf = (stages, one) => stagesOf(stages, one).slice(1).map(({ key, name }) => (
  `<button type="button" data-stage="${key}">${both(name)} <small></small></button>`)).join("");

export const functionsOf = (functions) => functions.map(({ key, name }) => (
  `<button type="button" data-function="${key}">${both(name)}</button>`)).join("");
