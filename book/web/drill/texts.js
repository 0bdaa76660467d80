// Every word of the drill in both languages: a pair [zh, en] or a function that makes one.

const KINDS = {
  predict: ["预测", "Predict"], compare: ["比较", "Compare"], bug: ["找错", "Find the bug"],
  explain: ["解释", "Explain"], estimate: ["估算", "Estimate"], design: ["设计", "Design"],
};
const LEVELS = { junior: ["初级", "Junior"], senior: ["高级", "Senior"], staff: ["资深", "Staff"] };
const GRADES = {
  1: ["重来", "Again"], 2: ["困难", "Hard"], 3: ["良好", "Good"], 4: ["简单", "Easy"],
};
const CONFIDENCE = {
  sure: ["很有把握", "Sure"], think: ["有些把握", "I think so"], guess: ["猜的", "A guess"],
};

const pluralS = (n) => (n === 1 ? "" : "s");

/** A number of days as a reader says it. */
export function interval(days) {
  if (days === 0) return ["今天", "today"];
  if (days < 60) return [`${days} 天`, `${days} day${pluralS(days)}`];
  if (days < 730) {
    const months = Math.round(days / 30.4);
    return [`${months} 个月`, `${months} months`];
  }
  const years = (days / 365.25).toFixed(1);
  return [`${years} 年`, `${years} years`];
}

const later = (days) => (days === 0 ? ["今天还会再考", "back today"]
  : interval(days).map((text, i) => (i ? `back in ${text}` : `${text}后再考`)));

export const texts = {
  kind: (name) => KINDS[name],
  level: (name) => LEVELS[name],
  grade: (grade) => GRADES[grade],
  confidence: (name) => CONFIDENCE[name],
  chapter: (number, name) => [`第 ${number} 章 ${name.zh}`, `Chapter ${number}: ${name.en}`],

  today: ["今天", "Today"],
  due: ["该复习", "Due"],
  fresh: ["新卡", "New"],
  done: ["已完成", "Done"],
  start: ["开始", "Start"],
  nothing: ["今天没有要练的卡片了。", "Nothing is left to drill today."],
  rests: ["只剩刚刚答过的那一张。过十分钟再来，才算真的想起来；也可以现在就再答一次。",
    "Only the card that you have just answered is left. Come back in ten minutes, so that you have "
    + "to recall it, or take it again now."],
  noCards: ["没有选中任何卡片。", "No cards are chosen."],
  noNew: ["该复习的都做完了。每天新卡数是 0，所以没有新卡。",
    "All reviews are done. There are no new cards, since “New cards a day” is 0."],
  leftOut: (n) => [`另有 ${n} 张该复习的卡片没有列出，因为只选了一部分卡片。`,
    `${n} more card${n === 1 ? " is" : "s are"} due, but not among the cards you have chosen.`],
  showAll: ["选上全部卡片", "Choose all cards"],
  nextDay: (days, n) => [`${days === 1 ? "明天" : `${days} 天后`}有 ${n} 张。`,
    `${n} card${pluralS(n)} ${n === 1 ? "is" : "are"} due ${
      days === 1 ? "tomorrow" : `in ${days} days`}.`],
  scope: ["练哪一章", "Which chapter"],
  every: ["全部", "All"],
  section: (title, n) => [`只练一节：${title.zh}，${n} 张。`,
    `One section only: ${title.en}, ${n} card${pluralS(n)}.`],
  whole: ["练全书的卡片", "Drill the whole book"],
  why: ["FSRS（Free Spaced Repetition Scheduler）按你的评分估计每张卡片记得有多牢，等到大约有一成的可能"
    + "忘掉，再拿来考。一张卡片如果次次都评“良好”，第一次之后的第 2、13、59 天会再来。所以每天十张新卡，"
    + "两周之后一天就要做三十张左右：默认十张就是这样来的，想快想慢，在“选择卡片”里改。",
  "FSRS, the Free Spaced Repetition Scheduler, estimates from your grades how well you remember each "
    + "card, and brings it back when the chance that you have forgotten it reaches about one in ten. "
    + "A card that you always grade Good returns 2, 13 and 59 days after its first time. So ten new "
    + "cards a day become about thirty cards a day within two weeks, which is why ten is the "
    + "default. You can change it under “Choose cards”."],
  options: ["选择卡片", "Choose cards"],
  limit: ["每天新卡数", "New cards a day"],
  chapters: ["章", "Chapters"],
  levels: ["级别", "Levels"],
  kinds: ["题型", "Kinds"],
  progress: ["进度：导出与导入", "Progress: export and import"],
  stored: (n, marks) => [`这个浏览器里存有 ${n} 条复习记录、${marks} 条阅读记录（预测和读过的节）。`,
    `This browser holds ${n} review${pluralS(n)} and ${marks} mark${
      pluralS(marks)} from reading (predictions, sections read).`],
  export: ["导出", "Export"],
  import: ["导入并合并", "Import and merge"],
  unsaved: ["浏览器不让本页存储数据（可能是无痕窗口）：可以练，但关掉页面进度就没了，请先导出。",
    "The browser does not let this page store anything (a private window?). You can drill, but "
    + "your progress is lost when you close the page, so export it first."],
  unavailable: ["卡片加载失败，请检查网络后刷新页面。",
    "The cards could not be loaded; check the connection and reload the page."],

  left: (n) => [`剩 ${n} 张`, `${n} left`],
  end: ["结束", "End"],
  choose: ["选一个答案", "Choose an answer"],
  aloud: ["把答案说出声。", "Say your answer aloud."],
  unsure: ["不确定", "Not sure"],
  howSure: ["有多大把握？", "How sure are you?"],
  reveal: ["翻开答案", "Show the answer"],
  needOption: ["先选一个答案，或选“不确定”。", "Choose an answer first, or “Not sure”."],
  needConfidence: ["先选有多大把握。", "First say how sure you are."],

  answer: ["答案", "Answer"],
  right: ["对了。", "Right."],
  wrong: ["不对。", "That's not it."],
  notSure: ["记为没答出。", "Counted as not answered."],
  refute: ["你当时选了“很有把握”，却答错了。下面是完整的反驳。",
    "You chose “Sure”, but the answer was wrong. The full refutation is below."],
  push: ["如果追问", "If they push"],
  output: ["输出", "Output"],
  fixed: ["改好之后", "Fixed"],
  points: ["说到了哪几点？", "Which points did you make?"],
  bonus: ["（加分）", " (bonus)"],
  grades: ["评分", "Grade"],
  suggestion: (grade) => [`建议：${GRADES[grade][0]}`, `Suggested: ${GRADES[grade][1]}`],
  countsAs: (grade) => [`计为${GRADES[grade][0]}`, `counts as ${GRADES[grade][1]}`],
  followUps: ["追问", "Follow-ups"],
  otherCard: ["看这张卡片", "See this card"],
  myths: ["常见错答", "Common wrong answers"],
  proof: ["证明", "Proof"],
  sources: ["源码", "Sources"],
  corrects: ["这张卡片反驳的说法", "Claims that this card refutes"],
  inBook: ["在书里看这张卡片", "See this card in the book"],
  interval,
};

