"""axe in a page: the rules that the book keeps, and what breaks them."""

from functools import cache

from book.pipeline.ground.paths import NPM

RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
ON_A_PHONE = ("scrollable-region-focusable", "target-size")
RUN = """async ([tags, within, rules]) => {
  const { violations, passes } = await axe.run(within, {
    runOnly: tags, rules, resultTypes: ['violations'], iframes: false,
  });
  return [violations.flatMap(({ id, nodes }) => nodes.map(
    (node) => `${id}: ${node.target} ${node.failureSummary}`)), passes.length];
}"""


@cache
def script():
    return (NPM / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


def violations(page, within="html", rules=RULES, at_least=1, more=(), without=()):
    """What breaks the rules with these tags (or of these names), and `more` of them, but for those
    in `without`; at least so many must have had something to judge, or the selector is wrong."""
    if page.evaluate("!window.axe"):
        page.evaluate(script())
    chosen = {rule: {"enabled": rule in more} for rule in (*more, *without)}
    found, passed = page.evaluate(RUN, [list(rules), within, chosen])
    assert passed >= at_least, f"axe judged {passed} rules within {within}"
    return found
