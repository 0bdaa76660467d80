// The form to report an error also says which heading was read last, and in which language.
{
  /** The id of the heading that what is on the screen stands under; empty above the first. */
  const headingBeingRead = () => [...document.querySelectorAll("article section[id]")]
    .findLast((part) => part.getBoundingClientRect().top < innerHeight / 2)?.id;

  const fillIn = (event) => {
    const link = event.target.closest?.("[data-report]");
    if (!link) return;
    link.dataset.report ||= link.href; // as the build wrote it
    const form = new URL(link.dataset.report), heading = headingBeingRead();
    const lines = [heading && `小节 · Heading: #${heading}`,
      `语言 · Language: ${document.documentElement.dataset.lang}`];
    form.searchParams.set("body",
      `${form.searchParams.get("body")}${lines.filter(Boolean).join("\n")}\n`);
    link.href = form.href;
  };

  // at the foot of the page every heading is above: the last one on the screen before it counts
  for (const kind of ["pointerdown", "click"]) document.addEventListener(kind, fillIn);
}
