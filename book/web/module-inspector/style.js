// How the inspector looks. A kind is told by the form of its sign, not by a colour.
export const STYLE = `
html:not([data-lang=zh], [data-lang=en]) module-inspector
  :is(th, label > span, .w-status, .mi-list, .w-error) > .lang-zh { display: block; }
module-inspector .w-frame {
  .mi-form {
    display: grid; grid-template-columns: 1fr 11rem; gap: .6rem .75rem; align-items: start;
  }
  .mi-form > :is(.w-error, .mi-buttons, .mi-layers) { grid-column: 1 / -1; }
  :is(textarea, input:not([type=range])) {
    width: 100%; min-height: 2.75rem; padding: .55rem .6rem;
  }
  .mi-buttons { display: flex; flex-wrap: wrap; gap: .4rem; }
  .mi-buttons button { font-size: .875rem; small { color: var(--w-quiet); font-size: .8125rem; } }
  .mi-lists { margin-top: 1.1rem; padding-top: 1.1rem; border-top: 1px solid var(--w-line); code { font-size: .8125rem; } }
  .mi-layers { font-size: .875rem; summary { cursor: pointer; padding-block: .5rem; } }
  .mi-old { display: none; margin-block: .5rem; font-weight: 650; }
  &[data-stale] .mi-old { display: block; }
  .mi-list { min-height: 1.5em; margin-block: .5rem; }
  .mi-panels { display: grid; gap: 1.25rem; margin-top: .85rem; }

  table { width: 100%; }
  th, td { padding: .1rem .35rem; border-width: 0 0 1px; vertical-align: top; }
  tr:first-child th { color: var(--w-quiet); font-weight: 400; white-space: nowrap; }
  th[scope=row] {
    padding-inline-start: calc(.35rem + var(--depth) * .8rem); font-weight: 400;
    overflow-wrap: anywhere;
    > small { display: block; }
    b { font-weight: 650; }
  }
  small { font-size: .8125rem; color: var(--w-quiet); }
  .mi-calls th[scope=row] > small { display: inline; }
  .mi-tree td:nth-child(3), .mi-tree th:nth-child(3) { text-align: end; white-space: nowrap; }
  td code { white-space: nowrap; }
  [aria-current] { background: color-mix(in srgb, var(--w-accent) 14%, var(--w-ground)); }
  [aria-current] > :first-child { box-shadow: inset 3px 0 var(--w-accent); }
  [data-call] { cursor: pointer; }
  .mi-tree .mi-mark.mi-mark { width: 1.6em; text-align: center; font-weight: 650; }
  [data-mark="✓"] { background: color-mix(in srgb, var(--w-text) 9%, var(--w-ground)); }
  [data-mark="✗"] code { text-decoration: line-through; color: var(--w-quiet); }

  .mi-sign {
    display: inline-block; box-sizing: border-box; width: .72rem; height: .72rem;
    margin-inline-end: .45rem; border: 1.5px solid var(--w-text); vertical-align: -.05rem;
    forced-color-adjust: none;
  }
  .mi-parameter { background: var(--w-text); }
  .mi-frozen { background: linear-gradient(45deg, var(--w-text) 50%, transparent 50%); }
  .mi-non-persistent { border-style: dashed; }
  .mi-unregistered {
    border: 0; --bar: transparent 43%, var(--w-text) 43% 57%, transparent 57%;
    background: linear-gradient(45deg, var(--bar)), linear-gradient(-45deg, var(--bar));
  }
  .mi-letter {
    display: inline-grid; place-items: center; min-width: 1.2rem; height: 1.2rem;
    border: 1px solid var(--w-text); border-radius: .6rem; font-size: .75rem; line-height: 1;
    font-weight: 650;
  }
  @container (min-width: 52rem) {
    .mi-panels { grid-template-columns: 1fr 1fr; }
  }
  @container (max-width: 34rem) {
    .mi-form { grid-template-columns: 1fr; }
    .mi-lists button { flex: 1 1 45%; }
    th, td { padding-inline: .2rem; }
    th[scope=row] { padding-inline-start: calc(.2rem + var(--depth) * .55rem); }
    .mi-sign { margin-inline-end: .3rem; }
    .mi-tree th:nth-child(n + 4) { /* its words only for those who listen */
      position: relative;
      > span {
        position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
      }
    }
    .w-status { min-height: 6em; }
  }
}
`;
