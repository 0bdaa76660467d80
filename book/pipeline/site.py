"""Build the site into `_build/html`: bundle the scripts, let Jupyter Book make the pages with
execution off, then finish the folder."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from sphinx_external_toc.parsing import parse_toc_yaml

from book.finish import downloads
from book.finish.join import join
from book.finish.lean import lean
from book.pipeline.notebooks.faded import FadeError
from book.pipeline.paths import BUNDLES, KATEX, NPM, ROOT, SITE, WEB, widgets

JUPYTER_BOOK = Path(sys.executable).with_name("jupyter-book")
ESBUILD = NPM / ".bin" / "esbuild"


def bundle() -> None:
    """Every script and style of book/web as one small file each; drawings and KaTeX are copied."""
    shutil.rmtree(BUNDLES, ignore_errors=True)
    BUNDLES.mkdir(parents=True)
    scripts = sorted(str(file) for file in WEB.glob("*") if file.suffix in {".js", ".css"})
    named = [f"{name}={file}" for name, file in widgets().items()]
    command = [str(ESBUILD), *scripts, *named, "--bundle", "--minify", "--format=esm",
               "--charset=utf8", "--log-level=warning", f"--outdir={BUNDLES}"]
    run(command, "bundling book/web")
    for file in WEB.glob("*.svg"):
        shutil.copy(file, BUNDLES)
    shutil.copytree(KATEX, BUNDLES / "katex", ignore=shutil.ignore_patterns(
        "*.md", "*.js", "*.mjs", "*.ttf", "*.woff", "contrib", "katex.css", "katex-swap*"))


def build() -> None:
    """The pages, as Jupyter Book makes them."""
    shutil.rmtree(SITE, ignore_errors=True)  # no page of an earlier build may linger
    run([str(JUPYTER_BOOK), "build", str(ROOT), "--path-output", str(ROOT), "--all",
         "-W", "--keep-going", "-n", "-q"], "Jupyter Book")


def finish() -> None:
    """What the pages link, then what all of them share."""
    try:
        downloads.write_notebooks(SITE, ROOT, parse_toc_yaml(ROOT / "_toc.yml"))
        downloads.write_code(SITE)
        downloads.write_exercises(SITE, ROOT)
    except FadeError as error:
        sys.exit(f"site: {error}")
    lean(SITE)
    join(SITE)


def run(command: list[str], step: str) -> None:
    """Run a step with the Node of `.venv`; when it fails, show what it said and exit.

    Its output goes to a file, and what it leaves running is ended: a formula server that outlives
    a failed build would hold a pipe open, and the failure would never be shown.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"PATH": path},
                                   stdout=output, stderr=output, start_new_session=True)
        try:
            status = process.wait()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        output.seek(0)
        said = output.read().partition("Traceback (most recent call last)")[0]
    if status:
        sys.exit(f"{said}\nsite: step '{step}' failed; what it said stands above")


STEPS = ((bundle, "bundling scripts"), (build, "building pages"),
         (finish, "downloads, unused parts, one style and one script"))


def main() -> int:
    started = time.perf_counter()
    for step, says in STEPS:
        print(f"site: {says}", flush=True)
        step()
    pages = len(list(SITE.rglob("*.html")))
    print(f"site: {pages} pages in _build/html, {time.perf_counter() - started:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
