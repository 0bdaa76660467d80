"""Notebooks compute on the reader's device: tags, runners, a device for machines without one."""

import os
import re
import subprocess
import sys

import nbformat
import pytest

from book.pipeline import lint
from book.pipeline.ground.paths import ROOT
from book.pipeline.notebooks import on_device, rehearsal, runner, under_nbval
from book.pipeline.notebooks.notebook import ENVIRONMENT, SETUP

USES = f"{SETUP}\nfrom inside import use_device; use_device()"


def test_a_cell_without_reason_uses_the_device_and_a_tagged_one_does_not():
    assert on_device.summary([USES, "a", "b"], [["setup"], [], ["cpu-memory"]]) == {
        "device": 2, "cpu-memory": 1}


def test_the_first_cell_says_why_a_notebook_stays_on_the_cpu():
    tags = [["setup", "cpu-workers"], [], ["cpu-memory"], ["pinned-torch"]]
    assert on_device.summary([SETUP, "a", "b", "c"], tags) == {"cpu-workers": 3, "cpu-memory": 1}


@pytest.mark.parametrize(("source", "tags", "wrong"), [
    (USES, ["setup"], ""), (SETUP, ["setup", "cpu-python"], ""),
    (SETUP, ["setup"], "neither"), (USES, ["setup", "cpu-python"], "both"),
])
def test_the_first_cell_uses_the_device_or_says_why_not(source, tags, wrong):
    text = (f"# 题 · T\n\n```{{code-cell}} python\n:tags: [{', '.join(tags)}]\n"
            f"{source.splitlines()[-1]}\n```\n")
    findings = [what for _, what in lint.lint_source(text) if "use_device()" in what]
    assert len(findings) == bool(wrong)
    assert all(what.startswith(f"{wrong} `use_device()`") for what in findings)


@pytest.mark.parametrize(("device", "pinned_here", "tags"), [
    ("cpu", True, set()), ("cpu", False, {"pinned-torch"}), ("cuda", True, {"cuda"}),
    ("rehearsal", False, {"pinned-torch", "cuda", "rehearsal"}),
])
def test_tags_of_cells_that_are_run_and_not_compared(device, pinned_here, tags):
    assert on_device.not_compared(device, pinned_here) == tags


@pytest.mark.parametrize(("stored", "fresh", "same"), [
    ("tensor([1.])", "tensor([1.], device='cuda:0')", True),
    ("tensor([1.], requires_grad=True)", "tensor([1.], device='rehearsal:0', requires_grad=True)",
     True),
    ("tensor([1.], device='cuda:1')", "tensor([1.])", True),
    ("tensor([1.])", "tensor([2.], device='cuda:0')", False),
    ("tensor([1.])", "tensor([1.], device='meta')", False),
    ("cpu", "cuda:0", False),
])
def test_the_device_of_a_tensor_is_left_out_and_nothing_else(stored, fresh, same):
    outputs = [[{"output_type": "stream", "name": "stdout", "text": text}]
               for text in (stored, fresh)]
    assert (runner.texts(outputs[0]) == runner.texts(outputs[1])) is same


def outcome(wish):
    """What a program prints that imports `inside`, or the last line of its error."""
    program = ("import inside, torch; inside.use_device(); "
               "print(torch.ones(1).device, inside.device)")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": str(ROOT / "code"), "BOOK_DEVICE": wish,
                                            "CUDA_VISIBLE_DEVICES": ""}, check=False)
    return (done.stdout or done.stderr).strip().splitlines()[-1]


def test_book_device_names_the_device_of_new_tensors():
    assert outcome("") == outcome("cpu") == "cpu cpu"
    assert outcome("meta") == "meta meta"


@pytest.mark.parametrize("wish", ["cuda", "gpu", "cpu:x"])
def test_a_device_that_is_not_there_is_one_line(wish):
    assert outcome(wish).startswith(f"ValueError: BOOK_DEVICE={wish} cannot be used: ")


# ---- nbval -------------------------------------------------------------------------------------

def notebook(path, *cells):
    """A notebook of (source, stored output, tags)."""
    v4 = nbformat.v4
    made = [v4.new_code_cell(source, outputs=[v4.new_output("stream", text=out)],
                             metadata={"tags": tags}, execution_count=1)
            for source, out, tags in cells]
    nbformat.write(v4.new_notebook(cells=made), path)
    return str(path)


@pytest.mark.slow
def test_nbval_leaves_the_device_out_and_names_what_differs(tmp_path):
    path = notebook(
        tmp_path / "section.ipynb",
        ("print(\"tensor([1.], device='cuda:0')\")", "tensor([1.])\n", []),
        ("print(2)", "3\n", []))
    result = under_nbval.run(sys.executable, [path], 1, 120, os.environ | ENVIRONMENT)
    assert (result.cells, len(result.failed)) == (2, 1)
    [finding] = result.failed
    assert finding.place.endswith("Cell 1")
    assert finding.reason == "Cell outputs differ"
    assert "print(2)" in finding.detail
    assert "\x1b" not in finding.detail


