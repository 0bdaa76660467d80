"""What eager refuses is refused once compiled, and what eager takes is taken."""

import pytest
import torch
from torch.nn import functional as F

import mini_compile
import mini_compile_build
from oracles.compile_refusals import ONE, RULES_ONE, RULES_TWO, TWO, calls, disagreements

pytestmark = [pytest.mark.usefixtures("one_thread", "own_cache", "quick"),
              pytest.mark.filterwarnings("ignore:Guards may run slower")]    # Python 3.13.0
# torch's own fake tensors refuse these or give another dtype, before any back end sees them.
OF_TORCH = ("masked_fill, a complex of torch.bool", "where of torch.uint8", "pow True of")


@pytest.fixture(scope="module")
def quick(own_cache):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mini_compile_build, "FLAGS", ["-O0", *mini_compile_build.FLAGS[1:]])
        yield


@pytest.mark.slow
@pytest.mark.parametrize(("one", "two"), [(ONE, TWO), (RULES_ONE, RULES_TWO)],
                         ids=["taken apart", "rules"])
def test_a_compiled_graph_takes_and_refuses_what_eager_does(one, two):
    asked = list(calls(one, two))
    assert len(asked) > 700
    wrong = [words for words in disagreements(asked) if not words.startswith(OF_TORCH)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.filterwarnings("ignore:var")
@pytest.mark.parametrize("fn", [
    lambda x: F.softmax(x, -1), F.silu, lambda x: torch.lerp(x, x, 0.5), lambda x: x.var(-1),
    F.mish, F.logsigmoid, lambda x: torch.frac(x)])
def test_the_error_is_eagers_own(fn):
    x, fast = torch.arange(6).reshape(2, 3), torch.compile(fn, backend=mini_compile.backend)
    torch._dynamo.reset()
    with pytest.raises(RuntimeError) as wanted:
        fn(x)
    with pytest.raises(RuntimeError) as found:
        fast(x)
    assert str(wanted.value) in str(found.value)


def test_a_valid_program_of_integers_is_taken():
    x, fast = torch.arange(6), torch.compile(
        lambda x: torch.addcmul(x, x, x, value=0.5) + 1, backend=mini_compile.backend)
    assert torch.equal(fast(x), torch.addcmul(x, x, x, value=0.5) + 1)
