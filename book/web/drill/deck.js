// The cards: one index for the queue, and one file a section with the texts, fetched when needed.

async function fetchJson(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.status} ${url}`);
  return response.json();
}

export class Deck {
  #texts = new Map(); // address -> promise of its texts

  constructor(base, { cards, chapters, files, titles = {} }) {
    this.base = base;
    this.cards = cards;
    this.chapters = chapters;
    this.files = files; // "01-tensors/storage-and-strides" -> address
    this.titles = titles; // the same -> title of its page, {zh, en}; none without a page
    this.byId = new Map(cards.map((card) => [card.id, card]));
  }

  static async load(url) {
    return new Deck(url, await fetchJson(url));
  }

  /** The cards of a section, "05-compile/fusion". */
  ofSection(name) {
    return this.cards.filter(({ chapter, section }) => `${chapter}/${section}` === name);
  }

  /** The texts of a card, as HTML made by the build. */
  async content(id) {
    const { chapter, section } = this.byId.get(id);
    const file = this.files[`${chapter}/${section}`];
    if (!this.#texts.has(file)) this.#texts.set(file, fetchJson(new URL(file, this.base)));
    try {
      return (await this.#texts.get(file))[id];
    } catch (error) {
      this.#texts.delete(file); // so that trying again fetches again
      throw error;
    }
  }
}
