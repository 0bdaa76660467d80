"""What axe finds on a page, and what it does not judge: the contrast of two colours."""

import re

from book.pipeline.paths import ROOT

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
RUN = """async ([rules, within]) => {
  const { violations, passes } = await axe.run(within, { runOnly: rules });
  return [violations.flatMap(({ id, nodes }) => nodes.map(
    (node) => `${id}: ${node.target} ${node.failureSummary}`)), passes.length];
}"""


def violations(page, within="html", rules=RULES, at_least=1):
    """What axe finds within a selector; at least so many of its rules must have had something
    to judge there, or the selector is wrong."""
    if page.evaluate("!window.axe"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found, passed = page.evaluate(RUN, [list(rules), within])
    assert passed >= at_least, f"axe judged {passed} rules within {within}"
    return found


def rgb(colour):
    """Red, green, blue of `rgb(r, g, b)` as a browser computes it."""
    return [int(part) for part in re.findall(r"\d+", colour)[:3]]


def luminance(colour):
    """Relative luminance of `rgb(r, g, b)`, WCAG 2."""
    parts = [part / 255 for part in rgb(colour)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
