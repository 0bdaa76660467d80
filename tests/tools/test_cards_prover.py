"""Proofs run alone, fail loudly, leave files as they were, and compute the same bytes each time."""

import ast
import json
import os
import re
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
import torch

from book.pipeline import prove
from book.pipeline.cards import book as cards
from book.pipeline.cards import results as card_results
from book.pipeline.notebooks import depends
from book.pipeline.proofs import pace, prover
from book.pipeline.proofs.forks import Trials
from book.pipeline.proofs.reached import SelfTest, assertions, in_the_open, negated, nested
from book.pipeline.sources import SourceError
from tests.helpers.card_examples import bug, card, line_of, write_book, write_cards
from tests.helpers.quick_trials import quick_trials

FILE = "chapters/01-tensors/cards/views.yaml"
RESULTS = "chapters/01-tensors/cards/views.json"


def resolve(target):
    if "gone" in target:
        raise SourceError(f"{target}: no longer in torch")
    return f"https://example.org/{target}"


@pytest.fixture(scope="module")
def trials():
    with Trials(lanes=2) as ground:
        yield ground


@pytest.fixture
def quick(tmp_path):
    return partial(quick_trials, tmp_path)


@pytest.fixture
def run(tmp_path, trials, capsys):
    """Call the command on the book in tmp_path: (exit status, stdout, stderr)."""

    def call(*arguments):
        status = prove.main(["--root", str(tmp_path), *arguments], resolve, trials)
        return status, *capsys.readouterr()

    return call


def program(text):
    return textwrap.dedent(text).lstrip()


def stored(root):
    return json.loads((root / RESULTS).read_text("utf-8"))


def proved(root):
    """The cards as pages and drill read them."""
    return card_results.whole_cards(root / FILE)


def test_passing_cards_are_written_with_what_they_show(tmp_path, run):
    rows = [card(code="print(n * 2)\n", variants=[{"n": 2}, {"n": 3}], proof="assert n < 4\n"),
            bug()]
    write_book(tmp_path, *rows)
    status, out, _ = run()
    assert status == 0
    assert "2 of 2 cards proved" in out
    one, two = proved(tmp_path)
    assert one["shown"] == ["4", "6"]
    assert one["snippets"][1] == "n = 3\nprint(n * 2)"
    assert two["shown"] == ["[1, 2]"]
    assert two["shown_fixed"] == ["[2]"]
    assert one["sources"] == [
        {"target": "torch.Tensor.view", "url": "https://example.org/torch.Tensor.view"}
    ]
    written = set(rows[0]) - {"sources"}
    assert {key: one[key] for key in written} == {key: rows[0][key] for key in written}
    assert stored(tmp_path)["torch"] == torch.__version__.split("+")[0]


def test_shown_result_is_available_to_the_proof_and_ends_with_the_error(tmp_path, run):
    code = "import torch\nprint('before')\ntorch.zeros(2).view(3)\n"
    proof = "assert shown.startswith('before\\nRuntimeError: ')\nassert shown.count('\\n') == 1\n"
    write_book(tmp_path, card(code=code, proof=proof))
    assert run()[0] == 0
    assert proved(tmp_path)[0]["shown"][0].startswith("before\nRuntimeError: shape '[3]'")


def test_text_of_a_distractor_for_both_languages_is_written_out(tmp_path, run):
    write_book(tmp_path, card(distractors=[{"text": "(4, 1)", "why": {"zh": "错", "en": "no"}}]))
    assert run()[0] == 0
    [written] = proved(tmp_path)[0]["distractors"]
    assert written["text"] == {"zh": "(4, 1)", "en": "(4, 1)"}


def test_proving_twice_gives_identical_bytes(tmp_path, run):
    code = "import torch\ntorch.manual_seed(0)\nprint(torch.rand(2))\n"
    write_book(tmp_path, card(code=code, proof="assert shown\n"), bug())
    assert run()[0] == 0
    first = (tmp_path / RESULTS).read_bytes()
    (tmp_path / RESULTS).unlink()
    assert run()[0] == 0
    assert (tmp_path / RESULTS).read_bytes() == first


def test_hashes_are_the_same_in_every_session_and_others_elsewhere(trials, quick):
    program = "print(hash('view'))"
    with quick() as other:
        here, there = ([ground.run(code=program, elsewhere=place).shown
                        for ground in (trials, other)] for place in (False, True))
    assert len(set(here)) == len(set(there)) == 1
    assert here != there


