// The search's dialog: a combobox over a list of links. Loaded by search.js when it is first asked for.

import { escape, spans } from "./common/bilingual.js";
import { h } from "./drill/dom.js";
import { forms, line, pieces } from "./search/context.js";
import { cleaned } from "./search/query.js";
import { Reader, titleOf } from "./search/reader.js";

const WORDS = {
  name: ["搜索全书", "Search the book"],
  hint: ["标题、报错、标识符，中文英文都行", "A title, an error, an identifier"],
  close: ["关闭", "Close"],
  help: ["↑↓ 选择，Enter 打开，Esc 关闭", "↑↓ to choose, Enter to open, Esc to close"],
  offline: ["索引没有加载成功。联网之后再试一次，或者刷新这一页。",
    "The index did not load. Try again once you are online, or reload the page."],
  texts: ["标题里没有，正在查正文……", "In no heading; looking through the texts …"],
  missing: ["有的章没有加载成功，那里只查了标题。重新打开搜索框会再试。",
    "Some chapters did not load, so only their headings were searched. Open this again to retry."],
  section: ["节", "Section"], card: ["卡片", "Card"], term: ["术语", "Term"],
  planned: ["编写中", "Being written"],
};
const TAGS = { zh: "zh-Hans", en: "en" };
const KEPT = "book-search"; // the last query, while this tab is open
const FOUND = "book-found"; // what is opened, for the page that opens (predict/found.js)
const mode = () => document.documentElement.dataset.lang ?? "both";
const words = ([zh, en]) => ({ zh, en, both: `${zh} · ${en}` })[mode()];
const both = (pair) => {
  const box = h("span");
  box.innerHTML = spans(pair.map(escape), '<span class="lang-sep"> · </span>');
  return box;
};

let box;

/** Show the dialog, with the last query selected. `onstale` is called where a file was not to be
 *  had: the next time, the search may be of another edition. */
export function open(site) {
  box ??= new Box();
  box.open(site);
}

class Box {
  constructor() {
    document.querySelector(".search-box")?.remove(); // of another edition
    this.input = h("input", { type: "text", class: "search-input", role: "combobox", id: "search-input",
      "aria-controls": "search-results", "aria-expanded": "false", "aria-autocomplete": "list",
      autocomplete: "off", autocapitalize: "off", spellcheck: "false", enterkeyhint: "go",
      oninput: (event) => { if (!event.isComposing) this.ask(); },
      oncompositionend: () => this.ask(), onkeydown: (event) => this.press(event),
      onpaste: (event) => this.paste(event) });
    this.list = h("div", { class: "search-results", role: "listbox", id: "search-results" });
    this.status = h("p", { class: "search-status", role: "status" });
    this.missing = h("p", { class: "search-missing", role: "status" });
    const close = h("button", { type: "button", class: "search-close", onclick: () => this.dialog.close() });
    close.append(both(WORDS.close));
    const help = h("p", { class: "search-help" }, both(WORDS.help));
    this.dialog = h("dialog", { class: "search-box",
      onclick: (event) => { if (event.target === this.dialog) this.dialog.close(); } },
    h("div", { class: "search-inner" }, h("div", { class: "search-line" }, this.input, close),
      this.status, this.missing, this.list, help));
    document.body.append(this.dialog);
  }

  open({ files, place, onstale }) {
    Object.assign(this, { place, onstale });
    if (this.files !== files) Object.assign(this, { files, reader: new Reader(files, place) });
    for (const named of [this.dialog, this.input, this.list]) named.setAttribute("aria-label", words(WORDS.name));
    this.input.placeholder = words(WORDS.hint);
    try { this.input.value ||= sessionStorage.getItem(KEPT) ?? ""; } catch { /* private mode */ }
    this.dialog.showModal();
    this.input.focus();
    this.input.select();
    this.ask();
  }

  /** A pasted traceback keeps what it says at its end; the box has one line. */
  paste(event) {
    const text = event.clipboardData.getData("text");
    if (!text.includes("\n")) return;
    event.preventDefault();
    const one = cleaned(text).text.replace(/\s+/g, " ").trim();
    this.input.setRangeText(one, this.input.selectionStart, this.input.selectionEnd, "end");
    this.ask();
  }

  /** What the headings answer at once, then what the whole book does. */
  ask() {
    this.first = this.answer(false);
    this.pending = this.first.then((goesOn) => goesOn && this.answer(true));
  }

  /** Show what is found by now, or in all that can be had; returns whether there is more to ask. */
  async answer(isWhole) {
    const text = this.input.value.trim();
    try { sessionStorage.setItem(KEPT, text); } catch { /* private mode */ }
    const found = await this.reader.search(text, mode(), isWhole).catch(() => null);
    if (text !== this.input.value.trim()) return false; // a later one is under way
    this.show(found ?? [], isWhole);
    this.say(text, found?.length, isWhole);
    return Boolean(text && found);
  }

