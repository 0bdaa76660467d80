"""Lean pages: only scripts, rules and glyphs that are used; bilingual captions of the sidebar."""

from __future__ import annotations

import html
import re
import subprocess
from pathlib import Path

from fontTools import subset

from book.extension.bilingual import spans
from book.pipeline.paths import NPM

UNUSED_SCRIPTS = ("sphinx-thebe", "design-tabs", "mathjax", "require.min.js", "embed-amd", "THEBE",
                  "togglebutton", "sphinx-togglebutton", "toggle", "doctools", "sphinx_highlight")
UNUSED_STYLES = ("sphinx-thebe", "togglebutton", "sphinx-design")
PURGECSS = NPM / ".bin" / "purgecss"
ADDED_BY_SCRIPTS = ("show", "active", "collapsing", "dark", "light")
UNUSED_FILES = ("_static/scripts/fontawesome*", "_static/**/*.map", "_sources/**/*",
                "search.html", "searchindex.js", "genindex.html")
MATHS_STYLES = ("katex",)

# Texts that the theme renders as plain strings from the configuration.
CAPTION = re.compile(
    r'(?P<open><span class="caption-text">|<p class="title logo__title">)'
    r"(?P<zh>[^<]*?) · (?P<en>[^<]*?)(?P<close></span>|</p>)"
)
# The theme's toggle of a chapter in the sidebar is an icon alone; a screen reader needs a name.
TOGGLE = '<summary><span class="toctree-toggle" role="presentation">'
TOGGLE_NAME = ("展开或收起本章各节", "Show or hide the sections of this chapter")
ICON_RULE = re.compile(
    r'((?:\.fa-[a-z0-9-]+(?::before)?,?)+)\{(?:--fa:"[^"]*"|content:"[^"]*")\}'
)

OTHER_ICON_FONTS = re.compile(r"@font-face\{[^}]*fa-(?:brands|regular)[^}]*\}")


def describe(asset) -> str:
    """File name and inline body of a script or stylesheet of Sphinx."""
    body = (getattr(asset, "attributes", None) or {}).get("body") or ""
    return f"{getattr(asset, 'filename', asset) or ''} {body}"


def keep_used(app, pagename, templatename, context, doctree) -> None:
    has_maths = 'class="math' in context.get("body", "")
    styles = UNUSED_STYLES if has_maths else UNUSED_STYLES + MATHS_STYLES
    for key, unused in (("script_files", UNUSED_SCRIPTS), ("css_files", styles)):
        context[key] = [asset for asset in context[key]
                        if not any(name in describe(asset) for name in unused)]


def finish(app, exception) -> None:
    """After the build: captions in two languages, icons cut down, unused files removed."""
    if exception or app.builder.name != "html":
        return
    out = Path(app.outdir)
    for page in out.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(named_toggles(CAPTION.sub(split_caption, text)), encoding="utf-8")
    cut_rules(out)
    cut_icons(out)
    cut_maths_fonts(out)
    for pattern in UNUSED_FILES:
        for file in out.glob(pattern):
            if file.is_file():
                file.unlink()


def split_caption(match: re.Match) -> str:
    return match["open"] + spans(match["zh"], match["en"], escape=False) + match["close"]


def named_toggles(page: str) -> str:
    name = f'<span class="visually-hidden">{spans(*TOGGLE_NAME)}</span>'
    return page.replace(TOGGLE, TOGGLE.replace("<summary>", f"<summary>{name}"))


def used_icons(out: Path) -> set[str]:
    files = [*out.rglob("*.html"), *(out / "_static" / "scripts").glob("*theme.js")]
    return {icon for file in files
            for icon in re.findall(r"\bfa-[a-z0-9-]+", file.read_text(encoding="utf-8"))}


def cut_rules(out: Path) -> None:
    """Drop the rules of the theme's stylesheets that match nothing on any page."""
    static = out / "_static"
    sheets = [static / "styles" / "pydata-sphinx-theme.css", static / "katex" / "katex.min.css",
              static / "basic.css", *static.glob("mystnb*.css")]
    for sheet in sheets:
        subprocess.run(
            [PURGECSS, "--css", sheet, "--content", f"{out}/**/*.html", f"{static}/**/*.js",
             "--output", sheet, "--safelist", *ADDED_BY_SCRIPTS],
            check=True, stdout=subprocess.DEVNULL,
        )


def cut_icons(out: Path) -> None:
    """Cut the icon font and its rules down to the icons that some page uses."""
    used = used_icons(out)
    style = out / "_static" / "styles" / "pydata-sphinx-theme.css"
    css = ICON_RULE.sub(
        lambda rule: rule[0] if set(re.findall(r"\.(fa-[a-z0-9-]+)", rule[1])) & used else "",
        style.read_text(encoding="utf-8"),
    )
    css = OTHER_ICON_FONTS.sub("", css)
    style.write_text(css, encoding="utf-8")
    fonts = out / "_static" / "vendor" / "fontawesome" / "webfonts"
    codes = [int(code, 16) for code in re.findall(r'(?:--fa|content):"\\([0-9a-f]{2,4})"', css)]
    subset_font(fonts / "fa-solid-900.woff2", codes)
    for pattern in ("*.ttf", "fa-brands*", "fa-regular*"):
        for file in fonts.glob(pattern):
            file.unlink()


def cut_maths_fonts(out: Path) -> None:
    """Cut KaTeX's fonts down to the characters in the formulas of the book."""
    formulas = "".join(
        formula for page in out.rglob("*.html")
        for formula in re.findall(r'class="katex-html".*?(?=<span class="katex"|</p>|</div>)',
                                  page.read_text(encoding="utf-8"), re.S)
    )
    codes = {ord(char) for char in html.unescape(re.sub(r"<[^>]*>", "", formulas))}
    for font in (out / "_static" / "katex" / "fonts").glob("*.woff2"):
        subset_font(font, sorted(codes))


def subset_font(file: Path, codes: list[int]) -> None:
    options = subset.Options(flavor="woff2", desubroutinize=True)
    font = subset.load_font(str(file), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=codes)
    subsetter.subset(font)
    subset.save_font(font, str(file), options)


def setup(app):
    app.connect("html-page-context", keep_used, priority=900)
    app.connect("build-finished", finish)
