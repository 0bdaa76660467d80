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
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from sphinx_external_toc.parsing import parse_toc_yaml

from book.pipeline.finish import app, downloads, forward, manners, offline, search, sizes
from book.pipeline.finish.join import join
from book.pipeline.finish.lean import lean
from book.pipeline.ground import face
from book.pipeline.ground.paths import KATEX, NPM, ROOT, SITE, WEB, widgets
from book.pipeline.notebooks.faded import FadeError

JUPYTER_BOOK = (sys.executable, "-m", "book.pipeline.jupyter_book")
ESBUILD = NPM / ".bin" / "esbuild"
SIZES = "page-sizes.txt"


def build(root: Path, out: Path) -> Path:
    """Build the book below `root` with the settings of this one; returns its site.

    The site is `out/_build/html`, its scripts and styles come from `out/_build/web`. Both are made
    in a folder beside them and put in place when they are whole: whoever reads meanwhile reads the
    old site, and a build that stops leaves it as it was.
    """
    stage, target = out / "_build" / "stage", out / "_build"
    shutil.rmtree(stage, ignore_errors=True)
    made = stage / "_build" / "html"
    print("site: bundling scripts", flush=True)
    bundle(made.with_name("web"))
    print("site: building pages", flush=True)
    pages(root, stage)
    print("site: downloads, unused parts, search, one style and one script", flush=True)
    finish(root, made, target / "log")
    for name in ("web", "html"):
        put(made.with_name(name), target / name)
    shutil.rmtree(stage)
    return target / "html"


def put(new: Path, place: Path) -> None:
    """A folder in the place of another, which it takes with it until the stage goes."""
    if place.exists():
        place.rename(new.with_name(f"old-{place.name}"))
    new.rename(place)


def bundle(folder: Path) -> None:
    """Every script and style of book/web as one small file each; drawings, KaTeX, the text face."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    scripts = sorted(str(file) for file in WEB.glob("*") if file.suffix in {".js", ".css"})
    named = [f"{name}={file}" for name, file in widgets().items()]
    command = [str(ESBUILD), *scripts, *named, "--bundle", "--minify", "--format=esm",
               "--charset=utf8", "--log-level=warning", "--external:*.woff2", f"--outdir={folder}"]
    run(command, "bundling book/web")
    face.write(folder)
    for file in WEB.glob("*.svg"):
        shutil.copy(file, folder)
    shutil.copytree(KATEX, folder / "katex", ignore=shutil.ignore_patterns(
        "*.md", "*.js", "*.mjs", "*.ttf", "*.woff", "contrib", "katex.css", "katex-swap*"))


def pages(root: Path, out: Path) -> None:
    """The pages below `out/_build/html`, as Jupyter Book makes them."""
    run([*JUPYTER_BOOK, "build", str(root), "--config", str(ROOT / "_config.yml"),
         "--path-output", str(out), "--all", "-W", "--keep-going", "-n", "-q"], "Jupyter Book")


def finish(root: Path, site: Path, log: Path) -> None:
    """What the pages link, then what all of them share; how large they are goes to `log`."""
    documents = list(parse_toc_yaml(root / "_toc.yml"))
    at_once((search.write, site), (cut, root, site, documents))
    join(site)
    manners.write(site, root, documents)
    try:
        forward.write(site, root)
        forward.open_door(site)
        print(f"site: {sizes.check(site, log / SIZES)}", flush=True)
        app.write(site)
        offline.write(site)  # last: it lists what there is
    except ValueError as error:
        sys.exit(f"site: {error}")


def cut(root: Path, site: Path, documents: list[str]) -> None:
    """What readers download, and of KaTeX what the pages use."""
    try:
        downloads.write(site, downloads.notebooks(root, documents))
        downloads.write(site, downloads.exercises(root))
        downloads.write_code(site)
    except FadeError as error:
        sys.exit(f"site: {error}")
    lean(site)


def at_once(*steps: tuple[Any, ...]) -> None:
    """Functions with their arguments, none of which reads what another writes, each in a process.

    What one raises is raised here, of several the first.
    """
    with ProcessPoolExecutor(len(steps), get_context("fork")) as pool:
        for done in [pool.submit(*step) for step in steps]:
            done.result()


def run(command: list[str], step: str) -> None:
    """Run a step with the Node of `.venv`; when it fails, show what it said and exit.

    Its output goes to a file, and what it leaves running is ended: a formula server that outlives
    a failed build would hold a pipe open, and the failure would never be shown.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        try:
            process = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"PATH": path},
                                       stdout=output, stderr=output, start_new_session=True)
        except FileNotFoundError as error:
            sys.exit(f"site: step '{step}' needs {error.filename}, which is missing; "
                     "run `make site`")
        try:
            status = process.wait()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        output.seek(0)
        said = output.read().partition("Traceback (most recent call last)")[0]
    if status:
        sys.exit(f"{said}\nsite: step '{step}' failed; what it said stands above")


def main() -> int:
    started = time.perf_counter()
    build(ROOT, ROOT)
    pages = len(list(SITE.rglob("*.html")))
    print(f"site: {pages} pages in _build/html, {time.perf_counter() - started:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
