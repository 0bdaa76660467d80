// The parts of the inspector before anything is shown, and models to begin with.
import { LAYERS } from "./layers.js";
import { LABELS, LISTS } from "./words.js";
import { goButtons } from "../widget/steps.js";
import { both } from "../widget/words.js";

export const EXAMPLES = [
  ["Sequential(Linear(4, 8), BatchNorm1d(8), ReLU(), Dropout(0.1), Linear(8, 3))", "(2, 4)",
    ["多层感知机", "MLP"]],
  ["Sequential(Conv2d(3, 8, 3, padding=1), ReLU(), MaxPool2d(2), Flatten(), Linear(128, 10))",
    "(2, 3, 8, 8)", ["卷积网络", "convolutions"]],
  ["block = Sequential(LayerNorm(4), Linear(4, 4), GELU());\nSequential(Embedding(10, 4), block, block)",
    "(2, 5)", ["用两次的模块", "a module used twice"]],
  ["Sequential(Conv2d(3, 8, 3), ReLU(), MaxPool2d(2), Flatten(), Linear(128, 10))",
    "(2, 3, 8, 8)", ["形状不合", "what does not fit"]],
];

export const TYPES = ["Sequential", ...Object.keys(LAYERS)];

const old = `<p class="mi-old">${both(LABELS.old)}</p>`;
const choice = (label, n) => `<button type="button" data-example="${n}">${both(label)}</button>`;
const list = (key) => `<button type="button" data-list="${key}" aria-pressed="false"><code>${
  LISTS[key]}</code> <small></small></button>`;

export const SKELETON = `<div class="w-frame w-steps" role="group" data-label="inspector">
  <div class="mi-form">
    <label><span>${both(LABELS.text)}</span><textarea rows="1" spellcheck="false"
      autocapitalize="off" autocomplete="off"
      placeholder="Sequential(Linear(4, 8), ReLU())"></textarea></label>
    <label><span>${both(LABELS.shape)}</span><input name="shape" spellcheck="false"
      autocomplete="off" placeholder="(2, 4)"></label>
    <details class="mi-layers"><summary>${both(LABELS.layers)}</summary>${
    TYPES.map((type) => `<code>${type}</code>`).join(" ")}</details>
    <div class="w-error" role="alert"></div>
    <div class="mi-buttons" role="group" data-label="examples">${choice(LABELS.given, "given")}${
    EXAMPLES.map(([, , label], n) => choice(label, n)).join("")}</div>
  </div>
  <div class="w-picture">
    ${old}
    <div class="mi-buttons mi-lists" role="group" data-label="lists">${
    Object.keys(LISTS).map(list).join("")}</div>
    <p class="mi-list" aria-live="polite"></p>
    <div class="mi-panels">
      <div>
        <div class="w-stage" role="group" data-label="tree"></div>
        <p class="w-legend"></p>
      </div>
      <div class="mi-pass">
        ${old}
        <div class="w-controls">
          ${goButtons(LABELS)}
          <input type="range" min="0" data-label="slider"><output></output>
        </div>
        <p class="w-status" aria-live="polite"></p>
        <div class="w-stage mi-stage" role="group" data-label="calls"></div>
      </div>
    </div>
  </div>
</div>`;
