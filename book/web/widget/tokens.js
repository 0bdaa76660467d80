/** The tokens {text, at, digits, name} of what one writes in Python. `pattern` is sticky and global
 *  and has groups `digits` and `name`; if it has `line` too, a new line that stands between no
 *  brackets ends a statement and is the token `;`. */
export function tokensOf(text, pattern) {
  const found = [];
  let depth = 0;
  for (const { 0: match, index, groups: { line, digits, name } } of text.matchAll(pattern)) {
    const token = line ?? match.trimStart(), at = index + match.length - token.length;
    depth += "([".includes(token) - ")]".includes(token);
    if (!line) found.push({ text: token, at, digits, name });
    else if (depth <= 0) found.push({ text: ";", at, line });
  }
  return found;
}
