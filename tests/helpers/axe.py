"""axe in a page: the rules that the book keeps, and what breaks them."""

from functools import cache

from book.pipeline.paths import NPM

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
ON_A_PHONE = ["scrollable-region-focusable", "target-size"]
RUN = """async ([tags, within, rules]) => {
  const { violations, passes } = await axe.run(within, {
    runOnly: tags, rules, resultTypes: ['violations'], iframes: false,
  });
  return [violations.flatMap(({ id, nodes }) => nodes.map(
    (node) => [id, String(node.target), node.failureSummary])), passes.length];
}"""


@cache
def script():
    return (NPM / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


def violations(page, tags=RULES, within="html", more=(), without=()):
    """`(rule, element, what to mend)` of each breach of the rules with these tags (or of these
    names), of `more` rules, and of none of those in `without`."""
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(script())
    rules = {rule: {"enabled": rule in more} for rule in (*more, *without)}
    found, passed = page.evaluate(RUN, [list(tags), within, rules])
    assert found or passed, f"no rule of {tags} looked at anything in {within}"
    return [tuple(one) for one in found]
