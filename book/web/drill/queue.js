// Which card comes next. Nothing is stored: the queue is a function of the states and of what was
// answered today, so a reload or another tab comes to the same card.

import { dayOf } from "./days.js";
import { byTime } from "./record.js";
import { hash } from "./random.js";

/** In the order in which a concept's new cards appear. */
export const KINDS = ["predict", "compare", "bug", "explain", "estimate", "design"];
const APART = 3; // cards between two that are easily confused, or between two showings of one
const REST = 5; // cards before one that was graded Again returns

/**
 * The state of a day.
 *
 * @param {object[]} cards   the deck in the order of the book, filtered as the reader asked
 * @param {Map} states       from schedule.js, of all cards
 * @param {object[]} events  all events
 * @param {number} today     drill day
 * @param {number} limit     new cards a day
 * @returns {{next: string|null, rests: boolean, due: number, fresh: number, done: number,
 *   left: number}}
 *   `due` reviews and repeats and `fresh` new cards are still to do; `done` cards were answered.
 *   `rests`: nothing is left but the card that was answered last.
 */
export function plan({ cards, states, events, today, limit }) {
  const answered = answeredOn(events, today);
  const due = dueCards(cards, states, today);
  const begun = [...states.values()].filter((state) => state.introduced === today).length;
  const fresh = freshCards(cards, states, Math.max(0, limit - begun));
  const next = choose({ ...inOrder(due, fresh, states, answered, today), answered, cards })?.id ?? null;
  return {
    next,
    rests: next !== null && next === answered.at(-1),
    due: due.length,
    fresh: fresh.length,
    done: new Set(answered).size,
    left: due.length + fresh.length,
  };
}

/** Ids of the cards answered on a day, in order; a card that was repeated stands there twice. */
function answeredOn(events, today) {
  const ofToday = events.filter((event) => dayOf(event.time, event.zone) === today);
  return ofToday.sort(byTime).map((event) => event.card);
}

/** Cards to review, the longest overdue first; those of one day mixed, the same way all day. */
function dueCards(cards, states, today) {
  const due = cards.filter((card) => states.get(card.id)?.due <= today);
  const rank = new Map(due.map((card) => [card.id, hash(`${today} ${card.id}`)]));
  return due.sort((a, b) =>
    states.get(a.id).due - states.get(b.id).due || rank.get(a.id) - rank.get(b.id));
}

/**
 * What may come next: `first` are reviews, then new cards whose turn has come; `repeats` were
 * graded Again today, the one that waited longest in front. `waiting` is `first` with the other
 * new cards.
 */
function inOrder(due, fresh, states, answered, today) {
  const isRepeat = (card) => states.get(card.id).again && states.get(card.id).day >= today;
  const isOpen = (card, i) => i === 0 || card.waitsFor.every((id) => states.has(id));
  const last = (card) => answered.lastIndexOf(card.id);
  const reviews = due.filter((card) => !isRepeat(card));
  return {
    first: [...reviews, ...fresh.filter(isOpen).map(({ card }) => card)],
    repeats: due.filter(isRepeat).sort((a, b) => last(a) - last(b)),
    waiting: [...reviews, ...fresh.map(({ card }) => card)],
  };
}

/**
 * The first candidate APART from itself and its rivals; if none is, the one that comes nearest to
 * it. A repeat is a candidate when it has rested, or when nothing else is left. When few cards
 * wait, one whose rival waits too goes first, while there are still others to put between them.
 */
function choose({ first, repeats, waiting, answered, cards }) {
  const rivals = rivalsOf(cards);
  const gap = (card) => since(answered, (id) => id === card.id || rivals.get(card.id).has(id));
  const isFree = (card) => gap(card) >= APART;
  const hasRival = (card) => waiting.some(({ id }) => rivals.get(card.id).has(id));
  const hurried = waiting.length <= 2 * (APART + 1)
    ? first.find((card) => isFree(card) && hasRival(card)) : undefined;
  const others = [...first, ...rested(repeats, first, answered)];
  const candidates = others.length ? others : repeats;
  return hurried ?? candidates.find(isFree) ?? candidates.toSorted((a, b) => gap(b) - gap(a))[0];
}

/**
 * Repeats that may come between first cards, to keep rivals apart: after REST others, and no more
 * than APART in a row, since repeats that are rivals of a first card could hold it up for ever.
 */
function rested(repeats, first, answered) {
  const wasRepeat = answered.map((id, i) => answered.indexOf(id) < i);
  if (first.length && wasRepeat.slice(-APART).every(Boolean)) return [];
  return repeats.filter((card) => since(answered, (id) => id === card.id) >= REST);
}

/** How many answers came after the last one that matches. */
function since(answered, matches) {
  const last = answered.findLastIndex(matches);
  return last < 0 ? Infinity : answered.length - 1 - last;
}

/** Card id -> ids that it is confused with; naming it on one side is enough. */
function rivalsOf(cards) {
  const rivals = new Map(cards.map((card) => [card.id, new Set(card.confusable)]));
  for (const card of cards) {
    for (const id of card.confusable) rivals.get(id)?.add(card.id);
  }
  return rivals;
}

/**
 * The next `count` new cards as {card, waitsFor}, each after the cards that must come first.
 * Of a circle of such wishes the first card in the order of the book goes first.
 */
export function freshCards(cards, states, count) {
  const waiting = inBookOrder(cards).filter((card) => !states.has(card.id));
  const prerequisites = prerequisitesOf(cards);
  const placed = new Set(states.keys());
  const order = [];
  while (order.length < count && waiting.length) {
    const free = waiting.findIndex((card) =>
      prerequisites.get(card.id).every((id) => placed.has(id)));
    const [card] = waiting.splice(Math.max(free, 0), 1);
    placed.add(card.id);
    order.push({ card, waitsFor: prerequisites.get(card.id) });
  }
  return order;
}

/** By the first card of each concept, within a concept by kind, then as in the book. */
function inBookOrder(cards) {
  const first = new Map();
  cards.forEach((card, i) => {
    if (!first.has(conceptOf(card))) first.set(conceptOf(card), i);
  });
  return cards.toSorted((a, b) =>
    first.get(conceptOf(a)) - first.get(conceptOf(b)) || kindOf(a) - kindOf(b));
}

const conceptOf = (card) => card.concept ?? card.id;
const kindOf = (card) => KINDS.indexOf(card.kind);

/**
 * Card id -> ids that must have been seen: those named in `after`, and the concept's cards of an
 * earlier kind. What the reader filtered out does not hold anything up.
 */
function prerequisitesOf(cards) {
  const known = new Set(cards.map((card) => card.id));
  return new Map(cards.map((card) => {
    const earlier = cards.filter((other) => conceptOf(other) === conceptOf(card)
      && kindOf(other) < kindOf(card) && !other.after.includes(card.id));
    const ids = [...card.after, ...earlier.map((other) => other.id)];
    return [card.id, ids.filter((id) => known.has(id))];
  }));
}
