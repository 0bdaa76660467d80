"""Anchors that a page had at an earlier commit and that no link to it would find now.

    python -m book.pipeline.lost_anchors COMMIT

Prints what book/moved.yaml lacks, in its own form: the page that has a card or a heading of the
same name now, or `?` where a person must say it. Nothing is printed when nothing is lost.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from book.pipeline.content import moved
from book.pipeline.ground.paths import ROOT
from book.pipeline.text import marked_yaml

HEADING = re.compile(r"^#{1,3} .* · (.+)$", re.M)
FENCED = re.compile(r"^```.*?^```", re.M | re.S)
EVERYWHERE = {"say-it", "exercises", "recall"}  # parts of a section, which say nothing of their own
Anchors = dict[str, set[str]]  # page, as in chapters/01-tensors/views -> its anchors


def of_files(files: Mapping[str, str]) -> Anchors:
    """Anchors by page, from the texts of sections and of files of cards."""
    found: Anchors = defaultdict(set)
    for name, text in files.items():
        chapter, _, section = name.rpartition(".")[0].replace("/cards/", "/").rpartition("/")
        page = found[f"{chapter}/{section}"]
        if name.endswith(".yaml"):
            rows = marked_yaml.parse(text).value or []
            page |= {row["id"] for row in rows}
        else:
            page |= {slug(half) for half in HEADING.findall(FENCED.sub("", text))}
    return found


def slug(english: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", english.lower()).strip("-")


def now(root: Path = ROOT) -> dict[str, str]:
    """The texts that anchors come from, as they are."""
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
            for name in ("*/*.md", "*/cards/*.yaml")
            for path in sorted(root.glob(f"chapters/{name}"))}


def at(commit: str, root: Path = ROOT) -> dict[str, str]:
    """The same texts at a commit. Older commits hold a chapter's cards in one file: left out."""
    names = _git(root, "ls-tree", "-r", "--name-only", commit, "chapters").splitlines()
    return {name: _git(root, "show", f"{commit}:{name}") for name in names
            if re.fullmatch(r"chapters/[^/]+/([^/]+\.md|cards/[^/]+\.yaml)", name)}


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"lost_anchors: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout


def lost(before: Anchors, after: Anchors, known: list[moved.Moved]) -> Iterator[str]:
    """Lines for book/moved.yaml: each page with what it has lost and nobody forwards."""
    told = {one.page: one for one in known}
    for page, anchors in before.items():
        one = told.get(page) or moved.Moved(page)
        here = after.get(page) or after.get(one.to or "", set())
        gone = sorted(anchors - here - one.anchors.keys() - EVERYWHERE)
        if page not in after and one.to is None:
            yield from (f"{page}:", "  to: ?", "  anchors:")
        elif gone:
            yield from (f"{page}:", "  anchors:")
        yield from (f"    {name}: {home(name, after)}" for name in gone)


def home(name: str, after: Anchors) -> str:
    """The one page that has this anchor now."""
    pages = [page for page, anchors in after.items() if name in anchors]
    return pages[0] if len(pages) == 1 else "?"


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lines = list(lost(of_files(at(sys.argv[1])), of_files(now()), moved.read()))
    print(*lines, sep="\n") if lines else None
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
