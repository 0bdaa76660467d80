"""mini_module against torch.nn, the edges: what hooks may do, what a state may hold, odd values."""

import copy
import pickle
import warnings
from collections import namedtuple
from unittest import mock

import numpy as np
import pytest
import torch

from oracles.module_trees import ENGINES

OURS, TORCH = ENGINES

pytestmark = pytest.mark.usefixtures("one_thread")


def both(run):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Full backward hook is firing")
        return run(OURS), run(TORCH)


# ---- assignments ---------------------------------------------------------------------------------

class Lenient(dict):
    """A configuration that answers whatever it is asked."""

    def __getattr__(self, name):
        return self.get(name)


@pytest.mark.parametrize("value", [mock.Mock(), Lenient(width=3)], ids=["Mock", "Lenient"])
def test_an_object_with_any_attribute_you_ask_for_is_an_attribute(value):
    for side in ENGINES:
        box = side.Box()
        box.settings = value
        assert vars(box)["settings"] is value


def test_an_attribute_of_the_class_hides_a_child_and_refuses_a_parameter():
    for side in ENGINES:
        class Headless(side.Module):
            head = None

        net = Headless()
        net.head = side.Linear(1, 1)
        assert net.head is None
        assert list(net._modules) == ["head"]
        with pytest.raises(KeyError, match="already exists"):
            Headless().head = side.Parameter(torch.ones(1))


def test_a_buffer_keeps_its_gradient_flag_and_may_be_made_of_nothing():
    for side in ENGINES:
        assert side.Buffer(torch.ones(1, requires_grad=True)).requires_grad
        assert not side.Buffer(torch.ones(1)).requires_grad
        assert side.Buffer(None).shape == (0,)


# ---- hooks ---------------------------------------------------------------------------------------

class Case:
    """Each returns what is seen of one side."""

    def removes_itself(self, side):
        layer, log, handles = side.Linear(2, 2), [], []
        handles.append(layer.register_forward_hook(
            lambda *_: (log.append("first"), handles[0].remove())[1]))
        layer.register_forward_hook(lambda *_: log.append("second"))
        for _ in range(2):
            layer(torch.ones(1, 2))
        return log

    def pre_hook_removes_itself(self, side):
        layer, log, handles = side.Linear(2, 2), [], []
        handles.append(layer.register_forward_pre_hook(
            lambda *_: (log.append("first"), handles[0].remove())[1]))
        layer.register_forward_pre_hook(lambda *_: log.append("second"))
        for _ in range(2):
            layer(torch.ones(1, 2))
        return log

    def pre_hook_returns_a_bare_tensor(self, side):
        layer = side.ReLU()
        layer.register_forward_pre_hook(lambda module, args: args[0] - 1)
        return layer(torch.tensor([[0.5, 1.5], [2.5, -1.0]])).tolist()

    def float_input_without_gradient(self, side):
        class Add(side.Module):
            def forward(self, a, b):
                return a + b
        log, add = [], Add()
        add.register_full_backward_hook(lambda module, before, behind: log.append(
            [None if grad is None else grad.tolist() for grad in before]))
        add(torch.ones(1, requires_grad=True), torch.ones(1)).sum().backward()
        return log

    def gradient_comes_another_way(self, side):
        class Aside(side.Module):
            def forward(self, x):
                self.aside = x * 2
                return x * 3
        log, module = [], Aside()
        module.register_full_backward_hook(lambda *_: log.append("called"))
        x = torch.ones(1, requires_grad=True)
        module(x)
        module.aside.sum().backward()
        return log, x.grad.tolist()

    def without_recording(self, side):
        layer = side.Linear(2, 2)
        layer.register_full_backward_hook(lambda *_: None)
        with torch.no_grad():
            return layer(torch.ones(1, 2, requires_grad=True)).requires_grad

    def output_is_a_namedtuple(self, side):
        class Two(side.Module):
            def forward(self, x):
                return Pair(x * 2, x * 3)
        module = Two()
        module.register_full_backward_hook(lambda *_: None)
        found = module(torch.ones(1, requires_grad=True))
        return type(found).__name__, found.b.tolist()

    def copied_with_its_handle(self, side):
        layer = side.ReLU()
        layer.handle = layer.register_forward_hook(watch)
        other = copy.deepcopy(layer)
        other.handle.remove()
        third = pickle.loads(pickle.dumps(layer.handle))
        third.remove()
        return len(layer._forward_hooks), len(other._forward_hooks)


