"""From C++ text to functions: one run of the compiler, and a folder that remembers its results.

A library is found again by its content: source, flags, and what the compiler says about itself and
about this machine. Its file's name holds that key and a checksum of the file, so a half-written or
damaged file is never loaded. It's written under another name first and then renamed, which is one
step, so two processes may build the same at once.
Source: torch/_inductor/codecache.py (CppCodeCache, write_atomic).
"""
import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

__all__ = ["FLAGS", "CannotBuild", "Counts", "counts", "folder", "library"]

FLAGS = ["-O3", "-march=native", "-std=c++17", "-shared", "-fPIC", "-fwrapv", "-ffp-contract=off",
         "-fno-math-errno", "-fno-trapping-math"]
THREADS = ["-fopenmp"]
WIDE = ["-mprefer-vector-width=512"]


class CannotBuild(Exception):
    """Why there is no compiled code, in one line."""


class Counts:
    """How often the compiler ran, and how often a library was found instead."""

    compiled = found = 0


counts = Counts()


def library(source):
    """The loaded ctypes.CDLL of some C++ text. Raises CannotBuild, whatever the reason."""
    try:
        key, place = key_of(source), folder()
        ready = place and in_cache(place, key)
        if ready:
            counts.found += 1
            return ready
        with tempfile.TemporaryDirectory(prefix="mini_compile_") as work:
            built = compile_in(Path(work), source)
            counts.compiled += 1
            return loaded_and_kept(place, key, built)
    except OSError as error:                          # no room, no right to run it, no library ...
        raise CannotBuild(f"the loops cannot be built or loaded: {error}") from None


def loaded_and_kept(place, key, built):
    """The new library. It's kept only if it can be loaded, and stays loaded without its file."""
    try:
        ready = ctypes.CDLL(str(built))
    except OSError:                                   # perhaps nothing may run where it was built
        if not place or not (kept := keep(place, key, built)):
            raise
        try:
            return ctypes.CDLL(str(kept))
        except OSError:
            kept.unlink()
            raise
    if place:
        keep(place, key, built)
    return ready


# --- 1. The compiler ------------------------------------------------------------------------------

def compiler():
    """The path of the C++ compiler: what CXX names (no options), or c++, g++, clang++."""
    named = os.environ.get("CXX", "").strip()
    wanted = [named] if named else ["c++", "g++", "clang++"]
    found = next((path for path in map(shutil.which, wanted) if path), None)
    if found is None:
        raise CannotBuild(f"no C++ compiler ({', '.join(wanted)}); install one (Debian: apt install"
                          " g++) or name yours in the environment variable CXX")
    return str(Path(found).absolute())                # it runs in another folder


@functools.cache
def says_of_itself(path):
    """The compiler's predefined macros: its version, and each instruction set of this CPU."""
    asked = [path, "-march=native", "-dM", "-E", "-x", "c++", os.devnull]
    try:
        return subprocess.run(asked, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise CannotBuild(f"the C++ compiler {path} does not run: {error}") from None


def flags(path):
    """FLAGS, and those that this compiler understands of THREADS and WIDE."""
    return [*FLAGS, *(flag for flag in THREADS + WIDE if understands(path, flag))]


@functools.cache
def understands(path, flag):
    with tempfile.TemporaryDirectory(prefix="mini_compile_") as work:
        asked = [path, flag, "-shared", "-fPIC", "-x", "c++", os.devnull, "-o", f"{work}/x"]
        return subprocess.run(asked, capture_output=True).returncode == 0


def compile_in(work, source):
    """Run the compiler once, in the folder `work`; returns the path of the library."""
    file, built = work / "loops.cpp", work / "loops.so"
    file.write_text(source, encoding="utf-8")
    path = compiler()
    done = subprocess.run([path, *flags(path), file.name, "-o", built.name, "-lm"], cwd=work,
                          capture_output=True, text=True, errors="replace")
    if done.returncode < 0:
        raise CannotBuild(f"the C++ compiler was ended by signal {-done.returncode}")
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr)
        raise CannotBuild(f"the C++ compiler refused the loops: {first.strip()[:200]}")
    if not built.is_file():
        raise CannotBuild(f"the C++ compiler {path} reported no error and wrote no library")
    return built


# --- 2. The folder --------------------------------------------------------------------------------

def folder():
    """The cache folder, MINI_COMPILE_CACHE or one for this user; None where it cannot be made."""
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    chosen = os.environ.get("MINI_COMPILE_CACHE") or f"{home}/mini_compile"
    try:
        chosen = Path(chosen).expanduser().absolute()
        chosen.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):                   # RuntimeError: there is no home
        return None
    return chosen


def key_of(source):
    path = compiler()
    text = b"\0".join([source.encode(), " ".join(flags(path)).encode(), says_of_itself(path)])
    return hashlib.sha256(text).hexdigest()[:32]


def checksum(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()[:32]


def in_cache(place, key):
    """The library under this key, or None; a file that is not what it was is removed."""
    for file in place.glob(f"{key}-*.so"):
        try:
            if file.stem == f"{key}-{checksum(file)}":
                return ctypes.CDLL(str(file))
            file.unlink()
        except OSError:                               # gone meanwhile, unreadable, not loadable
            continue
    return None


def keep(place, key, built):
    """Copy a library into the folder in one step; its path, or None where that is forbidden."""
    target = place / f"{key}-{checksum(built)}.so"
    try:
        handle, temporary = tempfile.mkstemp(dir=place, suffix=".tmp")
        os.close(handle)
    except OSError:
        return None
    try:
        shutil.copyfile(built, temporary)
        Path(temporary).replace(target)
    except OSError:                                   # no room: no half of a file stays either
        Path(temporary).unlink()
        return None
    return target