def meet(folder, mine, other):
    """A proof that passes only while another one runs."""
    return program(f"""
        import pathlib, time
        folder, end = pathlib.Path({str(folder)!r}), time.monotonic() + 300
        (folder / {mine!r}).touch()
        while not (folder / {other!r}).exists() and time.monotonic() < end:
            time.sleep(0.01)
        assert (folder / {other!r}).exists()
    """)


def test_as_many_trials_run_at_a_time_as_there_are_lanes(tmp_path, quick):
    proofs = [meet(tmp_path, "one", "two"), meet(tmp_path, "two", "one"), "assert 1 + 1 == 2"]
    with quick(lanes=2) as ground, ThreadPoolExecutor(3) as pool:
        assert [outcome.failure for outcome in pool.map(ground.run, proofs)] == [None] * 3


def test_findings_have_the_order_of_the_cards_and_results_that_of_their_ids(tmp_path, run):
    slow, red = "import time\ntime.sleep(0.5)\nassert time\n", "x = 0\nassert x\n"
    write_book(tmp_path, card(proof=slow), card("tensors-two"), card("tensors-three"))
    assert run()[0] == 0
    assert list(stored(tmp_path)["cards"]) == ["tensors-one", "tensors-three", "tensors-two"]
    write_book(tmp_path, card(proof=slow + red), card("tensors-two", proof=red),
               card("tensors-three"))
    status, out, error = run("--all")
    assert status == 1
    assert [line.split("'")[1] for line in error.splitlines()] == ["tensors-one", "tensors-two"]
    assert "1 of 3 cards proved" in out  # a red card leaves the others counted


def test_what_inductor_compiles_is_kept_for_a_session_and_no_longer(quick):
    code = program("""
        import os, pathlib
        kept = pathlib.Path(os.environ["TORCHINDUCTOR_CACHE_DIR"], "kept")
        print(kept, kept.exists())
        kept.touch()
    """)
    with quick() as ground:
        first, again = (ground.run(code=code, elsewhere=place).shown.split()
                        for place in (False, True))
        assert first[0] == again[0]
        assert (first[1], again[1]) == ("False", "True")
        assert Path(first[0]).exists()
    assert not Path(first[0]).parent.exists()


FAILING = {
    "assertion": (
        card(proof="x = 1\nassert x == 2\n"), "assert x == 2",
        "proof line 2 (`assert x == 2`): AssertionError"),
    "error in a function of the proof": (
        card(proof="def f():\n    return 1 / 0\nassert f()\n"), "return 1 / 0",
        "proof line 2 (`return 1 / 0`): ZeroDivisionError: division by zero"),
    "only one variant": (
        card(variants=[{"n": 1}, {"n": 2}], proof="assert n == 1\n"), "assert n == 1",
        "proof line 1 (`assert n == 1`): AssertionError with n = 2"),
    "leaves early": (
        card(proof="raise SystemExit(0)\nassert x\n"), "raise SystemExit",
        "proof line 1 (`raise SystemExit(0)`): SystemExit: 0"),
    "child ends": (
        card(proof="import os\nos._exit(0)\nassert os\n"), "proof:",
        "proof: the process left with exit status 0 before the proof was done"),
    "child crashes": (
        card(proof="import ctypes\nctypes.string_at(0)\nassert ctypes\n"), "ctypes.string_at(0)",
        "proof line 2: the process was killed by SIGSEGV"),
    "crash after a forked copy of the proof has passed": (
        card(proof="import os, ctypes\nif os.fork():\n    os.wait()\n    ctypes.string_at(0)\n"
                   "assert os\n"), "ctypes.string_at(0)",
        "proof line 4: the process was killed by SIGSEGV"),
    "bug passes on code": (
        bug(proof="assert add(3)\nassert shown\n"), "proof:",
        "the proof passes on `code`: it must fail there and pass on `fixed`"),
    "bug fails on code for another reason": (
        bug(code="print(1)\n"), "assert add(3)",
        "proof line 1 (`assert add(3) == [3]`): NameError: name 'add' is not defined; "
        "on `code` the proof must fail by an assertion or by the error of `code`"),
    "bug fails on fixed": (
        bug(fixed="add = lambda x: 1\n"), "assert add(3)",
        "proof line 1 (`assert add(3) == [3]`): AssertionError; the proof must pass on `fixed`"),
    "fixed raises": (
        bug(fixed="raise ValueError('no')\n"), "raise ValueError('no')",
        "fixed line 1 (`raise ValueError('no')`): ValueError: no; `fixed` must not raise"),
    "address in the result": (
        card(code="print(object())\n", proof="assert shown\n"), "code:",
        "code shows something else each time ('<object object at 0x"),
    "order of a set": (
        card(code="print({'view', 'clone', 'copy', 'stride'})\n", proof="assert shown\n"), "code:",
        "code shows something else each time ('{"),
    "no seed": (
        card(code="import torch\nprint(torch.rand(4))\n", proof="assert shown\n"), "code:",
        "code shows something else each time ('tensor(["),
    "source gone": (
        card(sources=["torch.gone"]), "- torch.gone", "source torch.gone: no longer in torch"),
}


