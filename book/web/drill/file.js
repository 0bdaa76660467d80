// The progress file: all review events and all marks of a reader, as exported and imported.
// `event.schema.json` says the same for other programs; a test holds the two together.

import { merge as mergeEvents, problem as eventProblem } from "./events.js";
import { merge as mergeMarks, problem as markProblem } from "./marks.js";
import { isNewer, isRecord, Refusal } from "./record.js";

export const FORMAT = "pytorch-inside-out-progress";
export const SCHEMA = 2; // 1 had no marks; the events in it are the same

/** The text of an export: one record a line, in order of time, so equal sets are equal files. */
export function exportText({ events, marks }) {
  const rows = (records) => records.map((record) => JSON.stringify(record)).join(",\n");
  return `{"format": "${FORMAT}", "schema": ${SCHEMA}, "events": [\n${
    rows(mergeEvents([], events))}\n], "marks": [\n${rows(mergeMarks([], marks))}\n]}\n`;
}

/**
 * What an exported file holds, as {events, marks}.
 * @throws {Refusal} for a file that is broken or foreign in any part
 */
export function importText(source) {
  const content = parse(source);
  if (!isRecord(content) || content.format !== FORMAT) throw new Refusal({ code: "foreign" });
  if (isNewer(content, SCHEMA)) throw new Refusal({ code: "newer" });
  if (![1, SCHEMA].includes(content.schema)) throw new Refusal({ code: "no-schema" });
  const { events, marks = content.schema === 1 ? [] : undefined } = content;
  checkAll("event", events, eventProblem);
  checkAll("mark", marks, markProblem);
  return { events: mergeEvents([], events), marks: mergeMarks([], marks) };
}

/** Refuse the list of records of a kind at its first fault. */
function checkAll(code, records, problem) {
  if (!Array.isArray(records)) throw new Refusal({ code: `no-${code}s` });
  records.forEach((record, index) => {
    const reason = problem(record);
    if (reason?.code === "newer") throw new Refusal(reason);
    if (reason) throw new Refusal({ code, number: index + 1, id: record?.id, reason });
  });
}

function parse(source) {
  try {
    return JSON.parse(source.replace(/^\ufeff/, ""));
  } catch {
    throw new Refusal({ code: "not-json" });
  }
}
