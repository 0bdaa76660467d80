import assert from "node:assert/strict";
import { test } from "node:test";

import { Deck } from "../../../book/web/drill/deck.js";
import { problem } from "../../../book/web/drill/events.js";
import { exportText } from "../../../book/web/drill/file.js";
import { Session } from "../../../book/web/drill/session.js";
import { openStore } from "../../../book/web/drill/store.js";
import { notice } from "../../../book/web/drill/texts.js";
import { card, DAY, event, mark, MONDAY, uuid } from "./helpers.mjs";

const both = (text) => ({ zh: text, en: text });
const myth = (key, output) => ({ key, output, text: both(output), why: both("why") });
const CONTENT = {
  edition: "0123456789ab", question: both("?"), answer: both("!"), snippets: [], shown: [],
  points: [{ must: true }, { must: true }, { must: false }], myths: [], followUps: [],
  corrects: [], proof: "", sources: [], page: null,
};
const SCORED = { ...CONTENT, snippets: ["v0", "v1", "v2"], shown: ["out 0", "out 1", "out 2"],
  myths: [myth("d-00000001", "out 1"), myth("d-00000002", "other"), myth("d-00000003", "third")] };

class FakeDeck extends Deck {
  async content(id) {
    return this.byId.get(id).scored ? SCORED : CONTENT;
  }
}

const CARDS = [card("a-scored", { kind: "predict", scored: true }), card("a-spoken"),
  card("a-third", { level: "staff" })];

/** A session over a store in memory, at a time that the test sets. */
async function sessionOver(store, cards = CARDS) {
  const clock = { time: MONDAY };
  const deck = new FakeDeck("http://localhost/", { cards, chapters: [] });
  const session = new Session({ deck, store, lang: () => "zh", now: () => clock.time,
    zone: () => 480 });
  session.clock = clock;
  await session.open();
  return session;
}
const fresh = async (cards) => sessionOver(await openStore(), cards);

async function answerCard(session, { response = null, confidence = "think", button = 3 } = {}) {
  if (session.current.options) session.respond(response ?? "answer");
  if (response !== "unsure") session.rate(confidence);
  session.clock.time += 20_000;
  session.reveal();
  assert.equal(session.phase, "answer");
  await session.grade(button);
  return session.events.at(-1);
}

test("without IndexedDB the store says that it keeps nothing", async () => {
  assert.equal((await openStore()).saved, false);
});

test("a stored event is valid and tells what happened", async () => {
  const session = await fresh();
  await session.start();
  session.respond("d-00000002");
  session.rate("sure");
  session.clock.time += 20_000;
  session.reveal();
  session.tick(1, true);
  session.clock.time += 5_000;
  await session.grade(4);
  const [stored] = await session.store.events();
  assert.equal(problem(stored), null);
  const { id, scheduler, device, ...rest } = stored;
  assert.deepEqual(rest, { card: "a-scored", time: MONDAY + 25_000, zone: 480, button: 4, grade: 1,
    elapsed: null, confidence: "sure", response: "d-00000002", points: [false, true, false],
    variant: rest.variant, lang: "zh", duration: 25_000, mode: "page", edition: "0123456789ab",
    schema: 1 });
  assert.ok([0, 1, 2].includes(rest.variant));
});

test("elapsed is null at first, then the drill days between", async () => {
  const session = await fresh([card("a-spoken")]);
  await session.start();
  assert.equal((await answerCard(session)).elapsed, null);
  assert.equal(session.phase, "done");
  session.clock.time += 3 * 86_400_000;
  await session.start();
  assert.equal((await answerCard(session)).elapsed, 3);
});

test("the answer stays shut until an option and a confidence are given", async () => {
  const session = await fresh();
  await session.start();
  assert.equal(session.missing, "option");
  session.reveal();
  assert.equal(session.phase, "question");
  session.respond("answer");
  assert.equal(session.missing, "confidence");
  session.reveal();
  assert.equal(session.phase, "question");
  session.rate("think");
  assert.equal(session.missing, null);
});

test("not sure needs no confidence, and taking it back asks for one again", async () => {
  const session = await fresh();
  await session.start();
  session.respond("unsure");
  assert.equal(session.missing, null);
  assert.equal(session.current.confidence, "guess");
  session.respond("answer");
  assert.equal(session.missing, "confidence");
});

