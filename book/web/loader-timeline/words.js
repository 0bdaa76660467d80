// Every word of the timeline, as pairs [Chinese, English].
export const LABELS = {
  timeline: ["加载器的时间线", "Timeline of the loader"],
  num_workers: ["`num_workers`", "`num_workers`"],
  prefetch_factor: ["`prefetch_factor`", "`prefetch_factor`"],
  batches: ["批数", "batches"],
  fetch: ["做一批（毫秒）", "making a batch (ms)"],
  step: ["训练一步（毫秒）", "training step (ms)"],
  spread: ["各批差多少（%）", "spread of these times (%)"],
  startup: ["启动工作进程（毫秒）", "starting the workers (ms)"],
  pin: ["锁页一批（毫秒，0 是不锁）", "pinning a batch (ms; 0: not pinned)"],
  megabytes: ["一批多大（MB）", "size of a batch (MB)"],
  slow: ["慢的是", "what is slow"],
  none: ["没有", "nothing"],
  worker: ["一个工作进程", "one worker"],
  batch: ["一批", "one batch"],
  which: ["编号", "its number"],
  factor: ["用时几倍", "times as long"],
  in_order: ["`in_order`：按编号交出", "`in_order`: hand over in batch order"],
  lanes: ["时间线，内容与下面的时刻表相同", "Timeline; the table of times below says the same"],
  training: ["训练", "training"],
  pinner: ["锁页线程", "pin thread"],
  ready: ["做好了，还没交出", "made, not yet handed over"],
  first: ["起点", "Start"],
  previous: ["上一刻", "Previous moment"],
  next: ["下一刻", "Next"],
  last: ["终点", "End"],
  slider: ["时刻", "Moment"],
  making: ["正在做", "being made"],
  computing: ["训练在算", "training computes"],
  waiting: ["训练在等", "training waits"],
  queue: ["下标队列", "index queue"],
  results: ["结果队列", "result queue"],
  pinning: ["正在锁页", "being pinned"],
  pinned: ["锁完页，排着队", "pinned, in the queue"],
  early: ["早到，存着", "early, kept"],
  expected: ["下一个轮到", "next expected"],
  loop: ["训练手里", "held by the loop"],
  memory: ["内存里的批", "batches in memory"],
  machine: ["此刻各批在哪里", "where the batches are"],
  perSecond: ["吞吐", "throughput"],
  share: ["训练等待的时间", "time spent waiting"],
  busy: ["工作进程在做事的时间", "time the workers are busy"],
  most: ["内存里最多", "most in memory"],
  order: ["交出的次序", "order of delivery"],
  table: ["时刻表", "Table of times"],
  caption: ["每一批的时刻（毫秒），按交出的次序",
    "The times of each batch (ms), in the order in which they are handed over"],
};
export const HEAD = [
  ["批", "batch"], ["工作进程", "worker"], ["派出", "sent"], ["制作", "being made"],
  ["锁页完", "pinned"], ["收到", "received"], ["交出", "handed over"], ["训练完", "step ends"],
];

export const workerName = (worker, { num_workers: workers }) => (
  workers ? [`工作进程 ${worker}`, `worker ${worker}`] : ["主进程", "main process"]);
export const any = ["谁先到就是谁", "whichever comes first"];
const percent = (share) => `${Math.round(100 * share)}%`;
const workersOf = (busy) => busy.map(percent).join(" · ") || "–";
export const figureWords = (run, f) => ({
  perSecond: [`每秒 ${f.perSecond.toFixed(1)} 批，共 ${run.total} 毫秒`,
    `${f.perSecond.toFixed(1)} batches/s, ${run.total} ms in all`],
  share: [`${percent(f.share)}（${f.waited} 毫秒）`, `${percent(f.share)} (${f.waited} ms)`],
  busy: [workersOf(f.busy), workersOf(f.busy)],
  most: [`${f.memory} 批，${f.megabytes} MB，做到一半的和训练手里的也算`,
    `${f.memory} batches, ${f.megabytes} MB, counting those half made and the one the loop holds`],
});

const zhList = (list) => `第 ${list.join("、")} 批`;
const enList = (list) => `${list.length > 1 ? "batches" : "batch"} ${list.join(", ")}`;

/** What happens at `time`, in the order in which it happens, and what training does then. */
export function describe(run, time, state) {
  const { settings, tasks, order } = run;
  const at = (name) => tasks.filter((task) => task[name] === time);
  const ended = at("end").filter(({ worker }) => worker !== null);
  const kept = at("got").filter(({ given }) => given > time).map(({ batch }) => batch);
  const said = [
    ...ended.map(made), ...(settings.pin ? at("pinned").map(pinnedNow) : []), ...(time === 0 && settings.num_workers ? [firstSent(settings)] : []),
    ...(kept.length ? [keptEarly(kept)] : []),
    ...at("given").sort((a, b) => order.indexOf(a.batch) - order.indexOf(b.batch))
      .map(({ batch }) => handedOver(run, batch)),
    now(run, state)];
  return [said.map(([zh]) => zh).join(""), said.map(([, en]) => en).join(" ")];
}

const made = ({ worker, batch }) => [`${worker} 号工作进程做完第 ${batch} 批。`,
  `Worker ${worker} has made batch ${batch}.`];

const pinnedNow = ({ batch }) => [`第 ${batch} 批锁完页。`, `Batch ${batch} is pinned.`];

function firstSent({ batches, num_workers: workers, prefetch_factor: prefetch }) {
  const n = Math.min(batches, workers * prefetch);
  return [`\`iter\` 派出前 ${n} 批，轮流派。`, `\`iter\` sends the first ${n}, in turn.`];
}

const keptEarly = (batches) => [`主进程收到${zhList(batches)}，来早了，存着。`,
  `The main process receives ${enList(batches)} early and keeps ${
    batches.length > 1 ? "them" : "it"}.`];

/** Just before a batch is handed over one more is sent, as long as there are any. */
function handedOver({ settings, tasks, order }, batch) {
  const { num_workers: workers, prefetch_factor: prefetch } = settings;
  const next = workers && tasks[workers * prefetch + order.indexOf(batch)];
  return next ? [`交出第 ${batch} 批之前，先把第 ${next.batch} 批派给 ${next.worker} 号。`,
    `Just before batch ${batch} is handed over, batch ${next.batch} is sent to worker ${
      next.worker}.`]
    : [`交出第 ${batch} 批。`, `Batch ${batch} is handed over.`];
}

function now({ settings }, { training, ended, loop, given }) {
  if (training) return [`训练在算第 ${loop} 批。`, `Training works on batch ${loop}.`];
  if (ended) return ["全部交出，训练结束。", "All are handed over, and training has ended."];
  if (!settings.num_workers) {
    return [`训练等主进程自己做第 ${given} 批。`,
      `Training waits while its process makes batch ${given}.`];
  }
  return settings.in_order ? [`训练等第 ${given} 批。`, `Training waits for batch ${given}.`]
    : ["训练等任意一批。", "Training waits for any batch."];
}
