// Chinese words as a keyboard of Latin letters spells them, without tones: 计算图 is jisuantu. The
// build sends the sound of each character of the titles (finish/pinyin.py).

const MOST = 100; // spellings of one word, of which each character may have several

/** From `ban版半 ben本`: the syllables of each character. */
function syllables(table) {
  const found = new Map();
  for (const [, sound, characters] of table.matchAll(/([a-z]+)([^ ]+)/g)) {
    for (const one of characters) found.set(one, [...(found.get(one) ?? []), sound]);
  }
  return found;
}

/** Of these words those that each spelling may mean: {jisuantu -> [计算图]}. */
export function spellings(words, table) {
  const sounds = syllables(table), found = new Map();
  for (const word of words) {
    let spelled = [""];
    for (const one of word) {
      spelled = spelled.flatMap((start) => (sounds.get(one) ?? []).map((end) => start + end)).slice(0, MOST);
    }
    for (const spelling of spelled) found.set(spelling, [...(found.get(spelling) ?? []), word]);
  }
  return found;
}
