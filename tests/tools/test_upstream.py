"""`make upstream` counts PyTorch's tests right: seen on a small checkout that is made here."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.upstream import checkout, differences, isolated, table
from benchmarks.upstream.checkout import INDUCTOR, NN, NoCheckout
from benchmarks.upstream.differences import Listed
from book.pipeline.ground.paths import RESULTS, ROOT

pytestmark = [pytest.mark.slow, pytest.mark.remember("benchmarks/upstream/*.py", "code/mini_*.py")]

# `where()` tells its frame's name: mini_dynamo has no real frame for `fn` and says so.
DYNAMO_TESTS = '''
import os, random, signal, sys, time, unittest
import torch
from torch._dynamo.testing import CompileCounter, same
from torch._dynamo.utils import has_left_torch

def where():
    return sys._getframe(1).f_code.co_name

def fn(x):
    return x.sin() * len(where())

def plain(x):
    return x.sin() + 1

class MiscTests(unittest.TestCase):
    def compiled(self, fn, counter=None):
        return torch.compile(fn, backend=counter or "eager")

    def test_agrees(self):
        x = torch.ones(3)
        self.assertTrue(same(self.compiled(plain)(x), plain(x)))

    def test_agrees_and_counts_frames(self):
        counter = CompileCounter()
        self.compiled(plain, counter)(torch.ones(3))
        self.assertEqual(counter.frame_count, 1)

    def test_agrees_though_its_back_end_asks_for_more_in_a_graph(self):
        def backend(module, examples):
            self.assertEqual(len(list(module.graph.nodes)), 4)
            assert "example_value" in next(iter(module.graph.nodes)).meta
            return module.forward
        self.compiled(plain, backend)(torch.ones(3))

    def test_differs_by_its_back_end(self):
        def backend(module, examples):
            return lambda *args: (examples[0] * 7,)
        self.compiled(plain, backend)(torch.ones(3))

    def test_with_a_hook_on_guards(self):
        from utils import install_guard_manager_testing_hook
        with install_guard_manager_testing_hook(None):
            self.compiled(plain)(torch.ones(3))

    def test_differs_in_its_result(self):
        self.compiled(fn)(torch.ones(3))

    def test_differs_in_an_assertion(self):
        seen = []
        def noting(x):
            seen.append(where())
            return x.sin()
        self.compiled(noting)(torch.ones(3))
        self.assertEqual(seen, ["noting"])

    def test_differs_after_a_count_of_frames(self):
        counter = CompileCounter()
        self.compiled(plain, counter)(torch.ones(3))
        self.assertEqual(counter.frame_count, 1)
        self.compiled(fn)(torch.ones(3))

    def test_differs_in_an_error(self):
        def failing(x):
            if where() != "failing":
                raise KeyError("frame")
            return x.sin()
        self.compiled(failing)(torch.ones(3))

    def test_hangs(self):
        def hanging(x):
            if where() != "hanging":
                time.sleep(1000)
            return x.sin()
        self.compiled(hanging)(torch.ones(3))

    def test_crashes(self):
        def crashing(x):
            if where() != "crashing":
                os.kill(os.getpid(), signal.SIGSEGV)
            return x.sin()
        self.compiled(crashing)(torch.ones(3))

    def test_torch_fails(self):
        counter = CompileCounter()
        self.compiled(plain, counter)(torch.ones(3))
        self.assertEqual(counter.frame_count, 99)

    def test_torch_hangs(self):
        def backend(module, examples):
            time.sleep(1000)
        self.compiled(plain, backend)(torch.ones(3))

    @unittest.expectedFailure
    def test_to_fail(self):
        self.compiled(plain)(torch.ones(3))
        self.fail()

    def test_crashes_in_plain_python(self):
        os.kill(os.getpid(), signal.SIGSEGV)

    def test_chance(self):
        self.compiled(lambda x: x + int.from_bytes(os.urandom(7)))(torch.ones(3))

    def test_no_call(self):
        self.assertEqual(1, 1)

    @unittest.skip("no GPU")
    def test_skipped(self):
        pass

    @has_left_torch
    def test_with_a_name_that_left(self):
        pass
'''
EXPECTED = {
    "agrees": "same", "agrees_and_counts_frames": "same",
    "agrees_though_its_back_end_asks_for_more_in_a_graph": "same",
    "differs_by_its_back_end": "torch too", "with_a_hook_on_guards": "same",
    "differs_in_its_result": "different", "differs_in_an_assertion": "different",
    "differs_after_a_count_of_frames": "different", "differs_in_an_error": "different",
    "hangs": "different", "crashes": "different",
    "torch_fails": "torch fails", "torch_hangs": "torch fails", "to_fail": "torch fails",
    "crashes_in_plain_python": "unsteady", "chance": "unsteady", "no_call": "no call",
    "skipped": "skipped", "with_a_name_that_left": "skipped"}

INDUCTOR_TESTS = '''
import itertools, time, unittest
import torch

def check_model(self, model, example_inputs, kwargs=None, *, atol=None, rtol=None):
    raise NotImplementedError("it is replaced")

def negative(x):
    raise ValueError("negative")

numbers = itertools.count()

class CpuTests(unittest.TestCase):
    common = check_model

    def test_agrees(self):
        self.common(lambda x: (x.sin() + 1, x.sum()), (torch.rand(3, 5),))

    def test_differs(self):
        self.common(torch.nn.functional.gelu, (torch.full((64,), float("inf")),))

    def test_refused(self):
        self.common(negative, (torch.ones(3),))

    def test_chance(self):
        self.common(lambda x: x + next(numbers), (torch.ones(3),))

    def test_hangs(self):
        self.common(lambda x: time.sleep(1000), (torch.ones(3),))

    def test_code(self):
        self.assertIn("for", "for")

class GPUTests(unittest.TestCase):
    def test_agrees(self):
        raise NotImplementedError
'''

# `OTHERS` tells mini_module's Module from torch's, so that a test can pass with torch's alone.
MODULE_TESTS = '''
import time, unittest
import torch
import torch.nn as nn
from torch.nn import Parameter
from torch.testing._internal.common_nn import _create_basic_net

def load_tests(loader, tests, pattern):
    raise ValueError("it is imported by another program")

OTHERS = nn.Module.__module__ != "torch.nn.modules.module"

class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 3)
        self.scale = Parameter(torch.ones(3))

    def forward(self, x):
        return self.linear(x) * self.scale

class TestNN(unittest.TestCase):
    def test_agrees(self):
        net = nn.Sequential(Small(), nn.ReLU())
        self.assertEqual(net(torch.ones(2)).shape, (3,))
        self.assertEqual([*net.state_dict()], ["0.scale", "0.linear.weight", "0.linear.bias"])

    def test_agrees_on_a_network_of_torchs_tests(self):
        self.assertIsInstance(_create_basic_net()[2], nn.Module)

    def test_differs(self):
        Small()
        self.assertFalse(OTHERS)

    def test_hangs(self):
        Small()
        time.sleep(1000 * OTHERS)

    def test_needs_a_class(self):
        Small().add_module("memory", nn.LSTM(1, 1))

    def test_needs_a_method(self):
        Small().compile()

    def test_needs_an_argument(self):
        Small()
        nn.Linear(2, 3, device="cpu")

    def test_needs_a_call_of_what_a_class_defines(self):
        Small()
        class Extra(nn.Module):
            def get_extra_state(self):
                return 1

    def test_torch_fails(self):
        Small()
        self.fail("always")

    def test_not_met(self):
        nn.LSTM(1, 1)

    @unittest.skip("no GPU")
    def test_skipped(self):
        pass
'''
LAYERS_TESTS = '''
import unittest
import torch
import torch.nn as nn
import torch.nn.functional as F

class TestDropoutNN(unittest.TestCase):
    def test_agrees(self):
        x = torch.rand(4, 2)
        layer, tall = nn.Linear(2, 3), torch.rand(1, 1, 5, 5)
        torch.testing.assert_close(layer(x), x @ layer.weight.T + layer.bias)
        torch.testing.assert_close(F.conv2d(tall, torch.ones(1, 1, 5, 5)).sum(), tall.sum())
        F.cross_entropy(layer(x), torch.tensor([0, 1, 2, 0])).backward()
        self.assertIsNotNone(layer.bias.grad)

    def test_differs_in_the_type_of_an_error(self):
        with self.assertRaises(RuntimeError):
            F.layer_norm(torch.ones(2, 3), (3,), torch.ones(3, dtype=torch.float64))

    def test_needs_an_argument(self):
        F.conv2d(torch.ones(1, 2, 3, 3), torch.ones(2, 1, 3, 3), groups=2)

    def test_needs_probabilities(self):
        F.cross_entropy(torch.ones(2, 3), torch.ones(2, 3))

    def test_needs_another_tensor(self):
        F.softmax(torch.ones(2, device="meta"), dim=0)

    def test_not_met(self):
        torch.ones(3).sin()
'''
INDEX_TESTS = '''
import unittest
import numpy as np
import torch

class TestIndexing(unittest.TestCase):
    def test_agrees(self):
        x = torch.arange(6).reshape(2, 3)
        self.assertEqual(x[1, [0, 2]].tolist(), [3, 5])
        x[0] = 7
        self.assertEqual(x.gather(1, torch.tensor([[2], [0]])).tolist(), [[7], [3]])
        x.index_put_((torch.tensor([0, 0]),), torch.tensor(1), accumulate=True)
        self.assertEqual(x.tolist(), [[9, 9, 9], [3, 4, 5]])

    def test_agrees_though_an_error_has_other_words(self):
        with self.assertRaisesRegex(IndexError, "too many indices for tensor of dimension 1"):
            torch.ones(3)[0, 0]

    def test_differs(self):
        try:
            torch.ones(3)[0, 0]
        except IndexError as error:
            self.assertIn("for tensor of dimension 1", str(error))

    def test_needs_numpy(self):
        torch.ones(3)[np.array([0])]

    def test_needs_cells_of_its_own(self):
        torch.ones(1).expand(3)[torch.tensor([0])] = 2

    def test_not_met(self):
        repr(torch.arange(3))
'''


def plant(folder, name, text):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A folder that looks like a checkout, with small files of tests."""
    folder = tmp_path_factory.mktemp("pytorch")
    plant(folder, "version.txt", "9.8.7a0\n")
    plant(folder, "test/dynamo/test_misc.py", DYNAMO_TESTS)
    plant(folder, "test/dynamo/utils.py", "def install_guard_manager_testing_hook(hook):\n"
                                          "    raise ValueError('it hooks into guards')\n")
    plant(folder, INDUCTOR, INDUCTOR_TESTS)
    plant(folder, NN, MODULE_TESTS)
    plant(folder, "test/nn/test_dropout.py", LAYERS_TESTS)
    plant(folder, "test/test_indexing.py", INDEX_TESTS)
    return folder


