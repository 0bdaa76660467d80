// Keeping pages and the whole book on the shelf. All of it can be cut off at any moment and begun
// again: what has arrived stays, and the state is written last.

import { Moved, edition, fetched, GONE } from "./fetch.js";

const LANES = 4;
const REFERENCE = /="([^"]+\?v=[0-9a-f]{8})/g;

/** Put files [path, v, …] on the shelf, those that are not there; `onkept(row)` for each of all.
 *  Throws Moved, QuotaExceededError, or what fetch throws. */
export async function keepFiles(shelf, rows, { onkept = () => {}, signal } = {}) {
  const names = await shelf.names(), missing = [];
  for (const row of rows) {
    if (names.has(shelf.address(row[0], row[1]))) onkept(row);
    else missing.push(row);
  }
  let failed;
  const lane = async () => {
    for (let row; !failed && (row = missing.shift());) {
      try {
        await shelf.put(row[0], row[1], await fetched(shelf, row[0], row[1], signal));
        onkept(row);
      } catch (error) {
        failed ??= error;
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  if (failed) throw failed;
}

/** Learn of an edition: its list is kept, and becomes the newest. Returns the list. What is known
 *  is not written again: a full browser takes nothing. */
export async function learn(shelf, { edition, list }) {
  await keepFiles(shelf, [list.split("?v=")]);
  const { edition: known, goneSince } = await shelf.state();
  if (known !== edition || goneSince) {
    await shelf.change(() => ({ edition, list, goneSince: null }));
  }
  return shelf.list(list);
}

/** Keep a page of this list with what it links and what it was seen to load, then note it. */
export async function keepPage(shelf, list, path, loaded = []) {
  const row = list.files.find(([name]) => name === path);
  if (!row) return;
  await keepFiles(shelf, [row]);
  const text = await (await shelf.file(path, row[1])).text();
  const linked = [...text.matchAll(REFERENCE)].map(([, address]) => (
    new URL(address, shelf.root + path).href.slice(shelf.root.length)));
  const needs = [...new Set([...linked, ...loaded])];
  await keepFiles(shelf, needs.map((address) => address.split("?v=")));
  await shelf.change(({ pages }) => ({ pages: { ...pages, [path]: { v: row[1], needs } } }));
}

/** Rows of the whole book in a list; those of notebooks and code files are in a list apart. Throws
 *  what keepFiles throws where that has to be asked for. */
export async function wholeOf(shelf, list, downloads) {
  if (!downloads) return list.files;
  await keepFiles(shelf, [list.downloads.list.split("?v=")]);
  return [...list.files, ...await shelf.list(list.downloads.list)];
}

/** Keep the whole book as the server has it now; if that changes meanwhile, what it has then.
 *  `begin(rows)` is told what will be kept. Throws Moved if the server cannot make up its mind. */
export async function keepBook(shelf, { downloads, begin = () => {}, ...options }) {
  for (let tries = 3; ; tries -= 1) {
    const server = await edition(shelf.root);
    if (!server || server === GONE) throw new TypeError("no network");
    try {
      const list = await learn(shelf, server), rows = await wholeOf(shelf, list, downloads);
      begin(rows);
      await keepFiles(shelf, rows, options);
      return await shelf.change((state) => swapped(state, server, list, downloads));
    } catch (error) {
      if (!(error instanceof Moved) || tries === 1) throw error;
    }
  }
}

/** The state with a whole edition in it: all of its pages at once. */
function swapped({ pages }, { edition, list }, { files }, downloads) {
  const rows = files.filter(([path]) => path.endsWith(".html"));
  const whole = rows.map(([path, v]) => [path, { ...(pages[path]?.v === v && pages[path]), v }]);
  return { pages: Object.fromEntries(whole), begun: null, edition, list,
           whole: { edition, list, downloads } };
}

/** Remove the whole book; the pages that were read stay. */
export async function dropBook(shelf) {
  const { pages } = await shelf.change(({ pages }) => ({
    whole: null,
    begun: null,
    pages: Object.fromEntries(Object.entries(pages).filter(([, { needs }]) => needs)),
  }));
  const list = await shelf.list((await shelf.state()).list);
  const shell = list?.files.filter(([path]) => list.shell.includes(path)) ?? [];
  await shelf.prune([...await read(shelf, pages), ...shell.map(([path, v]) => `${path}?v=${v}`)]);
}

/** Remove what neither the newest edition nor a page that is kept has. */
export async function tidy(shelf) {
  const { list, whole, pages } = await shelf.state(), live = await read(shelf, pages);
  for (const address of new Set([list, whole?.list])) {
    const known = await shelf.list(address);
    if (!known) continue;
    const apart = await shelf.list(known.downloads.list) ?? [];
    live.push(...[...known.files, ...apart].map(([path, v]) => `${path}?v=${v}`), address,
      known.downloads.list);
  }
  await shelf.prune(live);
}

async function read(shelf, pages) {
  const { list } = await shelf.state();
  return [list, ...Object.entries(pages).flatMap(([path, { v, needs = [] }]) => (
    [`${path}?v=${v}`, ...needs]))];
}
