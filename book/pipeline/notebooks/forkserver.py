"""The process that kernels of notebooks are forked from: it has imported torch and run nothing.

An interpreter with ipykernel and torch takes about 2.5 s of processor time to start; a process
that is forked from one takes 0.1 s and then is what `python -m ipykernel_launcher` would be: with
the directory, the environment, the arguments and the streams that were asked for. Companions of the
book are never imported here: they are what is tested.

Requests come through a socket, each a line of JSON; the descriptors of a kernel's three standard
streams travel with it. `{"cwd", "env", "argv"}` is answered with the number of the new process,
`{"poll": number}` with its exit status, null while it runs. When the socket is closed, all kernels
end.

    python -m book.pipeline.notebooks.forkserver SOCKET
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

# What notebooks import themselves, or torch when it is used: an optimizer imports Dynamo. Neither
# pyplot, which asks for a kernel when it is imported, nor anything that starts a thread.
PRELOADED = ("ipykernel.kernelapp", "ipykernel.ipkernel", "torch", "torch._dynamo",
             "functorch.compile", "matplotlib.figure", "matplotlib.backends.backend_svg")
Request = tuple[dict[str, Any], list[int]]


def serve(end: socket.socket) -> Request:
    """Answer until the other end is closed; returns in each kernel, with the request for it."""
    kernels: set[int] = set()
    while request := _receive(end):
        message, streams = request
        if number := message.get("poll"):
            answer = _status(number)
            kernels -= {number} if answer is not None else set()
        elif answer := os.fork():
            kernels.add(answer)
        else:
            end.close()
            return request
        for stream in streams:
            os.close(stream)
        end.sendall(json.dumps(answer).encode() + b"\n")
    for number in kernels:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(number, signal.SIGKILL)
        os.waitpid(number, 0)
    os._exit(0)  # nothing of torch has to be taken down


def _receive(end: socket.socket) -> Request | None:
    line, streams = b"", []
    while not line.endswith(b"\n"):
        part, more, *_ = socket.recv_fds(end, 1 << 16, 3)
        if not part:
            return None
        line, streams = line + part, streams + more
    return json.loads(line), streams


def _status(number: int) -> int | None:
    ended, raw = os.waitpid(number, os.WNOHANG)
    return os.waitstatus_to_exitcode(raw) if ended else None


def become_kernel(message: dict[str, Any], streams: list[int], imported: dict[str, str]) -> None:
    """Turn this forked process into the kernel that was asked for.

    `imported`: variables that an import has set, such as where Inductor keeps what it compiles.
    """
    import numpy
    import torch
    from ipykernel import kernelapp

    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(message["cwd"])
    os.environ.clear()
    os.environ.update(imported | message["env"], JPY_PARENT_PID=str(os.getppid()))
    torch.default_generator.seed()  # each fresh process has seeds of its own; `random` sees to it
    numpy.random.seed()
    launcher = Path(kernelapp.__file__).parent.with_name("ipykernel_launcher.py")
    sys.argv = [str(launcher), *message["argv"]]
    parent = f"--IPKernelApp.parent_handle={os.getppid()}"  # read when the class was made
    kernelapp.launch_new_instance(argv=[*message["argv"], parent])


def main() -> None:
    sys.path.pop(0)  # the folder that `-m` puts there; ipykernel_launcher takes its own away too
    end = socket.socket(fileno=int(sys.argv[1]))
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")  # as ipykernel
    before = dict(os.environ)
    for name in PRELOADED:
        importlib.import_module(name)
    tasks = Path("/proc/self/task")
    if tasks.is_dir() and len(list(tasks.iterdir())) > 1:
        sys.exit("forkserver: an import has started a thread, and a fork would lose it; set "
                 "OMP_NUM_THREADS=1")
    imported = {key: value for key, value in os.environ.items() if key not in before}
    become_kernel(*serve(end), imported)


if __name__ == "__main__":
    main()