test("who is never sure sees all ten new cards before one twice, reloads included", async () => {
  const cards = Array.from({ length: 12 }, (_, i) => card(`a-${i}`, { kind: "predict",
    scored: true, confusable: i % 4 ? [] : [`a-${i + 1}`] }));
  const store = await openStore();
  let session = await sessionOver(store, cards);
  const asked = [];
  for (let n = 0; n < 20; n++) {
    if (n % 3 === 0) session = await sessionOver(store, cards);
    session.clock.time = MONDAY + n * 60_000;
    if (session.phase === "start") await session.start();
    asked.push((await answerCard(session, { response: "unsure", button: 4 })).card);
  }
  assert.equal(new Set(asked.slice(0, 10)).size, 10, asked.join(" "));
  assert.equal(new Set(asked.slice(10)).size, 10, asked.join(" "));
  asked.slice(10).forEach((id, i) => assert.ok(10 + i - asked.indexOf(id) > 5, asked.join(" ")));
});

test("options: the true output once, no wrong one equal to it, the same after a reload", async () => {
  const session = await fresh();
  await session.start();
  const { options, shown, variant } = session.current;
  assert.equal(options.filter((option) => option.output === shown).length, 1);
  assert.equal(options.length, shown === "out 1" ? 3 : 4);
  const again = await fresh();
  await again.start();
  assert.deepEqual([again.current.options, again.current.variant], [options, variant]);
});

test("each repeat shows the next variant", async () => {
  const session = await fresh([CARDS[0]]);
  await session.start();
  const variants = [];
  for (let n = 0; n < 3; n++) {
    variants.push(session.current.variant);
    await answerCard(session, { response: "unsure" });
    await session.start();
  }
  assert.deepEqual([...variants].sort(), [0, 1, 2]);
});

test("buttons say what they count as and when the card returns", async () => {
  const session = await fresh();
  await session.start();
  session.respond("answer");
  session.rate("guess");
  assert.deepEqual(session.buttons.map(({ grade }) => grade), [1, 2, 2, 2]);
  assert.deepEqual(session.buttons.map(({ days }) => days), [0, 1, 1, 1]);
  session.respond("d-00000002");
  assert.deepEqual(session.buttons.map(({ grade }) => grade), [1, 1, 1, 1]);
});

test("sure and wrong: full refutation at once, and when the card returns the same day", async () => {
  const session = await fresh([CARDS[0]]);
  await session.start();
  session.respond("d-00000002");
  session.rate("sure");
  assert.equal(session.refutes, true);
  session.reveal();
  await session.grade(1);
  await session.start();
  assert.equal(session.current.card.id, "a-scored");
  assert.equal(session.refutes, true);
  await answerCard(session);
  assert.equal(session.phase, "done");
});

test("a spoken answer, sure and graded Again, returns with its refutation; unsure without", async () => {
  for (const [confidence, refutes] of [["sure", true], ["think", false]]) {
    const session = await fresh([card("a-spoken")]);
    await session.start();
    await answerCard(session, { confidence, button: 1 });
    await session.start();
    assert.equal(session.current.card.id, "a-spoken");
    assert.equal(session.refutes, refutes);
  }
});

test("the last card, failed, does not come straight back until the reader asks for it", async () => {
  const session = await fresh([card("a-spoken"), card("b-spoken")]);
  await session.start();
  await answerCard(session, { button: 1 });
  await answerCard(session, { button: 3 });
  assert.equal(session.current.card.id, "a-spoken"); // another one came between
  for (let times = 0; times < 4; times++) {
    await answerCard(session, { button: 1 });
    assert.deepEqual([session.phase, session.plan.left, session.plan.rests], ["done", 1, true]);
    await session.start();
    assert.equal(session.current.card.id, "a-spoken");
  }
});

test("due cards that the choice hides are counted, and all can be chosen again", async () => {
  const session = await fresh([card("a-spoken"), card("b-spoken", { chapter: "02-autograd" })]);
  await session.start();
  await answerCard(session, { button: 1 });
  await answerCard(session, { button: 1 });
  session.end();
  assert.equal(session.hiddenDue, 0);
  await session.choose("hidden", { chapter: ["02-autograd"], level: [], kind: [] });
  assert.deepEqual([session.plan.due, session.hiddenDue], [1, 1]);
  await session.showAll();
  assert.deepEqual([session.plan.due, session.hiddenDue], [2, 0]);
});

