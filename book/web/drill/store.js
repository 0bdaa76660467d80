// Where the events lie: IndexedDB, shared by the tabs of a browser; or, where the browser gives
// none (some private modes), the memory of this page.
//
// Both kinds of store have:
//   events()                   all events
//   append(event, reps)        true when stored; false, and nothing stored, when the card has not
//                              `reps` events any more: another tab was quicker
//   join(events)               merge a set in, all or nothing; resolves to the new events
//   setting(name), set(name, value)   choices of this browser; never exported
//   saved                      false: gone when the page is closed
//   onchange                   called when another tab has added events

import { openDB } from "idb";

import { merge, newId } from "./events.js";

const DATABASE = "pytorch-inside-out";
const VERSION = 1; // of the object stores below; the events in them carry their own

/** The store of this browser, or one in memory where there is none. */
export async function openStore(database = DATABASE) {
  try {
    const store = new BrowserStore(await open(database), new BroadcastChannel(database));
    await store.prepare();
    return store;
  } catch (error) {
    console.info("drill: no IndexedDB, progress is not kept:", error?.message);
    return new MemoryStore();
  }
}

function open(database) {
  return openDB(database, VERSION, {
    upgrade(db) {
      db.createObjectStore("events", { keyPath: "id" }).createIndex("card", "card");
      db.createObjectStore("settings");
    },
    // a newer edition in another tab waits for this connection: give way, the next write fails
    blocking: (_from, _to, event) => event.target.close(),
  });
}

class BrowserStore {
  saved = true;
  onchange = () => {};

  constructor(db, channel) {
    this.db = db;
    this.channel = channel;
    channel.onmessage = () => this.onchange();
  }

  /** Name this browser once, so that two devices can be told apart in merged progress. */
  async prepare() {
    const tx = this.db.transaction("settings", "readwrite");
    this.device = (await tx.store.get("device")) ?? newId();
    await tx.store.put(this.device, "device");
    await tx.done;
  }

  events() {
    return this.db.getAll("events");
  }

  async append(event, reps) {
    const tx = this.db.transaction("events", "readwrite", { durability: "strict" });
    const isCurrent = (await tx.store.index("card").count(event.card)) === reps;
    if (isCurrent) tx.store.add(event).catch(() => {}); // a failed add fails `done` below
    await tx.done;
    if (isCurrent) this.announce();
    return isCurrent;
  }

  async join(incoming) {
    const tx = this.db.transaction("events", "readwrite", { durability: "strict" });
    const known = await tx.store.getAll();
    const added = newOf(known, incoming);
    for (const event of added) tx.store.add(event).catch(() => {});
    await tx.done;
    if (added.length) this.announce();
    return added;
  }

  announce() {
    this.channel.postMessage("events");
    navigator.storage?.persist?.().catch(() => {}); // a wish: the browser may clear it otherwise
  }

  setting(name) {
    return this.db.get("settings", name);
  }

  set(name, value) {
    return this.db.put("settings", value, name);
  }
}

class MemoryStore {
  saved = false;
  onchange = () => {};
  device = newId();
  #events = [];
  #settings = new Map();

  async events() {
    return [...this.#events];
  }

  async append(event, reps) {
    const isCurrent = this.#events.filter(({ card }) => card === event.card).length === reps;
    if (isCurrent) this.#events.push(event);
    return isCurrent;
  }

  async join(incoming) {
    const added = newOf(this.#events, incoming);
    this.#events.push(...added);
    return added;
  }

  async setting(name) {
    return this.#settings.get(name);
  }

  async set(name, value) {
    this.#settings.set(name, value);
  }
}

/** Incoming events that are not known yet; throws before anything is written (events.js). */
function newOf(known, incoming) {
  const ids = new Set(known.map((event) => event.id));
  return merge(known, incoming).filter((event) => !ids.has(event.id));
}
