// The search button of every page: `/` and Ctrl-K open it too. What searches loads on first use.
{
  const files = SEARCH_FILES; // the build puts the names of the files here
  const place = new URL("search/", document.currentScript.src);
  const button = document.querySelector("[data-search]");
  let box, failed = 0;
  const open = async () => {
    try {
      box ??= import(new URL(failed ? `${files.box}?${failed}` : files.box, place));
      (await box).open({ files, place });
      button.nextElementSibling.hidden = true;
    } catch {
      box = undefined;
      failed += 1; // a browser keeps the failure under the old name
      button.nextElementSibling.hidden = false;
    }
  };
  const typing = (target) => target.closest?.("input, textarea, select, [contenteditable]");
  button?.addEventListener("click", open);
  if (button) {
    document.addEventListener("keydown", (event) => {
      const asked = event.key === "/" ? !(event.ctrlKey || event.metaKey || event.altKey
        || event.defaultPrevented || typing(event.target))
        : event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
      if (!asked || document.querySelector("dialog:modal")) return;
      event.preventDefault();
      open();
    });
    if (location.hash === "#search") open(); // a shortcut of the installed book (finish/app.py)
  }
}
