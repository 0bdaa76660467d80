"""mini_module against torch.nn: exchange of checkpoints, training, moving, hooks, loading."""

import gc
import warnings
import weakref

import pytest
import torch

from oracles.module_trees import ENGINES

OURS, TORCH = ENGINES

pytestmark = pytest.mark.usefixtures("one_thread")


# ---- exchange with the twin of torch.nn ----------------------------------------------------------

def network(side):
    return side.Sequential(side.Linear(4, 8), side.BatchNorm1d(8), side.ReLU(), side.Dropout(0.25),
                           side.Linear(8, 3, bias=False))


def trained(net, x, optimizer):
    """Losses of ten steps."""
    losses = []
    optimizer = optimizer(net.parameters())
    torch.manual_seed(1)                               # for the dropout
    for _ in range(10):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


@pytest.mark.parametrize("way", ["ours to torch", "torch to ours"])
def test_a_checkpoint_goes_either_way_and_the_same_training_follows(way, tmp_path):
    torch.manual_seed(0)                               # from some starts the dropout hides the fall
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
    assert losses[0][-1] < losses[0][0]
    for key, tensor in nets[0].state_dict().items():
        torch.testing.assert_close(tensor, nets[1].state_dict()[key])
    outputs = [net.eval()(x.double()) for net in nets]
    torch.testing.assert_close(*outputs)


def test_nn_module_does_not_register_our_parameter_and_an_optimizer_takes_it():
    for side, other in (ENGINES, ENGINES[::-1]):
        holder = side.Module()
        holder.w = other.Parameter(torch.ones(2))
        assert not list(holder.parameters())
        optimizer = torch.optim.SGD([holder.w], lr=0.5)
        holder.w.sum().backward()
        optimizer.step()
        assert holder.w.tolist() == [0.5, 0.5]


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
        except ValueError:
            return "refused"
    ours, theirs = run(OURS), run(TORCH)
    assert type(ours) is type(theirs)
    if ours != "refused":
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
        net[0].bias.requires_grad_(False)
        net(torch.ones(2, 3)).sum().backward()
        net.to(torch.float64)
        assert net[0].weight is net[1].weight is weight
        assert weight.dtype is weight.grad.dtype is torch.float64
        net.to("meta")
        assert net[0].weight is not net[1].weight
        assert net[0].weight is not weight
        assert net[0].weight.grad.device.type == "meta"
        assert not net[0].bias.requires_grad


def test_a_move_puts_a_new_tensor_in_the_place_of_a_buffer():
    for side in ENGINES:
        one, other = side.BatchNorm1d(2), side.BatchNorm1d(2)
        other.running_mean = old = one.running_mean
        side.Sequential(one, other).to(torch.float64)
        assert old.dtype is torch.float32
        assert one.running_mean is not other.running_mean


ARGUMENTS = [(("cpu",), {}), ((torch.float64,), {}), (("cpu", torch.float16), {}),
             ((torch.ones(1).double(),), {}), ((torch.int64,), {}), (("cpu", torch.bool), {}),
             ((3.5,), {}), ((), {"memory_format": torch.channels_last}),
             ((torch.complex128,), {}), ((torch.float64,), {"memory_format": torch.channels_last})]


@pytest.mark.parametrize(("args", "named"), ARGUMENTS)
def test_to_takes_the_arguments_of_tensor_to(args, named):
    def run(side):
        net = side.Sequential(side.Linear(3, 3), side.BatchNorm1d(3))
        net.image = side.Parameter(torch.ones(2, 3, 4, 4))
        net.wave = side.Buffer(torch.ones(2, dtype=torch.complex64))
        try:
            net.to(*args, **named)
        except (TypeError, RuntimeError) as error:
            return str(error).split("Tensor.to")[0]
        return [(t.dtype, t.stride()) for t in net.state_dict().values()]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(Complex modules|Casting complex)")
        ours, theirs = run(OURS), run(TORCH)
    assert ours == theirs


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
    """torch 2.13 writes into the metadata of the state that it reads, and assigns again."""
    state = OURS.Linear(2, 2).state_dict()
    first, second = OURS.Linear(2, 2), OURS.Linear(2, 2)
    first.load_state_dict(state, assign=True)
    second.load_state_dict(state)
    assert first.weight.data_ptr() == state["weight"].data_ptr()
    assert second.weight.data_ptr() != first.weight.data_ptr()


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
