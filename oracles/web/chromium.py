"""One headless Chromium for everything that is measured or tested in a browser."""

from __future__ import annotations

import shutil
import sys

from book.pipeline.suite.passed import BROWSERS

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"]


def path() -> str:
    """The browser's program; ends the command with one line where there is none."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        sys.exit("no Chromium on this machine; install the package chromium")
    return found
