// The mark format: what a reader did while reading, beside the reviews of the drill (events.js).
//
// Marks too are appended, never changed or removed, and merge as their union by `id`.

/**
 * @typedef {object} Mark
 * @property {"read"|"unread"|"prediction"} kind  `read`: the section was read to its end; `unread`:
 *   that is taken back, until a later `read`. `prediction`: an option was committed to, before its
 *   output was seen.
 * @property {string} page         The page without ".html": `chapters/01-tensors/views`.
 * @property {string} id, device   UUIDs, as of an event; so are `time`, `zone` and `lang`.
 * @property {1} schema            Version of the format of marks.
 *
 * A prediction also has:
 * @property {string} cell         Id of the notebook's cell; permanent.
 * @property {string} edition      First 12 hex digits of the digest of the question's options.
 * @property {string} response     `answer` for the right option, `unsure`, or the key of a wrong
 *   one: `d-` and 8 hex digits of the SHA-256 of its English text.
 * @property {boolean} right       Whether the response was the right one.
 * @property {"sure"|"think"|"guess"|null} confidence  null for `unsure`, and only there.
 */

import {
  edition, fault, isNewer, isRecord, lang, newId, oneOf, text, time, union, uuid, zone,
} from "./record.js";
import { zoneAt } from "./days.js";

export const SCHEMA = 1;

const PAGE = /^[a-z0-9]+(-[a-z0-9]+)*(\/[a-z0-9]+(-[a-z0-9]+)*)*$/;
const RESPONSE = /^(answer|unsure|d-[0-9a-f]{8})$/;

const COMMON = {
  id: uuid,
  kind: [(x) => Object.hasOwn(KINDS, x), '"read" | "unread" | "prediction"'],
  page: [text(PAGE, 200), "page, such as chapters/01-tensors/views"],
  time,
  zone,
  lang,
  schema: [oneOf(SCHEMA), String(SCHEMA)],
  device: uuid,
};
const KINDS = {
  read: COMMON,
  unread: COMMON,
  prediction: {
    ...COMMON,
    cell: [text(/^[A-Za-z0-9_-]+$/, 64), "id of a cell"],
    edition,
    response: [text(RESPONSE, 10), '"answer" | "unsure" | key of a wrong option'],
    right: [(x, mark) => x === (mark.response === "answer"), 'true for "answer", else false'],
    confidence: [
      (x, mark) => (mark.response === "unsure" ? x === null : ["sure", "think", "guess"].includes(x)),
      '"sure" | "think" | "guess", null for "unsure"'],
  },
};

/** Why this is no mark, as {code, …} for texts.js; null where it is one. */
export function problem(mark) {
  if (!isRecord(mark)) return { code: "not-a-record" };
  if (isNewer(mark, SCHEMA)) return { code: "newer" };
  return fault(mark, typeof mark.kind === "string" && Object.hasOwn(KINDS, mark.kind)
    ? KINDS[mark.kind] : COMMON);
}

/** The mark with its keys in the order of the format, so that equal marks are equal text. One that a
 *  newer edition wrote stays as it is: this edition passes it on and does not look at it. */
function canonical(mark) {
  const fields = isNewer(mark, SCHEMA) ? null : KINDS[mark.kind];
  return fields ? Object.fromEntries(Object.keys(fields).map((key) => [key, mark[key]]))
    : Object.fromEntries(Object.entries(mark).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The union of two sets of marks by id, in order of time; throws a Refusal as `union` does. */
export const merge = (known, incoming) =>
  union(known.map(canonical), incoming.map(canonical));

/**
 * A whole mark of what happened now; `fields` are its kind, its page and those of the kind. It is
 * later than the `known` marks of the same page and cell, whatever clock made those, since the last
 * one counts.
 * @throws {TypeError} where the fields make no mark
 */
export function newMark(fields, device, known = []) {
  const before = known.filter(({ page, cell }) => page === fields.page && cell === fields.cell);
  const now = Math.max(Date.now(), ...before.map((mark) => mark.time + 1));
  const mode = globalThis.document?.documentElement.dataset.lang ?? "both";
  const mark = { id: newId(), time: now, zone: zoneAt(now), lang: mode, schema: SCHEMA, device,
    ...fields };
  const reason = problem(mark);
  if (reason) throw new TypeError(`no mark: ${JSON.stringify(reason)}`);
  return canonical(mark);
}
