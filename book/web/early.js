// Inlined into <head>: language and theme are set before the first paint, so nothing flashes, and the
// face of English text is asked for with the style, so that it's seldom swapped in later.
{
  const root = document.documentElement;
  const stored = (key) => {
    try { return localStorage.getItem(key); } catch { return null; }
  };
  const asked = new URLSearchParams(location.search).get("lang");
  const browser = navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
  const lang = [asked, stored("book-lang"), browser].find((x) => ["zh", "en", "both"].includes(x));
  root.dataset.lang = lang;
  root.lang = lang === "en" ? "en" : "zh-Hans";
  if (lang !== "zh" && location.protocol !== "file:") {  // of a folder, browsers refuse it
    const href = document.currentScript.dataset.face;
    const face = { rel: "preload", as: "font", type: "font/woff2", crossOrigin: "", href };
    document.head.append(Object.assign(document.createElement("link"), face));
  }
  if (stored("book-open")) root.dataset.open = "";
  const mode = stored("mode");
  root.dataset.mode = ["light", "dark"].includes(mode) ? mode : "auto";
  root.dataset.theme = root.dataset.mode !== "auto" ? mode
    : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}
