"""A pytest plugin: nbval's kernels are forked from a process that has imported torch (forkserver).

    python -m pytest --nbval --nbval-current-env -p book.pipeline.notebooks.forked_kernels …

Nothing else of nbval changes, nor of a kernel as its cells see it: a reader's plain
`pytest --nbval` starts each kernel anew and judges alike (tests/tools/test_forked_kernels.py). What
only a fresh kernel shows, a module that a section uses and does not import, `make sync` finds: it
executes every changed section in one.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

from book.pipeline.ground.paths import ROOT
from book.pipeline.notebooks import forkserver

NAME = "forked"
LAUNCHER = ["-m", "ipykernel_launcher"]
CHANGING = ("PYTEST_CURRENT_TEST", "JPY_PARENT_PID", "JPY_SESSION_NAME")  # nothing imports by these


def pytest_configure(config: Any) -> None:
    """From now on all kernels of this process are forked."""
    factory = KernelProvisionerFactory.instance()
    factory.provisioners[NAME] = EntryPoint(NAME, f"{__name__}:ForkedProvisioner",
                                            KernelProvisionerFactory.GROUP_NAME)
    factory.default_provisioner_name = NAME


def pytest_unconfigure(config: Any) -> None:
    """End the servers, and what they still run."""
    KernelProvisionerFactory.instance().default_provisioner_name = "local-provisioner"
    while _servers:
        _servers.popitem()[1].close()


class ForkedProvisioner(LocalProvisioner):
    """Starts kernels as jupyter_client does, but forked."""

    async def launch_kernel(self, cmd: list[str], **options: Any) -> dict[str, Any]:
        if [*cmd[:3]] != [sys.executable, *LAUNCHER]:
            raise RuntimeError(f"only ipykernel of {sys.executable} can be forked, not "
                               f"{' '.join(cmd)}")
        self.process = Kernel(_server(options["env"]), cmd[3:], options)
        self.pid = self.pgid = self.process.pid
        self.cwd = options.get("cwd") or str(Path.cwd())
        return self.connection_info


class Kernel:
    """A forked kernel, with what the provisioner uses of `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, server: Server, argv: list[str], options: dict[str, Any]) -> None:
        self.server, self.returncode = server, None
        with Path(os.devnull).open() as nothing:
            streams = [options.get("stdin") or nothing, options.get("stdout") or 1,
                       options.get("stderr") or 2]
            self.pid = server.ask({"cwd": str(options.get("cwd") or Path.cwd()),
                                   "env": options["env"], "argv": argv}, streams)

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self.server.ask({"poll": self.pid})
        return self.returncode

    def wait(self) -> int:
        while (status := self.poll()) is None:
            time.sleep(0.01)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Server:
    """The process that kernels of one environment are forked from."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.end, theirs = socket.socketpair()
        self.asking = threading.Lock()
        with theirs:
            command = [sys.executable, "-m", forkserver.__name__, str(theirs.fileno())]
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()], start_new_session=True)
        self.answers = self.end.makefile("r", encoding="utf-8")

    def ask(self, message: dict[str, Any], streams: list[Any] = ()) -> int | None:
        line = json.dumps(message).encode() + b"\n"
        with self.asking:
            sent = socket.send_fds(self.end, [line], [*map(_number, streams)])
            self.end.sendall(line[sent:])
            answer = self.answers.readline()
        if not answer:
            raise RuntimeError("the process that kernels are forked from has ended; its message "
                               "stands above")
        return json.loads(answer)

    def close(self) -> None:
        self.answers.close()
        self.end.close()
        self.process.wait()


def _number(stream: Any) -> int:
    return stream if isinstance(stream, int) else stream.fileno()


_servers: dict[frozenset, Server] = {}


def _server(environment: dict[str, str]) -> Server:
    """The one for this environment: what is imported may depend on any variable."""
    kept = {key: value for key, value in environment.items() if key not in CHANGING}
    key = frozenset(kept.items())
    if key not in _servers:
        _servers[key] = Server(kept)
    return _servers[key]
