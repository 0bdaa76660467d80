// How aligned shapes look. What happens to a size is told by a border and by a word.
export const STYLE = `
html:not([data-lang=zh], [data-lang=en]) aligned-shapes
:is(td, .w-error, .as-outcome, td small) > span {
  display: block;
}
aligned-shapes .w-frame {
  .as-wide { overflow-x: auto; margin-block: .25rem; }
  .as-wide code { white-space: nowrap; }
  table { display: table; width: auto; margin: 0; border-collapse: collapse; }
  th, td {
    padding: .3rem .6rem; border: 1px solid var(--w-line); text-align: start;
    vertical-align: top; background: none; color: inherit; font-weight: 400;
  }
  tr { background: none; }
  :is(th, td) > small { display: block; font-size: .75rem; line-height: 1.35; }
  .as-aligned :is(thead th + th, td) { text-align: center; }
  .as-aligned td > code { font-weight: 650; }
  .as-aligned :is(.as-added, .as-filled) { border-style: dashed; }
  .as-aligned :is(.as-stretched, .as-added) {
    background: color-mix(in srgb, var(--w-accent) 14%, transparent);
  }
  .as-aligned .as-conflict { box-shadow: inset 0 0 0 2px var(--w-text); }
  .as-aligned tfoot { border-top: 2px solid var(--w-edge); }
  .as-verdicts { margin: .75rem 0; padding: 0; list-style: none; }
  .as-verdicts li { margin: 0; padding: 0; }
  .as-outcome { padding: .4rem .75rem; border-inline-start: 3px solid var(--w-accent); }
  .as-outcome code { overflow-wrap: anywhere; }
  .as-costs { margin-top: 1rem; font-size: .875rem; }
  .w-row [name^=operand] { width: 9rem; }

  @container (max-width: 36rem) {
    .as-wide :is(th, td) { padding: .25rem .4rem; }
    .as-costs { font-size: .8125rem; }
    .w-row [name^=operand] { width: 7.5rem; }
  }
}
`;
