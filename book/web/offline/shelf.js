// What this browser keeps of the book: a cache whose entries are named by path and digest, so that
// an address holds one content for ever, editions share what did not change, and nothing of one
// edition can stand in for another's. Which entries make up the book is one record, the state; a
// new edition takes the place of the old one by one write of it.
//
//   state.edition, state.list     the newest edition seen, and the address of its list of files
//   state.pages                   path -> {v, needs}: the pages that can be opened without a network
//   state.begun                   null, or {downloads} since the whole book was asked for
//   state.goneSince               null, or the time since another site has been at this address
//   state.whole                   null, or {edition, list, downloads} when the whole book is kept

export const BOOK = "pytorch-inside-out";
export const WORKER = "offline-worker.js";
const LAYOUT = 2; // of the entries and the state; a cache of another layout is thrown away
const EMPTY = { edition: null, list: null, pages: {}, begun: null, whole: null,
                goneSince: null };

/** The caches of the book at this address; two books of one host do not meet. */
const family = (root) => `${BOOK} ${new URL(root).pathname} `;

export class Shelf {
  constructor(root) {
    this.root = String(root);
    this.name = family(root) + LAYOUT;
    this.lists = new Map();
  }

  open() { return caches.open(this.name); }

  address(path, v) { return `${this.root}${path}${v ? `?v=${v}` : ""}`; }

  async file(path, v) { return (await this.open()).match(this.address(path, v)); }

  async put(path, v, response) { await (await this.open()).put(this.address(path, v), response); }

  async state() {
    return { ...EMPTY, ...await (await this.file("offline-state"))?.json() };
  }

  /** Change the state; two tabs and the worker take turns. */
  change(by) {
    return navigator.locks.request(this.name, async () => {
      const state = await this.state();
      const next = { ...state, ...by(state) };
      await this.put("offline-state", "", new Response(JSON.stringify(next)));
      return next;
    });
  }

  /** A list of files by its address; null while it is not kept. */
  async list(address) {
    if (!address) return null;
    if (!this.lists.has(address)) {
      const kept = await (await this.open()).match(this.root + address);
      if (!kept) return null;
      this.lists.set(address, await kept.json());
    }
    return this.lists.get(address);
  }

  /** Addresses of all entries, as a set. */
  async names() { return new Set((await (await this.open()).keys()).map(({ url }) => url)); }

  /** Remove all entries but these, relative to the root. */
  async prune(live) {
    const cache = await this.open(), kept = new Set([...live, "offline-state"]);
    for (const request of await cache.keys()) {
      if (!kept.has(request.url.slice(this.root.length))) await cache.delete(request);
    }
  }

  /** Remove the caches of this book: all of them, or those of another layout. */
  async clear(all) {
    for (const name of await caches.keys()) {
      if (name.startsWith(family(this.root)) && (all || name !== this.name)) {
        await caches.delete(name);
      }
    }
  }
}

/** The path of an address below the root, without query and anchor; null outside of it. */
export function pathOf(root, address) {
  const { origin, pathname } = new URL(address);
  if (!(origin + pathname).startsWith(root)) return null;
  return (origin + pathname).slice(root.length);
}

/** The file of a page: `chapters/` is chapters/index.html, `a/b` is a/b.html. */
export function pageOf(path) {
  const whole = path.endsWith("/") || !path ? `${path}index.html` : path;
  return /\.[^/]*$/.test(whole) ? whole : `${whole}.html`;
}
