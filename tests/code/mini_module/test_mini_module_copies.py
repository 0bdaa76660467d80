"""mini_module against torch.nn: whatever is pickled, saved or copied still trains afterwards."""

import copy
import io
import itertools
import pickle
from multiprocessing.reduction import ForkingPickler

import pytest
import torch

from oracles.module_trees import ENGINES
from oracles.module_views import same, seen

OURS, TORCH = ENGINES

pytestmark = pytest.mark.usefixtures("one_thread")


# ---- ways to copy --------------------------------------------------------------------------------

def pickled(protocol):
    return lambda thing: pickle.loads(pickle.dumps(thing, protocol))


def saved(**options):
    """Through torch.save and torch.load; `weights` reads as an untrusted file is read."""
    weights = options.pop("weights", False)

    def there_and_back(thing):
        file = io.BytesIO()
        torch.save(thing, file, **options)
        file.seek(0)
        return torch.load(file, weights_only=weights)
    return there_and_back


WAYS = {**{f"pickle {protocol}": pickled(protocol) for protocol in (0, 2, 5)},
        "torch.save": saved(), "torch.save, old": saved(_use_new_zipfile_serialization=False),
        "to a process": lambda thing: pickle.loads(ForkingPickler.dumps(thing)),
        "copy": copy.copy, "deepcopy": copy.deepcopy}


# ---- parameters ----------------------------------------------------------------------------------

def plain_parameter(side, **options):
    return side.Parameter(torch.arange(3.0), **options)


def with_gradient(side):
    param = plain_parameter(side)
    param.sum().backward()
    return param


def named(side):
    param = plain_parameter(side)
    param.role = "scale"
    return param


PARAMETERS = {
    "plain": plain_parameter, "with a gradient": with_gradient, "with an attribute": named,
    "frozen": lambda side: plain_parameter(side, requires_grad=False),
    "integers": lambda side: side.Parameter(torch.arange(3), requires_grad=False),
    "bfloat16": lambda side: side.Parameter(torch.ones(2, dtype=torch.bfloat16)),
    "empty": lambda side: side.Parameter(), "scalar": lambda side: side.Parameter(torch.tensor(2.)),
    "transposed": lambda side: side.Parameter(torch.arange(6.0).view(2, 3).t()),
    "part": lambda side: side.Parameter(torch.arange(6.0)[1::2]),
    "meta": lambda side: side.Parameter(torch.ones(2, device="meta"))}


def view_of_parameter(side, param, source):
    """What is to be seen of a copy, and whether it learns."""
    found = [isinstance(param, side.Parameter), param.requires_grad, param.is_leaf, param.dtype,
             param.shape, param.stride(), param.grad is None, sorted(vars(param)),
             param.is_meta or torch.equal(param, source),
             param.data_ptr() == source.data_ptr()]
    if param.requires_grad:
        param.grad = None
        torch.optim.SGD([param], lr=1.0).step((param * 2).sum().backward)
        found.append(None if param.grad is None or param.is_meta else param.tolist())
    return found


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("make", PARAMETERS.values(), ids=PARAMETERS)
def test_a_copied_parameter_is_a_parameter_that_trains(make, way):
    found = []
    for side in ENGINES:
        source = make(side)
        if way is WAYS["to a process"]:
            vars(source).clear()                         # torch drops attributes on this way
        found.append(outcome(lambda: view_of_parameter(side, way(source), source)))  # noqa: B023
    assert found[0] == found[1]


def outcome(action):
    try:
        return action()
    except Exception as error:
        return type(error).__name__


def test_a_subclass_of_parameter_stays_what_it_is():
    for way in WAYS.values():
        copied = way(Scale(torch.ones(2)))
        assert type(copied) is Scale
        assert copied.requires_grad
        assert copied.is_leaf


class Scale(OURS.Parameter):
    pass


# ---- modules -------------------------------------------------------------------------------------

def with_everything(side):
    net = side.Sequential(side.Linear(3, 3), side.BatchNorm1d(3), side.ReLU(), side.Dropout(0.0),
                          side.Linear(3, 3, bias=False))
    net[4].weight = net[0].weight
    net.scale = side.Parameter(torch.ones(3), requires_grad=False)
    net.shift = side.Buffer(torch.ones(3), persistent=False)
    net.register_parameter("none", None)
    net.part = None
    return net


MODULES = {"everything": with_everything, "Linear": lambda side: side.Linear(3, 3),
           "BatchNorm1d": lambda side: side.BatchNorm1d(3),
           "ModuleList": lambda side: side.ModuleList([side.Linear(3, 3)] * 2),
           "ModuleDict": lambda side: side.ModuleDict({"a": side.Linear(3, 3)}),
           "trained": lambda side: trained(side.Linear(3, 3)),
           "on meta": lambda side: side.Linear(3, 3).to("meta"),
           "in evaluation": lambda side: with_everything(side).eval()}


def trained(net):
    torch.optim.SGD(net.parameters(), lr=0.5).step(
        lambda: sum(p.sum() for p in net.parameters()).backward())
    return net


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("make", MODULES.values(), ids=MODULES)
def test_a_copied_module_is_the_same_and_trains(make, way):
    views = []
    for side in ENGINES:
        torch.manual_seed(0)
        net = way(make(side))
        before = [param.detach().clone() for param in net.parameters()]
        view = seen(net)
        trained(net)
        view["learns"] = [(param.requires_grad, param.is_leaf, param.grad is not None,
                           param.is_meta or torch.equal(param, old))
                          for param, old in zip(net.parameters(), before, strict=True)]
        view["marks"] = [isinstance(p, side.Parameter) for p in net.parameters()]
        views.append(view)
    if torch.device("meta") in {p.device for p in net.parameters()}:
        views = [{key: view[key] for key in ("learns", "marks")} for view in views]
    same("copied", *views)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_hooks_handles_and_reports_are_copied_too(way):
    for side in ENGINES:
        layer = side.ReLU()
        layer.handle = layer.register_forward_hook(doubled)
        other = way(layer)
        assert other(torch.ones(1)).item() == 2
        if way is not copy.copy:                         # which shares the tables, in torch too
            other.handle.remove()
            assert other(torch.ones(1)).item() == 1
            assert layer(torch.ones(1)).item() == 2
        assert way(side.Linear(1, 1).load_state_dict({}, strict=False)) == (["weight", "bias"], [])


def doubled(module, args, output):
    return output * 2


# ---- states --------------------------------------------------------------------------------------

@pytest.mark.parametrize(("keep", "weights"), [*itertools.product([True, False], repeat=2)])
def test_a_state_is_read_as_weights_only_too(keep, weights):
    for side in ENGINES:
        net = with_everything(side)
        state = saved(weights=weights)(net.state_dict(keep_vars=keep))
        assert {key: type(t) for key, t in state.items()} == {
            key: type(t) for key, t in net.state_dict(keep_vars=keep).items()}
        assert {key: t.requires_grad for key, t in state.items()} == {
            key: t.requires_grad for key, t in net.state_dict(keep_vars=keep).items()}
        assert not any(net.load_state_dict(state))


@pytest.mark.parametrize("param", [named, with_gradient], ids=["attribute", "gradient"])
def test_a_parameter_alone_is_read_as_weights_only(param):
    for side in ENGINES:
        copied = saved(weights=True)(param(side))
        assert isinstance(copied, side.Parameter)
        assert vars(copied) == vars(param(side))
