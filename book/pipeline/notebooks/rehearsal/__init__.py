"""A device for machines without a GPU: what in a notebook is tied to the CPU shows there.

`environment()` builds `device.cpp` once and gives the variables with which every process that
imports torch has a device named `rehearsal`: torch loads it through its entry point for other
back ends, `torch.backends` (https://docs.pytorch.org/tutorials/unstable/python_extension_autoload.html).
Its values are the CPU's. Its tensors are not the CPU's, so an operation that mixes both fails, as
on a GPU, and the engine runs its nodes in a thread of the device's own.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from book.pipeline.ground import digests
from book.pipeline.ground.paths import ROOT
from book.pipeline.notebooks.notebook import ENVIRONMENT

NAME = "rehearsal"
HERE = Path(__file__).parent
METADATA = "Metadata-Version: 2.1\nName: rehearsal-device\nVersion: 0\n"
ENTRY_POINTS = "[torch.backends]\nrehearsal = rehearsal_device:load\n"
FILES = ("device.cpp", "rehearsal_device.py")


class CannotBuildError(Exception):
    """The device cannot be built here; the message is for the user."""


def environment(folder: Path = ROOT / ".cache" / NAME) -> dict[str, str]:
    """Variables for processes of notebooks on the device; it is built below `folder` if need be.

    Raises CannotBuildError without a C++ compiler, or if it refuses the source.
    """
    site = build(folder)
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
    return {**os.environ, **ENVIRONMENT, "BOOK_DEVICE": NAME, "PYTHONPATH": path}


def build(folder: Path) -> Path:
    """A folder for PYTHONPATH with the device and its entry point; made once for each torch."""
    import torch

    sources = [digests.of_file(HERE / name) for name in FILES]
    site = folder / digests.of_value([sources, torch.__version__, sys.version])[:12]
    if site.exists():
        return site
    part = site.with_suffix(f".{os.getpid()}")
    shutil.rmtree(part, ignore_errors=True)
    information = part / "rehearsal_device-0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(METADATA)
    (information / "entry_points.txt").write_text(ENTRY_POINTS)
    shutil.copy(HERE / "rehearsal_device.py", part)
    compile_to(part / f"rehearsal_memory{sysconfig.get_config_var('EXT_SUFFIX')}")
    try:
        part.rename(site)
    except OSError:  # another run was faster
        if not site.exists():
            raise
        shutil.rmtree(part)
    return site


def compile_to(library: Path) -> None:
    """Compile `device.cpp` against the installed torch."""
    from torch.utils import cpp_extension

    compiler = shlex.split(os.environ.get("CXX") or "g++")  # such as "ccache g++"
    if not shutil.which(compiler[0]):
        raise CannotBuildError("the rehearsal device needs a C++ compiler; install one "
                               "(Debian: apt install g++)")
    include = [f"-I{path}" for path in [*cpp_extension.include_paths(),
                                        sysconfig.get_path("include")]]
    torch_lib = cpp_extension.TORCH_LIB_PATH
    command = [*compiler, "-shared", "-fPIC", "-std=c++20", "-O0", *include,
               f"-DTORCH_EXTENSION_NAME={library.name.split('.')[0]}", str(HERE / "device.cpp"),
               "-o", str(library), f"-L{torch_lib}", f"-Wl,-rpath,{torch_lib}",
               "-ltorch", "-ltorch_cpu", "-ltorch_python", "-lc10"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode or not library.exists():
        lines = done.stderr.strip().splitlines()
        mute = f"{compiler[0]} ended with {done.returncode} and said nothing; CXX names another"
        first = next((line for line in lines if "error" in line), lines[0] if lines else mute)
        raise CannotBuildError(f"the rehearsal device cannot be built: {first}")
