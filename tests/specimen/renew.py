"""Execute the specimen and prove its cards, as `make sync` and `make prove` do for the book.

    python -m tests.specimen.renew
"""

from __future__ import annotations

import sys
from pathlib import Path

from book.pipeline import prove, sync

SOURCE = Path(__file__).with_name("source")


def sections() -> list[Path]:
    """What has code and so a golden notebook: all pages of chapters, and the front page."""
    return [*sorted(SOURCE.glob("chapters/*/*.md")), SOURCE / "book" / "index.md"]


def main() -> int:
    for path in sections():
        print(f"{path.relative_to(SOURCE)}: {'written' if sync.sync(path) else 'up to date'}")
    return prove.main(["--root", str(SOURCE)])


if __name__ == "__main__":
    sys.exit(main())
