// The search button of every page: `/` and Ctrl-K open it too. What searches loads on first use.
{
  // Each edition names its files in names.json, and no page knows them: its own name must not stay.
  const place = new URL("search/", document.currentScript.src);
  const button = document.querySelector("[data-search]");
  let asked, opened, failed = 0;
  const load = async () => {
    const answer = await fetch(new URL("names.json", place), { cache: "no-cache" });
    const files = await answer.json();
    // a browser keeps the failure of a module under its name
    const box = await import(new URL(failed ? `${files.box}?${failed}` : files.box, place));
    return () => box.open({ files, place, onstale: () => { asked = undefined; } });
  };
  const open = async () => {
    asked ??= load().then((one) => { opened = one; }, () => { asked = undefined; failed += 1; });
    await asked;
    opened?.();
    button.nextElementSibling.hidden = Boolean(opened);
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
