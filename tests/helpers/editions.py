"""A host of a built site that can be stopped, changed and made to fail, and editions to serve."""

import http.server
import json
import shutil
import threading
from collections import Counter
from contextlib import suppress
from urllib.parse import urlsplit

from book.pipeline.finish import offline
from book.pipeline.serve import Handler


class Host:
    """Serves a folder at an address that stays the same: `stop`, `start`, `folder`, `faults`.

    `faults` gives by path, without the query, what is called instead of serving that file, with the
    handler; `asked` counts the paths that were asked for.
    """

    def __init__(self, folder):
        self.folder, self.faults, self.asked, self.port = folder, {}, Counter(), 0
        self.start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}/"

    def start(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), self.answer)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, request, client, server):
        host = self

        class Here(Handler):
            def do_GET(self):  # browsers connect ahead of what they will ask: not before now
                self.directory = str(host.folder)
                path = urlsplit(self.path).path.lstrip("/")
                host.asked[path] += 1
                host.faults.get(path, lambda handler: handler.serve())(self)

            def serve(self):
                with suppress(BrokenPipeError, ConnectionResetError):  # the browser has gone
                    super().do_GET()

        Here(request, client, server)


def says(status, body, kind="text/html"):
    """A fault: this answer instead of the file."""
    def answer(handler):
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.end_headers()
        handler.wfile.write(body.encode())
    return answer


def breaks_off(handler):
    """A fault: the connection ends before the file does."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/javascript")
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    handler.wfile.write(b"let half = 'of a fi")


def edition(built, folder, mark, pages=("chapters/01-tensors/section.html",)):
    """A copy of a built site in which a mark stands in these pages and in the script of all pages.

    A page shows its mark as `data-edition` of its body, the script as `window.edition`.
    """
    shutil.copytree(built, folder, dirs_exist_ok=True)
    for name in pages:
        page = folder / name
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("<body", f'<body data-edition="{mark}"', 1), encoding="utf-8")
    script = folder / "_static" / "all-pages.js"
    text = script.read_text(encoding="utf-8")
    script.write_text(f"{text}\n;window.edition = {mark!r};", encoding="utf-8")
    offline.write(folder)
    return folder


def files(folder):
    """Rows of the edition's lists by path."""
    listed, apart = (json.loads((folder / name).read_text(encoding="utf-8"))
                     for name in (offline.LIST, offline.APART))
    return {row[0]: row for row in listed["files"] + apart}