@pytest.mark.parametrize("name", FAILING)
def test_failing_card_is_reported_in_one_line_and_nothing_is_written(tmp_path, run, name):
    row, at, text = FAILING[name]
    write_book(tmp_path, card())
    assert run()[0] == 0
    before = (tmp_path / RESULTS).read_bytes()
    path = write_book(tmp_path, row, card("tensors-good"))
    status, _, error = run()
    assert status == 1
    assert error.startswith(f"{FILE}:{line_of(path, at)}: card '{row['id']}': ")
    assert text in error
    assert error.count("\n") == 1
    assert (tmp_path / RESULTS).read_bytes() == before
    assert sorted(p.name for p in path.parent.iterdir()) == ["views.json", "views.yaml"]


@pytest.mark.parametrize("stuck", ["time.sleep(3600)", "while True: pass"])
def test_stuck_proof_is_ended_and_its_line_named(tmp_path, run, monkeypatch, stuck):
    monkeypatch.setitem(prover.LIMITS, "cpu", prover.Limit(1, 5))
    monkeypatch.setattr(pace, "seconds", lambda trials: pace.USUAL)  # which may take over 1 s, too
    path = write_book(tmp_path, card(proof=f"import time\n{stuck}\nassert time\n"))
    status, _, error = run()
    assert status == 1
    assert error == (f"{FILE}:{line_of(path, stuck)}: card 'tensors-one': "
                     "proof line 2: still running after 1 s\n")


def busy(seconds):
    return card(proof=f"import time\nend = time.process_time() + {seconds}\n"
                      "while time.process_time() < end:\n    pass\nassert end\n")


def test_a_proof_over_its_budget_is_named_and_passes_however_long_it_takes(
    tmp_path, run, monkeypatch
):
    monkeypatch.setattr(pace, "seconds", lambda trials: pace.USUAL)
    monkeypatch.setitem(prover.LIMITS, "cpu", prover.Limit(600, 0.2))
    write_book(tmp_path, busy(1.2), card("tensors-two"))
    status, out, error = run()
    assert (status, error) == (0, "")
    assert "most processor time: tensors-one 1." in out
    assert re.search(r"warning: over the budget of their class, .*: tensors-one \d+\.\d s "
                     r"\(cpu: 0\.2 s\)\n", out)
    assert "tensors-two" not in out


@pytest.mark.parametrize(("slow", "warned"), [(1, True), (4, False)])
def test_a_slow_machine_is_no_reason_to_warn(tmp_path, run, monkeypatch, slow, warned):
    monkeypatch.setattr(pace, "seconds", lambda trials: pace.USUAL * slow)
    monkeypatch.setitem(prover.LIMITS, "cpu", prover.Limit(600, 0.5))
    write_book(tmp_path, busy(1))
    status, out, _ = run()
    assert status == 0
    assert ("warning" in out) == warned


def test_the_reference_work_is_timed_where_proofs_run(trials):
    assert 0.01 < pace.seconds(trials) / pace.USUAL < 1000


def test_assertions_count_where_python_is_told_to_leave_them_out(quick):
    with quick() as ground:
        ground.environment["PYTHONOPTIMIZE"] = "1"
        assert ground.run("assert 1 + 1 == 3").failure["type"] == "AssertionError"


def test_bug_may_fail_by_the_error_that_its_code_raises(tmp_path, run):
    row = bug(code="import torch\nx = torch.zeros(2).view(3)\ny = x\n",
              fixed="import torch\nx = torch.zeros(2).view(2)\ny = x\n",
              proof="assert y.shape == (2,)\n")  # on code: NameError, it never got to y
    write_book(tmp_path, row)
    assert run()[0] == 0
    assert proved(tmp_path)[0]["shown_fixed"] == [""]


