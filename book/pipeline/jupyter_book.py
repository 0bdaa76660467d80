"""Jupyter Book's command, with as many processes as there is work for, which it has no option for.

    python -m book.pipeline.jupyter_book build FOLDER …    the same words as `jupyter-book`
"""

from __future__ import annotations

import functools
import os
import sys

# The grammar of international addresses: a second and a half to load. Nothing here checks one, and
# jsonschema goes without where it is not installed.
sys.modules.setdefault("rfc3987_syntax", None)

MOST = 4  # processes; with more, each has few pages, and starts a formula server for them


def jobs() -> int:
    """Processes that read and write pages."""
    return max(1, min(MOST, os.cpu_count() or 1))


def main() -> None:
    from jupyter_book import sphinx
    from jupyter_book.cli.main import main as command

    sphinx.build_sphinx = functools.partial(sphinx.build_sphinx, jobs=jobs())
    command()


if __name__ == "__main__":
    main()
