"""Few requests before the first paint: what all pages link to becomes one style and one script.
"""

from __future__ import annotations

import re
import subprocess
from functools import cache
from os.path import relpath
from pathlib import Path
from urllib.parse import urlsplit

from book.pipeline.ground import digests
from book.pipeline.ground.long_lines import long_lines
from book.pipeline.ground.paths import NPM

STYLE, SCRIPT = "all-pages.css", "all-pages.js"
LINK = re.compile(r'\s*<link\b[^>]*?href="(?P<file>[^":]+\.css)[^"]*"[^>]*?/?>')
CLASSIC = re.compile(
    r'\s*<script(?: defer(?:="defer")?)? src="(?P<file>[^":]+\.js)[^"]*">\s*</script>')
PRE = re.compile(r"(?<=<pre>).*?(?=</pre>)|(?<=<pre tabindex=\"0\">).*?(?=</pre>)", re.S)
CODE = re.compile(r'(?<=<div class="highlight"><pre>).*?(?=</pre>)', re.S)
TOKEN = re.compile(r'<span class="([a-z]\w{0,2})">([^<]*)</span>')
RULE = re.compile(r"\.highlight :is\(([^)]*)\)")  # the rules of styles/code.css, minified or not


def join(site: Path) -> None:
    """Rewrite every page of the site; the files it no longer needs stay unlinked."""
    static = site / "_static"
    texts = {page: page.read_text(encoding="utf-8") for page in sorted(site.rglob("*.html"))}
    pages = {page: text for page, text in texts.items() if LINK.search(text)}  # no redirection
    styles, scripts = (_shared(pages, pattern) for pattern in (LINK, CLASSIC))
    bundle_styles(styles, static / STYLE)
    # each in a function: a short name that one of them declares is no name of the window
    code = [f"(()=>{{{file.read_text(encoding='utf-8')}}})();" for file in scripts]
    (static / SCRIPT).write_text("\n".join(code), encoding="utf-8")
    style, script = (_versioned(static / name) for name in (STYLE, SCRIPT))
    coloured = coloured_tokens((static / STYLE).read_text(encoding="utf-8"))
    for page, text in pages.items():
        at = relpath(static, page.parent)
        text = replace(text, LINK, styles, page, f'<link rel="stylesheet" href="{at}/{style}">')
        text = replace(text, CLASSIC, scripts, page, f'<script defer src="{at}/{script}"></script>')
        page.write_text(calm(text, coloured), encoding="utf-8")


def _shared(pages: dict[Path, str], pattern: re.Pattern[str]) -> list[Path]:
    """Files that every page links to, in the order of a page."""
    lists = [[_file(match, page) for match in pattern.finditer(text)]
             for page, text in pages.items()]
    return [file for file in lists[0] if all(file in other for other in lists)]


def _versioned(file: Path) -> str:
    """Its name with a digest, so that a browser never keeps an old one."""
    return digests.versioned(file.name, file.read_bytes())


def _file(match: re.Match[str], page: Path) -> Path:
    return _resolved(page.parent, match["file"])


@cache  # all pages of a folder name the same files
def _resolved(folder: Path, address: str) -> Path:
    return (folder / urlsplit(address).path).resolve()


def replace(text: str, pattern: re.Pattern[str], shared: list[Path], page: Path,
            one: str) -> str:
    """Put `one` where the first shared file was linked, and drop the other links to them."""
    first = True

    def choose(match: re.Match[str]) -> str:
        nonlocal first
        if _file(match, page) not in shared:
            return match[0]
        kept, first = one if first else "", False
        return kept

    return pattern.sub(choose, text)


def bundle_styles(files: list[Path], target: Path) -> None:
    """One stylesheet with its imports inside; what it loads keeps its place."""
    entry = target.with_suffix(".entry.css")
    imports = [f'@import "./{relpath(file, target.parent)}";' for file in files]
    entry.write_text("\n".join(imports), encoding="utf-8")
    subprocess.run(
        [NPM / ".bin" / "esbuild", entry, "--bundle", "--minify", "--log-level=error",
         "--external:*.woff2", f"--outfile={target}"], check=True)
    entry.unlink()


def coloured_tokens(css: str) -> set[str]:
    """Classes of tokens that the style gives a colour of their own."""
    return {token for rule in RULE.findall(css) for token in re.findall(r"\.(\w+)", rule)}


def calm(text: str, coloured: set[str]) -> str:
    """A page whose code has no more marks than it needs, and lines that a phone may break."""
    text = PRE.sub(lambda pre: plain(pre[0], coloured), text)
    return CODE.sub(lambda pre: long_lines(pre[0]), text)


def plain(code: str, coloured: set[str]) -> str:
    """Highlighted code without the marks that change nothing: half of a page's elements."""
    return TOKEN.sub(lambda token: token[0] if token[1] in coloured else token[2], code)