def test_nothing_that_one_proof_does_reaches_the_next(tmp_path, run):
    change = program("""
        import os, sys, torch
        library = torch.library.Library("cardtest", "DEF")
        library.define("f(Tensor x) -> Tensor")
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(1)
        os.environ["CARD"] = "1"
        sys.modules["leaked"] = os
        open("leaked", "w").close()
        (torch.ones(2, requires_grad=True) * 2).sum().backward()
        assert hasattr(torch.ops.cardtest, "f")
    """)
    check = program("""
        import os, sys, torch
        assert not hasattr(torch.ops.cardtest, "f")
        assert torch.get_default_dtype() is torch.float32
        assert torch.initial_seed() != 1
        assert "CARD" not in os.environ and "leaked" not in sys.modules
        assert os.listdir() == []
        assert torch.get_num_threads() == 1
    """)
    write_book(tmp_path, card(proof=change), card("tensors-two", proof=check))
    assert run()[0] == 0


def test_backward_in_the_caller_does_not_hang_the_proofs(tmp_path, run):
    (torch.ones(3, requires_grad=True) * 2).sum().backward()
    proof = "import torch\nx = torch.ones(1, requires_grad=True)\nx.backward()\nassert x.grad\n"
    write_book(tmp_path, card(proof=proof))
    assert run()[0] == 0


def test_processes_that_a_proof_leaves_behind_are_ended(tmp_path, trials):
    beat = tmp_path / "beat"
    loop = f"while :; do echo x >> {beat}; sleep 0.02; done"
    proof = program(f"""
        import pathlib, subprocess, time
        subprocess.Popen(["sh", "-c", {loop!r}])
        while not pathlib.Path({str(beat)!r}).exists():
            time.sleep(0.01)
    """)
    assert trials.run(proof).failure is None
    size = beat.stat().st_size
    time.sleep(0.3)
    assert size > 0
    assert beat.stat().st_size == size


def test_classes_and_source_of_a_card_behave_as_in_a_script(trials):
    code = program("""
        import inspect, pickle
        class Pair:
            a = 1
            def f(self): ...
        if __name__ == "__main__":
            print(type(pickle.loads(pickle.dumps(Pair()))).a, inspect.getsource(Pair.f))
    """)
    assert trials.run(code=code).shown == "1     def f(self): ..."


def test_output_below_python_and_of_children_is_shown_and_stderr_is_kept(trials):
    code = program("""
        import os, sys
        print("first")
        os.write(1, b"second\\n")
        os.system("echo third")
        print("warned", file=sys.stderr)
    """)
    outcome = trials.run(code=code)
    assert outcome.shown == "first\nsecond\nthird"
    assert outcome.stderr == "warned\n"


def test_fresh_interpreters_give_the_same_outcomes_where_there_is_no_fork(trials, quick):
    programs = [("print(n)\nn / 0\n", "assert shown.startswith('4')\nassert n == 5\n"),
                ("", "import ctypes\nctypes.string_at(0)\n")]
    with Trials(fork=False) as whole, quick(fork=False) as fresh:
        for code, proof in programs:
            ours, theirs = (t.run(proof, code, {"n": 4}) for t in (trials, fresh))
            assert ours.failure == theirs.failure
            assert ours.failure is not None
            assert (ours.shown, ours.raised) == (theirs.shown, theirs.raised)
        assert fresh._servers == {}
        assert whole.run("import torch\nassert torch.ones(2).sum() == 2").failure is None


WEAK = {
    "never reached": (
        "x = 1\nif x == 2:\n    assert x == 3\nassert x == 1\n", 3,
        "assert on line 3 of the proof is never reached"),
    "in a function never called": (
        "def f():\n    assert 1 == 1\nassert f\n", 2,
        "assert on line 2 of the proof is never reached"),
    "in an empty loop": (
        "for x in ():\n    assert x\nx = 1\nassert x\n", 2,
        "assert on line 2 of the proof is never reached"),
    "swallowed": (
        "x = 1\ntry:\n    assert x == 2\nexcept AssertionError:\n    pass\nassert x\n", 3,
        "assert on line 3 of the proof does not count: negated, it leaves the proof green"),
}


