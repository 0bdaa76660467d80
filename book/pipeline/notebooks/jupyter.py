"""JupyterLab on a folder of this machine, with settings of its own: nothing outside is written."""

from __future__ import annotations

import json
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

from book.pipeline.ground.paths import write_atomic
from book.pipeline.notebooks.notebook import ENVIRONMENT

OWN = ".jupyter"      # in the folder: settings, signatures, log, what IPython and npm keep
# urlopen would ask a proxy of the environment, which knows no localhost of ours, and tell it the
# token.
DIRECTLY = urllib.request.build_opener(urllib.request.ProxyHandler({}))
PATIENCE = 180.0      # s until a server that does not answer will not; a busy machine needs 20
LEAVE = 15.0          # s that a server has to end its kernels
SETTINGS = {  # so that nobody is asked about news, or which kernel to take
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "notebook-extension/tracker": {"autoStartDefaultKernel": True},
}


class JupyterError(Exception):
    """A server that does not start: one line, why and what to do."""


def environment(folder: Path) -> dict[str, str]:
    """The environment of the server and its kernels; cells draw as they do in the book."""
    own = folder / OWN
    kept = {key: value for key, value in os.environ.items() if key != "JUPYTER_PATH"}
    return kept | ENVIRONMENT | {
        "JUPYTER_CONFIG_DIR": str(own), "JUPYTER_DATA_DIR": str(own),
        "IPYTHONDIR": str(own / "ipython"), "npm_config_cache": str(own / "npm"),
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


def settle(folder: Path) -> None:
    """Write our settings for JupyterLab where there are none; what the reader set later stays."""
    for name, values in SETTINGS.items():
        file = folder / OWN / f"lab/user-settings/@jupyterlab/{name}.jupyterlab-settings"
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(file, json.dumps(values) + "\n")


class Server:
    """A JupyterLab that has been started; it answers once `wait` has returned."""

    def __init__(self, folder: Path, port: int):
        self.port, self.token = port, secrets.token_urlsafe(24)
        self.log = folder / OWN / "server.log"
        settle(folder)
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
                with DIRECTLY.open(status, timeout=10):
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
    """OSError or OverflowError where nobody can listen there now, or no browser finds it."""
    if not 1 <= port <= 65535:  # 0 is any free one to `bind`, and none to a browser
        raise OverflowError("a port is 1-65535")
    with socket.socket(socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))
