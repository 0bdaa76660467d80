"""A self-test that has passed is not run again until something changes that it depends on."""

import json

import pytest

from book.pipeline import prove
from book.pipeline.cards import book as cards
from book.pipeline.cards import results
from book.pipeline.notebooks import depends
from book.pipeline.proofs import reached, seals
from tests.helpers.card_examples import bug, card, write_book
from tests.helpers.quick_trials import quick_trials

RESULTS = "chapters/01-tensors/cards/views.json"
GOOD = "for x in (1, 2):\n    assert x\n"
IN_WITH = "import io\nwith io.StringIO() as file:\n    assert file\n"
HIDDEN = "x = 1\ntry:\n    assert x == 2\nexcept AssertionError:\n    pass\nassert x\n"
SAID = "assert on line 3 of the proof does not count: negated, it leaves the proof green"


@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    with quick_trials(tmp_path_factory.mktemp("quick"), lanes=2) as ground:
        yield ground


@pytest.fixture
def run(tmp_path, trials, capsys, monkeypatch):
    """Call the command on the book in tmp_path: (exit status, stdout, stderr)."""
    monkeypatch.delenv("FRESH", raising=False)  # the suite itself may run with it

    def call(*arguments):
        status = prove.main(["--root", str(tmp_path), *arguments],
                            lambda target: f"https://example.org/{target}", trials)
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def edit(tmp_path):
    """Write other seals into the stored results, and what else a forger would mend."""

    def write(**sealed):
        content = json.loads((tmp_path / RESULTS).read_text("utf-8"))
        content["self_tested"] = sealed
        (tmp_path / RESULTS).write_text(results.canonical(content) + "\n", "utf-8")

    return write


def sealed(root):
    return results.seals(results.read_file(root / RESULTS))


def seal_of(root, number=0):
    return seals.seal(cards.load(root)[0].cards[number])


def test_a_self_test_that_has_passed_is_not_run_again(tmp_path, run):
    write_book(tmp_path, card(proof=GOOD), bug(), card("tensors-with", proof=IN_WITH))
    assert ", 2 self-tests" in run()[1]  # the proof of the bug has no assertion that needs a run
    assert sealed(tmp_path) == {"tensors-one": seal_of(tmp_path),
                                "tensors-with": seal_of(tmp_path, 2)}
    for arguments in (["--verify"], ["--all"], ["--card", "tensors-one"], []):
        status, out, _ = run(*arguments)
        assert (status, "cards proved" in out, ", 0 self-tests" in out) == (0, True, True)
    assert ", 2 self-tests" in run("--verify", "--self-test", "all")[1]


def test_proofs_themselves_all_run_where_everything_is_sealed(tmp_path, run):
    write_book(tmp_path, card(proof=GOOD), bug())
    assert run()[0] == 0
    assert "2 of 2 cards proved in" in run("--verify")[1]


def weak_with_old_seal(tmp_path, run):
    """A proof whose assertion cannot fail, under the seal of the proof that stood there before."""
    write_book(tmp_path, card(proof=GOOD))
    assert run()[0] == 0
    old = sealed(tmp_path)
    write_book(tmp_path, card(proof=HIDDEN))
    assert run("--self-test", "none")[0] == 0
    assert sealed(tmp_path) == {}  # nothing is sealed by leaving the self-test out
    return old


def test_an_assertion_that_cannot_fail_is_found_under_a_seal_that_is_old(tmp_path, run, edit):
    edit(**weak_with_old_seal(tmp_path, run))
    assert run("--check")[0] == 0
    for arguments in ([], ["--verify"], ["--card", "tensors-one"]):
        status, _, error = run(*arguments)
        assert status == 1
        assert SAID in error


@pytest.mark.parametrize("forged", ["", "0" * 64, 1, None, ["x"]])
def test_a_seal_written_by_hand_is_none(tmp_path, run, edit, forged):
    weak_with_old_seal(tmp_path, run)
    edit(**{"tensors-one": forged})
    assert SAID in run("--verify")[2]