@pytest.mark.parametrize("name", WEAK)
def test_assertion_that_cannot_turn_its_proof_red_is_reported(tmp_path, run, name):
    proof, line, text = WEAK[name]
    path = write_book(tmp_path, card(proof=proof))
    status, _, error = run()
    at = path.read_text("utf-8").splitlines().index("  proof: |") + 1 + line
    assert status == 1
    assert not (tmp_path / RESULTS).exists()
    assert error.startswith(f"{FILE}:{at}: card 'tensors-one': {text}")
    assert error.count("\n") == 1
    assert run("--self-test", "none")[0] == 0  # without it, it would have passed


def test_assertions_that_count_pass_the_self_test(tmp_path, run):
    proof = program("""
        import torch
        x = torch.arange(4)
        for i in range(4):
            assert x[i] == i, f"at {i}"
        for shape in [(3,), (5,)]:
            try:
                x.view(shape)
            except RuntimeError:
                continue
            raise AssertionError(shape)
        if n == 2:
            assert (x + n).sum() == 14
        assert not any(v > 3 for v in x)
    """)
    write_book(tmp_path, card(proof=proof, variants=[{"n": 1}, {"n": 2}]), bug())
    assert run()[0] == 0


ROUND = {  # proofs that pass: what a look at the tree says of them, a run must say too
    "only statements": "x = 1\nassert x; assert x == 1\nassert (x, 'always')\n",
    "a loop": "for x in (1, 2):\n    if x:\n        assert x\nassert x == 2\n",
    "a branch not taken": "x = 1\nif x == 2:\n    assert x == 3\nelse:\n    assert x == 1\n"
                          "assert x\n",
    "an endless loop that is left": "x = 0\nwhile True:\n    x += 1\n    assert x\n    break\n"
                                    "else:\n    assert x == 9\nassert x == 1\n",
    "a loop in a with that hides it": "from contextlib import suppress\nwith suppress(Exception):\n"
                                      "    for x in (1,):\n        assert x\nassert suppress\n",
    "a branch for a child process": "import os\nchild = os.fork()\nif child == 0:\n"
                                    "    assert not child\n    os._exit(0)\n"
                                    "os.waitpid(child, 0)\nassert child\n",
    "a thread": "import threading\ndef f(x):\n    assert x\nthreading.excepthook = print\n"
                "one = threading.Thread(target=f, args=[1])\none.start()\none.join()\n"
                "assert one\n",
    "a function that is called": "def f(x):\n    assert x\nf(1)\nassert f\n",
    "a function that is not": "def f(x):\n    assert x\nassert f\n",
    "exit in a branch not taken": "x = 1\nif not x:\n    raise SystemExit\nassert x\n",
    "exit that is caught": "try:\n    raise SystemExit\nexcept SystemExit:\n    x = 1\nassert x\n",
    "try at the top": "try:\n    assert 1 + 1 == 2\nexcept AssertionError:\n    pass\nassert 1\n",
    "finally that leaves": "for x in (1,):\n    try:\n        assert x\n    finally:\n"
                           "        continue\nassert x\n",
    "swallowed by with": "from contextlib import suppress\nwith suppress(AssertionError):\n"
                         "    assert suppress\nassert suppress\n",
    "type checking": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
                     "    assert TYPE_CHECKING\nassert not TYPE_CHECKING\n",
    "class body": "class A:\n    assert 1 + 1 == 2\nassert A\n",
    "generator never begun": "def g():\n    while True:\n        yield 1\n        assert g\n"
                             "assert next(g()) == 1\n",
    "endless generator": "import itertools\ndef g():\n    for n in itertools.count():\n"
                         "        assert n >= 0\n        yield n\n"
                         "assert [n for n, _ in zip(g(), 'ab')] == [0, 1]\n",
    "program in a string": "exec('assert 1 + 1 == 2')\nassert exec\n",
    "child process": "import os\nchild = os.fork()\nif child:\n    os.waitpid(child, 0)\n"
                     "assert child >= 0\n",
    "module that hides errors": "import sys\nsys.excepthook = lambda *_: None\nassert sys\n",
    "message that raises": "x = 1\nassert x, 1 / 0\n",
}


@pytest.mark.parametrize("name", ROUND)
def test_assertions_that_are_not_run_negated_would_all_turn_the_proof_red(tmp_path, trials, name):
    write_book(tmp_path, card(proof=ROUND[name]))
    [only] = cards.load(tmp_path)[0].cards
    assert trials.run(ROUND[name]).failure is None
    self_test = SelfTest(only, trials, 600)
    assert self_test.problems() == self_test.problems(each=True)
    tree = ast.parse(ROUND[name])
    assert 0 < len(assertions(tree)) - len(nested(tree)) < 4


