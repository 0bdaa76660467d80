"""What passed already: remembered under a digest of everything that could have made it fail.

A digest is taken before the work begins, never after it: a file that is edited while its test
runs has not been tested. (`doit`, tried for this, stores the state of its files when a task ends.)
The memory lies in `.cache/passed/`; without it, as in a clean clone, everything runs.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

from book.pipeline.ground.paths import ROOT, write_atomic

FOLDER = Path(".cache") / "passed"
# The first that is there is taken. The headless shell costs a quarter less, but sets text a little
# wider than the browser that readers have.
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
            "chromium-headless-shell")
PROGRAMS = (*BROWSERS, "cc", "g++", "node")
LEFT_OUT = {"__pycache__", ".ipynb_checkpoints"}
# Settings that change what a test does or how deep it goes.
SETTINGS = ("DEPTH", "RECORD", "SPECIMEN", "OMP_NUM_THREADS", "BOOK_THREADS", "CC",
            "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD",
            "PYTHONOPTIMIZE", "PYTHONPATH", "PYTHONWARNINGS", "NODE_OPTIONS")


class Passed:
    """Names of what passed, each with its digest; one file a `kind` of work.

    An unreadable file counts as empty: the price is one more run.
    """

    def __init__(self, kind: str, root: Path = ROOT):
        self.file = root / FOLDER / f"{kind}.json"
        self._read()

    def _read(self) -> None:
        try:
            found = json.loads(self.file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            found = {}
        self.digests: dict[str, str] = found if isinstance(found, dict) else {}

    def holds(self, name: str, digest: str) -> bool:
        return self.digests.get(name) == digest

    def knows(self, name: str) -> bool:
        return name in self.digests

    def add(self, passed: Mapping[str, str], failed: Iterable[str] = ()) -> None:
        """Remember what passed, forget what failed; other names stay as the file has them now."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # let go when the file is closed
            self._read()
            self.digests |= passed
            for name in failed:
                self.digests.pop(name, None)
            write_atomic(self.file, json.dumps(self.digests, indent=0, sort_keys=True) + "\n")


def files_of(patterns: Iterable[str], root: Path = ROOT) -> Iterator[Path]:
    """Files that match the patterns, sorted; what tools keep beside them is no input."""
    found = {file for pattern in patterns for file in root.glob(pattern)}
    yield from sorted(file for file in found
                      if file.is_file() and not LEFT_OUT.intersection(file.relative_to(root).parts))


def digest(files: Iterable[Path], *words: str, root: Path = ROOT) -> str:
    """sha256 over names and contents of the files, the words, the tools and the settings."""
    total = hashlib.sha256()
    for word in (*words, tools(), *settings()):
        total.update(word.encode() + b"\0")
    for file in files:
        name = file.relative_to(root) if file.is_relative_to(root) else file
        total.update(f"{name}\0{content(file)}\0".encode())
    return total.hexdigest()


def settings() -> Iterator[str]:
    """Those of this run; RECORD counts with DEPTH alone, since tests record only what is deep."""
    for key in SETTINGS:
        counts = key != "RECORD" or os.environ.get("DEPTH")
        yield f"{key}={os.environ.get(key) if counts else None}"


def content(file: Path) -> str:
    """sha256 of a file, computed once a process as long as the file stays as it is."""
    state = file.stat()
    return _of_file(file, state.st_ctime_ns, state.st_size)


@cache
def _of_file(file: Path, changed: int, size: int) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@cache
def tools() -> str:
    """Python, its packages and the system: a new version of any of them makes everything run."""
    packages = sorted(f"{found.metadata['Name']}=={found.version}" for found in distributions())
    return "\n".join([platform.platform(), platform.python_version(), *packages,
                      *(_version(program) for program in PROGRAMS)])


def _version(program: str) -> str:
    """What a program of the machine says of itself; empty where it is missing."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return f"{program}: {done.stdout.strip()}"
