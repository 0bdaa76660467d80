"""mini_module against torch.nn: exchange of checkpoints, training, moving, hooks, loading."""

import gc
import warnings
import weakref

import pytest
import torch

from tests.helpers.module_trees import ENGINES

OURS, TORCH = ENGINES

pytestmark = pytest.mark.usefixtures("one_thread")


# ---- exchange with the twin of torch.nn ----------------------------------------------------------

def network(side):
    return side.Sequential(side.Linear(4, 8), side.BatchNorm1d(8), side.ReLU(), side.Dropout(0.25),
                           side.Linear(8, 3, bias=False))


def trained(net, x, optimizer):
    """Losses of three steps."""
    losses = []
    optimizer = optimizer(net.parameters())
    torch.manual_seed(1)                               # for the dropout
    for _ in range(3):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


@pytest.mark.parametrize("way", ["ours to torch", "torch to ours"])
def test_a_checkpoint_goes_either_way_and_the_same_training_follows(way, tmp_path):
    nets = [network(side) for side in ENGINES]
    source, target = nets if way == "ours to torch" else nets[::-1]
    torch.save(source.state_dict(), tmp_path / "net.pt")
    state = torch.load(tmp_path / "net.pt", weights_only=True)
    assert state._metadata == target.state_dict()._metadata
    assert not any(target.load_state_dict(state))
    x = torch.rand(5, 4, generator=torch.Generator().manual_seed(0))
    for net in nets:
        net.to(torch.float64)
    losses = [trained(net, x.double(), lambda p: torch.optim.AdamW(p, lr=0.1)) for net in nets]
    torch.testing.assert_close(*losses)
    assert losses[0][2] < losses[0][0]
    for key, tensor in nets[0].state_dict().items():
        torch.testing.assert_close(tensor, nets[1].state_dict()[key])
    outputs = [net.eval()(x.double()) for net in nets]
    torch.testing.assert_close(*outputs)


def test_the_initial_values_are_those_of_torch():
    layers = []
    for side in ENGINES:
        torch.manual_seed(3)
        layers.append((side.Linear(7, 5), side.BatchNorm1d(4)))
    for ours, theirs in zip(*layers, strict=True):
        torch.testing.assert_close(dict(ours.state_dict()), dict(theirs.state_dict()))


@pytest.mark.parametrize("shape", [(5, 4), (2, 4, 3), (1, 4), (4,), (2, 3, 4, 5)])
def test_batch_norm_reads_the_shapes_that_torch_reads(shape):
    def run(side):
        norm, count = side.BatchNorm1d(4).to(torch.float64), torch.Size(shape).numel()
        try:
            return norm(torch.arange(count).double().view(shape)), norm.running_var
        except ValueError as error:
            return str(error)
    ours, theirs = run(OURS), run(TORCH)
    assert type(ours) is type(theirs)
    if isinstance(ours, str):
        assert ours == theirs
    else:
        torch.testing.assert_close(ours, theirs)


# ---- moving --------------------------------------------------------------------------------------

def tied(side):
    net = side.Sequential(side.Linear(3, 3), side.Linear(3, 3))
    net[1].weight = net[0].weight
    return net


def test_a_cast_keeps_the_objects_and_a_move_to_another_kind_of_tensor_breaks_ties():
    for side in ENGINES:
        net = tied(side)
        weight = net[0].weight
        net(torch.ones(2, 3)).sum().backward()
        net.to(torch.float64)
        assert net[0].weight is net[1].weight is weight
        assert weight.dtype is weight.grad.dtype is torch.float64
        net.to("meta")
        assert net[0].weight is not net[1].weight
        assert net[0].weight is not weight
        assert net[0].weight.grad.device.type == "meta"


def test_to_takes_the_arguments_of_tensor_to():
    for args in [("cpu",), (torch.float64,), ("cpu", torch.float16), (torch.ones(1).double(),),
                 (torch.int64,), ("cpu", torch.bool), (3.5,), (torch.channels_last,)]:
        found = []
        for side in ENGINES:
            if args == (torch.channels_last,):
                args = ()
            try:
                net = network(side).to(*args, memory_format=torch.channels_last)
                found.append([t.dtype for t in net.state_dict().values()])
            except (TypeError, RuntimeError) as error:
                found.append(str(error).split("Tensor.to")[0])
        assert found[0] == found[1], args