def test_loops_and_branches_of_the_module_are_in_the_open_and_nothing_else_is():
    inside = ["for x in y:", "while x:", "if x:", "if x: 1\nelif y:", "for x in y: 1\nelse:"]
    around = ["with x:", "try: 1\nfinally:", "try: 1\nexcept E:", "def f():", "class A:",
              "async def f():", "match x:\n    case 1:"]
    assert [bool(in_the_open(ast.parse(f"{text}\n        assert x"))) for text in
            [*inside, *around]] == [True] * len(inside) + [False] * len(around)
    assert not in_the_open(ast.parse("for x in y:\n    with x:\n        assert x"))


@pytest.mark.parametrize("proof", [
    "raise SystemExit\nassert 1\n", "import os\nos._exit(0)\nassert os\n",
    "import sys\nsys.exit()\nassert sys\n", "return\nassert 1\n",
    "import os\nif os.fork():\n    os._exit(0)\nassert os\n",
])
def test_a_proof_that_does_not_get_to_its_assertion_does_not_pass(trials, proof):
    assert trials.run(proof).failure is not None


def test_negation_changes_one_assertion_and_keeps_its_message():
    proof = "assert a\nassert b, 'why'\n"
    assert negated(proof, 1) == "assert a\nassert not __reached__(1, b), 'why'"


def test_check_needs_no_run_and_notices_each_way_to_be_stale(tmp_path, run):
    path, results = write_book(tmp_path, card(), bug()), tmp_path / RESULTS
    at = f"{RESULTS}:1:"
    assert run("--check")[2] == f"{at} the file is missing: run make prove\n"
    assert run()[0] == 0
    assert run("--check")[0] == 0
    good, source = results.read_text("utf-8"), path.read_text("utf-8")

    old = (f"{at} card 'tensors-bug': the stored result is not of the card as it is: views.yaml, "
           "a file of code/ or recorded evidence has changed, or this file was edited by hand: "
           "run make prove\n")
    results.write_text(good.replace("[1, 2]", "[1, 3]"), "utf-8")
    assert run("--check")[2] == old
    results.write_text(good.replace('"python": "', '"python" : "'), "utf-8")
    assert run("--check")[2] == f"{at} the file was edited by hand: run make prove\n"
    results.write_text("{", "utf-8")
    assert "card 'tensors-one': has no result yet: run make prove" in run("--check")[2]

    results.write_text(good, "utf-8")
    path.write_text(source.replace("assert add(3)", "assert add(4)"), "utf-8")
    assert run("--check")[2] == old
    write_book(tmp_path, card())
    assert run("--check")[2] == f"{at} card 'tensors-bug': is not in views.yaml: run make prove\n"


def test_results_of_a_section_without_cards_are_noticed(tmp_path, run):
    write_book(tmp_path, card())
    assert run()[0] == 0
    (tmp_path / FILE).rename(tmp_path / "chapters/01-tensors/cards/strides.yaml")
    assert f"{RESULTS}:1: there is no views.yaml: delete this file\n" in "".join(
        f"{problem}\n" for problem in card_results.stale(cards.load(tmp_path)[0]))


def test_a_file_holds_what_is_computed_and_no_text_of_a_card(tmp_path, run):
    write_book(tmp_path, card(code="print(7)\n", proof="assert shown\n"))
    assert run()[0] == 0
    [entry] = stored(tmp_path)["cards"].values()
    assert entry.keys() == {"sources", "shown", "digest"}
    whole = proved(tmp_path)[0]
    assert whole["digest"] == entry["digest"]
    assert card_results.digest({k: v for k, v in whole.items() if k != "digest"}) == entry["digest"]


def test_two_sections_never_meet_in_a_file(tmp_path, run):
    write_book(tmp_path, card())
    write_cards(tmp_path, card("tensors-two", section="strides"), section="strides")
    assert run()[0] == 0
    assert list(stored(tmp_path)["cards"]) == ["tensors-one"]
    before = (tmp_path / RESULTS).stat().st_mtime_ns
    write_cards(tmp_path, card("tensors-two", section="strides", level="staff"), section="strides")
    status, out, _ = run()
    assert status == 0
    assert "1 of 2" in out
    assert "wrote chapters/01-tensors/cards/strides.json" in out
    assert (tmp_path / RESULTS).stat().st_mtime_ns == before


