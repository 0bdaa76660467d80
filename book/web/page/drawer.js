// Where the columns beside the text have no place, they open as a dialog over it.

/** The contents of the page and of the book move into the dialog while it is open. */
export function drawer() {
  const dialog = document.getElementById("contents-drawer");
  const button = document.querySelector(".contents-button");
  const parts = ["on-this-page", "contents"].map((id) => document.getElementById(id))
    .filter(Boolean).map((part) => ({ part, place: document.createComment(part.id) }));

  button.addEventListener("click", () => {
    for (const { part, place } of parts) {
      part.replaceWith(place);
      dialog.append(part);
    }
    dialog.showModal();
  });
  dialog.addEventListener("close", () => {
    for (const { part, place } of parts) place.replaceWith(part);
  });
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog || target.closest("a")) dialog.close(); // beside it, or a way out of it
  });
}