test("two presses count once", async () => {
  const session = await fresh();
  await session.start();
  session.respond("answer");
  session.rate("sure");
  session.reveal();
  await Promise.all([session.grade(3), session.grade(3)]);
  assert.equal(session.events.length, 1);
});

test("a card graded in another tab is not counted twice and makes way", async () => {
  const store = await openStore();
  const [left, right] = [await sessionOver(store), await sessionOver(store)];
  await left.start();
  await right.start();
  await answerCard(left); // and no message reaches the right one
  await answerCard(right);
  assert.equal((await store.events()).length, 1);
  assert.equal(right.notice.code, "elsewhere");
  assert.equal(right.current.card.id, left.current.card.id);
});

test("a message from another tab moves on at once, mid-question", async () => {
  const store = await openStore();
  const [left, right] = [await sessionOver(store), await sessionOver(store)];
  await left.start();
  await right.start();
  await answerCard(left);
  await right.sync();
  assert.equal(right.notice.code, "elsewhere");
  assert.equal(right.phase, "question");
  assert.equal(right.current.card.id, left.current.card.id);
});

test("news of another card leaves the one in hand alone", async () => {
  const store = await openStore();
  const session = await sessionOver(store);
  await session.start();
  session.respond("answer");
  await store.join({ events: [event(1, { card: "a-third" })], marks: [] });
  await session.sync();
  assert.equal(session.current.response, "answer");
  assert.equal(session.events.length, 1);
});

test("a write that fails keeps the card, counts nothing, and can be tried again", async () => {
  const session = await fresh();
  await session.start();
  const { append } = session.store;
  session.store.append = () => Promise.reject(new Error("QuotaExceededError"));
  session.respond("answer");
  session.rate("think");
  session.reveal();
  await session.grade(3);
  assert.equal(session.phase, "answer");
  assert.equal(session.notice.code, "not-saved");
  assert.equal(session.events.length, 0);
  session.store.append = append;
  await session.grade(3);
  assert.equal(session.notice.code, "graded");
  assert.equal(session.events.length, 1);
});

test("a card that cannot be fetched is said, and the session can start again", async () => {
  const session = await fresh();
  const { content } = session.deck;
  session.deck.content = () => Promise.reject(new Error("503"));
  await session.start();
  assert.equal(session.phase, "start");
  assert.equal(session.notice.code, "unreachable");
  session.deck.content = content;
  await session.start();
  assert.equal(session.phase, "question");
});

test("a slow fetch does not bring a session back that was ended", async () => {
  const session = await fresh();
  let arrive;
  session.deck.content = () => new Promise((resolve) => { arrive = resolve; });
  const starting = session.start();
  session.end();
  arrive(CONTENT);
  await starting;
  assert.equal(session.phase, "start");
});

test("the day turns while the page is open", async () => {
  const session = await fresh([card("a-spoken")]);
  await session.start();
  await answerCard(session);
  assert.equal(session.plan.done, 1);
  assert.deepEqual(session.nextDay, { day: session.today + 2, cards: 1 });
  session.clock.time += 2 * 86_400_000;
  assert.deepEqual([session.plan.done, session.plan.due], [0, 1]);
});

test("choices are kept and narrow the cards", async () => {
  const store = await openStore();
  const session = await sessionOver(store);
  await session.choose("hidden", { ...session.hidden, level: ["senior"] });
  await session.choose("limit", 1);
  const later = await sessionOver(store);
  assert.deepEqual(later.cards.map(({ id }) => id), ["a-third"]);
  assert.equal(later.limit, 1);
});

