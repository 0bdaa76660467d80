// What torch's DataLoader does with a map-style dataset, batch by batch, on a clock of its own.
//
// The rules are those of _MultiProcessingDataLoaderIter. The model around them: sending costs
// nothing, a worker makes one batch at a time, and of two batches that are ready at the same
// millisecond the one of the lower worker comes first. All times are whole milliseconds.

/** The least and the most of each number that a reader may set; `which` depends on others. */
export const RANGES = {
  num_workers: [0, 6], prefetch_factor: [1, 8], batches: [1, 24], fetch: [1, 999], step: [0, 999],
  factor: [2, 20],
};
export const DEFAULTS = {
  num_workers: 2, prefetch_factor: 2, batches: 16, fetch: 20, step: 20, in_order: true,
  slow: "none", which: 0, factor: 5, at: 0,
};

/** The last worker or batch that can be the slow one. */
export const whichMost = ({ slow, num_workers: workers, batches }) => (
  Math.max(0, (slow === "worker" ? workers : batches) - 1));

/** Settings that can be simulated: what is missing has its default, the slow one exists. */
export function settle(wanted) {
  const made = { ...DEFAULTS, ...wanted };
  return { ...made, which: Math.min(made.which, whichMost(made)) };
}

/** How long `worker` (null: the main process) makes `batch`. */
function duration({ fetch, slow, which, factor }, worker, batch) {
  const isSlow = (slow === "worker" && which === worker) || (slow === "batch" && which === batch);
  return isSlow ? fetch * factor : fetch;
}

/**
 * All batches with their times, in the order of their numbers, and the order of delivery.
 *
 * A batch is {batch, worker, sent, start, end, got, asked, given, done}: made from start to end,
 * got by the main process from the result queue, given to the loop that asked for it, and done
 * with when the training step ends.
 */
export function simulate(settings) {
  const run = settings.num_workers ? withWorkers(settings) : inMainProcess(settings);
  const total = Math.max(...run.tasks.map(({ done }) => done));
  const times = run.tasks.flatMap(({ end, got, given, done }) => [end, got, given, done]);
  const moments = [...new Set([0, ...times])].sort((a, b) => a - b);
  return { settings, ...run, total, moments };
}

function inMainProcess(settings) {
  let now = 0;
  const tasks = Array.from({ length: settings.batches }, (_, batch) => {
    const asked = now, given = asked + duration(settings, null, batch);
    const done = now = given + settings.step;
    return { batch, worker: null, sent: asked, start: asked, end: given, got: given, asked, given,
      done };
  });
  return { tasks, order: tasks.map(({ batch }) => batch) };
}

function withWorkers(settings) {
  const { num_workers: workers, prefetch_factor: prefetch, batches, in_order: inOrder } = settings;
  const tasks = [], order = [], free = Array(workers).fill(0);
  let now = 0;

  function send(worker) { // _try_put_index
    if (tasks.length === batches) return;
    const batch = tasks.length, start = Math.max(now, free[worker]);
    const end = free[worker] = start + duration(settings, worker, batch);
    tasks.push({ batch, worker, sent: now, start, end });
  }

  function receive() { // _get_data: the next of the result queue, waiting where it is empty
    const [task] = tasks.filter(({ got }) => got === undefined).sort(byArrival);
    now = task.got = Math.max(now, task.end);
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
 * queues and making: by worker; results: as they lie in the queue; early: received before their
 * turn; loop: what the loop variable holds; training: whether its step runs.
 */
export function stateAt({ settings, tasks, order }, time) {
  const sent = tasks.filter((task) => task.sent <= time);
  const of = (from, to) => sent.filter((task) => task[from] <= time && time < task[to]);
  const lanes = Array.from({ length: settings.num_workers || 1 }, (_, worker) => worker);
  const mine = (list, worker) => numbersOf(
    list.filter((task) => task.worker === null || task.worker === worker));
  const queued = of("sent", "start"), made = of("start", "end");
  const results = numbersOf(of("end", "got").sort(byArrival));
  const early = numbersOf(of("got", "given"));
  const given = sent.filter((task) => task.given <= time).length, loop = order[given - 1];
  return {
    queues: lanes.map((worker) => mine(queued, worker)), results, early, given, loop,
    making: lanes.map((worker) => mine(made, worker)[0]), sent: sent.length,
    training: of("given", "done").length > 0, ended: given === tasks.length,
    memory: made.length + results.length + early.length + (given > 0),
  };
}

/** Throughput, waiting and memory of the whole run. */
export function figures(run) {
  const { tasks, total, moments } = run;
  const waited = tasks.reduce((sum, { asked, given }) => sum + given - asked, 0);
  return {
    perSecond: 1000 * tasks.length / total, waited, share: waited / total,
    memory: Math.max(...moments.map((time) => stateAt(run, time).memory)),
  };
}
