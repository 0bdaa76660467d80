// <predict-cell>: the output opens, and what explains it shows, when the reader has committed to an
// option and a confidence, or asks to see them without a prediction.
// Without this script the options can be read and the output opened by hand.

const SCROLLS = "pre, .cell_output > .output, .pst-scrollable-table-container";

class PredictCell extends HTMLElement {
  connectedCallback() {
    this.form = this.querySelector("form");
    this.output = this.querySelector("details");
    this.form.classList.add("ready");
    this.output.hidden = true;
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.commit();
    });
    this.form.querySelector("[type=button]").addEventListener("click", () => this.finish());
  }

  /** Show output and explanation; the form can no longer be changed. */
  finish() {
    this.output.hidden = false;
    this.output.open = true;
    const next = this.closest(".cell").nextElementSibling, shown = [this.output];
    if (next?.matches(".explanation")) {
      next.classList.add("shown");
      shown.push(next);
    }
    // The theme makes what scrolls reachable by Tab, but only where it shows when the page loads.
    for (const part of shown) {
      for (const block of part.querySelectorAll(SCROLLS)) block.tabIndex = 0;
    }
    for (const control of this.form.elements) control.disabled = true;
    this.form.classList.add("committed");
  }

  commit() {
    const fields = [...new FormData(this.form).entries()];
    const [answer, confidence] = fields.map(([, value]) => value);
    this.finish();
    const line = this.querySelector(`[data-option="${answer}"]`);
    if (line) line.hidden = false;
    const right = answer === this.dataset.right;
    for (const input of this.form.querySelectorAll(".options input")) {
      const label = input.closest("label");
      label.classList.toggle("is-right", input.value === this.dataset.right);
      label.classList.toggle("is-wrong", input.checked && !right && Boolean(line));
    }
    const detail = { answer: Number(answer), right, confidence };
    this.dispatchEvent(new CustomEvent("predict", { bubbles: true, detail }));
  }
}
customElements.define("predict-cell", PredictCell);
