// How the stepper looks, on the page (pst: its theme) and in JupyterLab (jp).
const STYLE = `
graph-stepper {
  display: block; width: 100%; margin-block: 1.25rem; container-type: inline-size;
  --gs-text: var(--pst-color-text-base, var(--jp-ui-font-color1, CanvasText));
  --gs-quiet: var(--pst-color-text-muted, var(--jp-ui-font-color1, CanvasText));
  --gs-ground: var(--pst-color-background, var(--jp-layout-color0, Canvas));
  --gs-accent: var(--pst-color-primary, var(--jp-brand-color1, LinkText));
  --gs-line: color-mix(in srgb, var(--gs-text) 28%, transparent);
  --gs-edge: color-mix(in srgb, var(--gs-text) 58%, transparent);
  --gs-mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
html[data-lang=zh] graph-stepper :is(.lang-en, .lang-both),
html[data-lang=en] graph-stepper :is(.lang-zh, .lang-both) { display: none; }
html:not([data-lang=zh], [data-lang=en]) graph-stepper :is(.gs-status, .gs-error, .gs-error em) > span { display: block; }
graph-stepper .gs-frame {
  padding: 1rem; border: 1px solid var(--gs-line); border-radius: .6rem;
  color: var(--gs-text); background: var(--gs-ground); font-size: .9375rem; line-height: 1.5;
  p, details, output { margin: 0; }
  code, b, small { all: unset; }
  code { font-family: var(--gs-mono); font-size: .92em; overflow-wrap: anywhere; }
  b { font-weight: 700; }
  :is(button, input, textarea, summary, .gs-stage, .gs-table):focus-visible {
    outline: 2px solid var(--gs-accent); outline-offset: 2px;
  }

  .gs-form { display: grid; gap: .5rem; }
  .gs-form[hidden] { display: none; }
  label { display: grid; gap: .2rem; margin: 0; }
  label > span { color: var(--gs-quiet); font-size: .8125rem; }
  textarea {
    box-sizing: border-box; width: 100%; min-height: 2.75rem; margin: 0; padding: .55rem .6rem;
    border: 1px solid var(--gs-edge); border-radius: .4rem; field-sizing: content; resize: none;
    color: var(--gs-text); background: var(--gs-ground);
    font: 1rem/1.45 var(--gs-mono); overflow-wrap: anywhere;
  }
  textarea::placeholder { color: var(--gs-quiet); opacity: 1; }
  [aria-invalid=true] { border: 2px dashed var(--gs-text); }
  .gs-error:not(:empty) {
    padding: .4rem .75rem; border-inline-start: 3px solid var(--gs-text);
    background: color-mix(in srgb, var(--gs-text) 8%, transparent);
    > em { display: block; font-style: normal; color: var(--gs-quiet); font-size: .8125rem; }
  }
  .gs-examples { display: flex; flex-wrap: wrap; gap: .4rem; }
  .gs-examples button { font-size: .875rem; }
  .gs-form:not([hidden]) + .gs-picture { margin-top: .85rem; padding-top: .85rem; border-top: 1px solid var(--gs-line); }
  &[data-stale] .gs-picture { /* dimmed and grey, yet the text keeps its contrast */
    opacity: .74; --gs-quiet: var(--gs-text); --gs-accent: var(--gs-edge);
  }

  .gs-phases { display: grid; grid-template-columns: 1fr 1fr; gap: .4rem; margin-bottom: .5rem; }
  button {
    display: inline-flex; align-items: center; justify-content: center; gap: .4rem;
    min-width: 2.75rem; min-height: 2.75rem; margin: 0; padding: .25rem .6rem;
    border: 1px solid var(--gs-edge); border-radius: .4rem; background: none;
    color: inherit; font: inherit; cursor: pointer; touch-action: manipulation;
  }
  button:hover { border-color: var(--gs-accent); }
  button svg { width: 1.1rem; height: 1.1rem; fill: currentColor; stroke: currentColor; }
  button[aria-disabled=true] { border-style: dashed; cursor: default; svg { opacity: .45; } }
  button[data-go=next] { padding-inline: .9rem 1.1rem; }
  button[data-go=next]:not([aria-disabled=true]), :is(.gs-phases, .gs-examples) button[aria-pressed=true] {
    border-color: var(--gs-accent); font-weight: 650;
    background: color-mix(in srgb, var(--gs-accent) 12%, transparent);
  }
  .gs-phases button { min-height: 2.75rem; }
  :is(.gs-phases, .gs-examples) button[aria-pressed=true] { box-shadow: inset 0 -3px var(--gs-accent); }
  .gs-controls { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem; }
  input {
    flex: 1 1 8rem; min-width: 0; height: 2.75rem; margin: 0 .35rem;
    accent-color: var(--gs-accent); cursor: pointer; touch-action: manipulation;
  }
  output { min-width: 4.2rem; text-align: end; font: .875rem var(--gs-mono); }

  .gs-status {
    min-height: 5.4em; margin-block: .75rem; padding: .5rem .85rem;
    border-inline-start: 3px solid var(--gs-accent); border-radius: 0 .4rem .4rem 0;
    background: color-mix(in srgb, var(--gs-text) 5%, transparent);
  }
  .gs-stage {
    max-height: clamp(18rem, 100vh - 19rem, 46rem); overflow: auto; overscroll-behavior-x: contain;
    border-radius: .3rem;
    > svg { display: block; margin-inline: auto; max-width: none; height: auto; }
  }
  .gs-legend {
    display: flex; flex-wrap: wrap; gap: .15rem 1.25rem; margin-top: .6rem;
    color: var(--gs-quiet); font-size: .8125rem;
  }

  .gs-stage text {
    fill: var(--gs-text); font: 12px var(--gs-mono); font-variant-numeric: tabular-nums;
    user-select: text;
  }
  .gs-box > rect { fill: var(--gs-ground); stroke: var(--gs-edge); stroke-width: 1.2; }
  .gs-box > .gs-badge { fill: color-mix(in srgb, var(--gs-text) 10%, transparent); stroke: none; }
  .gs-number { text-anchor: middle; }
  .gs-title, .gs-new, .gs-number { font-weight: 700 !important; }
  .gs-stage .gs-key { fill: var(--gs-quiet); }
  .gs-stage .gs-words, .gs-stage .gs-mark { font-family: system-ui, "Noto Sans CJK SC", sans-serif; }
  .gs-unmade > rect:first-child { stroke-dasharray: 4 4; fill: none; }
  .gs-unmade .gs-title { font-weight: 400 !important; }
  .gs-done > rect:first-child { fill: color-mix(in srgb, var(--gs-text) 6%, var(--gs-ground)); }
  .gs-next > rect:first-child, .gs-ready > rect:first-child { stroke: var(--gs-text); stroke-width: 2; }
  .gs-now > rect:first-child {
    stroke: var(--gs-accent); stroke-width: 3;
    fill: color-mix(in srgb, var(--gs-accent) 13%, var(--gs-ground));
  }
  .gs-now > .gs-badge { fill: var(--gs-text); }
  .gs-stage .gs-now > .gs-number { fill: var(--gs-ground); }
  .gs-stage :is(.gs-mark, .gs-local, .gs-flow) {
    paint-order: stroke; stroke: var(--gs-ground); stroke-width: 5px; stroke-linejoin: round;
  }
  .gs-stage .gs-mark { text-anchor: end; font-weight: 650; font-size: 11.5px; }
  .gs-stage .gs-local { fill: var(--gs-quiet); }
  .gs-stage .gs-flow { font-weight: 700; font-size: 13px; }

  .gs-edge path { fill: none; stroke: var(--gs-edge); stroke-width: 1.5; }
  .gs-edge .gs-head { fill: var(--gs-edge); stroke: none; }
  .gs-planned path { stroke-width: 1; stroke-dasharray: 1 2; }
  .gs-none path { stroke-dasharray: 6 5; }
  .gs-flowed:not(.gs-none) path:first-child { stroke: var(--gs-text); stroke-width: 2; }
  .gs-flowed .gs-head { fill: var(--gs-text); }
  .gs-active path:first-child { stroke: var(--gs-accent); stroke-width: 3.5; }
  .gs-active .gs-head { fill: var(--gs-accent); }
  @media (prefers-reduced-motion: no-preference) {
    .gs-active:not(.gs-none) path:first-child { stroke-dasharray: 1; animation: gs-flow .45s ease-out; }
  }

  summary { min-height: 2.75rem; display: flex; align-items: center; gap: .4rem; cursor: pointer; }
  summary::before { content: "▸"; }
  [open] > summary::before { content: "▾"; }
  .gs-table { overflow-x: auto; }
  table {
    display: table; width: auto; margin: 0; border-collapse: collapse; font-size: .8125rem;
    caption { caption-side: top; padding: 0 0 .35rem; text-align: start; color: var(--gs-quiet); }
    th, td { padding: .25rem .7rem; border: 1px solid var(--gs-line); text-align: start; white-space: nowrap; }
    td { font-family: var(--gs-mono); font-variant-numeric: tabular-nums; }
    td > span { font-family: system-ui, sans-serif; }
    tr, th, td { background: none; color: inherit; }
    [aria-current] > * { font-weight: 700; box-shadow: inset 0 2px var(--gs-accent), inset 0 -2px var(--gs-accent); }
  }
  @container (max-width: 34rem) {
    .gs-controls > button { flex: 1 1 2.75rem; }
    button[data-go=next] { flex-grow: 3; }
    .gs-status { min-height: 8.2em; }
  }
}
@keyframes gs-flow { from { stroke-dashoffset: 1; } }
@media print {
  graph-stepper .gs-frame :is(.gs-form, .gs-phases, .gs-controls) { display: none; }
  graph-stepper .gs-frame .gs-stage { max-height: none; overflow: visible; }
}
`;

export function addStyle() {
  if (document.getElementById("graph-stepper-style")) return;
  const style = document.createElement("style");
  Object.assign(style, { id: "graph-stepper-style", textContent: STYLE });
  document.head.append(style);
}
