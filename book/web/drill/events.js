// The event format, final from schema version 1: what the drill stores, exports and imports.
//
// What was practised is a set of review events and nothing else. Events are appended, never changed
// or removed; what a reader knows and what is due is derived from them (schedule.js), so two sets
// merge as their union by `id`. Beside them lie marks (marks.js); file.js writes both.

/**
 * @typedef {object} ReviewEvent
 * @property {string} id           UUID of this event, lower case.
 * @property {string} card         Id of the card; permanent, may belong to another edition.
 * @property {number} time         When the grade was given: ms since 1970-01-01 UTC.
 * @property {number} zone         Minutes that local time was ahead of UTC then (Beijing: 480).
 * @property {1|2|3|4} button      What the reader pressed: 1 Again, 2 Hard, 3 Good, 4 Easy.
 * @property {1|2|3|4} grade       What it counted as (grades.js); the schedule uses this one.
 * @property {{name: string, version: string, parameters: string}} scheduler
 *   Program and version that made the schedule, and the first 16 hex digits of the SHA-256 of its
 *   parameters as JSON (schedule.js).
 * @property {number|null} elapsed  Whole days since the card's last review as the scheduler saw
 *   them, days turning at 04:00 local; null for a first review. A record, not a source: the fold
 *   counts them anew, since a merge may put another review in between.
 * @property {"sure"|"think"|"guess"} confidence  Given before the answer was shown.
 * @property {string|null} response  `answer` for the right option, `unsure`, or the key of a wrong
 *   one: `d-` and 8 hex digits of the SHA-256 of its English text. null: a spoken answer.
 * @property {boolean[]} points    Points that the reader said, in the order of the card.
 * @property {number|null} variant  Index of the snippet's variant; null: a card without code.
 * @property {"zh"|"en"|"both"} lang  Language of the page.
 * @property {number} duration     ms from the question to the grade.
 * @property {string} mode         Where: `page`; other programs name themselves (kebab-case).
 * @property {string} edition      First 12 hex digits of the digest of the whole card: what
 *   `points`, `response` and `variant` refer to.
 * @property {1} schema            Version of this format.
 * @property {string} device       UUID of the browser profile or program that wrote it.
 */

import {
  duration, edition, fault, integer, isNewer, isRecord, lang, oneOf, orNull, SLUG, text, time,
  union, uuid, zone,
} from "./record.js";

export const SCHEMA = 1;

const CARD = /^[a-z0-9]+(-[a-z0-9]+)+$/;
const grade = [oneOf(1, 2, 3, 4), "1 | 2 | 3 | 4"];

const FIELDS = {
  id: uuid,
  card: [text(CARD, 120), "card-id"],
  time,
  zone,
  button: grade,
  grade,
  scheduler: [isScheduler, "{name, version, parameters}"],
  elapsed: [orNull(integer(0, 1_000_000)), "integer ≥ 0 | null"],
  confidence: [oneOf("sure", "think", "guess"), '"sure" | "think" | "guess"'],
  response: [orNull(text(SLUG, 64)), "option key | null"],
  points: [isPoints, "list of true | false"],
  variant: [orNull(integer(0, 1_000_000)), "integer ≥ 0 | null"],
  lang,
  duration,
  mode: [text(SLUG, 64), "kebab-case"],
  edition,
  schema: [oneOf(SCHEMA), String(SCHEMA)],
  device: uuid,
};
const NAMES = Object.keys(FIELDS);
const SCHEDULER = {
  name: text(SLUG, 64),
  version: text(/^[\x20-\x7e]+$/, 64),
  parameters: text(/^[0-9a-f]{16}$/, 16),
};

function isPoints(x) {
  return Array.isArray(x) && x.length <= 16 && x.every((point) => typeof point === "boolean");
}

function isScheduler(x) {
  return isRecord(x) && Object.keys(x).length === 3
    && Object.entries(SCHEDULER).every(([key, check]) => Object.hasOwn(x, key) && check(x[key]));
}

/** Why this is no event of schema 1, as {code, …} for texts.js; null where it is one. */
export function problem(event) {
  if (!isRecord(event)) return { code: "not-a-record" };
  return isNewer(event, SCHEMA) ? { code: "newer" } : fault(event, FIELDS);
}

/** The event with its keys in the order of the format, so that equal events are equal text. */
function canonical(event) {
  const { name, version, parameters } = event.scheduler;
  const ordered = Object.fromEntries(NAMES.map((key) => [key, event[key]]));
  return { ...ordered, scheduler: { name, version, parameters } };
}

/** The union of two sets of events by id, in order of time; throws a Refusal as `union` does. */
export const merge = (known, incoming) =>
  union(known.map(canonical), incoming.map(canonical));
