"""A folder of copies that a reader works in: renewed with the book, but never what was changed.

For every file the folder remembers which version of the book was put there last. A copy that still
says the same is replaced by a newer version; one that the reader has changed stays, and the newer
version is put beside it, as in `views.en.updated.ipynb`. Of a notebook only the cells' sources
count, so that one which was merely run has not been changed. A renewal that is killed leaves a
list of what it was about to write, from which the next one sees what it has written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from book.pipeline.ground import digests
from book.pipeline.ground.paths import remove_parts, write_atomic

MEMORY = ".copies.json"  # name of a copy -> digest of the version put there or told of
BEGUN = ".copies.begun"  # a line before each copy is written: [name, digest]


def digest(text: str, name: str) -> str:
    """Changes when a reader edits the file; a notebook's outputs, metadata, empty cells do not."""
    if name.endswith(".ipynb"):
        with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
            cells = [(cell["cell_type"], "".join(cell["source"]).strip())
                     for cell in json.loads(text)["cells"]]
            return digests.of_value([cell for cell in cells if cell[1]])
    return digests.of(text)


def beside(name: str, number: int) -> str:
    """The name itself, then `NAME.updated.ipynb`, `NAME.updated-2.ipynb`, …"""
    path = Path(name)
    mark = {0: "", 1: ".updated"}.get(number, f".updated-{number}")
    return path.with_name(f"{path.stem}{mark}{path.suffix}").as_posix()


class Copies:
    """The copies in a folder; call `renew` with what the book holds now."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.put = self._remembered()
        self._recover()
        self.fresh: list[str] = []  # copies written this time

    def _remembered(self) -> dict[str, str]:
        """What was put where; unreadable, it counts as empty: then every copy may be changed."""
        with suppress(OSError, ValueError, RecursionError):
            found = json.loads((self.folder / MEMORY).read_text(encoding="utf-8"))
            return found if isinstance(found, dict) else {}
        return {}

    def _recover(self) -> None:
        """Learn what a renewal that was killed had written, and take half-written files away."""
        with suppress(FileNotFoundError):
            for line in (self.folder / BEGUN).read_text(encoding="utf-8").splitlines():
                with suppress(ValueError):  # the last line may be half a line
                    name, new = json.loads(line)
                    remove_parts(self._target(name))
                    if self._now(name) == new:
                        self.put[name] = new
            remove_parts(self.folder / MEMORY)

    def renew(self, files: Mapping[str, str], gone: Mapping[str, Any] | set[str]) -> Iterator[str]:
        """Put name -> text into the folder, take away what is `gone` from the book.

        Yields a line for each copy that the reader has changed and that has a newer version now.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            for name, text in files.items():
                if (written := self._place(name, text)) not in (None, name):
                    yield f"{name}: you have changed it, so it stays; the new version is {written}"
            for name in sorted(gone):
                if self._leave(name):
                    yield f"{name}: the book no longer has it; your changed copy stays"
        finally:
            memory = json.dumps(self.put, indent=0, sort_keys=True)
            write_atomic(self.folder / MEMORY, memory + "\n")
            (self.folder / BEGUN).unlink(missing_ok=True)

    def _place(self, name: str, text: str) -> str | None:
        """Where the text was written; None where it is already, or the reader was told of it."""
        new, written = digest(text, name), None
        for candidate in (beside(name, number) for number in count()):
            old, last = self._now(candidate), self.put.get(candidate)
            if old is None or (old == last and old != new):
                self._write(candidate, text, new)
                self.fresh.append(candidate)
                written = candidate
            self.put[candidate] = new  # if the reader's copy stays: told of
            if written or new in (old, last):
                return written
        return None

    def _write(self, name: str, text: str, new: str) -> None:
        with (self.folder / BEGUN).open("a", encoding="utf-8") as begun:
            begun.write(json.dumps([name, new]) + "\n")
        target = self._target(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(target, text)

    def _target(self, name: str) -> Path:
        """The file that is written for a copy; where the reader has put a link, what it names."""
        real = (self.folder / name).resolve()
        return real if real.parent.is_dir() else self.folder / name

    def _now(self, name: str) -> str | None:
        """The digest of a copy as it is now; None without a copy."""
        try:
            return digest((self.folder / name).read_text(encoding="utf-8"), name)
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            return "no text"

    def _leave(self, name: str) -> bool:
        """Forget a copy of what the book no longer has; True if the reader changed it."""
        now, last = self._now(name), self.put.pop(name)
        if now == last:
            (self.folder / name).unlink()
            with suppress(OSError):  # others lie there
                (self.folder / name).parent.rmdir()
        return now is not None and now != last
