// Inlined behind <p class="go-on">, which it fills before anything below is painted: the way back
// to where the reader was, in the book or on this page. progress.js remembers the place.
{
  const line = document.currentScript.previousElementSibling;
  const { kind, page, up } = line.dataset;
  const remembered = () => {
    try { return JSON.parse(localStorage.getItem("book-position")) ?? {}; } catch { return {}; }
  };
  const { last, pages } = remembered();
  const isHere = kind === "here";
  const known = pages?.[isHere ? page : last];
  const at = known?.title && known; // what another edition wrote may be no place

  // who comes by an anchor, or goes back or forward, is where they want to be
  const came = performance.getEntriesByType("navigation")[0]?.type;
  const isFree = !isHere || (at?.id && !location.hash && (came ?? "navigate") === "navigate");

  const spans = (name, [zh, en]) => {
    const element = document.createElement(name);
    [["zh", "zh-Hans", zh], ["sep", "", " · "], ["en", "en", en]].forEach(([part, lang, text]) => {
      const span = document.createElement("span");
      span.className = `lang-${part}`;
      if (lang) span.lang = lang;
      span.textContent = text;
      element.append(span);
    });
    return element;
  };
  const bothOf = (make) => [0, 1].map(make);
  const words = {
    lead: isHere ? ["上次读到：", "You were at: "] : ["接着读：", "Go on reading: "],
    left: isHere || !at?.left ? ["", ""] : [`，还剩 ${at.left[0]} 分钟`, `, ${at.left[1]} min left`],
    place: (i) => [!isHere && at.title[i], at.heading?.[i] ?? at.question?.[i]].filter(Boolean).join(" · "),
  };

  if (at && isFree) {
    const link = spans("a", bothOf(words.place));
    link.href = `${isHere ? "" : `${up}${last}.html`}${at.id ? `#${at.id}` : ""}`;
    const close = spans("button", ["不用", "Dismiss"]);
    close.type = "button";
    close.addEventListener("click", () => { line.hidden = true; });
    line.append(spans("span", words.lead), link, spans("span", words.left),
      ...(isHere ? [" ", close] : []));
    line.hidden = false;
  }
}
