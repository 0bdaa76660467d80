// The cards: one index for the queue, and one file a chapter with the texts, fetched when needed.

async function fetchJson(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.status} ${url}`);
  return response.json();
}

export class Deck {
  #files = new Map();

  constructor(base, { cards, chapters }) {
    this.base = base;
    this.cards = cards;
    this.chapters = chapters;
    this.byId = new Map(cards.map((card) => [card.id, card]));
  }

  static async load(url) {
    return new Deck(url, await fetchJson(url));
  }

  /** The texts of a card, as HTML made by the build. */
  async content(id) {
    const { chapter } = this.byId.get(id);
    const { file } = this.chapters.find(({ slug }) => slug === chapter);
    if (!this.#files.has(file)) this.#files.set(file, fetchJson(new URL(file, this.base)));
    try {
      return (await this.#files.get(file))[id];
    } catch (error) {
      this.#files.delete(file); // so that trying again fetches again
      throw error;
    }
  }
}
