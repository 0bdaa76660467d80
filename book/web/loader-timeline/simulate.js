// What torch's DataLoader does with a map-style dataset, batch by batch, on a clock of its own.
//
// The rules are those of _MultiProcessingDataLoaderIter. The model around them: sending costs
// nothing, all workers can begin after `startup`, a worker makes one batch at a time, the thread
// that pins does too and takes them as they were made, and of two batches that are ready at the
// same millisecond the one of the lower worker comes first. All times are whole milliseconds.

/** The least and the most of each number that a reader may set; `which` depends on others. */
export const RANGES = {
  num_workers: [0, 6], prefetch_factor: [1, 8], batches: [1, 24], fetch: [1, 999], step: [0, 999],
  spread: [0, 100], startup: [0, 9999], pin: [0, 999], megabytes: [1, 999], factor: [2, 20],
};
export const DEFAULTS = {
  num_workers: 2, prefetch_factor: 2, batches: 16, fetch: 20, step: 20, spread: 0, startup: 0,
  pin: 0, megabytes: 10, in_order: true, slow: "none", which: 0, factor: 5, at: 0,
};
/** How long each batch takes at a spread of 100 %, if 1 is the mean: most are quick, a few slow.
 *  Quantiles of the exponential distribution in a fixed order; virtual_loader.py has the same. */
export const SPREAD = [
  2.81, 0.84, 0.51, 2.29, 1.49, 0.58, 0.21, 0.75, 0.32, 0.16, 3.95, 0.26, 1.05, 0.11, 1.33, 0.07,
  0.38, 0.94, 0.02, 1.18, 1.95, 0.66, 0.44, 1.7,
];

/** The last worker or batch that can be the slow one. */
export const whichMost = ({ slow, num_workers: workers, batches }) => (
  Math.max(0, (slow === "worker" ? workers : batches) - 1));

/** Settings that can be simulated: what is missing has its default, the slow one exists. */
export function settle(wanted) {
  const made = { ...DEFAULTS, ...wanted };
  return { ...made, which: Math.min(made.which, whichMost(made)) };
}

/** How long `worker` (null: the main process) makes `batch`. */
function duration({ fetch, spread, slow, which, factor }, worker, batch) {
  const isSlow = (slow === "worker" && which === worker) || (slow === "batch" && which === batch);
  const share = 1 + (spread / 100) * (SPREAD[batch] - 1);
  return Math.max(1, Math.floor(fetch * share + 0.5)) * (isSlow ? factor : 1);
}

/**
 * All batches with their times, in the order of their numbers, and the order of delivery.
 *
 * A batch is {batch, worker, sent, start, end, pinning, pinned, got, asked, given, done}: made from
 * start to end, pinned from pinning to pinned, got by the main process from the queue of results,
 * given to the loop that asked for it, and done with when the training step ends.
 */
export function simulate(settings) {
  const run = settings.num_workers ? withWorkers(settings) : inMainProcess(settings);
  const total = Math.max(...run.tasks.map(({ done }) => done));
  const times = run.tasks.flatMap(({ end, pinned, got, given, done }) => (
    [end, pinned, got, given, done]));
  const moments = [...new Set([0, ...times])].sort((a, b) => a - b);
  return { settings, ...run, total, moments };
}

function inMainProcess(settings) {
  let now = 0;
  const tasks = Array.from({ length: settings.batches }, (_, batch) => {
    const asked = now, end = asked + duration(settings, null, batch), given = end + settings.pin;
    const done = now = given + settings.step;
    return { batch, worker: null, sent: asked, start: asked, end, pinning: end, pinned: given,
      got: given, asked, given, done };
  });
  return { tasks, order: tasks.map(({ batch }) => batch) };
}

function withWorkers(settings) {
  const { num_workers: workers, prefetch_factor: prefetch, batches, in_order: inOrder } = settings;
  const tasks = [], order = [], free = Array(workers).fill(settings.startup);
  let now = 0, pinner = 0; // when the thread that pins is free

  function send(worker) { // _try_put_index
    if (tasks.length === batches) return;
    const batch = tasks.length, start = Math.max(now, free[worker]);
    const end = free[worker] = start + duration(settings, worker, batch);
    tasks.push({ batch, worker, sent: now, start, end });
  }

  function receive() { // _get_data: the next of the queue of results, waiting where it is empty
    const [task] = tasks.filter(({ got }) => got === undefined).sort(byArrival);
    task.pinning = Math.max(pinner, task.end);
    task.pinned = pinner = task.pinning + settings.pin;
    now = task.got = Math.max(now, task.pinned);
    return task;
  }

  for (let n = 0; n < prefetch * workers; n += 1) send(n % workers);
  while (order.length < batches) { // one call of next
    const expected = tasks[order.length], asked = now;
    let task = inOrder && expected.got !== undefined ? expected : receive();
    while (inOrder && task !== expected) task = receive(); // what comes early is kept
    // Before it is handed over, one more is sent: in turn, or to the only worker that has room.
    // Either way that is the worker whose batch this is.
    send(task.worker);
    order.push(task.batch);
    Object.assign(task, { asked, given: now, done: now + settings.step });
    now = task.done;
  }
  return { tasks, order };
}

const byArrival = (a, b) => a.end - b.end || a.worker - b.worker;
const numbersOf = (tasks) => tasks.map(({ batch }) => batch);

/**
 * Where every batch is at `time`, once all that happens at that moment has happened.
 *
 * queues and making: by worker; results: made, and not with the thread that pins; pinning: the
 * one it has; pinned: as they lie in its queue (without pinning they only lie among the results);
 * early: received before their turn; loop: what the loop variable holds; training: whether its
 * step runs.
 */
export function stateAt({ settings, tasks, order }, time) {
  const sent = tasks.filter((task) => task.sent <= time);
  const of = (from, to) => sent.filter((task) => task[from] <= time && time < task[to]);
  const lanes = Array.from({ length: settings.num_workers || 1 }, (_, worker) => worker);
  const mine = (list, worker) => numbersOf(
    list.filter((task) => task.worker === null || task.worker === worker));
  const queued = of("sent", "start"), made = of("start", "end");
  const there = of("end", "got").sort(byArrival), { pin } = settings;
  const results = numbersOf(pin ? there.filter(({ pinning }) => time < pinning) : there);
  const [pinning] = numbersOf(pin ? of("pinning", "pinned") : []);
  const pinned = numbersOf(pin ? of("pinned", "got").sort(byArrival) : []);
  const early = numbersOf(of("got", "given"));
  const given = sent.filter((task) => task.given <= time).length, loop = order[given - 1];
  return {
    queues: lanes.map((worker) => mine(queued, worker)), results, pinning, pinned, early, given, loop,
    making: lanes.map((worker) => mine(made, worker)[0]), sent: sent.length,
    ready: there.length + early.length, training: of("given", "done").length > 0,
    ended: given === tasks.length,
    memory: made.length + there.length + early.length + (given > 0),
  };
}

/** Throughput, waiting, use of the workers (shares of the time) and memory of the whole run. */
export function figures(run) {
  const { tasks, total, moments, settings } = run;
  const waited = tasks.reduce((sum, { asked, given }) => sum + given - asked, 0);
  const memory = Math.max(...moments.map((time) => stateAt(run, time).memory));
  const busy = Array.from({ length: settings.num_workers }, (_, worker) => tasks.filter(
    (task) => task.worker === worker).reduce((sum, { start, end }) => sum + end - start, 0) / total);
  return {
    perSecond: 1000 * tasks.length / total, waited, share: waited / total, busy, memory,
    megabytes: memory * settings.megabytes,
  };
}
