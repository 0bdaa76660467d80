// "On this page" marks the section that is being read.

const BY_HAND = ["wheel", "touchmove", "keydown"];

/** The last heading above a line near the top of the screen, else the first. */
function current(headings) {
  const above = headings.filter((heading) => heading.getBoundingClientRect().top < 120);
  return above.at(-1) ?? headings[0];
}

/** The section that the address leads to: the innermost that holds it. */
function asked(headings) {
  const target = document.querySelector(":target");
  return target ? headings.findLast((heading) => heading.contains(target)) : null;
}

const onScreen = (element) => {
  const { top } = element.getBoundingClientRect();
  return top >= -1 && top < innerHeight;
};

export function follow() {
  const links = [...document.querySelectorAll("#on-this-page a")];
  const sections = new Map(links.map((link) => (
    [document.getElementById(decodeURIComponent(link.hash.slice(1))), link])));
  sections.delete(null);
  if (!sections.size) return;
  const headings = [...sections.keys()];
  let target = null; // near the end of a page it stands far below the line
  let reached = false; // the browser may still be on its way there when the page has loaded
  const mark = () => {
    if (target && onScreen(target)) reached = true;
    else if (reached) target = null;
    const here = sections.get(target ?? current(headings));
    for (const link of links) link.classList.toggle("is-here", link === here);
  };
  const arrive = () => { target = asked(headings); reached = false; mark(); };
  const leave = () => { if (target) { target = null; mark(); } };
  // A section that comes or goes is the only time at which the answer can change.
  const observer = new IntersectionObserver(mark, { rootMargin: "-120px 0px 0px", threshold: [0] });
  for (const section of headings) observer.observe(section);
  for (const name of BY_HAND) addEventListener(name, leave, { passive: true });
  addEventListener("hashchange", arrive);
  addEventListener("load", arrive);
  mark();
}
