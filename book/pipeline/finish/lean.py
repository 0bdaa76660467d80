"""A lean site: only the rules and glyphs that some page uses, and no file that none does."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Collection
from pathlib import Path

from fontTools import subset
from selectolax.lexbor import LexborHTMLParser

from book.pipeline.paths import NPM

PURGECSS = NPM / ".bin" / "purgecss"
ADDED_BY_SCRIPTS = ("show", "active", "collapsing", "dark", "light")
UNUSED_FILES = ("_static/scripts/fontawesome*", "_static/**/*.map", "_static/*webpack-macros.html",
                "_static/locales/**/*", "_static/images/logo_*", "_static/searchtools.js",
                "_static/language_data.js", "_static/doctools.js", "_static/sphinx_highlight.js",
                "_static/*.png", "_sources/**/*")
ICON_RULE = re.compile(
    r'((?:\.fa-[a-z0-9-]+(?::before)?,?)+)\{(?:--fa:"[^"]*"|content:"[^"]*")\}'
)
OTHER_ICON_FONTS = re.compile(r"@font-face\{[^}]*fa-(?:brands|regular)[^}]*\}")


def lean(site: Path) -> None:
    """Cut down what the pages of a built site share."""
    pages = [page.read_text(encoding="utf-8") for page in site.rglob("*.html")]
    cut_rules(site)
    cut_icons(site, pages)
    cut_maths_fonts(site, pages)
    for pattern in UNUSED_FILES:
        for file in site.glob(pattern):
            if file.is_file():
                file.unlink()


def used_icons(site: Path, pages: Collection[str]) -> set[str]:
    scripts = (site / "_static" / "scripts").glob("*theme.js")
    texts = [*pages, *(script.read_text(encoding="utf-8") for script in scripts)]
    return {icon for text in texts for icon in re.findall(r"\bfa-[a-z0-9-]+", text)}


def cut_rules(site: Path) -> None:
    """Drop the rules of the theme's stylesheets that match nothing on any page."""
    static = site / "_static"
    sheets = [static / "styles" / "pydata-sphinx-theme.css", static / "katex" / "katex.min.css",
              static / "basic.css", *static.glob("mystnb*.css")]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [PURGECSS, "--css", *sheets, "--content", f"{site}/**/*.html", f"{static}/**/*.js",
             "--output", folder, "--safelist", *ADDED_BY_SCRIPTS],
            check=True, stdout=subprocess.DEVNULL)
        for sheet in sheets:
            shutil.copyfile(Path(folder) / sheet.name, sheet)


def cut_icons(site: Path, pages: Collection[str]) -> None:
    """Cut the icon font and its rules down to the icons that some page uses."""
    used = used_icons(site, pages)
    style = site / "_static" / "styles" / "pydata-sphinx-theme.css"
    css = ICON_RULE.sub(
        lambda rule: rule[0] if set(re.findall(r"\.(fa-[a-z0-9-]+)", rule[1])) & used else "",
        style.read_text(encoding="utf-8"),
    )
    css = OTHER_ICON_FONTS.sub("", css)
    style.write_text(css, encoding="utf-8")
    fonts = site / "_static" / "vendor" / "fontawesome" / "webfonts"
    codes = [int(code, 16) for code in re.findall(r'(?:--fa|content):"\\([0-9a-f]{2,4})"', css)]
    subset_font(fonts / "fa-solid-900.woff2", codes)
    for pattern in ("*.ttf", "fa-brands*", "fa-regular*"):
        for file in fonts.glob(pattern):
            file.unlink()


def cut_maths_fonts(site: Path, pages: Collection[str]) -> None:
    """Cut KaTeX's fonts down to the characters in the formulas of the book."""
    codes = {ord(char) for page in pages for formula in LexborHTMLParser(page).css(".katex-html")
             for char in formula.text()}
    for font in (site / "_static" / "katex" / "fonts").glob("*.woff2"):
        subset_font(font, sorted(codes))


def subset_font(file: Path, codes: list[int]) -> None:
    options = subset.Options(flavor="woff2", desubroutinize=True)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=codes)
    with subset.load_font(str(file), options) as font:
        subsetter.subset(font)
        subset.save_font(font, str(file), options)
