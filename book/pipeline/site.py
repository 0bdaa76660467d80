"""Build the site into `_build/html`: bundle the scripts, then Jupyter Book with execution off."""

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

from book.pipeline.paths import NPM, ROOT, SITE

WEB = ROOT / "book" / "web"
JUPYTER_BOOK = Path(sys.executable).with_name("jupyter-book")
ESBUILD = NPM / ".bin" / "esbuild"


def bundle(bundles: Path) -> None:
    """Every script and style of book/web as one small file each; other files are copied."""
    shutil.rmtree(bundles, ignore_errors=True)
    bundles.mkdir(parents=True)
    scripts = sorted(str(file) for file in WEB.glob("*") if file.suffix in {".js", ".css"})
    command = [str(ESBUILD), *scripts, "--bundle", "--minify", "--format=esm", "--charset=utf8",
               "--log-level=warning", f"--outdir={bundles}"]
    run(command, "bundling book/web")
    for file in WEB.glob("*.svg"):
        shutil.copy(file, bundles)


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


def build(root: Path, out: Path) -> Path:
    """Build the book below `root` with the settings of this one; returns its site.

    The site is `out/_build/html`, its scripts and styles come from `out/_build/web`.
    """
    site = out / "_build" / "html"
    shutil.rmtree(site, ignore_errors=True)  # no page of an earlier build may linger
    bundle(site.with_name("web"))
    run([str(JUPYTER_BOOK), "build", str(root), "--config", str(ROOT / "_config.yml"),
         "--path-output", str(out), "--all", "-W", "--keep-going", "-n", "-q"], "Jupyter Book")
    return site


def main() -> int:
    started = time.perf_counter()
    print("site: building pages", flush=True)
    build(ROOT, ROOT)
    pages = len(list(SITE.rglob("*.html")))
    print(f"site: {pages} pages in _build/html, {time.perf_counter() - started:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
