// MiniSearch over an index that is already made. Its own import takes an object keyed by numbers for
// each term, and to make those takes four times as long as all the rest: the postings go into its map
// of terms as it keeps them itself. Everything else is handed over as it asks.

import MiniSearch from "minisearch";
import { FIELDS, OPTIONS } from "./fields.js";

const AT_ONCE = 500; // terms between which a reader's keys are heard

/** Of {term -> [ids of the entries that have it, for each field]} and the ids of all entries. */
export async function engine(index, ids) {
  const made = MiniSearch.loadJS({ ...counted(index, ids), index: [] }, OPTIONS);
  let count = 0;
  for (const [term, row] of index) {
    if (count++ % AT_ONCE === 0) await new Promise((done) => { setTimeout(done); });
    made._index.set(term, postings(row));
  }
  return made;
}

/** Field -> id -> how often: a term stands once in a field of an entry. */
function postings(row) {
  const fields = new Map();
  row.forEach((ids, field) => {
    const found = new Map();
    for (const id of ids) found.set(id, 1);
    fields.set(field, found);
  });
  return fields;
}

/** How many entries there are, and how many terms each of their fields has. */
function counted(index, ids) {
  const lengths = new Map(ids.map((id) => [id, FIELDS.map(() => 0)]));
  for (const row of index.values()) {
    row.forEach((holders, field) => { for (const id of holders) lengths.get(id)[field] += 1; });
  }
  const mean = (at) => ids.reduce((sum, id) => sum + lengths.get(id)[at], 0) / ids.length;
  return {
    documentCount: ids.length, nextId: Math.max(...ids) + 1, dirtCount: 0, serializationVersion: 2,
    documentIds: Object.fromEntries(ids.map((id) => [id, id])), storedFields: {},
    fieldIds: Object.fromEntries(FIELDS.map((field, at) => [field, at])),
    fieldLength: Object.fromEntries(lengths), averageFieldLength: FIELDS.map((_, at) => mean(at)),
  };
}
