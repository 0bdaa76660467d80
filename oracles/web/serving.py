"""Serve the built site as a web host does: HTTP/1.1, text with gzip."""

from __future__ import annotations

import contextlib
import functools
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from book.pipeline import serve
from book.pipeline.ground import wire
from book.pipeline.ground.paths import SITE
from book.pipeline.ground.wire import PACKED

wire_body = functools.cache(wire.wire_body)  # one folder is served many times


class GzipHandler(serve.Handler):
    protocol_version = "HTTP/1.1"  # connections stay open, as they do on the web
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        file = Path(self.translate_path(self.path))
        if file.is_dir():
            file /= "index.html"
        if not file.is_file():
            self.send_error(404)
            return
        body = wire_body(file)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(file)))
        if file.suffix not in PACKED:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def served(folder: Path) -> contextlib.AbstractContextManager[str]:
    """Address of a folder's files, on a free port of this machine."""
    return serve.served(folder, GzipHandler)


@contextlib.contextmanager
def snapshot() -> Iterator[Path]:
    """A copy of the built site, so that a build meanwhile changes nothing that is measured."""
    if not (SITE / "index.html").exists():
        sys.exit("bench: no site in _build/html; run `make site`")
    with tempfile.TemporaryDirectory() as folder:
        yield Path(shutil.copytree(SITE, folder, dirs_exist_ok=True))
