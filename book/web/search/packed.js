// MiniSearch's own JSON spells each posting as `"417":1,`. Here a term stands once in a document,
// so its postings are the distances between documents, and the file is a third of the size.

/** From engine.toJSON(): terms, and for each the postings by field. */
export function pack({ index, fieldLength, averageFieldLength, documentCount }) {
  return {
    documentCount, averageFieldLength,
    lengths: Object.values(fieldLength).map((lengths) => Array.from(lengths, (one) => one ?? 0)),
    terms: index.map(([word]) => word).join("\n"),
    postings: index.map(([, fields]) => Object.entries(fields)
      .map(([field, docs]) => `${field}:${distances(Object.keys(docs).map(Number))}`).join(" ")).join("\n"),
  };
}

const distances = (ids) => ids.sort((a, b) => a - b)
  .map((id, at) => (id - (at ? ids[at - 1] : 0)).toString(36)).join(",");

/** What MiniSearch.loadJS takes, for these fields. */
export function unpack({ documentCount, averageFieldLength, lengths, terms, postings }, fields) {
  const ids = Array.from({ length: documentCount }, (_, id) => id);
  const rows = postings.split("\n");
  return {
    documentCount, averageFieldLength, nextId: documentCount, dirtCount: 0, serializationVersion: 2,
    documentIds: Object.fromEntries(ids.map((id) => [id, id])),
    fieldIds: Object.fromEntries(fields.map((field, at) => [field, at])),
    fieldLength: Object.fromEntries(lengths.map((one, id) => [id, one])), storedFields: {},
    index: terms.split("\n").map((word, at) => [word, documents(rows[at])]),
  };
}

function documents(row) {
  const fields = {};
  for (const part of row.split(" ")) {
    const [field, list] = part.split(":");
    let id = 0;
    fields[field] = Object.fromEntries(list.split(",").map((step) => [id += parseInt(step, 36), 1]));
  }
  return fields;
}
