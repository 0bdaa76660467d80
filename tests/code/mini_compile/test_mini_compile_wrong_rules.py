"""Rules that look right and are not, planted into mini_compile: random graphs find each."""

import pytest
import torch

import mini_compile
import mini_compile_build
import mini_compile_dtypes
import mini_compile_groups
import mini_compile_loops
import mini_compile_operators
import mini_compile_values
from mini_compile_operators import LARGEST, SMALLEST, SUM, Reduction
from oracles.compile_agree import Survey

pytestmark = [pytest.mark.usefixtures("one_thread", "own_cache", "quick"),
              pytest.mark.filterwarnings("ignore:Guards may run slower")]    # Python 3.13.0


@pytest.fixture(scope="module")
def quick(own_cache):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mini_compile_build, "FLAGS", ["-O1", *mini_compile_build.FLAGS[1:]])
        yield


def not_broadcast(node, role, group, right=mini_compile_values.strides_of):
    """The strides as they stand: a dimension of size 1 moves on."""
    found, value = list(right(node, role, group)), node.meta["val"]
    if role == "full" and value.dim() == len(found):
        return tuple(value.stride())
    return tuple(found)


def all_contiguous(node, role, group, right=mini_compile_values.strides_of):
    found, step = list(right(node, role, group)), 1
    for d in reversed(range(len(found))):
        if found[d]:
            found[d], step = step, step * group.space[0][d]
    return tuple(found)


def joined_always(self, zone):
    return [zone] if zone else []


def one_sweep(self, group, right=mini_compile_loops.Sweeps.__init__):
    right(self, group)
    self.at = {node: min(at, 0) if not group.places.row[node] else at
               for node, at in self.at.items()}


def no_stage(first, then, places):
    return places.stage.get(first, 0)


def backwards(graph, right=mini_compile.plan):
    order, alone = right(graph)
    return order[::-1], alone


def only_the_last(group, right=mini_compile.needed):
    return right(group)[-1:]


def no_rounding(text, source, target, right=mini_compile_dtypes.convert):
    return text if target in mini_compile_dtypes.HALVES else right(text, source, target)


ROW = mini_compile_operators.REDUCTIONS
WRONG = {
    "a size of 1 is not broadcast": (mini_compile_values, "strides_of", not_broadcast),
    "each tensor lies as if contiguous": (mini_compile_values, "strides_of", all_contiguous),
    "dimensions are joined in any case": (mini_compile_loops.Space, "joined", joined_always),
    "a row is swept once": (mini_compile_loops.Sweeps, "__init__", one_sweep),
    "a loop waits for no other": (mini_compile_groups, "step", no_stage),
    "loops run in the wrong order": (mini_compile, "plan", backwards),
    "only the last value is stored": (mini_compile, "needed", only_the_last),
    "small floats are not rounded": (mini_compile_values, "convert", no_rounding),
    "amax begins with 0": (ROW, "amax", Reduction("0", LARGEST.step, LARGEST.kind)),
    "amin forgets NaN": (ROW, "amin", Reduction(SMALLEST.start, "{acc} < {value} ? {acc} : {value}",
                                                SMALLEST.kind)),
    "a mean does not divide": (ROW, "mean", SUM),
    "all begins with false": (ROW, "all", Reduction("false", "{acc} && {value}", "&&")),
    "a comparison takes the dtype of the number": (
        mini_compile_operators, "promoted", lambda operands: mini_compile_operators.torch.int64),
    "a remainder has the sign of the dividend": (
        mini_compile_operators.RESULT, "remainder", "f::fmod({self}, {other})"),
    "relu turns NaN into 0": (mini_compile_operators.RESULT, "relu", "{self} > 0 ? {self} : 0"),
    "maximum forgets NaN": (mini_compile_operators.RESULT, "maximum",
                            "{self} > {other} ? {self} : {other}"),
}


def with_nan(x):
    """What random graphs seldom meet."""
    return x.amin(-1), torch.maximum(x, x.flip(-1)), x.relu()


def first_found(graphs):
    """What differs from eager first: NaN in three operators, then random graphs."""
    x = torch.tensor([[float("nan"), 1, 2, 3], [0, 1, float("nan"), 3]])
    torch._dynamo.reset()
    try:
        found = torch.compile(with_nan, backend=mini_compile.backend)(x)
    except KeyError as error:                        # a value that is read before it is there
        return repr(error)
    for a, b in zip(found, with_nan(x), strict=True):
        if not torch.equal(a.isnan(), b.isnan()):
            return "NaN"
    at, each = 0, 10                                 # most wrong rules show soon
    while at < graphs:
        each = min(each, graphs - at)
        if wrong := Survey(range(at, at + each), each=each).wrong:
            return wrong[0]
        at, each = at + each, 2 * each
    return None


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rule_is_found(monkeypatch, name):
    where, what, wrong = WRONG[name]
    plant = monkeypatch.setitem if isinstance(where, dict) else monkeypatch.setattr
    plant(where, what, wrong)
    assert first_found(800)


def test_nothing_is_found_where_nothing_was_planted():
    assert first_found(80) is None
