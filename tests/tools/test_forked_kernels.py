"""Kernels that are forked judge as kernels that are started anew: what one refuses, so does the
other, and a cell sees the same of its process."""

import json
import os
import re
import subprocess
import sys

import nbformat
import pytest

from book.pipeline.ground.paths import CODE, ROOT
from book.pipeline.notebooks import forkserver, under_nbval
from book.pipeline.notebooks.notebook import ENVIRONMENT

WAYS = {"fresh": False, "forked": True}
# What a cell can see of its process, environment and modules.
FACTS = """
import gc, json, multiprocessing, os, signal, sys, threading, warnings
import matplotlib.pyplot as plt, numpy, random, torch, torch._dynamo
written = open("facts.json", "w").write(json.dumps({
    "cwd": os.getcwd() == os.path.realpath("."), "argv": sys.argv[0].rpartition("/")[2],
    "path": sys.path, "main": sys.modules["__main__"] is not None, "name": __name__,
    "environment": {k: v for k, v in sorted(os.environ.items()) if k not in CHANGING},
    "backend": plt.get_backend(), "salt": plt.rcParams["svg.hashsalt"],
    "process": multiprocessing.current_process().name, "parent": multiprocessing.parent_process(),
    "method": multiprocessing.get_start_method(), "leader": os.getsid(0) == os.getpid(),
    "threads": [torch.get_num_threads(), torch.get_num_interop_threads()],
    "seeds": [float(torch.rand(())), numpy.random.rand(), random.random()],
    "mode": torch.is_grad_enabled(),
    "filters": len(warnings.filters), "frozen": gc.get_freeze_count(), "gc": gc.get_threshold(),
    "signals": [str(signal.getsignal(n)) for n in (signal.SIGINT, signal.SIGCHLD, signal.SIGTERM)],
    "recursion": sys.getrecursionlimit(), "optimize": sys.flags.optimize,
    "alive": sorted(t.name.partition("-")[0] for t in threading.enumerate()),
    "stdin": os.read(0, 1).decode(), "companions": "inside" in sys.modules}, sort_keys=True))
"""
CHANGING = ("PYTEST_CURRENT_TEST", "JPY_PARENT_PID", "PYTEST_XDIST_WORKER",
            "PYTEST_XDIST_TESTRUNUID")
FAULTS = {  # cell -> what nbval says of it; after each, a cell that prints 1
    "changed output": ("print(2)", "Cell outputs differ"),
    "stderr": ("import sys; print('x', file=sys.stderr)", "Cell outputs differ"),
    "warning of torch": ("import torch; torch.range(0, 1);", "Cell outputs differ"),
    "exception": ("1 / 0", "Cell execution caused an exception"),
    "companion": ("from inside import no_such_name", "Cell execution caused an exception"),
}
ENDLESS = {
    "hang": ("import time; time.sleep(1000)", "Timeout of 3 seconds exceeded"),
    "dead kernel": ("import os; os._exit(3)", "Timeout of 3 seconds exceeded"),
}
SOUND = {
    "a loader with workers": "import torch\nprint(len(list(torch.utils.data.DataLoader("
                             "torch.arange(4), num_workers=2))) - 3)",
    "backward": "import torch\nprint(int(torch.ones(1, requires_grad=True).sum().backward() "
                "is None))",
    "fork after backward in the same kernel": "import os\nchild = os.fork()\nif not child: "
                                              "os._exit(0)\nos.waitpid(child, 0)\nprint(1)",
    "a companion": f"import sys\nsys.path.insert(0, {str(CODE)!r})\nimport inside\nprint(1)",
}


def write(path, cells):
    v4 = nbformat.v4
    made = [v4.new_code_cell(source, outputs=[v4.new_output("stream", text=text)] if text else [],
                             execution_count=1) for source, text in cells]
    nbformat.write(v4.new_notebook(cells=made), path)
    return str(path)


def judged(way, paths, monkeypatch, seconds=120):
    """{place of a finding: the line that says why}, and how many cells there were."""
    monkeypatch.setattr(under_nbval, "CELL_SECONDS", seconds)
    result = under_nbval.run(sys.executable, paths, 1, 300, os.environ | ENVIRONMENT, WAYS[way])
    return result.cells, {finding.place.rpartition("/")[2]: finding for finding in result.failed}


@pytest.mark.slow
@pytest.mark.parametrize(("faults", "sound", "seconds"), [(FAULTS, SOUND, 120), (ENDLESS, {}, 3)])
@pytest.mark.parametrize("way", WAYS)
def test_what_fails_in_a_fresh_kernel_fails_in_a_forked_one_and_alike(
        tmp_path, monkeypatch, way, faults, sound, seconds):
    paths = [write(tmp_path / f"{name.replace(' ', '-')}.ipynb", [(source, "1\n")])
             for name, (source, _) in faults.items()]
    if sound:
        paths.append(write(tmp_path / "sound.ipynb", [(cell, "1\n") for cell in sound.values()]))
    cells, failed = judged(way, paths, monkeypatch, seconds)
    assert cells == len(faults) + len(sound)
    told = {re.search(r"([\w-]+)\.ipynb", place)[1]: found.reason + found.detail
            for place, found in failed.items()}
    assert told.keys() == {name.replace(" ", "-") for name in faults}
    for name, (_, why) in faults.items():
        assert why in told[name.replace(" ", "-")], name


@pytest.mark.slow
def test_a_cell_sees_the_same_of_a_forked_process(tmp_path, monkeypatch):
    for name in "ab":
        (tmp_path / name).mkdir()
    paths = [write(tmp_path / name / "facts.ipynb", [(f"CHANGING = {CHANGING}", ""), (FACTS, "")])
             for name in "ab"]
    seen, seeds = [], []
    for way in WAYS:
        assert judged(way, paths, monkeypatch) == (4, {})
        seen += [json.loads((tmp_path / name / "facts.json").read_text()) for name in "ab"]
    for facts in seen:
        seeds += facts.pop("seeds")
    assert seen[0]["salt"] == "pytorch-inside-out"
    assert seen == seen[:1] * 4
    assert len(set(seeds)) == 12, "two kernels of one server draw the same"


def test_a_server_in_which_a_thread_runs_refuses_to_be_forked_from(tmp_path):
    (tmp_path / "threaded.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(2,)).start()\n")
    program = (f"import sys; from {forkserver.__name__} import *\n"
               f"import {forkserver.__name__} as f\n"
               "f.PRELOADED = ('threaded',)\na, b = socket.socketpair()\n"
               f"sys.path[:0] = ['', {str(tmp_path)!r}]\n"
               "sys.argv = ['', str(b.detach())]\nf.main()")
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 1
    assert done.stderr == ("forkserver: an import has started a thread, and a fork would lose it; "
                           "set OMP_NUM_THREADS=1\n")
