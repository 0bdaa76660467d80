// How the explorer looks.
export const STYLE = `
html:not([data-lang=zh], [data-lang=en]) stride-explorer
:is(dd, .w-error, .se-owners) > span {
  display: block;
}
stride-explorer .w-frame {
  .se-cell, .se-axis, .se-formula { font-family: var(--w-mono); }
  .se-which { font-weight: 650; }
  dt, .se-lead, .se-axis, .se-hint { color: var(--w-quiet); }
  .se-hint { font-size: .8125rem; }

  .se-strides { display: flex; flex-wrap: wrap; align-items: end; gap: .6rem .75rem; }
  .se-strides:empty { display: none; }
  .se-chain { flex: 1 1 16rem; }
  textarea {
    width: 100%; height: auto; min-height: 2.25rem; padding: .35rem .5rem; line-height: 1.4;
  }
  input[name=shape] { width: 7.5rem; }

  .se-steps {
    display: grid; grid-template-columns: auto repeat(4, max-content) 1fr; gap: .25rem;
    margin: -.35rem 0 .25rem; padding: 0; list-style: none;
    li, button { display: grid; grid-template-columns: subgrid; grid-column: 1 / -1; margin: 0; }
    button { column-gap: 1rem; align-items: baseline; padding: .3rem .6rem; line-height: 1.4; }
    button > code { font-size: .875rem; color: inherit; }
    button:disabled { cursor: default; border-style: dashed; }
    span > code { font-size: .8125rem; color: inherit; }
    small { font-size: .75rem; margin-inline-end: .4rem; }
  }
  .se-kind { justify-self: start; font-size: .8125rem; }
  .se-kind-copy {
    padding-inline: .4rem; border-radius: .3rem;
    color: var(--w-ground); background: var(--w-text);
  }
  .se-kind-refused { font-weight: 650; }

  .se-stage {
    display: grid; gap: 1rem 2rem;
    grid-template-columns: minmax(0, max-content) minmax(14rem, 1fr);
  }
  .se-stage + .w-heading { margin-top: 1.1rem; }
  .se-tensor {
    display: flex; flex-wrap: wrap; gap: .5rem 1.25rem;
    margin: -4px; padding: 4px; overflow-x: auto;
  }
  [role=rowgroup] > div, .se-storage { display: flex; gap: 4px; }
  [role=rowgroup] > div + div { margin-top: 4px; }
  .se-storage { flex-wrap: wrap; }
  .se-lead { font: .75rem var(--w-mono); }
  .se-axis { flex: none; width: 2.5rem; text-align: center; font-size: .75rem; }
  .se-axis:first-child { align-self: center; width: 1.5rem; text-align: start; }
  .se-cell {
    position: relative; flex: none; display: inline-grid; place-items: center;
    box-sizing: border-box; width: 2.5rem; height: 2.25rem;
    border: 1px solid var(--w-edge); border-radius: .3rem; font-variant-numeric: tabular-nums;
    cursor: pointer; transition: background-color .12s;
  }
  .se-unused {
    border-style: dashed; background: repeating-linear-gradient(135deg, transparent 0 5px,
      color-mix(in srgb, var(--w-text) 10%, transparent) 5px 6px);
  }
  .se-lit {
    border: 2px solid var(--w-accent); font-weight: 700;
    background: color-mix(in srgb, var(--w-accent) 20%, transparent);
  }
  .se-picked { box-shadow: 0 0 0 2px var(--w-ground), 0 0 0 4px var(--w-accent); }
  sup, .se-cell[data-readers]::after {
    padding: 0 .2rem; border: 1px solid var(--w-edge); border-radius: .3rem;
    font: .6875rem/1.25 var(--w-mono); background: var(--w-ground);
  }
  .se-copied .se-cell { height: 2.6rem; line-height: 1.2; }
  .se-copied .se-cell::before {
    content: attr(data-value); order: 1; font-size: .6875rem; line-height: 1;
    font-weight: 400; color: var(--w-quiet);
  }
  .se-cell[data-readers]::after {
    content: attr(data-readers); position: absolute; inset: -.45rem -.3rem auto auto;
  }

  .se-formula { display: flex; flex-wrap: wrap; align-content: start; gap: .35rem .6rem; }
  .se-formula { margin-top: .35rem; min-height: 3rem; }
  .se-formula > span { display: flex; gap: .6rem; }
  .se-formula > span > span { display: grid; justify-items: center; }
  .se-formula > span:last-child > span:last-child { font-weight: 700; }
  .se-formula small { font-size: .75rem; font-weight: 400; }
  .se-formula > div { width: 100%; font-size: .875rem; }
  .se-hint { margin-top: .5rem; }
  .w-legend :is(.se-cell, sup) { margin-inline-end: .5rem; cursor: default; }
  .w-legend .se-cell { width: 1.25rem; height: 1.1rem; vertical-align: -.2rem; }
  .se-live { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }

  .se-bytes { margin-top: 1.1rem; }
  .se-memory { display: flex; flex-wrap: wrap; align-items: end; gap: .6rem .75rem; }
  .se-memory select { width: 4.5rem; }
  .se-strip { display: flex; flex-wrap: wrap; gap: 2px; }
  .se-strip .se-cell { width: 2.1rem; font-size: .8125rem; }
  .se-owners { margin-top: .4rem; }

  dl {
    display: grid; gap: .35rem;
    margin-top: 1rem; padding-top: .85rem; border-top: 1px solid var(--w-line);
  }
  dl > div { display: grid; grid-template-columns: 8.5rem 1fr; gap: 0 1rem; }

  @container (max-width: 36rem) {
    .se-stage, dl > div { grid-template-columns: minmax(0, 1fr); }
    .se-strides { gap: .5rem; }
    .w-row [name=shape] { width: 7.5rem; }
    .se-chain { flex-basis: 11rem; }
    .se-steps { grid-template-columns: minmax(0, 1fr); }
    .se-steps button { display: flex; flex-wrap: wrap; gap: .1rem .75rem; }
    .se-steps button > code { flex: 1 1 60%; }
    .se-steps span { order: 1; white-space: nowrap; }
    .se-steps .se-kind { order: 0; }
  }
}
@media (prefers-reduced-motion: reduce) { stride-explorer .w-frame .se-cell { transition: none; } }
`;
