// How widgets look in which a reader fills in fields: ready-made settings in a row, fields, and a
// picture of what they say. Their frame has the class `w-form` too; style.js has what is common.
export const FORM = `
:where(.widget) > .w-form {
  b { font-weight: 650; }
  small, .w-heading { color: var(--w-quiet); }
  .w-heading { margin-bottom: .4rem; font-size: .8125rem; }

  .w-presets {
    display: grid; grid-template-columns: repeat(auto-fill, minmax(10.5rem, 1fr)); gap: .4rem;
  }
  button {
    display: grid; gap: .1rem; align-content: start; padding: .4rem .5rem; text-align: start;
    border: 1px solid var(--w-line); border-radius: .4rem; background: none;
    color: inherit; font: inherit; line-height: 1.35; cursor: pointer;
    code { font-size: .75rem; color: var(--w-quiet); overflow-wrap: anywhere; }
  }
  button:hover { border-color: var(--w-accent); }
  button[aria-pressed=true] {
    border-color: var(--w-accent); box-shadow: inset 3px 0 var(--w-accent);
    background: color-mix(in srgb, var(--w-accent) 12%, transparent);
  }
  .w-presets [aria-pressed=true] > span { font-weight: 650; }

  .w-fields { display: grid; gap: .6rem; margin-top: 1rem; }
  .w-fields .w-heading { margin: 0; }
  .w-row { display: flex; flex-wrap: wrap; align-items: end; gap: .6rem .75rem; }
  input, textarea, select { width: 5.25rem; height: 2.25rem; padding: 0 .5rem; }
  .w-picture { margin-top: 1rem; padding-top: .85rem; border-top: 1px solid var(--w-line); }

  @container (max-width: 36rem) {
    .w-presets { display: flex; margin: -4px; padding: 4px; overflow-x: auto; }
    .w-presets button { flex: none; }
    .w-row { gap: .5rem; }
    .w-row input { width: 3.75rem; }
  }
}
`;
