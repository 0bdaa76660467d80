"""One page of the book while it is written: served, and made anew whenever it is saved.

    python -m book.pipeline.page 05-compile/fusion [--execute] [--port 8010]

The text is that of the `.md`. A cell that is as it was when it was executed shows its stored
output; another says that it was not executed, and with `--execute` it is. Links name all pages of
the book, and only this one is there.
"""

from __future__ import annotations

import argparse
import difflib
import functools
import html
import http.server
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from sphinx_external_toc.parsing import parse_toc_yaml

from book.pipeline import serve, site
from book.pipeline.ground import digests
from book.pipeline.ground.paths import ROOT, WEB, relative
from book.pipeline.preview import draft
from book.pipeline.preview.renderer import Renderer

PORT = 8010  # not that of `make book`, whose pages a browser may keep for reading offline
CHANGES = "/changes"  # where an open page waits for a newer one
EVERY = 0.2  # seconds between two looks at the files
OUT = Path("_build", "page")  # below the root of the book, where no build looks for pages
LOCK = ROOT / "package-lock.json"
READ = ("book/*.yaml", "_toc.yml", "{folder}/*.yaml", "{page}.*", "{folder}/cards/{name}.*")
HEAD = """<style>
.not-run, .page-fault { border: 2px solid; border-radius: 4px; padding: 0.3em 0.8em; }
.page-fault { position: sticky; top: 0; z-index: 99; margin: 0; font: 1rem/1.5 monospace;
  background: light-dark(#fff3cd, #4d3b00); color: light-dark(#4d3b00, #fff3cd); }
</style>
</head>"""
LISTEN = """<script>
new EventSource("%s?%s").onmessage = () => location.reload();
</script>
</body>"""
EMPTY = "<!DOCTYPE html><html><head><title>{page}</title></head><body></body></html>"


class Preview:
    """A page, what is wrong with it, and the number of its edition, which waits for the next."""

    def __init__(self, root: Path, out: Path, page: str):
        self.root, self.page, self.out = root, page, out
        self.source = root / f"{page}.md"
        self.made, self.text, self.number = EMPTY.format(page=page), "", 0
        self.not_run = False
        self.newer = threading.Condition()
        self.bundle()
        self.renderer = Renderer(root, out, page)
        self.show("")

    @property
    def is_notebook(self) -> bool:
        return self.page.startswith("chapters/") or self.source.with_suffix(".ipynb").exists()

    def files(self) -> Iterable[Path]:
        """What the page is made of."""
        folder, _, name = self.page.rpartition("/")
        for pattern in READ:
            yield from self.root.glob(pattern.format(folder=folder, page=self.page, name=name))
        yield from (file for file in WEB.rglob("*") if file.is_file())

    def state(self) -> dict[Path, int]:
        return {file: file.stat().st_mtime_ns for file in self.files()}

    def bundle(self) -> None:
        """The scripts and styles of the book; made again where one of them has changed."""
        folder = self.out / "_build" / "web"
        files = sorted(file for file in WEB.rglob("*") if file.is_file())
        digest = digests.of_value([[str(file), digests.of_file(file)] for file in (*files, LOCK)])
        stamp = folder.with_name("web.digest")
        if not stamp.exists() or stamp.read_text() != digest:
            site.bundle(folder)
            stamp.write_text(digest)

    def make(self) -> str:
        """Make the page; returns what is wrong in one line, which the page says too."""
        fault = ""
        try:
            self.bundle()
            notebook = draft.read(self.source) if self.is_notebook else None
            self.not_run = bool(notebook and draft.not_run(notebook))
            self.made, said = self.renderer.render(notebook)
            fault = said[0] if said else ""
        except draft.DraftError as error:
            fault = str(error)
        except SystemExit as error:  # of a script or a style
            fault = str(error).strip().splitlines()[0]
        except Exception as error:  # whatever an author's file may raise, the page goes on
            fault = f"{relative(self.source)}: {type(error).__name__}: {error}".splitlines()[0]
        fault = fault.replace(f"{self.renderer.source}/", "")
        self.show(fault)
        return fault

    def show(self, fault: str) -> None:
        """Give the page to whoever looks at it, with the line about what is wrong."""
        with self.newer:
            self.number = time.time_ns()
            text = self.made.replace("</head>", HEAD, 1)
            text = text.replace("</body>", LISTEN % (CHANGES, self.number), 1)
            if fault:
                said = f'<p class="page-fault" role="alert">{html.escape(fault)}</p>'
                start = text.index(">", text.index("<body")) + 1
                text = text[:start] + said + text[start:]
            self.text = text
            self.newer.notify_all()

    def wait(self, known: int) -> int:
        """The number of an edition that is not `known`, once there is one."""
        with self.newer:
            self.newer.wait_for(lambda: self.number != known)
            return self.number


