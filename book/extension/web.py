"""Our scripts and styles: bundled from book/web, linked only where a page uses them."""

from __future__ import annotations

from pathlib import Path

from book.pipeline.ground import digests
from book.pipeline.ground.paths import widgets

TEMPLATES = Path(__file__).with_name("templates")

ON_ALL_PAGES = ("language.js", "page.js", "reading.js", "search.js", "offline.js")
# a module script is linked to the pages that hold its element
ELEMENTS = {"<predict-cell": "predict.js", "<card-drill": "drill.js",
            "<prediction-record": "prediction-record.js",
            "<moved-anchors": "moved-anchors.js", "<term-cards": "glossary.js",
            "<offline-book": "offline-book.js"}
# What folds answers away must never be the reason that nobody can open them.
LOST = {"predict.js": {"onerror": "document.documentElement.dataset.open = ''"}}
NEAR = "near.js"  # loads the scripts of widgets, which are named as their elements


def bundles(app) -> Path:
    """What esbuild made of book/web, beside the site."""
    return Path(app.outdir).with_name("web")


def configure(app, config) -> None:
    # Not a folder named _static: Jupyter Book would link every script below it to every page.
    config.html_static_path.append(str(bundles(app)))


def link_elements(app, pagename, templatename, context, doctree) -> None:
    body = context.get("body", "")
    for tag, script in ELEMENTS.items():
        if tag in body:
            app.add_js_file(script, type="module", **LOST.get(script, {}))
    near = {name: address(app, context, f"{name}.js") for name in widgets() if f"<{name}" in body}
    if near:
        named = {f"data-near-{name}": at for name, at in near.items()}
        app.add_js_file(NEAR, type="module", **named)
    context["early_script"] = (bundles(app) / "early.js").read_text(encoding="utf-8")


def address(app, context, script: str) -> str:
    """Where a page finds a bundled script, by its content."""
    content = (bundles(app) / script).read_bytes()
    return digests.versioned(context["pathto"](f"_static/{script}", 1), content)


def setup(app):
    app.connect("config-inited", configure)
    app.connect("html-page-context", link_elements)
    app.add_css_file("book.css", priority=900)
    for script in ON_ALL_PAGES:
        app.add_js_file(script, loading_method="defer")
