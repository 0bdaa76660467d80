// The timeline and the state at one moment as HTML: lanes of blocks, a table, lists of numbers.
import { figures, stateAt } from "./simulate.js";
import { both } from "../widget/words.js";
import { HEAD, LABELS, any, figureWords, workerName } from "./words.js";

const BLOCK = 20; // px: a batch number fits
const WIDEST = 2400;

const times = (n, make) => Array.from({ length: n }, (_, i) => make(i));
const numbers = (list) => list.filter((n) => n !== undefined)
  .map((n) => `<i>${n}</i>`).join(" ") || "–";

/** A block from `start` to `end`; none where they are the same. */
function block(run, kind, start, end, text = "", more = "") {
  if (end === start) return "";
  const part = (time) => Math.round(1e6 * time / run.total) / 1e4;
  return `<span class="tl-block tl-${kind}" style="left:${part(start)}%;width:${
    part(end - start)}%${more}"><b>${text}</b></span>`;
}

/** What the thread that pins does, one batch after the other. */
const pinLane = (run) => lane(LABELS.pinner, run.tasks.map(({ batch, pinning, pinned }) => (
  block(run, "pinning", pinning, pinned, batch))));

const lane = (label, blocks) => `<div class="tl-lane"><div>${both(label)}</div>
  <div class="tl-track">${blocks.join("")}</div></div>`;

function workerLane(run, worker) {
  const mine = run.tasks.filter((task) => (task.worker ?? 0) === worker);
  return lane(workerName(worker, run.settings),
    mine.map(({ batch, start, end }) => block(run, "making", start, end, batch)));
}

function trainingLane(run) {
  const steps = run.order.map((batch) => run.tasks[batch]);
  return lane(LABELS.training, steps.flatMap(({ batch, asked, given, done }) => [
    block(run, "waiting", asked, given), block(run, "computing", given, done, batch)]));
}

/** How many batches lie ready, as columns: they take memory and nobody has them yet. */
function readyLane(run) {
  const columns = [];
  for (const time of run.moments) {
    const { ready: n } = stateAt(run, time);
    if (n !== columns.at(-1)?.n) columns.push({ n, time });
  }
  const most = Math.max(...columns.map(({ n }) => n));
  return lane(LABELS.ready, columns.map(({ n, time }, i) => (n ? block(run, "ready", time,
    columns[i + 1].time, n, `;height:${100 * n / most}%`) : "")));
}

/** Round times along the axis, at most nine. */
export function ticks(total) {
  const least = total / 8, power = 10 ** Math.floor(Math.log10(least));
  const step = Math.max(1, [1, 2, 5, 10].find((n) => n * power >= least) * power);
  return times(Math.floor(total / step) + 1, (n) => n * step);
}

function axis(run) {
  const marks = ticks(run.total).map((time) => (
    `<small style="left:${100 * time / run.total}%">${time}</small>`));
  return `<div class="tl-lane tl-axis" aria-hidden="true"><div>ms</div>
    <div class="tl-track">${marks.join("")}</div></div>`;
}

/** All lanes, and how wide they are drawn at least, in px. */
export function lanesOf(run) {
  const workers = run.settings.num_workers || 1;
  const width = Math.min(WIDEST, run.total * BLOCK / run.settings.fetch);
  return [[...times(workers, (worker) => workerLane(run, worker)),
    ...(run.settings.pin ? [pinLane(run)] : []), trainingLane(run), ...(run.settings.num_workers ? [readyLane(run)] : []), axis(run)].join(""), width];
}

/** What every queue holds at a moment. */
export function machineOf(run, state) {
  const { settings } = run, rows = state.making.map((making, worker) => `<tr><th scope="row">${
    both(workerName(worker, settings))}</th><td>${settings.num_workers
    ? numbers(state.queues[worker]) : "–"}</td><td>${numbers([making])}</td></tr>`);
  const head = ["machine", "queue", "making"].map(
    (key) => `<th scope="col">${both(LABELS[key])}</th>`);
  const expected = state.ended ? "–" : settings.in_order ? numbers([state.given]) : both(any);
  const pins = settings.pin ? { pinning: numbers([state.pinning]),
    pinned: numbers(state.pinned) } : {};
  const held = { results: numbers(state.results), ...pins, early: numbers(state.early), expected,
    loop: numbers([state.loop]), memory: state.memory };
  return `<table><tr>${head.join("")}</tr>${rows.join("")}</table>${list(Object.entries(held))}`;
}

const list = (entries) => `<dl>${entries.map(([key, value]) => `<div><dt>${both(LABELS[key])}</dt>
  <dd data-key="${key}">${value}</dd></div>`).join("")}</dl>`;

export function figuresOf(run) {
  const words = Object.entries(figureWords(run, figures(run)));
  return list([...words.map(([key, pair]) => [key, both(pair)]), ["order", run.order.join(" ")]]);
}

/** The rows of the table of times as texts, as code/inside/widgets/loader_timeline.py has them. */
export const timesOf = ({ tasks, order }) => order.map((n) => tasks[n]).map((task) => [
  task.batch, task.worker ?? "–", task.sent, `${task.start}–${task.end}`, task.pinned, task.got,
  task.given, task.done].map(String));

export function tableOf(run) {
  const head = HEAD.map((pair) => `<th scope="col">${both(pair)}</th>`).join("");
  const body = timesOf(run).map(([batch, ...rest]) => `<tr><th scope="row">${batch}</th>${
    rest.map((cell) => `<td>${cell}</td>`).join("")}</tr>`);
  return `<table><caption>${both(LABELS.caption)}</caption><tr>${head}</tr>${
    body.join("")}</table>`;
}
