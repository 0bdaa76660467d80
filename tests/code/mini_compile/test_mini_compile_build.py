"""mini_compile without a compiler, and its folder of libraries: damage, two processes at once."""

import os
import subprocess
import sys
import warnings

import pytest
import torch

import mini_compile
import mini_compile_build as build
from book.pipeline.ground.paths import CODE

pytestmark = [pytest.mark.usefixtures("one_thread", "own_cache"),
              pytest.mark.filterwarnings("ignore:Guards may run slower")]    # Python 3.13.0
PROGRAM = """
import sys, torch, mini_compile
x = torch.arange(12.0).reshape(3, 4)
f = lambda x: (x * 2 + 1).softmax(-1)
fast = torch.compile(f, backend=mini_compile.backend)
assert torch.allclose(fast(x), f(x))
print(mini_compile.stats.compiler_runs, mini_compile.stats.found_in_cache)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MINI_COMPILE_CACHE", str(tmp_path / "libraries"))
    return tmp_path / "libraries"


def started(folder):
    return subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True,
                            stderr=subprocess.PIPE,
                            env={**os.environ, "PYTHONPATH": str(CODE), "OMP_NUM_THREADS": "1",
                                 "MINI_COMPILE_CACHE": str(folder)})


def told(process):
    out, errors = process.communicate(timeout=1200)
    assert process.returncode == 0, errors
    return out.split()


def add_one(number):
    """A function that needs a library of its own."""
    return lambda x: x * number + 1


def run(number, x=None):
    torch._dynamo.reset()
    x = torch.ones(3) if x is None else x
    return torch.compile(add_one(number), backend=mini_compile.backend)(x)


def test_a_second_process_compiles_nothing(folder):
    assert told(started(folder)) == ["1", "0"]
    assert told(started(folder)) == ["0", "1"]


def test_two_processes_may_build_the_same_at_once(folder):
    both = [started(folder), started(folder)]
    assert {told(one)[0] for one in both} <= {"0", "1"}
    assert all(file.suffix == ".so" for file in folder.iterdir())
    assert told(started(folder)) == ["0", "1"]


@pytest.mark.parametrize("damage", [lambda data: data[:len(data) // 2], lambda data: b"",
                                    lambda data: data[:-1] + bytes([data[-1] ^ 1])])
def test_a_damaged_library_is_built_anew(folder, damage):
    run(2.0)
    [file] = folder.iterdir()
    data = file.read_bytes()
    file.unlink()                                    # the loaded one stays as it is
    file.write_bytes(damage(data))
    before = build.counts.compiled
    assert run(2.0).tolist() == [3, 3, 3]
    assert build.counts.compiled == before + 1
    assert build.checksum(next(folder.iterdir())) in next(folder.iterdir()).name


def test_another_flag_or_compiler_is_another_library(folder, monkeypatch):
    keys = {build.key_of("int x;"), build.key_of("int y;")}
    monkeypatch.setattr(build, "FLAGS", ["-O1", *build.FLAGS[1:]])
    keys.add(build.key_of("int x;"))
    monkeypatch.setattr(build, "says_of_itself", lambda path: b"another compiler or CPU")
    keys.add(build.key_of("int x;"))
    assert len(keys) == 4


def test_a_folder_that_cannot_be_written_is_no_obstacle(folder, monkeypatch):
    def refused(*given, **options):
        raise PermissionError("read-only")
    monkeypatch.setattr(build.tempfile, "mkstemp", refused)
    assert run(5.0).tolist() == [6, 6, 6]
    assert not list(folder.iterdir())
    monkeypatch.setenv("MINI_COMPILE_CACHE", "/dev/null/nowhere")
    assert run(6.0).tolist() == [7, 7, 7]


def warned(number):
    mini_compile.stats.clear()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        results = [run(number).tolist(), run(number, torch.ones(2)).tolist()]
    lines = [str(one.message) for one in said if "mini_compile" in str(one.message)]
    assert results == [[number + 1] * 3, [number + 1] * 2]
    return lines


def test_without_a_compiler_operators_run_one_by_one_and_one_line_says_so(folder, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    [line] = warned(7.0)
    assert "no C++ compiler (no-such-compiler)" in line
    assert mini_compile.stats.graphs[0].problem in line
    assert "no loops: no C++ compiler" in repr(mini_compile.stats.graphs[0])


def test_a_refused_source_costs_no_result(folder, monkeypatch):
    monkeypatch.setattr(mini_compile, "PRELUDE", "this is no C++;\n")
    [line] = warned(8.0)
    assert "the C++ compiler refused the loops" in line


def test_another_device_stays_alone():
    from mini_compile_groups import why_not_tensor
    assert "this is on meta" in why_not_tensor(torch.empty(2, device="meta"))


# --- A compiler or a folder that does not do what it should ---------------------------------------

def program(folder, *lines):
    """An executable file for CXX."""
    file = folder / "compiler"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    file.chmod(0o755)
    return str(file)


LAST = 'for last; do :; done; [ "$last" = -lm ]'     # the call that makes the library
FALSE_COMPILERS = {
    "exits 0 and writes nothing": (["#!/bin/sh", "exit 0"], "wrote no library"),
    "writes no library": (["#!/bin/sh", f"{LAST} && echo no library > loops.so; exit 0"],
                          "cannot be built or loaded"),
    "writes a library without the functions": (
        ["#!/bin/sh", LAST + " && echo 'int x;' | c++ -shared -fPIC -x c++ - -o loops.so; exit 0"],
        "left out loop_0"),
    "is ended": (["#!/bin/sh", f"{LAST} && kill -9 $$; exit 0"], "signal 9"),
    "is no program": (["a text"], "Exec format error"),
}


@pytest.mark.parametrize("name", FALSE_COMPILERS)
def test_a_compiler_that_makes_no_library_costs_no_result(folder, tmp_path, monkeypatch, name):
    lines, words = FALSE_COMPILERS[name]
    monkeypatch.setenv("CXX", program(tmp_path, *lines))
    [line] = warned(20.0)
    assert words in line


def test_a_library_that_cannot_be_loaded_is_not_kept(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("CXX", program(tmp_path, *FALSE_COMPILERS["writes no library"][0]))
    warned(21.0)
    assert not list(folder.iterdir())


def test_no_room_for_the_compiler_costs_no_result(folder, monkeypatch):
    def full(*given, **options):
        raise OSError(28, "No space left on device")
    monkeypatch.setattr(build.tempfile, "TemporaryDirectory", full)
    [line] = warned(22.0)
    assert "No space left" in line


def test_a_compiler_and_a_folder_may_be_named_from_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "c++").symlink_to(build.compiler())
    monkeypatch.setenv("CXX", "./bin/c++")
    monkeypatch.setenv("MINI_COMPILE_CACHE", ".")
    assert not warned(23.0)
    assert list(tmp_path.glob("*.so"))


def test_a_full_folder_keeps_no_half_of_a_file(folder, monkeypatch):
    def cut_short(source, target):
        raise OSError(28, "No space left on device")
    monkeypatch.setattr(build.shutil, "copyfile", cut_short)
    assert not warned(24.0)
    assert not list(folder.iterdir())


def test_a_folder_that_runs_nothing_is_no_obstacle(folder, monkeypatch):
    real = build.ctypes.CDLL

    def refused(path):
        if path.startswith(str(folder)):
            raise OSError("failed to map segment from shared object")
        return real(path)
    monkeypatch.setattr(build.ctypes, "CDLL", refused)
    assert not warned(25.0)
