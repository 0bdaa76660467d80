"""The book in a folder of its own, and JupyterLab over it as `make lab` starts it."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from book.pipeline import lab
from book.pipeline.ground.paths import ROOT
from book.pipeline.notebooks import jupyter
from tests.helpers.browser import browser  # noqa: F401

SPECIMEN = ROOT / "tests" / "specimen" / "source"
LINE = re.compile(r"JupyterLab is at (http://\S+)  \(Ctrl-C stops\)\n")


@pytest.fixture(scope="session")
def clone(tmp_path_factory):
    """What `make lab` needs of a clone: no npm packages, nothing of git; a small book."""
    root = tmp_path_factory.mktemp("clone")
    for name in ("book/pipeline", "book/web", "code", "benchmarks/results"):
        shutil.copytree(ROOT / name, root / name,
                        ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(SPECIMEN / "chapters", root / "chapters")
    shutil.copy(SPECIMEN / "_toc.yml", root)
    return root


class Reader:
    """A `make lab` that runs: its folder, the address it has printed."""

    def __init__(self, root, *arguments):
        self.folder = root / lab.FOLDER
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        kept = {key: value for key, value in os.environ.items()
                if key not in ("PYTHONPATH", "DISPLAY", "WAYLAND_DISPLAY", "BROWSER")}
        command = [sys.executable, "-m", "book.pipeline.lab", "--port", str(self.port), *arguments]
        self.said = root / "said"
        with self.said.open("w") as said:
            self.process = subprocess.Popen(command, cwd=root, env=kept, stdout=said, stderr=said)
        self.address = self._address()

    def _address(self):
        end = time.monotonic() + jupyter.PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            if found := LINE.search(self.said.read_text()):
                return found[1]
            time.sleep(0.2)
        log = self.folder / jupyter.OWN / "server.log"
        said = [file.read_text() for file in (self.said, log) if file.exists()]
        raise AssertionError("\n".join(["JupyterLab was not started", *said]))

    def asked(self, what):
        """What the server answers to a question of its own interface."""
        token = self.address.partition("?")[2]
        with urllib.request.urlopen(f"http://localhost:{self.port}/{what}?{token}",
                                    timeout=60) as answer:
            return json.load(answer)

    def stop(self):
        """As Ctrl-C does; the exit status."""
        self.process.terminate()
        return self.process.wait(4 * jupyter.LEAVE)


@pytest.fixture(scope="session")
def reader(clone):
    started = Reader(clone, "--read", "en")
    yield started
    started.stop()


def files_of(folder):
    """Every file below a folder with its content, what Python and Jupyter keep apart left out."""
    return {file.relative_to(folder).as_posix(): file.read_bytes()
            for file in sorted(Path(folder).rglob("*")) if file.is_file()
            and not {"__pycache__", ".ipynb_checkpoints", lab.FOLDER}
            & set(file.relative_to(folder).parts) and file.name != "said"}
