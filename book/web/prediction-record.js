// <prediction-record data-chapters="{…}">: how the reader's predictions came out: how often "sure"
// was right, by chapter. Counting is in predict/record.js.

import { progressStore } from "./common/progress-store.js";
import { both, h } from "./drill/dom.js";
import { FEW, LEVELS, tally } from "./predict/record.js";
import { texts } from "./predict/record-texts.js";

class PredictionRecord extends HTMLElement {
  async connectedCallback() {
    this.chapters = JSON.parse(this.dataset.chapters);
    try {
      const store = await progressStore();
      const show = async () => this.show(tally(await store.marks(), Object.keys(this.chapters)));
      store.onchange = (what) => what === "marks" && show();
      await show();
    } catch (error) {
      console.info("record of predictions:", error); // the page holds without it
    }
  }

  show({ all, chapters }) {
    const head = h("h2", { class: "record-title" }, both(texts.title));
    if (all.total === 0) {
      this.replaceChildren(head, h("p", {}, both(texts.none)));
      return;
    }
    const rows = chapters.filter(({ total }) => total).map((row) => this.row(row));
    this.replaceChildren(head, h("p", { class: "record-summary" }, both(texts.summary(all))),
      h("div", { class: "wide-table" }, h("table", { class: "record" },
        h("caption", {}, both(texts.caption)),
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, both(texts.chapter)),
          LEVELS.map((level) => h("th", { scope: "col" }, both(texts[level]))),
          h("th", { scope: "col" }, both(texts.unsure)))),
        h("tbody", {}, this.row(all), rows))));
  }

  row(counts) {
    const { page } = counts;
    const name = page ? both(nameOf(page, this.chapters[page])) : both(texts.all);
    return h("tr", page ? {} : { class: "record-all" }, h("th", { scope: "row" }, name),
      LEVELS.map((level) => h("td", {}, bar(counts[level]))),
      h("td", {}, counts.unsure ? String(counts.unsure) : "–"));
  }
}

const nameOf = (page, chapter) => (chapter ? texts.name(chapter) : [page, page]);

/** Right of all, in words and as a bar: its frame is how often it was said, its filling how often
    that was right; dashed where there are too few to tell. */
function bar({ right, said }) {
  if (!said) return "–";
  return [h("span", { class: "record-count" }, texts.of(right, said)),
    h("span", { class: said < FEW ? "record-bar is-few" : "record-bar", "aria-hidden": "true" },
      h("span", { style: `inline-size: ${(100 * right) / said}%` }))];
}

customElements.define("prediction-record", PredictionRecord);
