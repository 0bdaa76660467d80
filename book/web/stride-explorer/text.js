// What readers type as numbers and shapes, and how both are written.
const FULL_WIDTH = {
  "。": ".", "、": ",", "【": "[", "】": "]", "−": "-", "×": "x", "’": "'", "…": "..." };

/** Full-width punctuation and digits as the half-width ones that Python reads; "³" is no 3. */
export const halfWidth = (text) => text
  .replace(/[！-～]/g, (c) => String.fromCharCode(c.charCodeAt(0) - "！".charCodeAt(0) + 0x21))
  .replace(/[。、【】−×’…]/g, (c) => FULL_WIDTH[c]);

/** "3, 4", "(3, 4)", "3，4", "3x4", "3 4" or "torch.Size([3, 4])" as [3, 4], "()" as
 *  []; null for anything else. */
export function parseInts(text) {
  const bare = halfWidth(text).trim().replace(/^torch\.Size\((.*)\)$/, "$1").replace(/^\((.*)\)$|^\[(.*)\]$/, "$1$2");
  if (!bare.trim()) return bare === text.trim() ? null : [];
  const list = bare.replace(/,\s*$/, "").trim();
  const whole = /^-?\d{1,9}(\s*[,x*]\s*-?\d{1,9}|\s+-?\d{1,9})*$/;
  return whole.test(list) ? list.match(/-?\d+/g).map(Number) : null;
}

export const tuple = (a) => `(${a.join(", ")}${a.length === 1 ? "," : ""})`;
export const plural = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;
