// What <offline-book> says, as pairs [Chinese, English]; sizes are in bytes.

const UNITS = ["B", "KB", "MB", "GB"];

/** 4200000 as "4.2 MB": in thousands, as shops and phone companies count. */
export function size(bytes) {
  let value = bytes, unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) { value /= 1000; unit += 1; }
  return `${value < 10 && unit > 1 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}

export const words = {
  loading: ["正在问整本书有多大……", "Asking how large the book is …"],
  unable: [
    "这里存不了整本书：浏览器只在 https 或本机地址上允许这样做，有些浏览器的隐私模式也不允许。",
    "The book can't be kept here: browsers allow that on https or on your own machine only, and some "
    + "not in private windows.",
  ],
  unreachable: [
    "连不上网，还不知道整本书有多大。联网之后再来。",
    "There is no connection, so the size of the book is not known. Come back when you are online.",
  ],
  offer: (book, all) => [
    `存下整本书：下载 ${size(book.wire)}，存好占 ${size(book.bytes)}，不含 notebook 和代码文件；`
    + `连它们一起，下载 ${size(all.wire)}，占 ${size(all.bytes)}。`,
    `Keep the whole book: ${size(book.wire)} to download, ${size(book.bytes)} once kept, without `
    + `notebooks and code files; with them ${size(all.wire)}, and ${size(all.bytes)} kept.`,
  ],
  downloads: ["连 notebook 和代码文件一起存", "Keep notebooks and code files as well"],
  keep: ["存下整本书", "Keep the whole book"],
  goOn: ["接着存", "Go on"],
  pause: ["停一下", "Pause"],
  more: ["再存上 notebook 和代码文件", "Keep notebooks and code files as well"],
  remove: ["删掉存下的书", "Remove the kept book"],
  progress: (done, all) => [
    `已下载 ${size(done)}，共 ${size(all)}`, `${size(done)} of ${size(all)} downloaded`],
  partly: (done, all) => [
    `上次下载了 ${size(done)}，共 ${size(all)}，可以接着存。`,
    `${size(done)} of ${size(all)} are here from last time; you can go on.`],
  kept: ({ bytes, wire }, downloads) => [
    `整本书已存下${downloads ? "，含 notebook 和代码文件" : ""}：下载 ${size(wire)}，展开后占 ${size(bytes)}，断网也能读。`,
    `The whole book is kept${downloads ? ", notebooks and code files included" : ""}: `
    + `${size(wire)} downloaded, ${size(bytes)} unpacked. You can read it without a connection.`],
  removed: ["存下的书已经删掉，读过的页面还在。",
    "The kept book is removed; pages that you have read are still here."],
  room: (usage, quota) => [
    `这个网站在浏览器里已用 ${size(usage)}，浏览器给它的上限约 ${size(quota)}。`,
    `This site uses ${size(usage)} in your browser, which allows it about ${size(quota)}.`],
  full: ["浏览器给的空间用完了。腾出一些空间，再点“接着存”。",
    "The browser has no more room. Free some space, then press “Go on”."],
  cut: ["连接断了。存好的部分都在，连上之后点“接着存”。",
    "The connection was lost. What has arrived is kept; press “Go on” when you are back."],
  moving: ["网站正在更新，过一会儿点“接着存”。",
    "The site is being updated; press “Go on” in a while."],
};
