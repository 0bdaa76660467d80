"""Our scripts and styles: bundled from book/web, linked only where a page uses them."""

from __future__ import annotations

from pathlib import Path

from sphinx.util.fileutil import copy_asset

from book.extension.maths import KATEX

TEMPLATES = Path(__file__).with_name("templates")

# a module script is linked to the pages that hold its element
ELEMENTS = {"<predict-cell": "predict.js", "<stride-explorer": "stride-explorer.js",
            "<graph-stepper": "graph-stepper.js", "<loader-timeline": "loader-timeline.js",
            "<card-drill": "drill.js"}


def bundles(app) -> Path:
    """What esbuild made of book/web, beside the site."""
    return Path(app.outdir).with_name("web")


def configure(app, config) -> None:
    config.templates_path.insert(0, str(TEMPLATES))
    # Not a folder named _static: Jupyter Book would link every script below it to every page.
    config.html_static_path.append(str(bundles(app)))


def link_elements(app, pagename, templatename, context, doctree) -> None:
    body = context.get("body", "")
    for tag, script in ELEMENTS.items():
        if tag in body:
            app.add_js_file(script, type="module")
    context["early_script"] = (bundles(app) / "early.js").read_text(encoding="utf-8")
    context["default_mode"] = "auto"


def copy_katex(app, exception) -> None:
    """KaTeX's stylesheet and its fonts; a browser fetches only the fonts a page uses."""
    if exception is None:
        target = Path(app.outdir) / "_static" / "katex"
        copy_asset(str(KATEX / "katex.min.css"), str(target))
        copy_asset(str(KATEX / "fonts"), str(target / "fonts"),
                   excluded=lambda path: path.endswith((".ttf", ".woff")))


def setup(app):
    app.connect("config-inited", configure)
    app.connect("html-page-context", link_elements)
    app.connect("build-finished", copy_katex, priority=400)
    app.add_css_file("book.css", priority=900)
    app.add_js_file("language.js", loading_method="defer")