def test_a_run_without_report_is_a_failure(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 4\n")
    python.chmod(0o755)
    assert under_nbval.run(str(python), ["a.ipynb"], 1) == runner.Result(
        "notebooks", 0, [runner.Finding("notebooks", "pytest ended with 4")])


STUCK = "import time\ntime.sleep(1000)"
DEAD = "import os\nos._exit(3)"


@pytest.mark.slow
@pytest.mark.parametrize(("source", "limit", "reason"), [
    (STUCK, 12, runner.NOT_DONE), (DEAD, 12, runner.NOT_DONE)])
def test_a_stuck_notebook_is_named_and_the_others_count(tmp_path, monkeypatch, source, limit,
                                                        reason):
    paths = [notebook(tmp_path / f"{name}.ipynb", ("print(1)", "1\n", []), (last, "2\n", []))
             for name, last in (("fine", "print(2)"), ("stuck", source))]
    for slow in (1, 2, 5, 25):  # the first is enough unless the machine is busy
        monkeypatch.setattr(under_nbval, "CELL_SECONDS", 100 * slow)
        result = under_nbval.run(sys.executable, paths, 1, slow * limit, os.environ | ENVIRONMENT)
        failed = [finding.place for finding in result.failed]
        if result.cells >= 3 and not any("fine" in place for place in failed):
            break
    assert result.cells >= 3
    assert "stuck.ipynb" in failed[0]
    assert re.search(reason, result.failed[0].reason + result.failed[0].detail)
    assert not any("fine" in place for place in failed)


@pytest.mark.parametrize(("status", "failed"), [
    (0, []), (1, []), (3, [runner.Finding("notebooks", "pytest ended with 3")])])
def test_a_run_that_broke_off_after_its_report_is_a_failure(tmp_path, status, failed):
    python = tmp_path / "python"
    python.write_text(f"""#!/bin/sh
for last; do :; done
echo '<testsuite><testcase classname="a.ipynb" name="Cell 0"/></testsuite>' > ${{last#*=}}
exit {status}
""")
    python.chmod(0o755)
    notebook(tmp_path / "a.ipynb", ("1", "", []))
    assert under_nbval.run(str(python), [str(tmp_path / "a.ipynb")], 1) == runner.Result(
        "notebooks", 1, failed)


def test_a_run_that_takes_too_long_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(under_nbval, "LEAVE", 0.3)
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nsleep 60\n")
    python.chmod(0o755)
    result = under_nbval.run(str(python), ["a.ipynb"], 1, 0.3)
    assert result.failed == [runner.Finding("notebooks", runner.NOT_DONE)]


def test_torch_and_numpy_of_the_machine_stay():
    text = "torch==2.13.0\nnumpy==2.4.0\nnvidia-cublas==1\nnbval==0.11.0\ntorchviz==0.0.3\n"
    assert under_nbval.without_torch(text) == "nbval==0.11.0\ntorchviz==0.0.3\n"


# ---- the rehearsal device ----------------------------------------------------------------------

PROGRAM = """
import os, threading, torch
here = torch.device("rehearsal")
x = torch.arange(6.0, device=here).view(2, 3)
assert x.t().data_ptr() == x.data_ptr() and not x.t().is_contiguous()
assert (x.t() + 1).stride() == (1, 3)
x[:, 1].mul_(10)
assert x.tolist() == [[0, 10, 2], [3, 40, 5]]
try:
    x + torch.ones(2, 3)
    raise SystemExit("mixed devices are not refused")
except RuntimeError as error:
    assert "same device" in str(error)
try:
    x.view(-1)[1:].add_(x.view(-1)[:-1])
    raise SystemExit("overlap is not refused")
except RuntimeError as error:
    assert "single memory location" in str(error)
w, seen = torch.ones(3, device=here, requires_grad=True), []
y = (w * 2).sum()
y.grad_fn.register_prehook(lambda g: seen.append(threading.get_ident()))
y.backward()
assert w.grad.tolist() == [2, 2, 2] and w.grad.device.type == "rehearsal"
assert seen and seen != [threading.get_ident()]
norm = torch.nn.BatchNorm1d(2, device=here)
norm(torch.tensor([[0.0, 1.0], [2.0, 3.0]], device=here))
assert norm.running_mean.tolist() != [0, 0]
assert torch.ones(3).pin_memory("rehearsal").is_pinned("rehearsal")
print("a device", flush=True)
os._exit(0)  # the thread of the device may still hold the hook, and a normal exit not wait for it
"""


@pytest.mark.slow
@pytest.mark.compiler
def test_the_rehearsal_device_behaves_as_a_device():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True,
                          text=True, env=rehearsal.environment(), check=False)
    assert (done.stdout, done.stderr) == ("a device\n", "")


def test_without_a_compiler_the_rehearsal_says_which_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(rehearsal.CannotBuildError, match="needs a C\\+\\+ compiler"):
        rehearsal.environment(tmp_path)
    assert not [path for path in tmp_path.iterdir() if "." not in path.name]


@pytest.mark.parametrize("compiler", ["false", "true", "env true"])
def test_a_compiler_that_says_nothing_and_makes_nothing_is_named(tmp_path, monkeypatch, compiler):
    monkeypatch.setenv("CXX", compiler)
    with pytest.raises(rehearsal.CannotBuildError, match=r"(false|true|env) ended with \d and said "
                                                         r"nothing; CXX names another"):
        rehearsal.compile_to(tmp_path / "library.so")


def test_two_builds_at_once_make_one_device(tmp_path, monkeypatch):
    def compile_while_another_is_done(library):
        monkeypatch.setattr(rehearsal, "compile_to", lambda other: other.touch())
        library.touch()
        with monkeypatch.context() as another:
            another.setattr(rehearsal.os, "getpid", lambda: 0)
            rehearsal.build(tmp_path)

    monkeypatch.setattr(rehearsal, "compile_to", compile_while_another_is_done)
    site = rehearsal.build(tmp_path)
    assert list(tmp_path.iterdir()) == [site]
