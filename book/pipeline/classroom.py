"""A folder for a class: the readers' notebooks with the code they import, complete in itself.

    python -m book.pipeline.classroom FOLDER --read zh     zh, en or both (default)

Wherever it is copied, its notebooks run. Made again in the same place, it keeps what was changed
there, as `lab/` does (notebooks/copies.py).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from book.pipeline import lab
from book.pipeline.content import chapters
from book.pipeline.finish import downloads
from book.pipeline.ground.paths import ROOT
from book.pipeline.notebooks import contents
from book.pipeline.notebooks.copies import Copies
from book.pipeline.notebooks.downloads import VARIANTS
from book.pipeline.notebooks.faded import FadeError

YOURS = {
    "zh": "这个文件夹归你，随便改。notebook 用到的代码就在 `code/` 里，所以要整个文件夹一起复制。",
    "en": "Everything in this folder is yours to change. The notebooks import `code/`, so copy the "
          "folder as a whole.",
}


def files(root: Path, variant: str) -> dict[str, str]:
    """Name -> text of all that the folder holds, the contents first."""
    made = lab.own(root, variant)
    code = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
            for path in downloads.needed()}
    start = contents.notebook(variant, chapters.read(root), made, YOURS)
    return {lab.start(variant): start, **made, **code}


def main() -> int:
    parser = argparse.ArgumentParser(description="make a folder of notebooks for a class")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--read", choices=[*VARIANTS], default="both")
    options = parser.parse_args()
    try:
        wanted = files(ROOT, options.read)
        for line in Copies(options.folder).renew(wanted, set()):
            print(f"classroom: {line}")
    except (OSError, ValueError, FadeError) as error:
        sys.exit(f"classroom: {' '.join(str(error).split())}")
    print(f"{len(wanted)} files in {options.folder}; begin with {lab.start(options.read)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
