"""Read the book in JupyterLab: notebooks of one's own in `lab/`, without the answers.

    python -m book.pipeline.lab --read zh     zh, en or both; by default what the locale says
    python -m book.pipeline.lab --port 8889

The notebooks are those that the site offers for download, made from the tracked ones. `lab/` is
the reader's: see notebooks/copies.py for what happens to it when the book is updated.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import webbrowser
from collections.abc import Mapping
from pathlib import Path

import yaml

from book.pipeline.content import chapters
from book.pipeline.finish import downloads
from book.pipeline.ground.paths import ROOT
from book.pipeline.notebooks import contents, jupyter
from book.pipeline.notebooks.copies import Copies
from book.pipeline.notebooks.downloads import VARIANTS
from book.pipeline.notebooks.faded import FadeError
from book.pipeline.serve import refusal

FOLDER = "lab"
PORT = 8888
CALLED = {"zh": "Chinese", "en": "English", "both": "Chinese and English"}
VARIANT = re.compile(rf"\.({'|'.join(VARIANTS)})(\.updated(-\d+)?)?\.ipynb$")


def language(environment: Mapping[str, str] = os.environ) -> str:
    """`zh` or `en`, by the first setting of the locale that says something."""
    settings = (environment.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return "zh" if next(filter(None, settings), "").lower().startswith("zh") else "en"


def documents(root: Path) -> list[str]:
    """The pages of the book in their order, as `_toc.yml` names them."""
    def walk(entry):
        if isinstance(entry, dict):
            yield from [entry["file"]] if "file" in entry else []
            for value in entry.values():
                yield from walk(value)
        elif isinstance(entry, list):
            for value in entry:
                yield from walk(value)

    return list(walk(yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))))


def files(root: Path, variant: str) -> dict[str, str]:
    """Name -> text of all that a reader gets, the contents first."""
    made = own(root, variant)
    return {start(variant): contents.notebook(variant, chapters.read(root), made), **made}


def own(root: Path, variant: str) -> dict[str, str]:
    """Name -> text of the notebooks of a variant and of the exercises, in a folder of the book."""
    return dict([*downloads.notebooks(root, documents(root), [variant], in_book=True),
                 *downloads.exercises(root)])


def start(variant: str) -> str:
    """The notebook that is opened first."""
    return f"contents.{variant}.ipynb"


def renew(root: Path, folder: Path, variant: str) -> list[str]:
    """Bring the copies of one variant up to date; what the reader must know, a line each."""
    wanted, copies = files(root, variant), Copies(folder)
    gone = {name for name in copies.put if _in(name, variant)
            and re.sub(r"\.updated(-\d+)?(?=\.\w+$)", "", name) not in wanted}
    told = list(copies.renew(wanted, gone))
    jupyter.trust(folder, (name for name in copies.fresh if name.endswith(".ipynb")))
    return told


def _in(name: str, variant: str) -> bool:
    """Whether a copy is one of those that a variant is made of."""
    found = VARIANT.search(name)
    return found is None or found[1] == variant


def show(address: str) -> None:
    """Open a browser, if one can be seen; a text browser would take the terminal over."""
    if sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY",
                                                            "BROWSER"))):
        webbrowser.open(address)


def run(variant: str, port: int) -> None:
    """Renew `lab/`, then serve it until Ctrl-C."""
    folder = ROOT / FOLDER
    for line in renew(ROOT, folder, variant):
        print(f"lab: {line}")
    print(f"Your notebooks are in {FOLDER}/, in {CALLED[variant]} (READ=zh, en or both)",
          flush=True)
    server = jupyter.Server(folder, port)
    try:
        server.wait()
        address = server.address(start(variant))
        print(f"JupyterLab is at {address}  (Ctrl-C stops)", flush=True)
        show(address)
        server.ended()
    finally:
        server.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description="read the book in JupyterLab")
    parser.add_argument("--read", default="", help="zh, en or both (default: by the locale)")
    parser.add_argument("--port", type=int, default=PORT)
    options = parser.parse_args()
    variant = options.read or language()
    if variant not in VARIANTS:
        sys.exit(f"lab: READ={variant} is no language of the book; write READ=zh, en or both")
    for end in (signal.SIGTERM, signal.SIGHUP):  # like Ctrl-C: no server is left behind
        signal.signal(end, signal.default_int_handler)
    try:
        jupyter.check_port(options.port)
    except (OSError, OverflowError) as error:
        sys.exit(refusal(options.port, error, "lab", PORT))
    try:
        run(variant, options.port)
    except KeyboardInterrupt:
        print()
    except (OSError, ValueError, FadeError, jupyter.JupyterError) as error:
        sys.exit(f"lab: {' '.join(str(error).split())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
