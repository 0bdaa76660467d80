// How the timeline looks.
export const STYLE = `
html:not([data-lang=zh], [data-lang=en]) loader-timeline
  :is(dd, dt, th, label > span, .w-status) > .lang-zh { display: block; }
loader-timeline .w-frame {
  dt, .tl-lane > div:first-child, small { color: var(--w-quiet); }
  .tl-lane > div:first-child { font-size: .8125rem; }
  label small { white-space: nowrap; }

  .tl-form {
    display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: .6rem .75rem;
  }
  label { align-content: end; }
  label[hidden] { display: none; }
  .tl-form :is([type=number], select) {
    width: 100%; height: 2.75rem; padding: 0 .5rem;
    &:disabled { border-style: dashed; color: var(--w-quiet); opacity: 1; }
  }
  .tl-check {
    display: flex; gap: .5rem; align-items: center; min-height: 2.75rem; grid-column: 1 / -1;
  }
  .tl-check input { width: 1.5rem; height: 1.5rem; margin: 0; accent-color: var(--w-accent); }
  .tl-check > span { color: inherit; font-size: .9375rem; }

  .tl-figures, .tl-machine { padding-block: .85rem; border-block: 1px solid var(--w-line); }
  .tl-figures { margin-top: .6rem; }
  .tl-machine { margin-top: .85rem; }
  .tl-figures dl, .tl-machine dl { display: grid; gap: .25rem; }
  dl > div { display: grid; grid-template-columns: 10rem 1fr; gap: 0 1rem; }
  dd { font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }

  .w-controls { margin-top: .85rem; }
  .w-status { min-height: 4.5em; }

  .tl-lanes { min-width: max-content; padding-inline-end: 1.5rem; }
  .tl-lane { display: grid; grid-template-columns: 8rem minmax(var(--tl-width), 1fr); }
  .tl-lane > div:first-child {
    position: sticky; left: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: 0 .5em;
    align-content: center; padding-inline-end: .5rem; line-height: 1.25;
    background: var(--w-ground);
  }
  .tl-track { position: relative; height: 2.25rem; cursor: pointer; }
  .tl-track::after { /* the moment */
    content: ""; position: absolute; inset-block: 0; left: var(--tl-now); width: 2px;
    background: var(--w-text); pointer-events: none;
  }
  .tl-block {
    position: absolute; bottom: .2rem; box-sizing: border-box; height: 1.85rem;
    border: 1px solid var(--w-ground); border-radius: .25rem; container-type: inline-size;
    display: grid; place-items: center;
    b { font: 600 .75rem var(--w-mono); }
  }
  @container (max-width: 13px) { .tl-block b { display: none; } }
  .tl-making {
    background: color-mix(in srgb, var(--w-accent) 26%, var(--w-ground));
    border-color: var(--w-accent);
  }
  .tl-pinning { background: var(--w-ground); border-color: var(--w-text); }
  .tl-computing { background: var(--w-text); color: var(--w-ground); }
  .tl-waiting {
    background: repeating-linear-gradient(135deg, transparent 0 4px,
      color-mix(in srgb, var(--w-text) 40%, transparent) 4px 5px);
    border: 1px dashed var(--w-edge);
  }
  .tl-ready {
    background: color-mix(in srgb, var(--w-text) 16%, var(--w-ground));
    border-width: 0; border-radius: 0; min-height: 1.1rem; bottom: 0;
  }
  .tl-track:has(.tl-ready) { margin-top: .2rem; }
  .tl-axis {
    .tl-track { height: 1.4rem; border-top: 1px solid var(--w-line); }
    small {
      position: absolute; top: .1rem; font: .6875rem var(--w-mono);
      &:not(:first-child) { transform: translateX(-50%); }
    }
  }
  .w-legend i {
    display: inline-block; box-sizing: border-box; width: 1.4rem; height: .8rem;
    margin-inline-end: .4rem; border: 1px solid var(--w-edge); border-radius: .2rem;
    vertical-align: -.05rem;
  }
  .w-legend .tl-making { border-color: var(--w-accent); }

  .tl-machine i {
    display: inline-block; min-width: 1.4rem; padding-inline: .3rem;
    box-sizing: border-box; border: 1px solid var(--w-edge); border-radius: .25rem;
    text-align: center; font: .8125rem/1.5 var(--w-mono);
  }
  table { margin-bottom: .6rem; }
  .tl-machine table { width: 100%; td { width: 38%; } }
  @container (max-width: 34rem) {
    .tl-form { grid-template-columns: 1fr 1fr; }
    .w-status { min-height: 6.2em; }
    dl > div { grid-template-columns: 7rem 1fr; }
    .tl-lane { grid-template-columns: minmax(var(--tl-width), 1fr); }
    .tl-lane > div:first-child { width: max-content; padding-top: .3rem; }
    .tl-axis > div:first-child { display: none !important; }
    .tl-machine :is(th, td) { padding-inline: .4rem; }
  }
}
`;
