"""Serve `_build/html` on this machine and print the address."""

from __future__ import annotations

import argparse
import contextlib
import errno
import functools
import http.server
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from book.pipeline.ground.paths import SITE

PORT = 8000

class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".woff2": "font/woff2",
    }

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What is not there is answered with the page that says so, as a web host does."""
        page = Path(self.directory) / "404.html"
        if code != 404 or not page.is_file():
            super().send_error(code, message, explain)
            return
        body = page.read_bytes()
        self.send_response(code, message)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Requests are not worth a line each."""


@contextlib.contextmanager
def served(folder: Path, handler: type[Handler] = Handler) -> Iterator[str]:
    """Address of a folder's files, on a free port of this machine while the context lasts."""
    bound = functools.partial(handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), bound) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


def refusal(port: int, error: Exception, name: str = "serve", usual: int = PORT) -> str:
    """Why a command cannot have a port, and which to try."""
    target = "book" if name == "serve" else name
    if getattr(error, "errno", None) == errno.EADDRINUSE:
        return f"{name}: port {port} is in use; try `make {target} PORT={port + 1}`"
    return f"{name}: port {port} cannot be had ({error}); try `make {target} PORT={usual}`"


def main() -> int:
    parser = argparse.ArgumentParser(description="serve the built site on localhost")
    parser.add_argument("--port", type=int, default=PORT)
    port = parser.parse_args().port
    if not (SITE / "index.html").exists():
        sys.exit("serve: no site in _build/html; run `make site`")
    handler = functools.partial(Handler, directory=str(SITE))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except (OSError, OverflowError) as error:  # the latter above port 65535
        sys.exit(refusal(port, error))
    print(f"The book is at http://localhost:{port}/  (Ctrl-C stops)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
