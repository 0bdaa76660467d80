"""Random graphs under mini_compile give what eager gives, gradients included."""

import pytest

import mini_compile_build
from oracles.compile_agree import Survey

pytestmark = pytest.mark.usefixtures("one_thread", "own_cache")


@pytest.fixture(scope="module")
def quick(own_cache):
    """Little optimising: what is compared is the result, not its speed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mini_compile_build, "FLAGS", ["-O1", *mini_compile_build.FLAGS[1:]])
        yield


@pytest.fixture(scope="module")
def forward(quick):
    return Survey(range(400))


@pytest.fixture(scope="module")
def backward(quick):
    return Survey(range(5000, 5120), gradient=True)


def test_graphs_give_what_eager_gives(forward):
    assert forward.count == 400
    assert not forward.wrong, "\n".join(forward.wrong)


def test_gradients_are_those_of_eager(backward):
    assert backward.count == 120
    assert not backward.wrong, "\n".join(backward.wrong)


def test_most_operators_are_in_loops_and_loops_hold_several(forward):
    """So that a back end that leaves each operator alone does not pass."""
    inside = forward.operators.pop("in a loop")
    outside = sum(n for why, n in forward.operators.items() if "view" not in why)
    assert inside > 8 * outside
    assert inside > 3 * forward.loops


def test_graphs_give_what_eager_gives_with_all_optimising(monkeypatch):
    monkeypatch.setattr(mini_compile_build, "FLAGS", ["-O3", *mini_compile_build.FLAGS[1:]])
    survey = Survey(range(9000, 9040), each=40)
    assert not survey.wrong, "\n".join(survey.wrong)
