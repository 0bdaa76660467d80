// A text in both languages as HTML; the rules of book.css show the reader's, or both.

export const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt()};`);

/** Two pieces of HTML, [Chinese, English], in elements of their language, with HTML between. */
export const spans = ([zh, en], between = " ", tag = "span") => (
  `<${tag} class="lang-zh" lang="zh-Hans">${zh}</${tag}>${between}`
  + `<${tag} class="lang-en" lang="en">${en}</${tag}>`);
