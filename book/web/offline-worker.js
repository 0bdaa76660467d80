// The service worker: pages that were read, and the whole book if asked for, open without a network.
// It is not of one edition: it asks the server which one is there (edition.json, 120 bytes).
//
//   page      kept, and still that of the server's edition: from the shelf; else from the network,
//             for which a reader who has a copy waits two seconds at most, both questions together
//   asset     its address names its digest, and only that content is ever given
//   not ours  another site at this address, or a book without a worker: unregistered, all removed;
//             of a reader who keeps the whole book only when that has lasted for a week

import { GONE, Moved, digest, edition, fetched } from "./offline/fetch.js";
import { keepBook, keepFiles, keepPage, learn, tidy } from "./offline/keep.js";
import { Shelf, WORKER, pageOf, pathOf } from "./offline/shelf.js";

const PATIENCE = 2000; // ms that a reader waits for the network who could read the kept page
const LASTING = 7 * 24 * 60 * 60 * 1000; // ms
const OWN = ["edition.json", WORKER]; // never kept: they say what is on the server
const NAMES = "_static/search/names.json"; // its own name stays, as that of edition.json
const APART = "downloads/"; // notebooks and code files are kept with the book if asked for
const FRONT = "book/index.html"; // kept at the first visit; most titles are in its links
const LINK = /<a data-page="([^"]+)" href="[^"]*">(.*?)<\/a>/gs; // as in finish/offline.py
const IN_NAME = /\.[0-9a-f]{8,}\.\w+$/; // as the files of the search name theirs
const root = registration.scope, shelf = new Shelf(root);
let gone = false;

addEventListener("install", (event) => event.waitUntil(install()));
addEventListener("activate", (event) => event.waitUntil(
  Promise.all([shelf.clear(false), clients.claim()])));
addEventListener("message", (event) => event.waitUntil(opened(event.source, event.data)));
addEventListener("fetch", (event) => {
  const { request } = event, path = pathOf(root, request.url);
  if (gone || request.method !== "GET" || path === null || OWN.includes(path)) return;
  const isPage = pageOf(path).endsWith(".html");
  event.respondWith(isPage ? page(event, pageOf(path)) : asset(event, path));
});

async function install() {
  const server = await edition(root);
  if (!server || server === GONE) throw new Error("offline: no edition.json");
  const list = await learn(shelf, server);
  await keepFiles(shelf, list.files.filter(([path]) => list.shell.includes(path)));
  for (const path of list.shell) if (path.endsWith(".html")) await keepPage(shelf, list, path);
  await skipWaiting();
}

/** A page, by the rule above. */
async function page(event, path) {
  const until = Date.now() + PATIENCE, state = await shelf.state();
  const v = state.pages[path]?.v, kept = v && await shelf.file(path, v);
  const asked = edition(root, kept ? PATIENCE : undefined).then(leaveIfGone);
  if (!kept) {
    event.waitUntil(asked);
    return fromNetwork(event).catch(() => offline(event.request));
  }
  const server = await asked;
  if (server && await isCurrent(server, state, path, v)) return kept;
  const fresh = fromNetwork(event).catch(() => null);
  const response = await (gone ? fresh : Promise.race([fresh, after(until - Date.now())]));
  const said = server || gone ? response?.status < 500 : response?.ok; // a 404 counts if it is ours
  return said ? response : kept;
}

const after = (ms) => new Promise((resolve) => { setTimeout(resolve, Math.max(ms, 0), null); });

async function isCurrent(server, state, path, v) {
  if (server.edition !== state.edition) return false;
  const list = await shelf.list(state.list);
  return Boolean(list?.files.some(([name, now]) => name === path && now === v));
}

/** A page from the server, past the age that the browser's own cache may have. */
const fromNetwork = ({ request }) => fetch(request, { cache: "no-cache" });

/** A file of a page. What names no digest comes from the network, or from the newest edition. */
async function asset(event, path) {
  const { request } = event, asked = /[?&]v=([0-9a-f]{8})\b/.exec(request.url)?.[1];
  if (path === NAMES && !asked) return names(event);
  const v = asked ?? (IN_NAME.test(path) ? (await listed(path))[0]?.[1] : undefined);
  const kept = v && await shelf.file(path, v);
  if (kept) return kept;
  try {
    if (!v) return await fetch(request);
    const response = await fetched(shelf, path, v);
    event.waitUntil(shelf.put(path, v, response.clone()).catch(() => {})); // full: not kept
    return response;
  } catch (error) {
    if (error instanceof Moved) return new Response("of another edition", { status: 409 });
    return v ? Response.error() : newest(request, path);
  }
}

/** What the search's files are called: as the server says, for which a reader who has a copy waits
 *  two seconds at most. It is kept where it is that of the newest edition. */
async function names(event) {
  const kept = await newest(event.request, NAMES), [row] = await listed(NAMES);
  const fresh = fetch(event.request).then((response) => {
    if (row) event.waitUntil(keepNames(row, response.clone()).catch(() => {})); // full: not kept
    return response;
  });
  if (!kept.ok) return fresh;
  return Promise.race([fresh.then((one) => (one.ok ? one : kept), () => kept),
                       after(PATIENCE).then(() => kept)]);
}

async function keepNames([path, v], response) {
  if (await digest(await response.clone().arrayBuffer()) === v) await shelf.put(path, v, response);
}

/** The rows of a file: in the newest list, and in that of the whole book that is kept. */
async function listed(path) {
  const { list: newest, whole } = await shelf.state(), found = [];
  for (const address of new Set([newest, whole?.list])) {
    const list = await shelf.list(address), apart = await shelf.list(list?.downloads.list);
    found.push([...list?.files ?? [], ...apart ?? []].find(([name]) => name === path));
  }
  return found.filter(Boolean);
}

async function newest(request, path) {
  for (const [, v] of await listed(path)) {
    const kept = await shelf.file(path, v);
    if (kept) return kept;
  }
  return offline(request);
}

/** Instead of a page that is not kept, or is not in the book, or of a notebook: a page that says so and
 *  lists the pages that are kept. */
async function offline(request) {
  const state = await shelf.state(), list = await shelf.list(state.list);
  const row = request.mode === "navigate" && list?.files.find(([name]) => name === "offline.html");
  const kept = row && await shelf.file(row[0], row[1]);
  if (!kept) return Response.error();
  const asked = pageOf(pathOf(root, request.url));
  const isApart = asked.startsWith(APART) && !state.whole?.downloads;
  const isNone = Boolean(state.whole) && !isApart && !list.files.some(([name]) => name === asked);
  const rows = await titled(list, state.pages);
  const text = filled(await kept.text(), rows, isApart ? "data-apart" : isNone ? "data-none" : "");
  return new Response(text,
    { status: isNone ? 404 : 503, headers: { "content-type": "text/html; charset=utf-8" } });
}

/** [path, title] of the kept pages that have one: in their row, or in the front page's links. */
async function titled({ files }, pages) {
  const row = files.find(([name]) => name === FRONT);
  const front = await (row && await shelf.file(row[0], row[1]))?.text() ?? "";
  const links = new Map([...front.matchAll(LINK)].map(
    ([, page, title]) => [`${page}.html`, title]));
  return files.filter(([path, , , , title]) => title && pages[path])
    .map(([path, , , , title]) => [path, title === 1 ? links.get(path) ?? path : title]);
}

/** The page that lists what can be read, wherever it is shown, with the mark of what it is to say. */
function filled(text, rows, mark) {
  const items = rows.map(([path, title]) => `<li><a href="${path}">${title}</a></li>`);
  return text.replace("<head>", () => `<head><base href="${root}">`)
    .replace("<html", `<html ${mark}`)
    .replace("<!-- kept -->", () => items.join("\n"));
}

/** Leave an address that another site has taken. A server that is being rebuilt, or asks to log in,
 *  looks the same: a reader who keeps the whole book leaves only when it lasts. */
async function leaveIfGone(server) {
  if (gone || server !== GONE) return gone ? null : server;
  const { whole, goneSince } = await shelf.change((state) => ({
    goneSince: state.goneSince ?? Date.now() }));
  if (whole && Date.now() - goneSince < LASTING) return null;
  gone = true;
  await registration.unregister();
  await shelf.clear(true);
  return null;
}

/** A page has been opened: keep it, look for a new edition, and tell the page how it stands. */
async function opened(client, { stamp, loaded }) {
  const path = pageOf(pathOf(root, client.url)), server = await leaveIfGone(await edition(root));
  if (gone) return;
  try {
    if (server) await keepOpened(server, path, stamp, loaded);
  } catch (error) {
    console.info("offline:", error); // no room, or no network: what was kept stays
  }
  const now = await standing(path, stamp);
  const { whole, edition: newest } = await shelf.state();
  client.postMessage(now);
  if (whole && server && whole.edition !== newest) await renew(whole);
  const open = await clients.matchAll({ type: "window", includeUncontrolled: true });
  if (open.length <= 1 && !now.stale) await tidy(shelf); // nobody can ask for an old file any more
}

async function keepOpened(server, path, stamp, loaded) {
  const list = await learn(shelf, server), row = list.files.find(([name]) => name === path);
  await keepPage(shelf, list, path, row?.[3] === stamp ? loaded : []);
}

/** The whole book was kept: bring it to the new edition, then let every open page ask again. */
async function renew(whole) {
  try {
    await keepBook(shelf, whole);
    for (const client of await clients.matchAll({ type: "window" })) client.postMessage("ask");
  } catch (error) {
    console.info("offline:", error); // the next page goes on with it
  }
}

/** Whether the newest edition's page is kept, and whether the reader looks at an older one; whether
 *  the whole book is kept, and how many bytes it takes to download. */
async function standing(path, stamp) {
  const state = await shelf.state(), list = await shelf.list(state.list);
  const row = list?.files.find(([name]) => name === path);
  const kept = Boolean(row) && state.pages[path]?.v === row[1];
  const wire = list?.files.reduce((sum, file) => sum + file[2], 0);
  return { kept, stale: kept && row[3] !== stamp, whole: Boolean(state.whole), wire };
}
