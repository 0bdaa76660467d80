"""Our scripts and styles: bundled from book/web, linked only where a page uses them."""

from __future__ import annotations

from pathlib import Path

from book.pipeline.paths import widgets

TEMPLATES = Path(__file__).with_name("templates")

# a module script is linked to the pages that hold its element; a widget's is named as its element
ELEMENTS = {"<predict-cell": "predict.js", "<card-drill": "drill.js",
            "<moved-anchors": "moved-anchors.js",
            **{f"<{name}": f"{name}.js" for name in widgets()}}


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


def setup(app):
    app.connect("config-inited", configure)
    app.connect("html-page-context", link_elements)
    app.add_css_file("book.css", priority=900)
    app.add_js_file("language.js", loading_method="defer")
