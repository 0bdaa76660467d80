// Which entries hold a term, as a file carries it. A term stands once in an entry, so its postings
// are the distances between entries, and a file is a third of MiniSearch's own JSON.

import { FIELDS } from "./fields.js";

/** From {field: [terms of the first entry, of the second, …]}. */
export function pack(fields) {
  const found = new Map();
  for (const [field, lists] of Object.entries(fields)) {
    lists.forEach((terms, at) => {
      for (const term of terms) {
        const row = found.get(term) ?? found.set(term, {}).get(term);
        (row[FIELDS.indexOf(field)] ??= []).push(at);
      }
    });
  }
  const rows = [...found].sort(([one], [other]) => (one < other ? -1 : 1));
  return { terms: rows.map(([term]) => term).join("\n"),
           postings: rows.map(([, row]) => Object.entries(row)
             .map(([field, places]) => `${field}:${distances(places)}`).join(" ")).join("\n") };
}

const distances = (places) => places
  .map((place, at) => (place - (at ? places[at - 1] : 0)).toString(36)).join(",");

/** Calls `found(term, number of the field, [place])` for each row. */
export function unpack({ terms, postings }, found) {
  if (!terms) return;
  const rows = postings.split("\n");
  terms.split("\n").forEach((term, at) => {
    for (const part of rows[at].split(" ")) {
      const [field, list] = part.split(":");
      let place = 0;
      found(term, field, list.split(",").map((step) => place += parseInt(step, 36)));
    }
  });
}
