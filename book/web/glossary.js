// <term-cards>: the definitions of the terms marked on a page; on the glossary's page, its list.
//
// A marked word is a link to the glossary. With a mouse its card opens after a moment, with the
// keyboard as soon as it has the focus, on touch with the first tap; a second closes it. One card at
// a time; it stands right after its word, so that Tab goes on into it. Escape closes it.

const WAIT = { open: 250, close: 250 }; // ms: a mouse that passes by opens nothing
const GAP = 8; // px to the edge of the screen

let shown = null; // the word whose card is open
let timer;

const cardOf = (word) => document.getElementById(word.dataset.card);
const inside = (node) => node instanceof Element && shown
  && (shown.contains(node) || cardOf(shown).contains(node));

function later(wait, what) {
  clearTimeout(timer);
  timer = setTimeout(what, wait);
}

function open(word) {
  clearTimeout(timer);
  if (shown === word) return;
  close();
  const card = cardOf(word);
  word.after(card);
  card.showPopover();
  shown = word;
  put(card, word.getClientRects()[0]); // a word may be broken over two lines
}

/** Below its word, above where there is no room; never over an edge of the screen. */
function put(card, word) {
  const { width, height } = card.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  const left = Math.max(GAP, Math.min(word.left, clientWidth - width - GAP));
  const below = word.bottom + height + GAP <= clientHeight || word.top < height + GAP;
  card.style.left = `${left + scrollX}px`;
  card.style.top = `${(below ? word.bottom : word.top - height) + scrollY}px`;
}

function close() {
  clearTimeout(timer);
  if (shown) cardOf(shown).hidePopover();
  shown = null;
}

const wordAt = (event) => event.target instanceof Element
  && event.target.closest("a.term[data-card]");

function listen() {
  let touch = false; // how the last press was made; a click does not say it everywhere
  addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const word = wordAt(event);
    if (word) later(WAIT.open, () => open(word));
    else if (inside(event.target)) clearTimeout(timer);
    else later(WAIT.close, () => { if (!inside(document.activeElement)) close(); });
  });
  addEventListener("pointerdown", (event) => {
    touch = event.pointerType === "touch";
    if (!inside(event.target)) close();
  });
  addEventListener("click", (event) => {
    const word = wordAt(event);
    if (!word || !touch) return;
    event.preventDefault();
    if (shown === word) close();
    else open(word);
  });
  addEventListener("focusin", (event) => {
    const word = wordAt(event);
    if (word?.matches(":focus-visible")) open(word);
    else if (!inside(event.target)) close();
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !shown) return;
    if (cardOf(shown).contains(document.activeElement)) shown.focus();
    close();
  });
}

/** The list of all terms in the order of the language that is read. */
function sort(list) {
  const key = { zh: (entry) => Number(entry.dataset.zh), en: (entry) => english.indexOf(entry) };
  const english = [...list.children];
  const apply = () => {
    const by = key[document.documentElement.dataset.lang === "zh" ? "zh" : "en"];
    list.append(...[...list.children].sort((a, b) => by(a) - by(b)));
  };
  new MutationObserver(apply).observe(
    document.documentElement, { attributeFilter: ["data-lang"] });
  apply();
  document.getElementById(location.hash.slice(1))?.scrollIntoView(); // where the list has put it
}

customElements.define("term-cards", class extends HTMLElement {
  connectedCallback() {
    const list = this.querySelector("dl");
    if (list) sort(list);
    else if ("showPopover" in this) listen();
  }
});
