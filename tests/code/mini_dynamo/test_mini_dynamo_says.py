"""What mini_dynamo says and raises: the report, the tour, the exceptions of a program."""

import sys
import types

import pytest
import torch

import mini_dynamo
import mini_dynamo_tour

pytestmark = pytest.mark.usefixtures("one_thread")


def x2():
    return torch.tensor([1.0, 2.0])


def test_stats_print_as_a_short_report():
    fast = mini_dynamo.compile(lambda x, n: x * n)
    fast(x2(), 1)
    fast(x2(), 2)
    assert str(mini_dynamo.stats(fast)) == (
        "graphs 2, breaks 0, recompiles 1\nrecompiled: L['n'] == 1")


def test_the_part_below_the_tracer_does_without_torch():
    for name in ("bytecode", "functions", "rules", "rules_control", "opcodes", "run"):
        module = sys.modules[f"mini_dynamo_{name}"]
        assert not any(isinstance(v, types.ModuleType) and v.__name__ == "torch"
                       for v in vars(module).values())


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_tour_ends_well(language, capsys):
    assert mini_dynamo_tour.main(["--lang", language]) == 0
    assert "graphs" in capsys.readouterr().out


@pytest.mark.parametrize("raising", ["caught", "uncaught", "in a call", "chained"])
def test_exceptions_are_those_of_python(raising):
    def refuse(x):
        raise ValueError(f"not {list(x.shape)}")

    def f(x, log):
        try:
            log.append("try")
            if raising == "caught":
                raise KeyError("k")
            if raising == "chained":
                try:
                    refuse(x)
                except ValueError as error:
                    raise RuntimeError("second") from error
            refuse(x)
        except KeyError as error:
            return x + len(error.args)
        finally:
            log.append("finally")

    def outcome(fn):
        log = []
        try:
            return fn(x2(), log).tolist(), log
        except Exception as error:
            cause = error.__cause__
            return type(error), str(error), type(cause), log
    assert outcome(mini_dynamo.compile(f)) == outcome(f)
