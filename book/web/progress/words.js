// What a list of sections says of how far the reader has come: pairs [zh, en].

/** Minutes as a reader says them; book/extension/progress.py says the same. */
export function hours(minutes) {
  if (minutes < 60) return [`${minutes} 分钟`, `${minutes} min`];
  const tens = Math.round(minutes / 10) * 10;
  const [whole, rest] = [Math.floor(tens / 60), tens % 60];
  return [`${whole} 小时${rest ? ` ${rest} 分钟` : ""}`, `${whole} h${rest ? ` ${rest}` : ""}`];
}

/**
 * How much of a list is read.
 *
 * @param {Object<string, number[]>} minutes  page -> its minutes, [zh, en]
 * @param {Object<string, number[]>} begun    page -> the minutes left of one in the middle
 * @param {Set<string>} read                  pages that are read
 */
export function summary(minutes, begun, read) {
  const all = Object.keys(minutes), open = all.filter((page) => !read.has(page));
  const left = (i) => open.reduce((sum, page) => sum + (begun[page] ?? minutes[page])[i], 0);
  const done = all.length - open.length;
  if (!open.length) return [`${all.length} 节都读过了`, `All ${all.length} read`];
  return [`共 ${all.length} 节，读了 ${done} 节，还要约 ${hours(left(0))[0]}`,
    `${done} of ${all.length} read · about ${hours(left(1))[1]} left`];
}

export const states = { read: ["已读", "read"], begun: ["读了一半", "begun"] };

export const unsaved = ["浏览器不让本页存储数据（可能是无痕窗口），关掉页面之后，这个标记就没了。",
  "The browser does not let this page store anything (a private window?), so this mark is gone when "
  + "you close the page."];