// ---------------------------------------------------------------------- notices
const quoted = (value) => {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
};

const REASONS = {
  "not-json": () => ["文件不是 JSON，或不完整", "the file is not JSON, or is cut short"],
  foreign: () => ["这不是本书的进度文件", "this is not a progress file of this book"],
  newer: () => ["文件由更新的版本写成，刷新页面后再试",
    "a newer edition wrote the file; reload this page and try again"],
  "no-schema": () => ["文件没有写明格式版本（schema: 2）", "the file states no format version (schema: 2)"],
  "no-marks": () => ["文件里没有 marks 列表", "the file has no list called marks"],
  "no-events": () => ["文件里没有 events 列表", "the file has no list called events"],
  differs: ({ id }) => [`同一个编号 ${id} 有两条不同的记录`,
    `two different records have the id ${id}`],
  event: (broken) => brokenRecord("记录", "review", broken),
  mark: (broken) => brokenRecord("阅读记录", "mark", broken),
};

function brokenRecord(zhKind, enKind, { number, id, reason }) {
  const name = typeof id === "string" ? ` (${id.slice(0, 36)})` : "";
  const [zh, en] = FAULTS[reason.code](reason);
  return [`第 ${number} 条${zhKind}${name}：${zh}`, `${enKind} ${number}${name}: ${en}`];
}

const FAULTS = {
  "not-a-record": () => ["不是一条记录", "not a record"],
  missing: ({ field }) => [`缺少 ${field}`, `${field} is missing`],
  unknown: ({ field }) => [`多出未知的 ${quoted(field)}`, `${quoted(field)} is unknown`],
  wrong: ({ field, value, expected }) => [
    `${field} 是 ${quoted(value)}，应为 ${expected}`,
    `${field} is ${quoted(value)}, expected ${expected}`],
};

const NOTICES = {
  graded: ({ grade, days }) => later(days).map((text, i) =>
    (i ? `Saved: ${GRADES[grade][1]}, ${text}.` : `已记下：${GRADES[grade][0]}，${text}。`)),
  elsewhere: () => ["这张卡片刚在另一个标签页里评过分，这里不再计。",
    "Another tab has just graded this card; it is not counted again here."],
  "not-saved": ({ detail }) => [
    `没有存上（${detail}）：再试一次；还不行就先导出，再刷新页面。`,
    `Not saved (${detail}): try again; if that fails, export, then reload the page.`],
  "not-imported": ({ detail }) => [
    `没有存上（${detail}），进度未变：腾出空间，再导入一次。`,
    `Not saved (${detail}), progress unchanged: make room, then import again.`],
  unreachable: ({ detail }) => [`卡片加载失败（${detail}）：检查网络后再开始。`,
    `The card could not be loaded (${detail}): check the connection and start again.`],
  importing: ({ done, all }) => (done ? [`正在存，共 ${all} 条，已存 ${done} 条……`,
    `Saving ${all} records, ${done} done …`] : ["正在读文件……", "Reading the file …"]),
  imported: ({ added, all, unknown, marks, newMarks }) => {
    const names = unknown.join(", ");
    const [zhMarks, enMarks] = marks ? [`另有 ${marks} 条阅读记录，新增 ${newMarks} 条。`,
      ` It also holds ${marks} mark${pluralS(marks)} from reading, ${newMarks} new.`] : ["", ""];
    const zh = unknown.length ? `本版没有这些卡片，记录仍然保留：${names}。` : "";
    const en = unknown.length
      ? ` Kept, though this edition does not have these cards: ${names}.` : "";
    return [`文件有 ${all} 条记录，新增 ${added} 条。${zhMarks}${zh}`,
      `The file holds ${all} review${pluralS(all)}, ${added} new.${enMarks}${en}`];
  },
  "no-section": ({ section }) => [`没有叫 ${quoted(section)} 的节，下面是全书的卡片。`,
    `There is no section ${quoted(section)}; these are the cards of the whole book.`],
  refused: ({ reason }) => {
    const [zh, en] = REASONS[reason.code](reason);
    return [`没有导入，进度未变：${zh}。`, `Nothing imported, progress unchanged: ${en}.`];
  },
};

/** A notice of the session as [zh, en], one line each. */
export const notice = (entry) => NOTICES[entry.code](entry);
