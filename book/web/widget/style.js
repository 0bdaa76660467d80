// How all widgets look, on the page (pst: its theme) and in JupyterLab (jp). The host has the class
// `widget`, what it shares with others the classes `w-…`; in `:where` they weigh nothing, so that a
// rule in a widget's own style.js that begins with its element always wins.
const COMMON = `
.widget {
  display: block; width: 100%; margin-block: 1.25rem; container-type: inline-size;
  --w-text: var(--pst-color-text-base, var(--jp-ui-font-color1, CanvasText));
  --w-quiet: var(--pst-color-text-muted, var(--jp-ui-font-color1, CanvasText));
  --w-ground: var(--pst-color-background, var(--jp-layout-color0, Canvas));
  --w-accent: var(--pst-color-primary, var(--jp-brand-color1, LinkText));
  --w-line: color-mix(in srgb, var(--w-text) 28%, transparent);
  --w-edge: color-mix(in srgb, var(--w-text) 58%, transparent);
  --w-mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
html[data-lang=zh] .widget :is(.lang-en, .lang-both),
html[data-lang=en] .widget :is(.lang-zh, .lang-both) { display: none; }
:where(.widget) > .w-frame {
  padding: 1rem; border: 1px solid var(--w-line); border-radius: .6rem;
  color: var(--w-text); background: var(--w-ground); font-size: .9375rem; line-height: 1.5;
  p, dl, dd, dt, details, output { margin: 0; font-weight: inherit; }
  dl dt, dl dd { float: none; width: auto; }
  code, b, i, sup, small { all: unset; }
  code { font-family: var(--w-mono); font-size: .92em; }
  :focus-visible { outline: 2px solid var(--w-accent); outline-offset: 2px; }
  label { display: grid; gap: .2rem; margin: 0; }
  label > span, .w-legend { color: var(--w-quiet); font-size: .8125rem; }
  :where(textarea, select, input:not([type=range], [type=checkbox])) {
    box-sizing: border-box; margin: 0; border: 1px solid var(--w-edge); border-radius: .4rem;
    color: var(--w-text); background: var(--w-ground); font: 1rem/1.45 var(--w-mono);
  }
  textarea { field-sizing: content; resize: none; overflow-wrap: anywhere; }
  [aria-invalid=true] { border: 2px dashed var(--w-text); }
  .w-error:not(:empty) {
    padding: .4rem .75rem; border-inline-start: 3px solid var(--w-text);
    background: color-mix(in srgb, var(--w-text) 8%, transparent);
    > em { display: block; font-style: normal; color: var(--w-quiet); font-size: .8125rem; }
  }
  &[data-stale] .w-picture { /* grey, yet the text keeps its contrast */
    opacity: .74; --w-quiet: var(--w-text); --w-accent: var(--w-edge);
  }
  .w-legend { display: flex; flex-wrap: wrap; gap: .15rem 1.25rem; margin-top: .6rem; }
}

:where(.widget) > .w-steps {
  button {
    display: inline-flex; align-items: center; justify-content: center; gap: .4rem;
    min-width: 2.75rem; min-height: 2.75rem; margin: 0; padding: .25rem .6rem;
    border: 1px solid var(--w-edge); border-radius: .4rem; background: none;
    color: inherit; font: inherit; cursor: pointer; touch-action: manipulation;
    svg { width: 1.1rem; height: 1.1rem; fill: currentColor; stroke: currentColor; }
    &:hover { border-color: var(--w-accent); }
    &[aria-disabled=true] { border-style: dashed; cursor: default; svg { opacity: .45; } }
    &[data-go=next]:not([aria-disabled=true]), &[aria-pressed=true] {
      border-color: var(--w-accent); font-weight: 650;
      background: color-mix(in srgb, var(--w-accent) 12%, transparent);
    }
  }
  .w-controls {
    display: flex; flex-wrap: wrap; align-items: center; gap: .4rem;
  }
  [type=range] {
    flex: 1 1 8rem; min-width: 0; height: 2.75rem; margin: 0 .35rem;
    accent-color: var(--w-accent); cursor: pointer; touch-action: manipulation;
  }
  output { min-width: 4.2rem; text-align: end; font: .875rem var(--w-mono); }
  .w-status {
    margin-block: .75rem; padding: .5rem .85rem;
    border-inline-start: 3px solid var(--w-accent); border-radius: 0 .4rem .4rem 0;
    background: color-mix(in srgb, var(--w-text) 5%, transparent);
  }
  .w-stage {
    overflow: auto; overscroll-behavior-x: contain; border-radius: .3rem;
  }
  summary { min-height: 2.75rem; display: flex; align-items: center; gap: .4rem; cursor: pointer; }
  summary::before { content: "▸"; }
  [open] > summary::before { content: "▾"; }
  .w-table { overflow-x: auto; :is(th, td) { white-space: nowrap; } }
  table {
    display: table; width: auto; margin: 0; border-collapse: collapse; font-size: .8125rem;
    caption { caption-side: top; padding: 0 0 .35rem; text-align: start; color: var(--w-quiet); }
    th, td { padding: .25rem .7rem; border: 1px solid var(--w-line); text-align: start; }
    td { font-variant-numeric: tabular-nums; }
    tr, th, td { background: none; color: inherit; }
  }
  @container (max-width: 34rem) {
    .w-controls > button { flex: 1 1 2.75rem; }
    button[data-go=next] { flex-grow: 3; }
  }
  @media print { .w-controls { display: none; } }
}
`;

function add(textContent, id = "") {
  document.head.append(Object.assign(document.createElement("style"), { id, textContent }));
}

/** Add a widget's own style, after what all have in common. */
export function addStyle(own) {
  if (!document.getElementById("widget-style")) add(COMMON, "widget-style");
  add(own);
}
