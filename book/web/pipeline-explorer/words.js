// What the explorer says itself; the words of stages and functions come with its data.
export const LABELS = {
  explorer: ["编译的各个阶段", "The stages of compilation"],
  functions: ["例子", "Examples"],
  tabs: ["看哪个阶段", "Stage to show"],
  rows: ["按上下方向键逐行移动", "Arrow keys up and down go from row to row"],
};
export const HINT = [
  "点一行，看它在别的阶段变成了什么。用键盘时，Tab 换阶段，上下方向键换行。",
  "Click a row to see what became of it in the other stages. With the keyboard, Tab moves between "
  + "stages and the up and down keys between rows.",
];

const zhLines = (lines) => `第 ${lines.join("、")} 行`;
const enLines = (lines) => `line${lines.length > 1 ? "s" : ""} ${lines.join(", ")}`;

/** How many rows of each stage come from the lines; `counts` are [name of the stage, rows]. */
export function litWords(lines, counts) {
  const zh = counts.map(([[name], n]) => `${name} ${n} 行`).join("，");
  const en = counts.map(([[, name], n]) => `${name} ${n}`).join(", ");
  return [`来自${zhLines(lines)}的：${zh}。`, `Rows that come from ${enLines(lines)}: ${en}.`];
}

/** What a row is called: a stage can have two that say the same. */
export const rowName = (text, place) => [`${text}，第 ${place} 行`, `${text}, row ${place}`];

/** A row for those who listen: of which lines it is. */
export const rowWords = (lines) => [zhLines(lines), enLines(lines)];

export const madeWords = (made) => [`由真正的编译器录下，${made}。别的版本会有出入。`,
  `Recorded from the real compiler, ${made}. Other versions differ.`];