# ---- hooks ---------------------------------------------------------------------------------------

def test_a_handle_removes_its_hook_twice_and_keeps_no_module_alive():
    layer = OURS.Linear(2, 2)
    handle = layer.register_forward_hook(lambda module, args, output: output * 0)
    assert not layer(torch.ones(1, 2)).any()
    handle.remove()
    handle.remove()
    assert layer(torch.ones(1, 2)).any()
    with layer.register_forward_hook(lambda module, args, output: output * 0):
        assert not layer(torch.ones(1, 2)).any()
    assert not layer._forward_hooks
    alive = weakref.ref(layer)
    handle = layer.register_forward_pre_hook(lambda module, args: None)
    del layer
    gc.collect()
    assert alive() is None
    handle.remove()


def test_forward_itself_runs_no_hook():
    log = []
    for side in ENGINES:
        layer = side.Linear(2, 2)
        layer.register_forward_hook(lambda *_: log.append("called"))
        layer.forward(torch.ones(1, 2))
    assert not log


@pytest.mark.parametrize("needs", [True, False])
@pytest.mark.parametrize("given", [None, (), (None,), (torch.zeros(1, 2),), (None, None)])
def test_what_a_backward_hook_returns_counts_as_in_torch(needs, given):
    def run(side):
        layer, x = side.Linear(2, 2), torch.ones(1, 2, requires_grad=needs)
        layer.register_full_backward_hook(lambda *_: given)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Full backward hook is firing")
            try:
                layer(x).sum().backward()
            except RuntimeError as error:
                return str(error)
        return None if x.grad is None else bool(x.grad.any())
    assert run(OURS) == run(TORCH)


def test_a_module_of_several_inputs_and_outputs_is_told_all_gradients():
    def run(side):
        class Swap(side.Module):
            def forward(self, a, number, b):
                return b * number, a.long(), a
        log = []
        swap = Swap()
        swap.register_full_backward_hook(lambda module, before, behind: log.append(
            [[None if t is None else t.tolist() for t in side_] for side_ in (before, behind)]))
        a, b = (torch.tensor([n], requires_grad=True) for n in (1.0, 2.0))
        first, _, second = swap(a, 3, b)
        (first * 5 + second).sum().backward()
        return log
    assert run(OURS) == run(TORCH)
    assert len(run(OURS)) == 1


# ---- state ---------------------------------------------------------------------------------------

def test_a_checkpoint_that_was_assigned_once_is_copied_the_next_time():
    """Where torch differs: it writes into the metadata of the state that it reads."""
    assigned = {}
    for side in ENGINES:
        state = side.Linear(2, 2).state_dict()
        first, second = side.Linear(2, 2), side.Linear(2, 2)
        first.load_state_dict(state, assign=True)
        second.load_state_dict(state)
        assigned[side is OURS] = second.weight.data_ptr() == first.weight.data_ptr()
    assert not assigned[True]


def test_a_plain_dictionary_is_a_state_and_what_is_none_is_refused():
    for side in ENGINES:
        layer = side.Linear(1, 1)
        assert str(layer.load_state_dict(dict(layer.state_dict()))) == \
            "<All keys matched successfully>"
        with pytest.raises(TypeError, match="Expected state_dict to be dict-like, got <class 'lis"):
            layer.load_state_dict([])
        mine = {}
        assert layer.state_dict(destination=mine, prefix="a.") is mine
        assert list(mine) == ["a.weight", "a.bias"]


def test_what_fits_is_loaded_even_when_something_does_not():
    for side in ENGINES:
        layer = side.Linear(2, 2)
        with pytest.raises(RuntimeError, match="size mismatch for bias"):
            layer.load_state_dict({"weight": torch.zeros(2, 2), "bias": torch.zeros(3)})
        assert not layer.weight.any()
