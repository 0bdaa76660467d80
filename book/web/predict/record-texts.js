// The words of the record of predictions: pairs [zh, en], or functions that make one.
import { FEW } from "./record.js";

const times = (n) => (n === 1 ? "once" : `${n} times`);

/** What the count of "sure" tells, or that it is too small to tell anything. */
function summary({ sure }) {
  const { said, right } = sure;
  if (said < FEW) {
    return [`读正文时，你说过 ${said} 次“很有把握”。不到 ${FEW} 次，还看不出准不准。`,
      `While reading, you have said “Sure” ${times(said)}. Below ${FEW}, that tells nothing yet.`];
  }
  return [`读正文时，你说过 ${said} 次“很有把握”，对了 ${right} 次。真有把握的话，这个框应该几乎填满；`
    + "猜的那一栏填得少，是正常的。",
  `While reading, you said “Sure” ${times(said)} and were right ${times(right)}. If you know what `
    + "you know, that bar is nearly full, and the one for guesses is not."];
}

export const texts = {
  title: ["你在正文里的预测准不准", "How your predictions in the chapters came out"],
  none: ["还没有。读正文时选一个选项，这里就会统计你的把握准不准；卡片不计在内。",
    "None yet. Choose an option while you read, and this counts how well you knew; cards are not "
    + "counted."],
  summary,
  caption: ["对的次数 / 说过的次数；每道题只算第一次，“不确定”另算",
    "Right / said; each question counts once, by its first answer; “Not sure” apart"],
  chapter: ["章", "Chapter"],
  all: ["全书", "Whole book"],
  name: ({ number, name }) => [`${number} ${name.zh}`, `${number} ${name.en}`],
  sure: ["很有把握", "Sure"],
  think: ["有些把握", "I think so"],
  guess: ["猜的", "A guess"],
  unsure: ["不确定", "Not sure"],
  of: (right, said) => `${right} / ${said}`,
};
