"""Every address of a file that a page loads names the file's content, all the way down.

`../_static/book.css?v=3eedd66b`: the first eight digits of the sha256 of what is there. A style
names its fonts so, a script the scripts that it loads later, a page all of them; so that the digest
of a page decides what it runs with, and two editions can never be mixed (see book/web/offline).
"""

from __future__ import annotations

import re
from pathlib import Path

from book.pipeline.content import publication
from book.pipeline.ground import digests

FOLDERS = "_static|_images"
DIGITS = 8
IN_PAGE = re.compile(
    rf'="(?P<path>(?:/(?:[^"?#]*/)?|(?:\.{{1,2}}/)*)(?:{FOLDERS})/[^"?#]+)'
    r'(?:\?[^"#]*)?(?P<rest>(?:#[^"]*)?")')
IN_STYLE = re.compile(
    r"""(?<=url\()(?P<path>["']?[^"':?#)]+)(?:\?[^"'#)]*)?(?P<rest>(?:#[^"')]*)?["']?\))""")
IN_SCRIPT = re.compile(
    r'(?P<path>["\'`](?:\.{1,2}/)*[\w./-]+\.(?:m?js|css|json|wasm))'
    r'(?:\?v=[0-9a-f]{8})?(?P<rest>["\'`])')
PATTERNS = {".css": IN_STYLE, ".js": IN_SCRIPT, ".mjs": IN_SCRIPT}
STAMP = '<meta name="book-page" content="{}">'
STAMPED = re.compile(STAMP.format(r"\w+") + r"\n")


def write(site: Path) -> None:
    """Rewrite styles, scripts and pages of the site, and stamp each page with its own digest.

    Raises ValueError, in one line, for files that name each other in a circle.
    """
    versions = Versions(site)
    for page in sorted(site.rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        text = IN_PAGE.sub(lambda match, page=page: f'="{versions.address(match, page)}', text)
        page.write_text(stamped(text), encoding="utf-8")


def stamped(text: str) -> str:
    """A page that says which one it is, so that it can be told from that of another edition."""
    text = STAMPED.sub("", text)
    stamp = STAMP.format(digests.of(text)[:DIGITS])
    return text.replace("</head>", f"{stamp}\n</head>", 1)


class Versions:
    """The digests of a site's files, each once what it names has got its own."""

    def __init__(self, site: Path):
        self.site, self.known = site.resolve(), {}

    def address(self, match: re.Match[str], source: Path) -> str:
        """What a match should say: the path with its digest, if it is a file of the site."""
        path = match["path"].lstrip("\"'`")
        base = publication.base_path()  # 404.html names its files from there
        file = (self.site / path.removeprefix(base) if path.startswith(base)
                else source.parent / path).resolve()
        if not file.is_file() or not file.is_relative_to(self.site):
            return match[0].removeprefix('="')
        return f"{match['path']}?v={self.of(file)}{match['rest']}"

    def of(self, file: Path) -> str:
        """The first digits of the digest of a file's final content."""
        if file not in self.known:
            self.known[file] = None
            if pattern := PATTERNS.get(file.suffix):
                self.rewrite(file, pattern)
            self.known[file] = digests.of_file(file)[:DIGITS]
        if self.known[file] is None:
            raise ValueError(f"{file.relative_to(self.site)}: it names itself, or a file that does")
        return self.known[file]

    def rewrite(self, file: Path, pattern: re.Pattern[str]) -> None:
        text = file.read_text(encoding="utf-8")
        new = pattern.sub(lambda match: self.address(match, file), text)
        if new != text:
            file.write_text(new, encoding="utf-8")
