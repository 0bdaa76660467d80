// Files as an edition has them: nothing is taken whose digest is not the one that was asked for, so
// that a broken or half-way deployment, or a newer edition, is never mistaken for it.

import { BOOK, WORKER } from "./shelf.js";

export const GONE = "gone";

/** The server has another content at this address than the edition names. */
export class Moved extends Error {}

export async function digest(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...hash.slice(0, 4)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A file of an edition, checked. A page was asked for without its digest by the reader's browser,
 *  which may still have it. Throws Moved, or what fetch throws when there is no network. */
export async function fetched(shelf, path, v, signal) {
  const page = path.endsWith(".html");
  for (const cache of [page ? "force-cache" : "default", "reload"]) {
    const response = await fetch(shelf.address(path, page ? "" : v), { cache, signal });
    const bytes = await response.arrayBuffer();
    if (response.ok && await digest(bytes) === v) { // without headers of the transfer
      return new Response(bytes, { headers: { "content-type": type(response) } });
    }
  }
  throw new Moved(path);
}

const type = (response) => response.headers.get("content-type") ?? "application/octet-stream";

/** What the server has: {edition, list}; GONE if it is not our book; null if nobody can say. */
export async function edition(root, wait = 20_000) {
  const options = { cache: "no-store", signal: AbortSignal.timeout(wait) };
  try {
    const response = await fetch(`${root}edition.json`, options);
    const known = response.ok && await response.json().catch(() => null);
    if (known?.book === BOOK) return known;
    if (!absent(response) || response.redirected) return null; // a page to log in
    const script = await fetch(root + WORKER, options); // there: only a file is missing
    return absent(script) && !(await script.text()).includes(BOOK) ? GONE : null;
  } catch {
    return null;
  }
}

/** Answered for good: a page of somebody else, or nothing; a server in trouble answers 5xx. */
const absent = ({ ok, status }) => ok || status === 404 || status === 410;