test("import merges, twice is once, and cards of another edition are kept and named", async () => {
  const session = await fresh();
  await session.start();
  await answerCard(session);
  session.end();
  await session.store.join({ events: [], marks: [mark(1)] });
  const text = exportText({ marks: [mark(1), mark(2)], events: [...session.events,
    event(1, { card: "a-third" }), event(2, { card: "z-later-edition" })] });
  await session.importText(text);
  assert.deepEqual(session.notice, { code: "imported", added: 2, all: 3,
    unknown: ["z-later-edition"], marks: 2, newMarks: 1 });
  assert.deepEqual(session.marks, [mark(1), mark(2)]);
  const after = session.exportText();
  assert.ok(after.includes("z-later-edition"));
  await session.importText(text);
  assert.deepEqual([session.notice.added, session.notice.newMarks], [0, 0]);
  assert.equal(session.exportText(), after);
});

test("a file with one broken event changes nothing and says in both languages why", async () => {
  const session = await fresh();
  await session.start();
  await answerCard(session);
  const before = session.exportText();
  const text = exportText({ marks: [],
    events: [event(1), event(2, { card: "a-third" })] }).replace('"zone":0', '"zone":9e9');
  await session.importText(text);
  assert.equal(session.exportText(), before);
  const [zh, en] = notice(session.notice);
  for (const line of [zh, en]) {
    assert.ok(line.includes("zone") && line.includes("9000000000"), line);
    assert.ok(line.includes(uuid(1)) && !line.includes("\n"), line);
  }
  assert.ok(zh.includes("第 1 条") && en.includes("review 1"));
});

test("an event that contradicts a stored one changes nothing", async () => {
  const session = await fresh();
  await session.start();
  const stored = await answerCard(session);
  const before = session.exportText();
  await session.importText(exportText({ marks: [],
    events: [event(1), { ...stored, grade: 2 }] }));
  assert.equal(session.notice.reason.code, "differs");
  assert.equal(session.exportText(), before);
  assert.ok(notice(session.notice).every((line) => line.includes(stored.id)));
});

test("a card that moves to another section keeps its reviews and its day", async () => {
  const store = await openStore();
  const before = await sessionOver(store);
  await before.start();
  const { card: id } = await answerCard(before, { button: 4 });
  const state = before.states.get(id);
  const moved = CARDS.map((row) => ({ ...row, section: "another-section", chapter: "02-autograd" }));
  const after = await sessionOver(store, moved);
  assert.deepEqual(after.states.get(id), state);
  assert.deepEqual([after.plan.done, after.plan.fresh], [1, CARDS.length - 1]);
  after.clock.time += (state.due - state.day) * DAY;
  assert.equal(after.plan.due, 1);
  assert.equal((await answerAfterStart(after)).elapsed, state.due - state.day);
});

async function answerAfterStart(session) {
  await session.start();
  return answerCard(session);
}

// ---------------------------------------------------------------------- one section, one chapter
const SECTIONS = [card("a-one", { section: "views" }), card("a-two", { section: "copies" }),
  card("b-one", { chapter: "05-compile", section: "fusion" })];

async function chosen() {
  const session = await fresh(SECTIONS);
  session.deck.chapters = [{ slug: "01-tensors" }, { slug: "05-compile" }];
  return session;
}

test("an address that names a section keeps to its cards, all of them on one day", async () => {
  const session = await chosen();
  await session.choose("limit", 0);
  await session.choose("hidden", { chapter: ["05-compile"], level: [], kind: [] });
  session.keepTo("05-compile/fusion");
  assert.deepEqual(session.cards.map(({ id }) => id), ["b-one"]);
  assert.equal(session.plan.fresh, 1);
  session.keepTo(null);
  assert.deepEqual(session.cards.map(({ id }) => id), ["a-one", "a-two"]);
  assert.equal(session.plan.fresh, 0);
});

test("a section that there is not is said, and all cards are there", async () => {
  const session = await chosen();
  session.keepTo("05-compile/views");
  assert.equal(session.cards.length, 3);
  assert.match(notice(session.notice)[1], /no section "05-compile\/views"/);
});

test("one tap keeps to one chapter, the next to all, and the choice is stored", async () => {
  const session = await chosen();
  await session.onlyChapter("05-compile");
  assert.deepEqual(session.cards.map(({ id }) => id), ["b-one"]);
  assert.deepEqual((await session.store.setting("hidden")).chapter, ["01-tensors"]);
  await session.onlyChapter("01-tensors");
  assert.deepEqual(session.cards.map(({ id }) => id), ["a-one", "a-two"]);
  await session.onlyChapter(null);
  assert.equal(session.cards.length, 3);
});
