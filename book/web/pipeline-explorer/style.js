// How the explorer looks. What is lit is told by a bar and by weight, not by a colour alone.
export const STYLE = `
html:not([data-lang=zh], [data-lang=en]) pipeline-explorer
  :is(.pe-say, .w-status, .w-legend, small) > .lang-zh { display: block; }
pipeline-explorer .w-frame {
  .pe-say { margin-top: .85rem; min-height: 3em; }
  .w-status { min-height: 3em; }
  .w-controls > button { flex: 0 1 auto; font-size: .875rem; }
  small { color: var(--w-quiet); font-size: .8125rem; }

  .pe-stages { columns: 2; column-gap: 1.5rem; }
  .pe-stage {
    position: relative; break-inside: avoid; max-height: 16rem; margin-bottom: 1.25rem;
    overflow-y: auto; overscroll-behavior: auto; scrollbar-width: thin;
  }
  .pe-name { position: sticky; top: 0; z-index: 1; background: var(--w-ground); padding-bottom: .3rem; border-bottom: 1px solid var(--w-line); }
  .pe-name b { font-weight: 650; }
  .pe-what { margin: .2rem 0 .3rem; }
  .pe-title { margin-top: .5rem; font-weight: 650; overflow-wrap: anywhere; }
  ol { margin: 0; padding: 0; list-style: none; }
  li { margin: 0; }
  li::marker { content: ""; }

  .pe-row {
    display: block; box-sizing: border-box; width: 100%; min-width: 0; min-height: 1.5rem;
    margin: 0; padding: .1rem .4rem .1rem 1.6rem; text-indent: -1.1rem;
    border: 0; border-inline-start: 3px solid transparent; border-radius: 0;
    color: inherit; font: .8125rem/1.5 var(--w-mono); text-align: start;
    overflow-wrap: anywhere;
  }
  .pe-row code { text-indent: 0; font-size: 1em; }
  .pe-head { color: var(--w-quiet); margin-inline-end: .35em; }
  .pe-text { white-space: pre-wrap; }
  button.pe-row:hover { background: color-mix(in srgb, var(--w-text) 6%, var(--w-ground)); }
  button.pe-row[aria-pressed=true] {
    border-color: var(--w-accent); font-weight: 400;
    background: color-mix(in srgb, var(--w-accent) 13%, var(--w-ground));
    .pe-text { font-weight: 650; }
    .pe-head { color: var(--w-text); }
  }
  button.pe-row[data-chosen] { outline: 1px solid var(--w-accent); outline-offset: -1px; }
  button.pe-row:focus-visible { outline: 2px solid var(--w-accent); outline-offset: -2px; }

  .pe-tabs { display: none; }
  @container (max-width: 38rem) {
    .w-controls > button { flex: 1 1 auto; }
    .pe-stages { columns: 1; }
    .pe-tabs {
      display: flex; flex-wrap: wrap; gap: .4rem; margin-bottom: .85rem;
      button { flex: 1 1 40%; font-size: .875rem; }
    }
    .pe-stage:not(:first-child, [data-turned]) { display: none; }
    .pe-row { padding-inline: 1.4rem .2rem; }
  }
  @media print { .pe-tabs { display: none; } .pe-stage { display: block !important; max-height: none; } }
}
`;
