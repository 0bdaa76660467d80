// What a visitor sees on a page: each function returns what is wrong, as {where, text}, or what is
// to be judged. Nothing here changes the page but `openAll`, `choose` and `tables`, which scrolls.
window.look = (() => {
  const root = () => document.documentElement; // absent when this is read
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  /** A short address for people: the element, below the nearest one with an id. */
  function where(element) {
    const name = ({ tagName, classList }) => [
      tagName.toLowerCase(), ...[...classList].slice(0, 2)].join(".");
    const held = element.closest("[id]");
    if (held === element) return `${name(element)}#${element.id}`;
    return `${held ? `#${held.id} ` : ""}${name(element)}`;
  }
  const text = (element) => element.textContent.trim().replace(/\s+/g, " ").slice(0, 50);
  const told = (element, words) => ({ where: where(element), text: words ?? text(element) });
  const isShown = (element) => element.checkVisibility({
    visibilityProperty: true, contentVisibilityAuto: true });

  /** Commit every prediction and open every fold, so that all content is on the page. */
  function openAll() {
    for (const cell of all("predict-cell")) cell.querySelector(".predict-choice").click();
    for (const fold of all("details")) fold.open = true;
  }

  function choose(mode) {
    document.querySelector(`[data-set-lang=${mode}]`).click();
    return [root().dataset.lang, root().lang, document.title];
  }

  /** Go to the end, and to each picture that waits for that; ends when they have come or failed. */
  async function readThrough() {
    const come = (image) => image.complete || new Promise((done) => {
      image.addEventListener("load", done);
      image.addEventListener("error", done);
    });
    for (const image of [...document.images].filter(isShown)) {
      image.scrollIntoView({ behavior: "instant" });
      await come(image);
    }
    scrollTo({ top: document.body.scrollHeight, behavior: "instant" });
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }

  // ---- on paper ------------------------------------------------------------------------------

  const isOnPaper = (element) => isShown(element) && element.getBoundingClientRect().height > 0;

  /** Folds whose inside is not there, and forms that are; what a prediction hid. The drill is no
      text to be printed, and a proof is printed where a reader has opened it. */
  function paper() {
    const closed = all("article details:not(card-drill *)").filter(isShown).filter(
      (fold) => ![...fold.children].slice(1).some(isOnPaper));
    const lost = all("predict-cell pre, .explanation > .bi-pair").filter((box) => !isOnPaper(box));
    const left = all("form, .predict-form, .predict-ways, .lang-switch, .explanation-note").filter(isShown);
    return { closed: closed.map((box) => told(box)), lost: lost.map((box) => told(box)),
      left: left.map((box) => told(box)) };
  }

  // ---- on a phone ----------------------------------------------------------------------------

  /** What makes the page wider than the screen: the outermost, and nothing that is in a box which
      scrolls or hides what is too wide. */
  function tooWide() {
    const width = root().clientWidth;
    if (root().scrollWidth <= width) return [];
    const isHeld = (element) => element !== document.body && element !== null
      && (getComputedStyle(element).overflowX !== "visible" || isHeld(element.parentElement));
    const wide = new Set(all("body *").filter((element) => (
      element.getBoundingClientRect().right > width + 0.5 && !isHeld(element.parentElement))));
    const outermost = [...wide].filter(({ parentElement }) => !wide.has(parentElement));
    return (outermost.length ? outermost : [document.body]).map((element) => told(element));
  }

  /** Code and drawings that do not scroll, and any other text whose box hides its end; KaTeX cuts
      the long stroke of a root by itself. */
  function cut() {
    const scrolls = (box) => ["auto", "scroll"].includes(getComputedStyle(box).overflowX);
    const hides = (box) => ["hidden", "clip"].includes(getComputedStyle(box).overflowX);
    const wide = all("article, article *").filter((box) => box.clientWidth > 1
      && box.scrollWidth > box.clientWidth + 1 && isShown(box)
      && !box.closest("span.math, .katex"));
    return wide.filter((box) => (box.matches("pre, figure.drawing") ? !scrolls(box) : hides(box)))
      .map((box) => told(box));
  }

  /** Code in tables that is cut though one line could hold it (20 rem, less on a screen of 320 px),
      and boxes of tables that do not scroll or that Tab does not reach. */
  function tables() {
    const short = all("article :is(td, th) code").filter((code) => {
      const lines = new Set(all(".pre", code).flatMap((word) => (
        [...word.getClientRects()].map(({ top }) => Math.round(top)))));
      const one = code.textContent.length * parseFloat(getComputedStyle(code).fontSize) * 0.63;
      return lines.size > 1 && one < innerWidth - 100;
    });
    const wide = all("article .wide-table")
      .filter((box) => box.scrollWidth > box.clientWidth + 1); // one pixel is rounding
    return { cut: short.map((code) => told(code)),
      // a script can scroll what is hidden, a finger cannot
      stuck: wide.filter((box) => (box.scrollLeft = 99, !box.scrollLeft)
        || !/auto|scroll/.test(getComputedStyle(box).overflowX)).map((box) => told(box)),
      unreachable: wide.filter((box) => box.tabIndex !== 0).map((box) => told(box)) };
  }

  /** Size in pixels of the smallest text of each drawing, and by how much it must be scrolled. */
  const drawings = () => all("figure.drawing").filter(isShown).map((figure) => ({
    where: where(figure), hidden: figure.scrollWidth - figure.clientWidth,
    smallest: Math.min(...all("text", figure).filter(isShown).map((label) => (
      parseFloat(getComputedStyle(label).fontSize) * label.ownerSVGElement.getScreenCTM().a))),
  }));

  // ---- languages -----------------------------------------------------------------------------

  /** Parts of a language that are displayed, and that are not; the letters of the glossary are
      those of the order in which it stands, one language's at a time. */
  function parts(kind) {
    const is = (part) => getComputedStyle(part).display !== "none";
    const found = all(`.lang-${kind}:not(.letters > *)`), shown = found.filter(is);
    return { shown: shown.map((part) => told(part)),
      hidden: found.filter((part) => !shown.includes(part)).map((part) => told(part)) };
  }

  // ---- colours -------------------------------------------------------------------------------

  // At their edges these fade into their own ground, which their text is judged on.
  const FADING = "article :is(pre, .wide-table, .wide-table :is(th, td), .output, .katex-display)";
  const boxes = new Map();

  /** Grounds and opacities of an element and of what holds it; null if it is not to be seen. */
  function box(element) {
    if (!element) return [];
    if (!boxes.has(element)) boxes.set(element, findBox(element));
    return boxes.get(element);
  }
  function findBox(element) {
    const outer = box(element.parentElement);
    if (!outer) return null;
    const style = getComputedStyle(element);
    if (style.display === "none" || style.visibility !== "visible" || style.opacity === "0"
        || (style.position === "absolute" && (style.clip !== "auto"
          || style.clipPath.startsWith("inset(50%")))) return null;
    const image = style.backgroundImage !== "none" && !element.ownerSVGElement
      && !(element.matches(FADING) && /^linear-gradient/.test(style.backgroundImage)
        && !style.backgroundImage.includes("url("));
    const plain = style.backgroundColor === "rgba(0, 0, 0, 0)" && style.opacity === "1" && !image;
    return plain ? outer : [...outer, [style.backgroundColor, Number(style.opacity), image]];
  }

  /** Fills of the shapes of a drawing that lie below a text, in the order of painting. */
  function below(label) {
    const { x, y, width, height } = label.getBoundingClientRect();
    const middle = new DOMPoint(x + width / 2, y + height / 2);
    return all("rect, path, circle, ellipse, polygon", label.ownerSVGElement).filter((shape) => {
      if (!(shape.compareDocumentPosition(label) & Node.DOCUMENT_POSITION_FOLLOWING)) return false;
      const matrix = shape.getScreenCTM();
      return getComputedStyle(shape).fill.includes("(") && !shape.closest("defs") && isShown(shape)
        && matrix && shape.isPointInFill(middle.matrixTransform(matrix.inverse()));
    }).map((shape) => {
      const { fill, fillOpacity, opacity } = getComputedStyle(shape);
      return [fill, Number(fillOpacity) * Number(opacity)];
    });
  }

  function isLarge(element, style) {
    const scale = element.ownerSVGElement ? element.ownerSVGElement.getScreenCTM().a : 1;
    const size = parseFloat(style.fontSize) * scale;
    return size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  }

  /** Each combination of ink, ground and size of text that is to be seen, with its first place. */
  function pairs() {
    boxes.clear();
    const found = new Map(), inks = new Map();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      if (!walker.currentNode.data.trim() || inks.get(element) === null) continue;
      if (!inks.has(element)) inks.set(element, inkOf(element));
      const ink = inks.get(element);
      if (ink && !found.has(ink.key)) found.set(ink.key, { ...ink, ...told(element) });
    }
    return [...found.values()];
  }
  function inkOf(element) {
    const held = box(element);
    if (!held || !isShown(element) || !element.getClientRects().length) return null;
    const style = getComputedStyle(element), svg = Boolean(element.ownerSVGElement);
    const ink = svg ? [style.fill, Number(style.fillOpacity)] : [style.color, 1];
    const under = svg ? below(element.closest("text") ?? element) : [];
    const large = isLarge(element, style);
    return { ink, under, held, large, key: JSON.stringify([ink, under, held, large]) };
  }

  return { openAll, choose, readThrough, paper, tooWide, cut, tables, drawings, parts, pairs };
})();
