// How the stepper looks.
export const STYLE = `
html:not([data-lang=zh], [data-lang=en]) graph-stepper :is(.w-status, .w-error, .w-error em) > span { display: block; }
graph-stepper .w-frame {
  code { overflow-wrap: anywhere; }
  b { font-weight: 700; }

  .gs-form { display: grid; gap: .5rem; }
  .gs-form[hidden] { display: none; }
  textarea { width: 100%; min-height: 2.75rem; padding: .55rem .6rem; }
  textarea::placeholder { color: var(--w-quiet); opacity: 1; }
  .gs-examples { display: flex; flex-wrap: wrap; gap: .4rem; }
  .gs-examples button { font-size: .875rem; }
  .gs-form:not([hidden]) + .w-picture { margin-top: .85rem; padding-top: .85rem; border-top: 1px solid var(--w-line); }

  .gs-phases { display: grid; grid-template-columns: 1fr 1fr; gap: .4rem; margin-bottom: .5rem; }
  button[data-go=next] { padding-inline: .9rem 1.1rem; }
  :is(.gs-phases, .gs-examples) button[aria-pressed=true] { box-shadow: inset 0 -3px var(--w-accent); }

  .w-status { min-height: 5.4em; }
  .w-stage {
    max-height: clamp(18rem, 100vh - 19rem, 46rem);
    > svg { display: block; margin-inline: auto; max-width: none; height: auto; }
  }

  .w-stage text {
    fill: var(--w-text); font: 12px var(--w-mono); font-variant-numeric: tabular-nums;
    user-select: text;
  }
  .gs-box > rect { fill: var(--w-ground); stroke: var(--w-edge); stroke-width: 1.2; }
  .gs-box > .gs-badge { fill: color-mix(in srgb, var(--w-text) 10%, transparent); stroke: none; }
  .gs-number { text-anchor: middle; }
  .gs-title, .gs-new, .gs-number { font-weight: 700 !important; }
  .w-stage .gs-key { fill: var(--w-quiet); }
  .w-stage .gs-words, .w-stage .gs-mark { font-family: system-ui, "Noto Sans CJK SC", sans-serif; }
  .gs-unmade > rect:first-child { stroke-dasharray: 4 4; fill: none; }
  .gs-unmade .gs-title { font-weight: 400 !important; }
  .gs-done > rect:first-child { fill: color-mix(in srgb, var(--w-text) 6%, var(--w-ground)); }
  .gs-next > rect:first-child, .gs-ready > rect:first-child { stroke: var(--w-text); stroke-width: 2; }
  .gs-now > rect:first-child {
    stroke: var(--w-accent); stroke-width: 3;
    fill: color-mix(in srgb, var(--w-accent) 13%, var(--w-ground));
  }
  .gs-now > .gs-badge { fill: var(--w-text); }
  .w-stage .gs-now > .gs-number { fill: var(--w-ground); }
  .w-stage :is(.gs-mark, .gs-local, .gs-flow) {
    paint-order: stroke; stroke: var(--w-ground); stroke-width: 5px; stroke-linejoin: round;
  }
  .w-stage .gs-mark { text-anchor: end; font-weight: 650; font-size: 11.5px; }
  .w-stage .gs-local { fill: var(--w-quiet); }
  .w-stage .gs-flow { font-weight: 700; font-size: 13px; }

  .gs-edge path { fill: none; stroke: var(--w-edge); stroke-width: 1.5; }
  .gs-edge .gs-head { fill: var(--w-edge); stroke: none; }
  .gs-planned path { stroke-width: 1; stroke-dasharray: 1 2; }
  .gs-none path { stroke-dasharray: 6 5; }
  .gs-flowed:not(.gs-none) path:first-child { stroke: var(--w-text); stroke-width: 2; }
  .gs-flowed .gs-head { fill: var(--w-text); }
  .gs-active path:first-child { stroke: var(--w-accent); stroke-width: 3.5; }
  .gs-active .gs-head { fill: var(--w-accent); }
  @media (prefers-reduced-motion: no-preference) {
    .gs-active:not(.gs-none) path:first-child { stroke-dasharray: 1; animation: gs-flow .45s ease-out; }
  }

  table {
    td { font-family: var(--w-mono); }
    td > span { font-family: system-ui, sans-serif; }
    [aria-current] > * { font-weight: 700; box-shadow: inset 0 2px var(--w-accent), inset 0 -2px var(--w-accent); }
  }
  @container (max-width: 34rem) { .w-status { min-height: 8.2em; } }
}
@keyframes gs-flow { from { stroke-dashoffset: 1; } }
@media print {
  graph-stepper .w-frame :is(.gs-form, .gs-phases) { display: none; }
  graph-stepper .w-frame .w-stage { max-height: none; overflow: visible; }
}
`;
