"""What work was seen to look at when it passed, and whether all of that is still as it was.

Nothing is declared: the process notes what it opens, lists and asks for (`observer`), and that is
remembered with its state. What cannot be seen is what programs read that are no Python: who starts
one names patterns of files for it, or is remembered with the whole book.

A state is that of the time at which the work looked, not of its end: a file that was changed since
the work began is not known to be what was tested, so that the work is not remembered.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from book.pipeline.ground.digests import of
from book.pipeline.ground.paths import ROOT, write_atomic
from book.pipeline.suite.observer import sitecustomize as observer
from book.pipeline.suite.passed import FOLDER, content, digest, files_of

States = dict[str, str]  # "KIND NAME" -> how it was: kinds r, s, l of the observer, g of a pattern
TICK = 50_000_000  # ns: the clock of a file system is that much behind


class Unsure(Exception):
    """It is not known what was tested."""


class Seen(NamedTuple):
    """What was looked at, and the programs that were started and take no notes."""

    states: States
    programs: frozenset[str]


def environment(log: Path, root: Path = ROOT) -> dict[str, str]:
    """What a Python must find in its environment to take notes into this file."""
    before = os.environ.get("PYTHONPATH")
    return {"SEEN_LOG": str(log), "SEEN_ROOT": str(root),
            "PYTHONPATH": os.pathsep.join(filter(None, [observer.HERE, before]))}


def patterns(names: Iterable[str], root: Path = ROOT) -> States:
    """The files of each pattern as they are now."""
    return {f"g {name}": state(f"g {name}", root) for name in names}


def state(key: str, root: Path = ROOT) -> str:
    """How something is now."""
    kind, _, name = key.partition(" ")
    path = root / name
    if kind == "g":
        return of("\0".join(f"{file.relative_to(root)}\0{content(file)}"
                            for file in files_of([name], root)))[:16]
    if kind == "l":
        return observer.names(path)
    if kind == "r" and path.is_file():
        return content(path)[:16]
    return "file" if path.is_file() else "folder" if path.is_dir() else "none"


def read(log: Path, since: int, root: Path = ROOT) -> Seen:
    """What the notes tell. Raises Unsure where something was changed since that time (in ns)."""
    states: States = {}
    programs = set()
    for line in log.read_text("utf-8", "surrogateescape").splitlines() if log.exists() else []:
        key, _, then = line.partition("\t")
        if key.startswith("p "):
            programs.add(key[2:])
            continue
        states[key] = state(key, root)
        newer = key[0] == "r" and _newer(root / key[2:], since)
        if newer or (then and then != states[key]):
            raise Unsure(f"{key[2:]} was changed meanwhile")
    return Seen(states, frozenset(programs))


def _newer(file: Path, since: int) -> bool:
    return file.is_file() and file.stat().st_ctime_ns >= since - TICK


def now() -> int:
    return time.time_ns()


class Memory:
    """What passed, each in a file of its own with the states that it passed with.

    A file that cannot be read counts as none: the price is one more run.
    """

    def __init__(self, root: Path = ROOT):
        self.root, self.folder = root, root / FOLDER / "seen"

    def why(self, name: str) -> str:
        """Why this has to run; empty if it passed and all is still as it was."""
        try:
            told = json.loads(self._file(name).read_text("utf-8"))
            tools, states = told["tools"], dict(told["states"])
        except OSError:
            return "has not passed yet"
        except (ValueError, KeyError, TypeError, RecursionError):
            return "its record cannot be read"
        if tools != digest([]):
            return "tools or settings changed"
        return ", ".join(self._shown(states))

    def _shown(self, states: Mapping[str, str], most: int = 3) -> Iterator[str]:
        changed = sorted({key[2:] for key, then in states.items()
                          if state(key, self.root) != then})
        yield from changed[:most]
        if len(changed) > most:
            yield f"{len(changed) - most} more"

    def add(self, name: str, states: States) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        told = {"name": name, "tools": digest([]), "states": states}
        write_atomic(self._file(name), json.dumps(told, indent=0, sort_keys=True) + "\n")

    def forget(self, name: str) -> None:
        self._file(name).unlink(missing_ok=True)

    def _file(self, name: str) -> Path:
        return self.folder / f"{of(name)[:16]}.json"
