"""However a program stops using mini_loader: no process, descriptor, memory or file stays."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from book.pipeline.ground.paths import CODE, ROOT
from oracles.leftovers import made_by

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
]
GOES_ON = ["to_the_end", "early_exit", "deleted", "persistent", "error_in_a_sample",
           "error_in_the_loop", "timed_out"]
HANG = 1200                     # seconds, where a program of these tests takes a few
SHARED = Path("/dev/shm")
PATIENCE = 600.0                # seconds; a spawned worker imports torch before it looks
OF_PYTHON = "pymp-"             # folder of a fork server's socket, left if the parent is killed


class Program:
    """A scenario in an interpreter of its own, which every process it starts can be told by."""

    def __init__(self, name, method, folder):
        self.mark, self.folder = f"LOADER_TEST={uuid.uuid4().hex}", folder
        self.shared, self.started = names(SHARED), folder.with_suffix(".started")
        self.started.touch()
        key, value = self.mark.split("=")
        paths = os.pathsep.join([str(ROOT), str(CODE)])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.helpers.loader_scenarios", name, method, self.started],
            cwd=ROOT, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            env={**os.environ, key: value, "TMPDIR": str(folder), "PYTHONPATH": paths})

    def until(self, word):
        """Read lines up to one that begins with `word`; that line."""
        for line in self.process.stdout:
            if line.startswith(word):
                return line
        raise AssertionError(self.process.stderr.read())

    def result(self):
        """What it printed last, after it has ended in peace."""
        out, err = self.process.communicate(timeout=HANG)
        assert (self.process.returncode, err) == (0, ""), err
        return json.loads(out.splitlines()[-1])

    def living(self):
        return {int(folder.name) for folder in Path("/proc").glob("[0-9]*")
                if self.mark in environment(folder)}

    def assert_nothing_stays(self, but=frozenset()):
        """No process but some, no file; of what multiprocessing itself leaves, nothing else."""
        self.process.wait(timeout=HANG)
        self.process.stdout.close()             # another child may still have the other end
        self.process.stderr.close()
        deadline = time.monotonic() + PATIENCE
        while self.living() - but and time.monotonic() < deadline:
            time.sleep(0.05)
        assert self.living() <= but
        assert not [name for name in names(self.folder) if not name.startswith(OF_PYTHON)]
        own = {self.process.pid, *map(int, self.started.read_text().split())}
        assert not [name for name in names(SHARED) - self.shared
                    if made_by(own, name) and not in_use(name)]


def names(folder):
    return {path.name for path in folder.iterdir()}


def environment(process):
    try:
        return (process / "environ").read_text(errors="replace").split("\0")
    except OSError:
        return []


def in_use(name):
    """Whether a living process has a file of /dev/shm open or mapped: it belongs to that one."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            links = [str(fd.readlink()) for fd in (process / "fd").iterdir()]
            if any(name in line for line in [*links, (process / "maps").read_text()]):
                return True
        except OSError:
            continue
    return False


@pytest.mark.parametrize("name", GOES_ON)
def test_nothing_stays_while_the_program_goes_on(name, tmp_path):
    program = Program(name, "fork", tmp_path)
    assert program.result() == {"children": 0, "descriptors": 0}
    program.assert_nothing_stays()


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_nothing_stays_under_other_start_methods(method, tmp_path):
    program = Program("early_exit", method, tmp_path)
    assert program.result() == {"children": 0, "descriptors": 0}
    program.assert_nothing_stays()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_nothing_stays_after_the_parent_was_killed(method, tmp_path):
    program = Program("parent_killed", method, tmp_path)
    program.until("ready")
    assert len(program.living()) >= 3
    program.process.kill()
    program.assert_nothing_stays()


def test_workers_end_with_their_parent_though_another_child_holds_their_pipes(tmp_path):
    program = Program("parent_killed_beside_another_child", "fork", tmp_path)
    other = int(re.findall(r"\d+", program.until("other"))[0])
    program.until("ready")
    assert len(program.living()) == 4
    program.process.kill()
    program.assert_nothing_stays(but={other})
    os.kill(other, signal.SIGKILL)


@pytest.mark.parametrize("here", [signal.default_int_handler, signal.SIG_IGN])
def test_nothing_stays_after_ctrl_c(here, tmp_path):
    """Also where SIGINT is ignored, as in what a shell starts with `&`."""
    before = signal.signal(signal.SIGINT, here)
    try:
        program = Program("interrupted", "fork", tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    for _ in range(3):
        program.until("ready")
    os.killpg(program.process.pid, signal.SIGINT)
    assert program.result() == {"children": 0, "descriptors": 0}
    program.assert_nothing_stays()


def test_nothing_stays_after_an_exit_amid_an_epoch(tmp_path):
    program = Program("exit_amid", "fork", tmp_path)
    out, err = program.process.communicate(timeout=HANG)
    assert (program.process.returncode, out, err) == (0, "", "")
    program.assert_nothing_stays()


def test_this_check_sees_a_process_and_a_file_that_stay(tmp_path):
    program = Program("exit_amid", "fork", tmp_path)
    program.process.communicate(timeout=HANG)
    key, value = program.mark.split("=")
    left = subprocess.Popen(["sleep", "3600"], env={**os.environ, key: value})
    try:
        deadline = time.monotonic() + PATIENCE  # its environment shows a moment after its start
        while not program.living() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert program.living() == {left.pid}
    finally:
        left.kill()
        left.wait()
    for name in ("loader-test-{}", "torch_{}_1_0", "sem.mp-{}-abcdefgh"):
        orphan = SHARED / name.format(program.process.pid)
        orphan.touch()
        try:
            with pytest.raises(AssertionError):
                program.assert_nothing_stays()
        finally:
            orphan.unlink()
    program.assert_nothing_stays()


def test_files_of_other_programs_are_not_taken_for_its_own(tmp_path):
    program = Program("exit_amid", "fork", tmp_path)
    others = [SHARED / name for name in ("sem.mp-abcd1234", ".org.browser.abcd",
                                         f"torch_{os.getpid()}_1_0")]
    for file in others:
        file.touch()
    try:
        program.process.communicate(timeout=HANG)
        program.assert_nothing_stays()
    finally:
        for file in others:
            file.unlink()