def test_a_forger_who_computes_the_seal_is_found_by_a_fresh_run(tmp_path, run, edit, monkeypatch):
    weak_with_old_seal(tmp_path, run)
    edit(**{"tensors-one": seal_of(tmp_path)})
    assert run("--verify")[0] == 0
    monkeypatch.setenv("FRESH", "1")
    assert SAID in run("--verify")[2]


def test_seals_that_are_no_mapping_or_of_no_card_are_noticed(tmp_path, run, edit):
    write_book(tmp_path, card(proof=GOOD))
    assert run()[0] == 0
    edit(**sealed(tmp_path), gone="0" * 64)
    assert "the file was edited by hand" in run("--check")[2]
    path = tmp_path / RESULTS
    path.write_text(results.canonical(json.loads(path.read_text("utf-8"))
                                      | {"self_tested": 1}) + "\n", "utf-8")
    assert "the file was edited by hand" in run("--check")[2]
    assert ", 1 self-tests" in run("--verify")[1]


@pytest.mark.parametrize("changed", [
    {"proof": GOOD + "assert n\n"}, {"code": "print(n + 1)\n"}, {"variants": [{"n": 2}]}])
def test_another_program_needs_another_self_test(tmp_path, run, changed):
    row = card(code="print(n)\n", proof=GOOD, variants=[{"n": 1}])
    write_book(tmp_path, row)
    assert ", 1 self-tests" in run()[1]
    write_book(tmp_path, row | changed)
    assert ", 1 self-tests" in run()[1]


def test_another_text_of_the_card_needs_none(tmp_path, run):
    write_book(tmp_path, card(proof=GOOD))
    assert run()[0] == 0
    write_book(tmp_path, card(proof=GOOD, level="staff"))
    assert re_proved(run()) == "1 of 1, 0 self-tests"


def re_proved(answer):
    words = answer[1].split()
    return f"{words[0]} of {words[2]}, {answer[1].partition(' s, ')[2].splitlines()[0]}"


@pytest.mark.parametrize("what", ["prover", "torch", "companion"])
def test_what_a_self_test_depends_on_breaks_its_seal(tmp_path, run, monkeypatch, what):
    monkeypatch.setattr(depends, "CODE", tmp_path / "code")
    (tmp_path / "code").mkdir()
    helper = tmp_path / "code/helper.py"
    helper.write_text("X = 1\n", "utf-8")
    write_book(tmp_path, card(proof="if False:\n    import helper\n" + GOOD), bug())
    assert ", 1 self-tests" in run()[1]
    if what == "companion":
        helper.write_text("X = 2\n", "utf-8")
    elif what == "prover":
        monkeypatch.setattr(seals, "prover", lambda: {"reached": "another"})
    else:
        monkeypatch.setattr(seals.importlib.metadata, "version", lambda name: "9.9.9")
    assert ", 1 self-tests" in run("--verify")[1]


def test_a_new_prover_makes_no_result_stale_and_is_sealed_by_the_next_call(
    tmp_path, run, monkeypatch
):
    write_book(tmp_path, card(proof=GOOD), bug())
    assert run()[0] == 0
    old = sealed(tmp_path)
    monkeypatch.setattr(seals, "prover", lambda: {"reached": "another"})
    assert run("--check")[0] == 0
    assert re_proved(run()) == "1 of 2, 1 self-tests"
    assert sealed(tmp_path).keys() == old.keys()
    assert sealed(tmp_path) != old


def test_the_code_that_runs_a_self_test_is_part_of_its_seal(monkeypatch):
    assert set(seals.prover()) == {f"book.pipeline.proofs.{name}"
                                   for name in ("forks", "reached", "trial")}
    assert len(set(seals.prover().values())) == 3


def test_loops_and_branches_cost_one_trial_and_everything_else_one_for_each(
    tmp_path, trials, monkeypatch
):
    proof = GOOD * 3 + IN_WITH + IN_WITH
    write_book(tmp_path, card(proof=proof))
    asked, really = [], trials.run
    monkeypatch.setattr(trials, "run", lambda *a, **k: asked.append(a) or really(*a, **k))
    [only] = cards.load(tmp_path)[0].cards
    assert reached.SelfTest(only, trials, 600).problems() == []
    assert len(asked) == 1 + 2
