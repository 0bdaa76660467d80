"""JupyterLab on a folder of this machine, with settings of its own: nothing outside is written."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterable
from pathlib import Path

from nbformat.sign import NotebookNotary

from book.pipeline.notebooks.notebook import ENVIRONMENT
from book.pipeline.paths import write_atomic

OWN = ".jupyter"      # in the folder: settings, signatures, log
PATIENCE = 180.0      # s until a server that does not answer will not; a busy machine needs 20
LEAVE = 15.0          # s that a server has to end its kernels
QUIET = Path("lab/user-settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings")


class JupyterError(Exception):
    """A server that does not start: one line, why and what to do."""


def environment(folder: Path) -> dict[str, str]:
    """The environment of the server and its kernels; cells draw as they do in the book."""
    own = folder / OWN
    kept = {key: value for key, value in os.environ.items() if key != "JUPYTER_PATH"}
    return kept | ENVIRONMENT | {
        "JUPYTER_CONFIG_DIR": str(own), "JUPYTER_DATA_DIR": str(own),
        "JUPYTER_PREFER_ENV_PATH": "1",  # the kernel of this Python, not one of the user's
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
    }


def trust(folder: Path, names: Iterable[str]) -> None:
    """Sign notebooks of the book, so that JupyterLab shows their stored pictures and tables."""
    import nbformat

    (folder / OWN).mkdir(exist_ok=True)
    notary = NotebookNotary(data_dir=str(folder / OWN))
    for name in names:
        notary.sign(nbformat.read(folder / name, 4))
    notary.store.close()


def keep_quiet(folder: Path) -> None:
    """Let JupyterLab ask nobody whether it may fetch news; what the reader set later stays."""
    settings = folder / OWN / QUIET
    if not settings.exists():
        settings.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(settings, '{"fetchNews": "false", "checkForUpdates": false}\n')


class Server:
    """A JupyterLab that has been started; it answers once `wait` has returned."""

    def __init__(self, folder: Path, port: int):
        self.port, self.token = port, secrets.token_urlsafe(24)
        self.log = folder / OWN / "server.log"
        keep_quiet(folder)
        options = {
            "ServerApp.root_dir": folder.resolve(), "ServerApp.port": port,
            "ServerApp.port_retries": 0, "ServerApp.open_browser": False,
            "ServerApp.allow_root": True,  # it listens to this machine only, and asks for a token
        }
        command = [sys.executable, "-m", "jupyterlab",
                   *(f"--{name}={value}" for name, value in options.items())]
        with self.log.open("w") as log:  # in a session of its own: Ctrl-C is ours to hear
            self.process = subprocess.Popen(
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=environment(folder) | {"JUPYTER_TOKEN": self.token}, start_new_session=True)

    def address(self, page: str) -> str:
        """Where a browser finds a file of the folder."""
        return f"http://localhost:{self.port}/lab/tree/{page}?token={self.token}"

    def wait(self) -> None:
        """Return when the server answers; JupyterError if it ends or never does."""
        status = f"http://localhost:{self.port}/api/status?token={self.token}"
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise JupyterError(f"JupyterLab has ended; {self.log} says why")
            try:
                with urllib.request.urlopen(status, timeout=10):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        raise JupyterError(f"JupyterLab does not answer; {self.log} may say why")

    def ended(self) -> None:
        """Return when the server has been shut down; JupyterError if it failed."""
        if self.process.wait():
            raise JupyterError(f"JupyterLab has ended; {self.log} says why")

    def stop(self) -> None:
        """End the server and its kernels."""
        self.process.terminate()
        try:
            self.process.wait(LEAVE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def check_port(port: int) -> None:
    """OSError or OverflowError where nobody can listen there now."""
    with socket.socket(socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))
