// The script of a widget loads when the widget comes near the screen; until then its table shows.
// What stands below the screen grows without moving what is read.
const PREFIX = "data-near-"; // an attribute for each widget: its address stands where others do
const script = [...document.scripts].find(({ src }) => /\/near\.js\b/.test(src));
const files = Object.fromEntries([...script.attributes].filter(({ name }) => name.startsWith(PREFIX))
  .map(({ name, value }) => [name.slice(PREFIX.length), value]));

const near = new IntersectionObserver((seen) => {
  for (const { isIntersecting, target } of seen) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    import(new URL(files[target.localName], document.baseURI)); // a second time costs nothing
  }
}, { rootMargin: "100% 0px" }); // a screen before it shows

for (const name of Object.keys(files)) {
  for (const widget of document.querySelectorAll(name)) near.observe(widget);
}