Pair = namedtuple("Pair", "a b")


def watch(*_):
    return None


@pytest.mark.parametrize("name", [name for name in vars(Case) if not name.startswith("_")])
def test_hooks_do_what_they_do_in_torch(name):
    ours, theirs = both(getattr(Case(), name))
    assert ours == theirs


# ---- loading -------------------------------------------------------------------------------------

ODD_STATES = {
    "text": {"weight": "x"}, "None": {"bias": None}, "numpy": {"bias": np.ones(2)},
    "list": {"bias": [1.0, 2.0]}, "shapes": {"weight": torch.ones(3), "bias": torch.ones(1)},
    "meta": {"bias": torch.ones(2, device="meta")}, "misses": {},
    "sparse": {"weight": torch.eye(2).to_sparse()}, "more": {"bias.x": 1, "x": torch.ones(1)}}


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("assign", [True, False])
@pytest.mark.parametrize("odd", ODD_STATES.values(), ids=ODD_STATES)
def test_what_load_state_dict_says_is_what_torch_says_to_the_letter(odd, assign, strict):
    def run(side):
        layer = side.Linear(2, 2)
        state = odd if not odd else {**layer.state_dict(), **odd}
        try:
            return tuple(layer.load_state_dict(dict(state), strict=strict, assign=assign))
        except RuntimeError as error:
            return str(error)
    ours, theirs = both(run)
    assert ours == theirs


def test_a_tensor_that_cannot_be_copied_is_reported_like_in_torch():
    def run(side):
        layer = side.Linear(2, 2)
        try:
            layer.load_state_dict({"weight": torch.eye(2).to_sparse(), "bias": torch.ones(2)})
        except RuntimeError as error:
            return str(error)
    ours, theirs = both(run)
    assert ours == theirs
    assert "an exception occurred" in ours


@pytest.mark.parametrize("metadata", [None, {"": {"version": None}}, {"": {"version": 1}}])
def test_an_old_state_gets_a_counter_and_the_caller_s_stays_as_it_was(metadata):
    for side in ENGINES:
        norm = side.BatchNorm1d(2)
        state = {key: value for key, value in norm.state_dict().items() if "num" not in key}
        state = type("State", (dict,), {"_metadata": metadata})(state)
        assert not any(norm.load_state_dict(state))
        assert "num_batches_tracked" not in state


def test_an_old_state_assigned_to_a_meta_model_counts_from_zero_on_the_cpu():
    for side in ENGINES:
        norm = side.BatchNorm1d(2)
        state = {key: value for key, value in norm.state_dict().items() if "num" not in key}
        norm.to("meta").load_state_dict(state, assign=True)
        assert norm.num_batches_tracked.device.type == "cpu"
        assert norm.num_batches_tracked.item() == 0


def test_an_assigned_parameter_is_the_one_of_the_state_and_keeps_the_flag_of_the_model():
    for side in ENGINES:
        layer, given = side.Linear(2, 2), side.Parameter(torch.ones(2))
        layer.bias.requires_grad_(False)
        layer.load_state_dict({"bias": given}, strict=False, assign=True)
        assert layer.bias is given
        assert not given.requires_grad


# ---- layers --------------------------------------------------------------------------------------

@pytest.mark.parametrize("p", [-0.1, 1.1])
def test_a_dropout_probability_lies_between_0_and_1(p):
    for side in ENGINES:
        with pytest.raises(ValueError, match="has to be between 0 and 1, but got"):
            side.Dropout(p)


def test_an_empty_batch_leaves_the_running_statistics_alone():
    for side in ENGINES:
        norm = side.BatchNorm1d(2)
        assert norm(torch.zeros(0, 2)).shape == (0, 2)
        assert norm.eval()(torch.ones(1, 2)).isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_batch_norm_takes_half_precision_beside_float32_parameters(dtype):
    x = torch.rand(6, 2, generator=torch.Generator().manual_seed(0)).to(dtype)
    ours, theirs = both(lambda side: side.BatchNorm1d(2)(x))
    torch.testing.assert_close(ours, theirs)
