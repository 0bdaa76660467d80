// The event format, final from schema version 1: what is stored, exported and imported.
//
// Progress is a set of review events and nothing else. Events are appended, never changed or
// removed; what a reader knows and what is due is derived from them (schedule.js), so two sets
// merge as their union by `id`. `event.schema.json` says the same for other programs; a test
// holds the two together.

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

export const FORMAT = "pytorch-inside-out-progress";
export const SCHEMA = 1;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const CARD = /^[a-z0-9]+(-[a-z0-9]+)+$/;
const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;

const integer = (low, high) => (x) => Number.isInteger(x) && low <= x && x <= high;
const oneOf = (...values) => (x) => values.includes(x);
const text = (pattern, longest) => (x) =>
  typeof x === "string" && x.length <= longest && pattern.test(x);
const orNull = (check) => (x) => x === null || check(x);
const grade = [oneOf(1, 2, 3, 4), "1 | 2 | 3 | 4"];
const uuid = [text(UUID, 36), "UUID"];
const LATEST = 8_640_000_000_000_000; // the last ms that a JavaScript date can name

/** Each field with its check and, for error messages, what it must be. */
const FIELDS = {
  id: uuid,
  card: [text(CARD, 120), "card-id"],
  time: [integer(0, LATEST), "integer, ms UTC"],
  zone: [integer(-900, 900), "integer, minutes, -900 … 900"],
  button: grade,
  grade,
  scheduler: [isScheduler, "{name, version, parameters}"],
  elapsed: [orNull(integer(0, 1_000_000)), "integer ≥ 0 | null"],
  confidence: [oneOf("sure", "think", "guess"), '"sure" | "think" | "guess"'],
  response: [orNull(text(SLUG, 64)), "option key | null"],
  points: [isPoints, "list of true | false"],
  variant: [orNull(integer(0, 1_000_000)), "integer ≥ 0 | null"],
  lang: [oneOf("zh", "en", "both"), '"zh" | "en" | "both"'],
  duration: [integer(0, LATEST), "integer ≥ 0, ms"],
  mode: [text(SLUG, 64), "kebab-case"],
  edition: [text(/^[0-9a-f]{12}$/, 12), "12 hex digits"],
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

function isRecord(x) {
  return typeof x === "object" && x !== null && !Array.isArray(x);
}

/** Why this is no event of schema 1, as {code, …} for texts.js; null where it is one. */
export function problem(event) {
  if (!isRecord(event)) return { code: "not-a-record" };
  if (Number.isInteger(event.schema) && event.schema > SCHEMA) return { code: "newer" };
  for (const name of NAMES) {
    const [check, expected] = FIELDS[name];
    if (!Object.hasOwn(event, name)) return { code: "missing", field: name, expected };
    if (!check(event[name])) return { code: "wrong", field: name, value: event[name], expected };
  }
  const field = Object.keys(event).find((name) => !Object.hasOwn(FIELDS, name));
  return field === undefined ? null : { code: "unknown", field };
}

/** The event with its keys in the order of the format, so that equal events are equal text. */
function canonical(event) {
  const { name, version, parameters } = event.scheduler;
  const ordered = Object.fromEntries(NAMES.map((key) => [key, event[key]]));
  return { ...ordered, scheduler: { name, version, parameters } };
}

export const byTime = (a, b) => a.time - b.time || (a.id < b.id ? -1 : Number(a.id > b.id));

/** A file or a merge that is refused; `reason` is {code, …} for texts.js. Nothing was changed. */
export class Refusal extends Error {
  constructor(reason) {
    super(JSON.stringify(reason));
    this.reason = reason;
  }
}

/**
 * The union of two sets of events by id, in order of time.
 * @throws {Refusal} where one id stands for two different events
 */
export function merge(known, incoming) {
  const union = new Map();
  for (const event of [...known, ...incoming].map(canonical)) {
    const twin = union.get(event.id);
    if (twin && JSON.stringify(twin) !== JSON.stringify(event)) {
      throw new Refusal({ code: "differs", id: event.id });
    }
    union.set(event.id, event);
  }
  return [...union.values()].sort(byTime);
}

/** The text of an export: one event a line, in order of time, so equal sets are equal files. */
export function exportText(events) {
  const rows = merge([], events).map((event) => JSON.stringify(event));
  return `{"format": "${FORMAT}", "schema": ${SCHEMA}, "events": [\n${rows.join(",\n")}\n]}\n`;
}

/**
 * The events of an exported file.
 * @throws {Refusal} for a file that is broken or foreign in any part
 */
export function importText(source) {
  const content = parse(source);
  if (!isRecord(content) || content.format !== FORMAT) throw new Refusal({ code: "foreign" });
  if (Number.isInteger(content.schema) && content.schema > SCHEMA) {
    throw new Refusal({ code: "newer" });
  }
  if (content.schema !== SCHEMA) throw new Refusal({ code: "no-schema" });
  if (!Array.isArray(content.events)) throw new Refusal({ code: "no-events" });
  content.events.forEach((event, index) => {
    const reason = problem(event);
    if (reason?.code === "newer") throw new Refusal(reason);
    if (reason) throw new Refusal({ code: "event", number: index + 1, id: event?.id, reason });
  });
  return merge([], content.events);
}

function parse(source) {
  try {
    return JSON.parse(source.replace(/^\ufeff/, ""));
  } catch {
    throw new Refusal({ code: "not-json" });
  }
}

/** A random UUID; works without the secure context that `crypto.randomUUID` asks for. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
