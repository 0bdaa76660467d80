// What review events (events.js) and marks (marks.js) share: checks of fields, ids, union by id.
//
// A table of fields holds for each name a check(value, record) and, for error messages, what the
// value must be.

export const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const LATEST = 8_640_000_000_000_000; // the last ms that a JavaScript date can name

export const integer = (low, high) => (x) => Number.isInteger(x) && low <= x && x <= high;
export const oneOf = (...values) => (x) => values.includes(x);
export const text = (pattern, longest) => (x) =>
  typeof x === "string" && x.length <= longest && pattern.test(x);
export const orNull = (check) => (x) => x === null || check(x);

export function isRecord(x) {
  return typeof x === "object" && x !== null && !Array.isArray(x);
}

/** Fields that both kinds have. */
export const uuid = [text(UUID, 36), "UUID"];
export const time = [integer(0, LATEST), "integer, ms UTC"];
export const zone = [integer(-900, 900), "integer, minutes, -900 … 900"];
export const lang = [oneOf("zh", "en", "both"), '"zh" | "en" | "both"'];
export const duration = [integer(0, LATEST), "integer ≥ 0, ms"];
export const edition = [text(/^[0-9a-f]{12}$/, 12), "12 hex digits"];

/** Why a record does not obey a table of fields, as {code, …} for texts.js; null where it does. */
export function fault(record, fields) {
  for (const [name, [check, expected]] of Object.entries(fields)) {
    if (!Object.hasOwn(record, name)) return { code: "missing", field: name, expected };
    if (!check(record[name], record)) {
      return { code: "wrong", field: name, value: record[name], expected };
    }
  }
  const field = Object.keys(record).find((name) => !Object.hasOwn(fields, name));
  return field === undefined ? null : { code: "unknown", field };
}

export const isNewer = (x, schema) => Number.isInteger(x?.schema) && x.schema > schema;

export const byTime = (a, b) => a.time - b.time || (a.id < b.id ? -1 : Number(a.id > b.id));

/** A file or a merge that is refused; `reason` is {code, …} for texts.js. Nothing was changed. */
export class Refusal extends Error {
  constructor(reason) {
    super(JSON.stringify(reason));
    this.reason = reason;
  }
}

/**
 * The records of two lists by id, in order of time; equal records must be equal text.
 * @throws {Refusal} where one id stands for two different records
 */
export function union(known, incoming) {
  const all = new Map();
  for (const record of [...known, ...incoming]) {
    const twin = all.get(record.id);
    if (twin && JSON.stringify(twin) !== JSON.stringify(record)) {
      throw new Refusal({ code: "differs", id: record.id });
    }
    all.set(record.id, record);
  }
  return [...all.values()].sort(byTime);
}

/** A random UUID; works without the secure context that `crypto.randomUUID` asks for. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