def work(folder, part, name, lines, seconds=15):
    """The results of the worker on one file of tests, by the name of the test."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.upstream.worker", str(folder), part, name, str(lines)],
        cwd=ROOT, env={**os.environ, "UPSTREAM_SECONDS": str(seconds)}, check=False,
        capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr + lines.read_text("utf-8")
    rows = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    return {row["test"].partition(".test_")[2]: row for row in rows}


@pytest.fixture(scope="module")
def of_dynamo(planted, tmp_path_factory):
    lines = tmp_path_factory.mktemp("d") / "lines"
    return work(planted, "dynamo", "test/dynamo/test_misc.py", lines, 6)


@pytest.fixture(scope="module")
def of_inductor(planted, tmp_path_factory):
    return work(planted, "compile", INDUCTOR, tmp_path_factory.mktemp("i") / "lines", 40)


# ---- tests of Dynamo -----------------------------------------------------------------------------

def test_each_test_of_dynamo_is_counted_as_what_it_is(of_dynamo):
    assert {name: row["outcome"] for name, row in of_dynamo.items()} == EXPECTED


@pytest.mark.parametrize(("name", "words"), [
    ("differs_in_its_result", "call of fn"), ("differs_in_an_assertion", "assertEqual"),
    ("differs_in_an_error", "KeyError"), ("hangs", "hung: still running after 6 s"),
    ("crashes", "crashed: ended by SIGSEGV"), ("torch_fails", "1 != 99"),
    ("torch_hangs", "hung"), ("to_fail", "expected to fail"), ("skipped", "no GPU"),
    ("crashes_in_plain_python", "SIGSEGV"), ("chance", "two runs in plain Python differ"),
    ("with_a_name_that_left", "this torch has no has_left_torch"),
])
def test_each_line_says_why(of_dynamo, name, words):
    assert words in of_dynamo[name]["why"]


def test_what_agrees_was_captured(of_dynamo):
    assert of_dynamo["agrees"]["graphs"] == of_dynamo["agrees"]["calls"] == 1


# ---- cases of mini_compile -----------------------------------------------------------------------

@pytest.mark.compiler
def test_each_case_of_inductor_is_counted_as_what_it_is_forward_and_backward(of_inductor):
    found = {name: [case[:2] for case in row["cases"]] for name, row in of_inductor.items()}
    assert found == {
        "agrees": [["forward", "same"], ["gradient", "same"]],
        "differs": [["forward", "different"], ["gradient", "different"]],
        "refused": [["forward", "eager refuses"], ["gradient", "eager refuses"]],
        "chance": [["forward", "unsteady"], ["gradient", "unsteady"]],
        "hangs": [["forward", "different"]], "code": []}
    assert "outputs" not in of_inductor["agrees"]["cases"][0][2]
    assert of_inductor["agrees"]["cases"][1][3] > 0, "no loop was compiled"
    assert "hung" in of_inductor["hangs"]["cases"][0][2]


# ---- tests with mini_module, mini_layers or mini_index in torch's place --------------------------

@pytest.mark.parametrize(("part", "name", "wanted"), [
    ("module", NN, {
        "agrees": "same 4", "agrees_on_a_network_of_torchs_tests": "same 4",
        "differs": "different 2", "hangs": "different 0", "needs_a_class": "left out 2",
        "needs_a_method": "left out 2", "needs_an_argument": "left out 2",
        "needs_a_call_of_what_a_class_defines": "left out 2", "torch_fails": "torch fails 2",
        "not_met": "not met 0", "skipped": "skipped 0"}),
    ("layers", "test/nn/test_dropout.py", {
        "agrees": "same 4", "differs_in_the_type_of_an_error": "different 1",
        "needs_an_argument": "left out 1", "needs_probabilities": "left out 1",
        "needs_another_tensor": "left out 1", "not_met": "not met 0"}),
    ("index", "test/test_indexing.py", {
        "agrees": "same 4", "agrees_though_an_error_has_other_words": "same 1",
        "differs": "different 1", "needs_numpy": "left out 1",
        "needs_cells_of_its_own": "left out 1", "not_met": "not met 0"})])
def test_each_test_says_what_became_of_it_and_how_often_it_came_to_the_companion(
        planted, tmp_path, part, name, wanted):
    found = work(planted, part, name, tmp_path / "lines")
    assert {test: f"{row['outcome']} {row['calls']}" for test, row in found.items()} == wanted
    whys = {test: row["why"] for test, row in found.items()}
    assert [whys[test] for test in whys if "needs" in test and whys[test]] == {
        "module": ["get_extra_state", "nn.LSTM", "compile", "device"],
        "layers": ["groups of conv2d", "another kind of tensor", "probabilities as targets"],
        "index": ["a destination whose elements share cells", "NumPy in a key"]}[part]
    assert "hung" in whys.get("hangs", "hung")


# ---- counts and lists ----------------------------------------------------------------------------

ROWS = [{"test": f"T.{n}", "outcome": outcome, "why": outcome, "graphs": 1, "calls": 2}
        for n, outcome in enumerate(["same", "same", "different", "different", "torch fails",
                                     "no call"])]
CASES = [{"test": "O.a", "cases": [["forward", "same", "", 1], ["gradient", "different", "x", 1]]},
         {"test": "O.b", "cases": [["forward", "eager refuses", "no", 0]]}]


def numbers(counted, name, key):
    return {row["en"]: row[key] for row in counted["tables"][name]["rows"]}


def test_tests_that_tell_nothing_stand_apart(monkeypatch):
    listed = (Listed("框架", "read a frame", "why", ("T.2",)),)
    monkeypatch.setattr(differences, "LISTED", {"dynamo": listed, "index": listed})
    counted = table.of_part("dynamo", ROWS, "9.8.7")
    assert numbers(counted, "tests", "tests") == {
        "do what they do in plain Python": 2, "read a frame": 1, "differ, for no listed reason": 1}
    assert sum(numbers(counted, "apart", "tests").values()) == 2
    assert "9.8.7" in counted["tables"]["tests"]["en"]
    counted = table.of_part("index", [*ROWS, ROWS[0] | {"outcome": "left out"}], "9.8.7")
    assert numbers(counted, "tests", "calls") == {
        "pass": 4, "need what the companion leaves out": 2, "read a frame": 2,
        "differ, for no listed reason": 2}


def test_forward_and_backward_are_counted_each():
    counted = table.of_compile(CASES, "9.8.7")
    assert numbers(counted, "cases", "forward") == {
        "give what eager mode gives": 1, "differ, for no listed reason": 0}
    assert numbers(counted, "cases", "gradient") == {
        "give what eager mode gives": 0, "differ, for no listed reason": 1}
    assert list(numbers(counted, "apart", "forward").values()) == [1]


def test_a_difference_that_is_not_listed_is_told_and_a_listed_one_that_agrees_too():
    listed = (Listed("", "", "", ("T.2", "T.0", "T.absent")),)
    assert table.unlisted(ROWS, listed) == ["DIFFERENT T.3: different", "listed, and agrees: T.0"]
    assert table.unlisted(CASES, ()) == ["DIFFERENT O.a: gradient: x"]


def test_no_test_is_listed_twice():
    for listed in differences.LISTED.values():
        names = [test for one in listed for test in one.tests]
        assert len(set(names)) == len(names)
        assert all(one.reason for one in listed)


RECORDED = sorted(RESULTS.glob("upstream-*.json"))


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: file.stem)
def test_what_differs_in_a_record_is_listed_and_most_of_the_tests_pass_as_the_sections_say(file):
    result = json.loads(file.read_text("utf-8"))
    listed = differences.LISTED[file.stem.partition("-")[2]]
    assert table.unlisted([{**row, "outcome": "different", "why": row["how"]}
                           for row in result["failures"]], listed) == []
    good, *others = next(iter(result["tables"].values()))["rows"]
    first = result["columns"][0]["key"]
    assert good[first] > sum(row[first] for row in others)


# ---- the checkout --------------------------------------------------------------------------------

def test_the_version_and_the_files_are_those_of_the_checkout(planted):
    found = checkout.find(str(planted))
    assert found.version == "9.8.7a0"
    assert found.files("dynamo") == ["test/dynamo/test_misc.py"]


@pytest.mark.parametrize(("make", "said"), [
    (lambda folder: "", "say where PyTorch's source is"),
    (lambda folder: str(folder / "absent"), "is no folder"),
    (lambda folder: str(folder), "is no checkout of PyTorch: it has no version.txt"),
    (lambda folder: plant(folder, "version.txt", "1") or str(folder), "it has no test/dynamo"),
])
def test_what_is_no_checkout_is_refused_in_one_line(tmp_path, make, said):
    with pytest.raises(NoCheckout, match=said) as refused:
        checkout.find(make(tmp_path))
    assert "\n" not in str(refused.value)


def test_the_command_prints_counts_and_fails_for_a_difference(planted):
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.upstream", "--checkout", str(planted), "--only",
         "dynamo", "agrees", "differs_in_its"], cwd=ROOT, check=False, capture_output=True,
        text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "DIFFERENT MiscTests.test_differs_in_its_result: line" in done.stdout
    assert "do what they do in plain Python                        3" in done.stdout


def test_a_file_that_cannot_be_imported_is_named(tmp_path):
    plant(tmp_path, "version.txt", "1")
    plant(tmp_path, "test/dynamo/test_misc.py", "import no_such_package\n")
    done = subprocess.run([sys.executable, "-m", "benchmarks.upstream", "--checkout",
                           str(tmp_path), "--only", "dynamo"], cwd=ROOT, check=False,
                          capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == ("NOT RUN test/dynamo/test_misc.py: "
                                            "ModuleNotFoundError: No module named "
                                            "'no_such_package'")


def test_a_run_that_was_stopped_goes_on(planted, tmp_path):
    lines = tmp_path / "lines"
    lines.write_text(json.dumps({"test": "CpuTests.test_hangs", "cases": []}) + "\n")
    found = work(planted, "compile", INDUCTOR, lines, 40)
    assert sum("test_hangs" in line for line in lines.read_text().splitlines()) == 1
    assert {"agrees", "hangs"} <= found.keys()


# ---- a process of its own ------------------------------------------------------------------------

def test_a_child_that_ends_badly_says_how():
    assert isolated.run(lambda: [1, "a"], 5) == ("returned", [1, "a"])
    assert isolated.run(lambda: 1 // 0, 5).how == "raised"
    assert isolated.run(lambda: bytearray(isolated.MEMORY), 5).value.startswith("MemoryError")
    assert isolated.run(lambda: os._exit(3), 5) == ("crashed", "left with exit status 3")
    killed = isolated.run(lambda: os.kill(os.getpid(), signal.SIGKILL), 5)
    assert killed == ("crashed", "ended by SIGKILL")


def test_a_child_that_hangs_is_ended_with_what_it_started(tmp_path):
    def hang():
        child = subprocess.Popen(["sleep", "1000"])
        (tmp_path / "pid").write_text(str(child.pid))
        time.sleep(1000)

    assert isolated.run(hang, 1).how == "hung"
    pid = int((tmp_path / "pid").read_text())
    for _ in range(50):
        if not alive(pid):
            return
        time.sleep(0.1)
    raise AssertionError("what it started still runs")


def alive(pid):
    """Whether a process runs; one that has ended and waits for its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