def test_a_page_is_not_made_of_a_card_without_a_result(tmp_path, run):
    assert proved(tmp_path) == []
    write_book(tmp_path, card())
    with pytest.raises(ValueError, match=r"views\.yaml:1: card 'tensors-one': has no result yet: "
                                         r"run make prove"):
        proved(tmp_path)


def test_verify_writes_nothing_and_notices_a_result_that_would_differ(tmp_path, run):
    write_book(tmp_path, card(), bug())
    results = tmp_path / RESULTS
    assert run("--verify")[0] == 1
    assert not results.exists()
    assert run()[0] == 0
    assert run("--verify")[0] == 0
    content = stored(tmp_path)
    forged = {k: v for k, v in proved(tmp_path)[1].items() if k != "digest"} | {"shown": ["[9]"]}
    content["cards"]["tensors-bug"] |= {"shown": ["[9]"], "digest": card_results.digest(forged)}
    results.write_text(card_results.canonical(content) + "\n", "utf-8")
    assert run("--check")[0] == 0  # a forger who mends the digest is found by a run only
    status, _, error = run("--verify")
    assert status == 1
    assert "card 'tensors-bug': a fresh run differs from views.json in shown" in error
    content["torch"] = "2.11.0"  # results of another torch need not be the same
    results.write_text(card_results.canonical(content) + "\n", "utf-8")
    assert run("--verify")[0] == 0
    assert stored(tmp_path) == content


def test_changed_proves_only_what_is_out_of_date(tmp_path, run):
    write_book(tmp_path, card(), bug())
    assert "2 of 2" in run()[1]
    assert "0 of 2" in run()[1]
    write_book(tmp_path, card(level="staff"), bug())
    status, out, _ = run()
    assert status == 0
    assert "1 of 2" in out
    assert run("--check")[0] == 0
    whole = (tmp_path / RESULTS).read_bytes()
    assert run()[0] == 0
    assert (tmp_path / RESULTS).read_bytes() == whole


def test_a_changed_companion_makes_the_cards_that_import_it_out_of_date(
    tmp_path, run, monkeypatch
):
    monkeypatch.setattr(depends, "CODE", tmp_path / "code")
    helper = tmp_path / "code/helper.py"
    helper.parent.mkdir()
    helper.write_text("X = 1\n", "utf-8")
    proof = "if False:\n    import helper\nassert 1 + 1 == 2\n"
    write_book(tmp_path, card(proof=proof), bug())
    assert run()[0] == 0
    assert run("--check")[0] == 0
    helper.write_text("X = 2\n", "utf-8")
    assert run("--check")[2].count("a file of code/ or") == 1
    assert "1 of 2" in run()[1]
    assert run("--check")[0] == 0


def test_evidence_of_a_card_lapses_when_its_companion_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(depends, "CODE", tmp_path / "code")
    (tmp_path / "code").mkdir()
    (tmp_path / "code/helper.py").write_text("X = 1\n", "utf-8")
    write_book(tmp_path, card(needs="cuda", proof="import helper\nassert helper.X\n"))
    [gpu_card] = cards.load(tmp_path)[0].cards
    evidence = {gpu_card.id: {"digest": card_results.digest(card_results.as_run(gpu_card))}}
    assert card_results.recorded(gpu_card, evidence)
    (tmp_path / "code/helper.py").write_text("X = 2\n", "utf-8")
    assert card_results.recorded(gpu_card, evidence) is None


def test_results_of_another_torch_are_out_of_date(tmp_path, run):
    write_book(tmp_path, card(), bug())
    assert run()[0] == 0
    results = tmp_path / RESULTS
    old = results.read_text("utf-8").replace(stored(tmp_path)["torch"], "2.11.0")
    results.write_text(old, "utf-8")
    assert "2 of 2" in run()[1]
    assert results.read_text("utf-8") != old


def test_one_class_is_written_only_beside_current_results_of_the_others(tmp_path, run):
    rows = [card(), card("tensors-two", needs="loader")]
    write_book(tmp_path, *rows)
    status, _, error = run("--needs", "cpu")
    assert status == 1
    assert "card 'tensors-two': was not run now and has no current result" in error
    assert run()[0] == 0
    assert run("--needs", "cpu")[0] == 0


