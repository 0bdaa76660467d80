"""Build the site into `_build/html`: bundle the scripts, then Jupyter Book with execution off."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from book.pipeline.paths import ROOT, SITE

WEB = ROOT / "book" / "web"
BUNDLES = ROOT / "_build" / "web"
JUPYTER_BOOK = Path(sys.executable).with_name("jupyter-book")
ESBUILD = ROOT / "node_modules" / ".bin" / "esbuild"


def bundle() -> None:
    """Every script and style of book/web as one small file each; other files are copied."""
    shutil.rmtree(BUNDLES, ignore_errors=True)
    BUNDLES.mkdir(parents=True)
    scripts = sorted(str(file) for file in WEB.glob("*") if file.suffix in {".js", ".css"})
    command = [str(ESBUILD), *scripts, "--bundle", "--minify", "--format=esm", "--charset=utf8",
               "--log-level=warning", f"--outdir={BUNDLES}"]
    run(command, "bundling book/web")
    for file in WEB.glob("*.svg"):
        shutil.copy(file, BUNDLES)


def run(command: list[str], step: str) -> None:
    """Run a step with the Node of `.venv`; when it fails, show what it said and exit."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(command, cwd=ROOT, env=os.environ | {"PATH": path}, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}\nsite: step '{step}' failed; what it said stands above")


def main() -> int:
    started = time.perf_counter()
    print("site: bundling scripts", flush=True)
    shutil.rmtree(SITE, ignore_errors=True)  # no page of an earlier build may linger
    bundle()
    print("site: building pages", flush=True)
    run([str(JUPYTER_BOOK), "build", str(ROOT), "--path-output", str(ROOT), "--all",
         "-W", "--keep-going", "-n", "-q"], "Jupyter Book")
    pages = len(list(SITE.rglob("*.html")))
    print(f"site: {pages} pages in _build/html, {time.perf_counter() - started:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
