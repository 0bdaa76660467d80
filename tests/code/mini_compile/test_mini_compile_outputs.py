"""Outputs that share memory and differ in whether they require a gradient: as in eager."""

import pytest
import torch

import mini_compile
import mini_dynamo

pytestmark = [pytest.mark.usefixtures("one_thread", "own_cache"),
              pytest.mark.filterwarnings("ignore:Guards may run slower")]    # Python 3.13.0


def without_gradients(h):
    with torch.no_grad():
        return h[0].detach(), h.t().detach(), h


MIXED = {
    "a row, then detached": lambda h: (h[0], h.detach()),
    "detached, then a row": lambda h: (h.detach(), h[0]),
    "itself and detached": lambda h: (h, h.detach()),
    "detached alone": lambda h: (h.detach(),),
    "a detached row and others": lambda h: (h[0].detach(), h.t(), h[1]),
    "data": lambda h: (h[0], h.data), "data first": lambda h: (h.data.t(), h[0], h.data),
    "detached and computed with": lambda h: (h[0], h.detach() * 3, h.detach().t()),
    "detached twice": lambda h: (h.detach(), h.detach(), h),
    "times itself detached": lambda h: (h * h.detach(), h.detach(), h[0]),
    "halves": lambda h: (h[:2], h[:2].detach(), h[2:]),
    "expanded": lambda h: (h.expand(2, 4, 4).detach(), h.unsqueeze(0)),
    "without gradients": without_gradients,
}
FRONT = {"torch": lambda fn: torch.compile(fn, backend=mini_compile.backend),
         "mini_dynamo": lambda fn: mini_dynamo.compile(fn, backend=mini_compile.backend)}


def shared(outputs):
    """Which outputs lie in one memory."""
    places = [one.untyped_storage().data_ptr() for one in outputs]
    return [[a == b for a in places] for b in places]


@pytest.mark.parametrize("needs_gradient", [True, False])
@pytest.mark.parametrize("front", FRONT)
@pytest.mark.parametrize("name", MIXED)
def test_an_output_requires_a_gradient_as_in_eager(name, front, needs_gradient):
    def fn(x):
        return MIXED[name](x * 2)
    torch._dynamo.reset()
    slopes, seen = [], []
    for run in (fn, FRONT[front](fn)):
        x = torch.arange(16.0).reshape(4, 4).requires_grad_(needs_gradient)
        out = run(x)
        seen.append((out, [one.requires_grad for one in out], shared(out)))
        if wanted := [one for one in out if one.requires_grad]:
            sum((one * one).sum() for one in wanted).backward()
        slopes.append(x.grad)
    (found, *words), (wanted, *others) = seen
    assert words == others
    assert all(map(torch.equal, found, wanted))
    assert slopes == [None, None] or torch.equal(*slopes)
