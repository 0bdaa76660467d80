// The few words that the script puts on the page itself.
import { spans } from "../common/bilingual.js";

const CONFIDENCE = {
  sure: ["很有把握", "Sure"], think: ["有些把握", "I think so"], guess: ["猜的", "A guess"],
};
const SEPARATOR = '<span class="lang-sep"> · </span>';

function words(name, tag, pair) {
  const element = document.createElement(tag);
  element.className = name;
  element.innerHTML = spans(pair, SEPARATOR);
  return element;
}

/** The confidence of a committed option, beside it. */
export const said = (confidence) => words("predict-said", "small", CONFIDENCE[confidence]);

/** What the button of an option says to who cannot see that it stands before the others. */
export const thinking = () => words("visually-hidden", "span", ["，有些把握", ", I think so"]);
