// Where events and marks lie: IndexedDB, shared by the tabs of a browser; or, where the browser gives
// none (some private modes), the memory of this page.
//
// Both kinds of store have:
//   events()                   all events
//   append(event, reps)        true when stored; false, and nothing stored, when the card has not
//                              `reps` events any more: another tab was quicker
//   marks()                    all marks (marks.js), in order of time
//   mark({kind, page, …})      fill in id, time, zone, lang, schema and device, append; resolves to
//                              the whole mark; a TypeError, and nothing stored, for broken fields
//   join({events, marks}, onstored)   merge sets in, all or nothing; resolves to what was new of
//                              each; `onstored(done, all)` is told now and then how far it is
//   setting(name), set(name, value)   choices of this browser; never exported
//   saved                      false: gone when the page is closed
//   onchange                   called with "events" or "marks" when another tab has added some

import { openDB, unwrap } from "idb";

import { merge as mergeEvents } from "./events.js";
import { merge as mergeMarks, newMark } from "./marks.js";
import { newId } from "./record.js";

const DATABASE = "pytorch-inside-out";
const TOLD = 2000; // records between two words on how far a merge is
const VERSION = 2; // of the object stores below; what lies in them carries its own

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
    upgrade(db, from) {
      if (from < 1) {
        db.createObjectStore("events", { keyPath: "id" }).createIndex("card", "card");
        db.createObjectStore("settings");
      }
      if (from < 2) db.createObjectStore("marks", { keyPath: "id" });
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
    channel.onmessage = ({ data }) => this.onchange(data);
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
    if (isCurrent) this.announce("events");
    return isCurrent;
  }

  async marks() {
    return mergeMarks([], await this.db.getAll("marks"));
  }

  async mark(fields) {
    const mark = newMark(fields, this.device, await this.db.getAll("marks"));
    await this.db.add("marks", mark);
    this.announce("marks");
    return mark;
  }

  async join(incoming, onstored = () => {}) {
    const tx = this.db.transaction(["events", "marks"], "readwrite", { durability: "strict" });
    const [events, marks] = ["events", "marks"].map((name) => tx.objectStore(name));
    const added = newOf({ events: await events.getAll(), marks: await marks.getAll() }, incoming);
    const all = added.events.length + added.marks.length;
    let put = 0;
    const add = (store, record) => { // bare requests: who waits is told how far it is
      const request = unwrap(store).add(record);
      if (++put % TOLD === 0) request.onsuccess = onstored.bind(null, put, all);
    };
    for (const event of added.events) add(events, event);
    for (const mark of added.marks) add(marks, mark);
    await tx.done;
    for (const name of ["events", "marks"]) if (added[name].length) this.announce(name);
    return added;
  }

  announce(name) {
    this.channel.postMessage(name);
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
  #marks = [];
  #settings = new Map();

  async events() {
    return [...this.#events];
  }

  async append(event, reps) {
    const isCurrent = this.#events.filter(({ card }) => card === event.card).length === reps;
    if (isCurrent) this.#events.push(event);
    return isCurrent;
  }

  async marks() {
    return mergeMarks([], this.#marks);
  }

  async mark(fields) {
    const mark = newMark(fields, this.device, this.#marks);
    this.#marks.push(mark);
    return mark;
  }

  async join(incoming) {
    const added = newOf({ events: this.#events, marks: this.#marks }, incoming);
    this.#events.push(...added.events);
    this.#marks.push(...added.marks);
    return added;
  }

  async setting(name) {
    return this.#settings.get(name);
  }

  async set(name, value) {
    this.#settings.set(name, value);
  }
}

/** What is not known yet of each kind; throws before anything is written (record.js). */
function newOf(known, incoming) {
  return {
    events: unknown(known.events, mergeEvents(known.events, incoming.events)),
    marks: unknown(known.marks, mergeMarks(known.marks, incoming.marks)),
  };
}

function unknown(known, all) {
  const ids = new Set(known.map(({ id }) => id));
  return all.filter(({ id }) => !ids.has(id));
}
