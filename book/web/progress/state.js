// What the marks of the store and the remembered places say of each page.

/** Pages that are read: of each page the latest mark counts, of one time the later id. */
export function readPages(marks) {
  const latest = new Map();
  const isLater = (a, b) => !b || a.time > b.time || (a.time === b.time && a.id > b.id);
  for (const mark of marks) {
    if (!["read", "unread"].includes(mark.kind)) continue;
    if (isLater(mark, latest.get(mark.page))) latest.set(mark.page, mark);
  }
  return new Set([...latest.values()].filter(({ kind }) => kind === "read").map(({ page }) => page));
}

/** Pages in the middle -> minutes left, [zh, en]; from the text that progress.js stores. */
export function begunPages(text) {
  try {
    const { pages } = JSON.parse(text);
    return Object.fromEntries(Object.entries(pages).filter(([, at]) => at.id)
      .map(([page, { left }]) => [page, left]));
  } catch {
    return {};
  }
}