class Handler(serve.Handler):
    """The files of the page, and word of a newer one as server-sent events."""

    preview: Preview

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        with suppress(ConnectionError):  # a page that was closed
            if path == f"/{self.preview.page}.html":
                self.send("text/html; charset=utf-8", self.preview.text)
            elif path == CHANGES:
                number = self.preview.wait(int(query) if query.isdigit() else 0)
                self.send("text/event-stream", f"data: {number}\n\n")
            else:
                super().do_GET()

    def send(self, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")
        super().end_headers()


def page_of(name: str, root: Path) -> str:
    """The page of the book that a person means by `05-compile/fusion`; exits where it is none."""
    pages = [str(page) for page in parse_toc_yaml(root / "_toc.yml")]
    plain = name.removesuffix(".md").removesuffix(".ipynb").strip("/")
    for page in (plain, f"chapters/{plain}"):
        if page in pages:
            return page
    short = {page.removeprefix("chapters/"): page for page in pages}
    near = difflib.get_close_matches(plain.removeprefix("chapters/"), short, 3, 0.5)
    advice = f"did you mean {', '.join(near)}?" if near else "write it as in 05-compile/fusion"
    sys.exit(f"page: {name} is no page of _toc.yml; {advice}")


def execute(source: Path) -> str:
    """Bring the notebook of a section up to date; returns what is wrong, in one line."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        done = subprocess.run([sys.executable, "-m", "book.pipeline.sync", str(source)], cwd=ROOT,
                              stdout=said, stderr=said, check=False)
        said.seek(0)
        return next(iter(said), "").strip() if done.returncode else ""


def watch(preview: Preview, runs: bool = False) -> None:
    """Make the page, and make it anew whenever one of its files is saved; ends with the process."""
    known: dict[Path, int] = {}
    while True:
        found = preview.state()
        if found == known:
            time.sleep(EVERY)
            continue
        started = time.perf_counter()
        fault, known = preview.make(), found
        print(fault or f"page: {preview.page} made in {time.perf_counter() - started:.1f} s",
              flush=True)
        if runs and preview.not_run and not fault and (fault := execute(preview.source)):
            print(fault, flush=True)
            preview.show(fault)


def main() -> int:
    parser = argparse.ArgumentParser(description="one page of the book while it is written")
    parser.add_argument("page", help="as in 05-compile/fusion")
    parser.add_argument("--execute", action="store_true", help="execute cells that have changed")
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--root", type=Path, default=ROOT, help="of the book (default: this one)")
    options = parser.parse_args()
    root = options.root.resolve()
    page = page_of(options.page, root)
    preview = Preview(root, root / OUT / page.replace("/", "-"), page)
    handler = functools.partial(type("Of", (Handler,), {"preview": preview}),
                                directory=str(preview.renderer.site))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), handler)
    except (OSError, OverflowError) as error:
        sys.exit(serve.refusal(options.port, error, "page", PORT))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"The page is at http://localhost:{server.server_port}/{page}.html  (Ctrl-C stops)",
          flush=True)
    try:
        watch(preview, options.execute)
    except KeyboardInterrupt:
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