  /** What was chosen in a list stays chosen in the one that goes on with it, which may be the same. */
  show(found, goesOn) {
    const chosen = goesOn && this.options?.[this.at]?.href;
    const key = [mode(), ...found.map(({ id, lang, terms }) => [id, lang, ...terms])].join("\n");
    if (key !== this.shown) {
      this.options = found.map((one, at) => this.option(one, at));
      this.list.replaceChildren(...this.options);
    }
    this.shown = key;
    this.choose(chosen ? this.options.findIndex(({ href }) => href === chosen) : -1);
    if (!goesOn) this.list.scrollTop = 0;
    this.input.setAttribute("aria-expanded", String(found.length > 0));
  }

  /** `count` is undefined where nothing could be asked. */
  say(text, count, isWhole) {
    this.dialog.classList.toggle("nothing", !count);
    const failed = count === undefined, missing = isWhole && this.reader.missing.size > 0;
    const pair = failed ? WORDS.offline : !text ? null
      : count ? [`${count} 条结果`, count === 1 ? "1 result" : `${count} results`]
      : !isWhole ? WORDS.texts
      : ["没有找到。少写几个词试试，或者只写一个标识符，或者只贴报错的最后一行。",
         "Nothing found. Try fewer words, one identifier, or only the last line of the error."];
    this.status.replaceChildren(...(pair ? [both(pair)] : []));
    this.missing.replaceChildren(...(missing ? [both(WORDS.missing)] : []));
    if (failed || missing) this.onstale();
  }

  option(one, at) {
    const shown = mode() === "both" ? ["zh", "en"] : [mode()];
    const link = h("a", { role: "option", id: `search-option-${at}`, class: `search-option is-${one.kind}`,
      href: this.address(one), tabindex: "-1", "aria-selected": "false",
      onclick: (event) => { if (!event.ctrlKey && !event.metaKey && !event.shiftKey) this.leave(one, link.found); } });
    const title = h("span", { class: "search-title" }, h("span", { class: "search-kind" }, both(WORDS[one.kind])));
    for (const lang of shown) title.append(marked("span", titleOf(one, lang), one.terms, lang));
    link.append(title, this.path(one, shown), h("span", { class: "search-context" }));
    this.quote(one, link);
    return link;
  }

  /** Where the entry stands: the title of its page, unless it is the page. */
  path({ page, anchor }, shown) {
    const box = h("span", { class: "search-path" });
    if (!anchor) return box;
    this.reader.top(page).then((title) => {
      if (title) box.append(...shown.map((lang) => h("span", { lang: TAGS[lang] }, title[lang])));
    });
    return box;
  }

  /** Close, and say what was found where: each word in the forms in which the text has it. */
  leave({ page, anchor, asked }, text = "") {
    const words = asked.map((terms) => forms(text, new Set(terms)));
    try { sessionStorage.setItem(FOUND, JSON.stringify({ page, anchor, words })); } catch { /* private mode */ }
    this.dialog.close();
    if (page === document.body.dataset.page) document.dispatchEvent(new Event("found"));
  }

  /** The line of context, once the text of the page is here; a card keeps its answer to itself. */
  async quote(one, link) {
    if (one.kind === "card") return;
    const lang = mode() === "both" ? one.lang : mode();
    const text = await this.reader.text(one, lang).catch(() => "");
    link.found = text;
    const quoted = line(text, one.terms, lang);
    if (!quoted) return;
    link.querySelector(".search-context").replaceWith(
      marked("span", quoted, one.terms, lang, "search-context"));
  }

  address({ page, anchor }) {
    const to = new URL(`../../${page}.html`, this.place);
    const lang = new URLSearchParams(location.search).get("lang");
    if (lang) to.searchParams.set("lang", lang);
    to.hash = anchor; // no :~:text=, for which a browser looks through the page before it moves
    return to.href;
  }

  choose(at) {
    this.at = at;
    this.options.forEach((option, place) => option.setAttribute("aria-selected", String(place === at)));
    if (at < 0) this.input.removeAttribute("aria-activedescendant");
    else this.input.setAttribute("aria-activedescendant", this.options[at].id);
    this.options[at]?.scrollIntoView({ block: "nearest" });
  }

  /** Open what is chosen, or the first, of what stands there by then. */
  async follow() {
    await this.first;
    if (!this.options.length) await this.pending;
    this.options[Math.max(this.at, 0)]?.click();
  }

  press(event) {
    if (event.isComposing) return;
    if (event.key === "Enter") {
      event.preventDefault();
      this.follow();
      return;
    }
    if (!this.options?.length) return;
    const last = this.options.length - 1;
    const to = { ArrowDown: this.at === last ? 0 : this.at + 1, ArrowUp: this.at <= 0 ? last : this.at - 1,
      ...(this.at >= 0 ? { Home: 0, End: last } : {}) }[event.key];
    if (to === undefined) return;
    this.choose(to);
    event.preventDefault();
  }
}

/** A text in its language with the words that were asked for marked. */
function marked(name, text, terms, lang, className = null) {
  return h(name, { lang: TAGS[lang], class: className }, pieces(text, terms).map(
    ({ text: piece, hit }) => (hit ? h("mark", {}, piece) : document.createTextNode(piece))));
}