def test_looking_at_a_card_prints_what_it_shows_and_writes_nothing(tmp_path, run):
    code = "import sys\nprint(n + 1)\nprint('careful', file=sys.stderr)\n"
    write_book(tmp_path, card(code=code, variants=[{"n": 41}], proof="assert shown == '42'\n"),
               bug())
    status, out, _ = run("--card", "tensors-one")
    assert status == 0
    assert "n = 41\nimport sys" in out
    assert ">>>\n42" in out
    assert "careful" in out
    assert not (tmp_path / RESULTS).exists()
    assert run("--card", "tensors-bag")[2] == (
        "prove: there is no card 'tensors-bag': did you mean 'tensors-bug'?\n")


def test_schema_errors_stop_the_prover_before_it_runs_anything(tmp_path, run):
    write_book(tmp_path, card(kind="guess", proof="assert open('ran', 'w')\n"))
    status, _, error = run()
    assert status == 1
    assert "choose one of" in error
    assert not (tmp_path / RESULTS).exists()


def test_gpu_card_is_not_run_and_waits_for_evidence_of_its_present_content(tmp_path, run):
    row = card(needs="cuda", code="1/0\n", proof="assert False == shown\n")  # fails if it is run
    write_book(tmp_path, row, bug())
    status, out, _ = run()
    assert status == 0
    assert "not recorded yet on a GPU: tensors-one" in out
    assert "evidence" not in proved(tmp_path)[0]
    evidence = {"gpu": "H100", "torch": "2.13.0+cu130", "date": "2026-01-31"}
    record = {"digest": card_results.digest(row), "shown": ["ok"], **evidence}
    path = tmp_path / card_results.EVIDENCE
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"tensors-one": record}), "utf-8")
    assert "recorded evidence has changed" in run("--check")[2]
    status, out, _ = run()
    assert status == 0
    assert "not recorded" not in out
    assert run("--check")[0] == 0
    entry = proved(tmp_path)[0]
    assert entry["evidence"] == evidence
    assert entry["shown"] == ["ok"]
    write_book(tmp_path, row | {"level": "staff"}, bug())
    assert "not recorded yet on a GPU: tensors-one" in run()[1]


class _Gpu:
    """Trials that answer the question for a GPU; the rest is run as it is."""

    def __init__(self, trials):
        self.trials = trials

    def run(self, proof="", code="", variant=None, **options):
        code = "print('Test GPU')" if "get_device_name" in code else code
        return self.trials.run(proof, code, variant, **options)


def test_evidence_is_recorded_only_if_every_gpu_card_passes(tmp_path, trials, capsys):
    good = card(needs="cuda", code="print(7)\n", proof="assert shown == '7'\n")
    write_book(tmp_path, good, card("tensors-two", needs="cuda", proof="x = 0\nassert x\n"))
    arguments = ["--root", str(tmp_path), "--record-cuda"]
    if not torch.cuda.is_available():
        assert prove.main(arguments, resolve, trials) == 1
        assert "torch finds no GPU here" in capsys.readouterr().err
    assert prove.main(arguments, resolve, _Gpu(trials)) == 1
    assert not (tmp_path / card_results.EVIDENCE).exists()
    write_book(tmp_path, good)
    assert prove.main(arguments, resolve, _Gpu(trials)) == 0
    book, _ = cards.load(tmp_path)
    record = card_results.recorded(book.cards[0], card_results.read_evidence(tmp_path))
    assert record["gpu"] == "Test GPU"
    assert record["shown"] == ["7"]


@pytest.mark.parametrize(("fork", "text"), [
    (True, "prove: the process that proofs are forked from has ended"),
    (False, "prove: a trial could not start"),
])
def test_torch_missing_is_said_in_a_line(tmp_path, capfd, fork, text):
    write_book(tmp_path, card())
    broken = tmp_path / "broken/torch"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise SystemExit(3)\n", "utf-8")
    with Trials(fork) as ground:
        ground.environment["PYTHONPATH"] = os.pathsep.join(
            [str(broken.parent), ground.environment["PYTHONPATH"]])
        assert prove.main(["--root", str(tmp_path)], resolve, ground) == 1
    assert text in capfd.readouterr().err


def test_order_of_fields_does_not_change_the_result(tmp_path, run):
    row = card()
    write_book(tmp_path, row)
    assert run()[0] == 0
    before = (tmp_path / RESULTS).read_bytes()
    write_book(tmp_path, dict(reversed(row.items())))
    assert run("--check")[0] == 0
    assert run()[0] == 0
    assert (tmp_path / RESULTS).read_bytes() == before
