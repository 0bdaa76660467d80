// openStore() of drill/store.js for elements that need it late, not when the page first shows: the
// code comes as a file of its own that all modules of a page share.

let opened;

/** The store of this browser (drill/store.js); loaded and opened on the first call. */
export function progressStore() {
  opened ??= import(new URL("./store.js", import.meta.url)).then(({ openStore }) => openStore())
    .catch((error) => {
      opened = undefined; // off the line for a moment: the next call tries again
      throw error;
    });
  return opened;
}
