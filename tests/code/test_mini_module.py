"""mini_module against torch.nn: random trees, exchange of state, assignments, hooks, loading."""

import copy
import gc
import re
import subprocess
import sys
import warnings
import weakref
from collections import Counter, OrderedDict
from pathlib import Path

import pytest
import torch

import mini_module
import mini_module_hooks
import mini_module_layers
import mini_module_state
import mini_module_tensors
import mini_module_tour
from tests.helpers import module_trees
from tests.helpers.depth import cases
from tests.helpers.module_trees import ENGINES, Disagreement, Tree, plain

TREES = cases(400)
OURS, TORCH = ENGINES

pytestmark = pytest.mark.usefixtures("one_thread")


# ---- random trees --------------------------------------------------------------------------------

def test_random_trees_agree_with_torch(counted):
    """Every kind of entry and step occurs, and every step that can be refused is refused."""
    seen = Counter()
    for seed in range(TREES):
        seen.update(Tree(seed).run())
    print("\n" + "\n".join(f"{count:8}  {what}" for what, count in seen.most_common()))
    assert seen["trees"] == TREES
    never_refused = {"step_apply", "step_copy"}
    for what in (*module_trees.STEPS, "shared module", "tied", "frozen", "buffer", "transient",
                 "registered", "no param", "no buffer", "none", "tensor", "number",
                 *(f"at the end {kind}" for kind in (
                     "Linear", "BatchNorm1d", "Dropout", "ReLU", "Sequential", "ModuleList",
                     "ModuleDict")),
                 "missing", "unexpected", "misfit", "no metadata", "call refused", "hooks called",
                 *(f"refused {step}" for step in set(module_trees.STEPS) - never_refused)):
        assert seen[what] >= TREES / 50, (what, seen[what])
    counted("random trees of mini_module", TREES)


# ---- rules that look right and are not: the trees find each --------------------------------------

def first_disagreement(limit):
    for seed in range(limit):
        try:
            Tree(seed).run()
        except Disagreement as found:
            return str(found)
        except (AttributeError, KeyError, RuntimeError, TypeError) as found:
            return repr(found)
    return None


def keep_what_had_the_name(self, name, *others, before):
    if "_parameters" not in self.__dict__:
        raise AttributeError(f"cannot assign {before} before Module.__init__() call")


def delete_only_attributes(self, name):
    object.__delattr__(self, name)


def walk_without_memo(self, memo=None, prefix="", remove_duplicate=True):
    yield prefix, self
    for name, child in self._modules.items():
        if child is not None:
            yield from child.named_modules(None, f"{prefix}.{name}" if prefix else name)


def children_first(self, memo=None, prefix="", remove_duplicate=True):
    memo = set() if memo is None else memo
    if self in memo:
        return
    if remove_duplicate:
        memo.add(self)
    for name, child in self._modules.items():
        if child is not None:
            path = f"{prefix}.{name}" if prefix else name
            yield from child.named_modules(memo, path, remove_duplicate)
    yield prefix, self


def members_without_memo(self, table, prefix, recurse, remove_duplicate):
    for path, module in self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate):
        for name, tensor in module.__dict__[table].items():
            if tensor is not None:
                yield (f"{path}.{name}" if path else name), tensor


def a_new_parameter(param, fn):
    new = mini_module.Parameter(fn(param.detach()), param.requires_grad)
    new.grad = None if param.grad is None else fn(param.grad)
    return new


def save_all_buffers(self):
    return {name: tensor for name, tensor in {**self._parameters, **self._buffers}.items()
            if tensor is not None}


def save_once(self, *, destination=None, prefix="", keep_vars=False):
    """By named_parameters and named_buffers, as one would at first."""
    state = OrderedDict(self.named_parameters()) | OrderedDict(self.named_buffers())
    state = OrderedDict((key, tensor.detach()) for key, tensor in state.items())
    state._metadata = OrderedDict((path, {"version": module._version})
                                  for path, module in self.named_modules())
    return state


def replace_without_the_flag(self, name, tensor, value, assign):
    if not assign:
        with torch.no_grad():
            tensor.copy_(value)
    else:
        in_table = name in self._parameters
        setattr(self, name, mini_module.Parameter(value) if in_table else value)


def always_copy(self, name, tensor, value, assign):
    with torch.no_grad():
        tensor.copy_(value)


def stop_at_the_first(self, strict):
    return mini_module_state.Report.messages_(self, strict)[:1]


def mode_of_this_module_alone(self, mode=True):
    if not isinstance(mode, bool):
        raise ValueError("training mode is expected to be boolean")
    self.training = mode
    return self


def newest_hook_first(self, table, hook, prepend=False):
    self.table, self.id = weakref.ref(table), next(mini_module_hooks.IDS)
    table[self.id] = hook
    table.move_to_end(self.id, last=False)


def hooks_only_watch(self, grad_inputs):
    for hook in self.hooks:
        hook(self.module, grad_inputs, self.grad_outputs)
    self.grad_outputs = None
    return grad_inputs


def biased_estimate(self, x):
    dims = [dim for dim in range(x.dim()) if dim != 1]
    mean, var = x.mean(dims), x.var(dims, correction=0)
    with torch.no_grad():
        self.running_mean.lerp_(mean, self.momentum)
        self.running_var.lerp_(var, self.momentum)
        self.num_batches_tracked += 1
    return mean, var


def cast_all(*args, **kwargs):
    convert = mini_module_tensors.conversion(*args, **kwargs)
    return lambda t: t.to(*args) if convert(t) is t else convert(t)


Module, Stateful = mini_module.Module, mini_module_state.Stateful
WRONG_RULES = [
    (Module, "_remove", keep_what_had_the_name),
    (Module, "__delattr__", delete_only_attributes),
    (Module, "named_modules", walk_without_memo),
    (Module, "named_modules", children_first),
    (Module, "_named_members", members_without_memo),
    (Module, "train", mode_of_this_module_alone),
    (Module, "_only_none", lambda self, kind, name, value, wanted: None),
    (mini_module, "converted", a_new_parameter),
    (mini_module, "conversion", cast_all),
    (Stateful, "_own_state", save_all_buffers),
    (Stateful, "state_dict", save_once),
    (Stateful, "_write", replace_without_the_flag),
    (Stateful, "_write", always_copy),
    (mini_module_state.Report, "messages", stop_at_the_first),
    (mini_module_hooks.Handle, "__init__", newest_hook_first),
    (mini_module_hooks.Handle, "remove", lambda self: None),
    (mini_module_hooks.BackwardHook, "_call", hooks_only_watch),
    (mini_module_layers.BatchNorm1d, "batch_statistics", biased_estimate),
    (mini_module_layers.BatchNorm1d, "_load_own", Stateful._load_own),
]


@pytest.mark.parametrize(("place", "name", "rule"), WRONG_RULES,
                         ids=lambda value: getattr(value, "__name__", value))
def test_trees_find_a_rule_that_only_looks_right(monkeypatch, place, name, rule):
    if rule is stop_at_the_first:
        monkeypatch.setattr(place, "messages_", place.messages, raising=False)
    monkeypatch.setattr(place, name, rule)
    assert first_disagreement(400)


# ---- assignments, one by one ---------------------------------------------------------------------

def blank(side):
    return side.Module.__new__(side.Module)             # as before super().__init__()


def holder(side):
    """A module with an entry of each kind."""
    box = side.Box()
    box.p, box.b = side.Parameter(torch.ones(2)), side.Buffer(torch.ones(2))
    box.t, box.m, box.plain = side.Buffer(torch.ones(2), persistent=False), side.Linear(1, 1), 3
    return box


VALUES = {"None": lambda side: None, "number": lambda side: 1, "text": lambda side: "x",
          "tensor": lambda side: torch.zeros(2), "list": lambda side: [side.Linear(1, 1)],
          "Parameter": lambda side: side.Parameter(torch.zeros(2)),
          "Buffer": lambda side: side.Buffer(torch.zeros(2)),
          "transient": lambda side: side.Buffer(torch.zeros(2), persistent=False),
          "Module": lambda side: side.Linear(1, 1)}
PLACES = {"blank": blank, "holder": holder}
NAMES = ("p", "b", "t", "m", "plain", "new", "forward", "training", "a.b", "")


def tables(box):
    kept = {name: [(key, type(value).__name__) for key, value in box.__dict__.get(name, {}).items()]
            for name in ("_parameters", "_buffers", "_modules")}
    return kept, box.__dict__.get("_non_persistent_buffers_set"), sorted(
        {*NAMES} & {*vars(box)} - {*kept})


def outcome(side, place, action):
    box = place(side)
    try:
        found = action(box)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        found = plain(error)
    return found, tables(box)


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_an_assignment_does_what_it_does_in_torch(place, value):
    for name in NAMES:
        ours, theirs = (outcome(side, place, lambda box, side=side: setattr(
            box, name, value(side))) for side in ENGINES)  # noqa: B023
        assert ours == theirs, name


@pytest.mark.parametrize("way", ["register_parameter", "register_buffer", "add_module"])
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_registration_does_what_it_does_in_torch(way, value):
    for name in (*NAMES, 3, None):
        ours, theirs = (outcome(side, holder, lambda box, side=side: getattr(box, way)(
            name, value(side))) for side in ENGINES)  # noqa: B023
        assert ours == theirs, name


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_reading_and_deleting_find_what_they_find_in_torch(place):
    for name in NAMES:
        for action in (hasattr, lambda box, name: type(getattr(box, name)).__name__, delattr):
            ours, theirs = (outcome(side, place, lambda box: action(box, name))  # noqa: B023
                            for side in ENGINES)
            assert ours == theirs, (action, name)


def test_the_result_of_an_operation_on_a_parameter_is_a_plain_tensor():
    for side in ENGINES:
        weight = side.Parameter(torch.ones(2))
        assert type(weight * 2) is type(weight.detach()) is type(weight.sum()) is torch.Tensor
        assert weight.is_leaf
        assert weight.requires_grad


def test_a_parameter_shares_its_storage_and_a_copy_does_not():
    for side in ENGINES:
        data = torch.ones(2)
        weight = side.Parameter(data, requires_grad=False)
        assert weight.data_ptr() == data.data_ptr()
        twice = copy.deepcopy([weight, weight])
        assert twice[0] is twice[1]
        assert type(twice[0]) is type(weight)
        assert not twice[0].requires_grad
        assert twice[0].data_ptr() != data.data_ptr()


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


# ---- the files -----------------------------------------------------------------------------------

def test_it_uses_nothing_of_torch_nn():
    files = sorted(Path(mini_module.__file__).parent.glob("mini_module*.py"))
    assert len(files) == 6
    for file in files:
        source = file.read_text(encoding="utf-8").split('"""', 2)[2]
        assert not re.search(r"^(import|from) .*\bnn\b|torch\.nn\.(?!Module\.to)[a-zA-Z]+\(",
                             source, re.M), file.name
        assert len(source.splitlines()) <= 250
    script = ("import sys; sys.path[:0] = [sys.argv[1]]\nimport torch\nnn = torch.nn\n"
              "torch.nn = None\nimport mini_module_layers as m\n"
              "net = m.Sequential(m.Linear(2, 2), m.BatchNorm1d(2), m.ReLU(), m.Dropout())\n"
              "net(torch.ones(3, 2)).sum().backward()\nnet.to(torch.float64).state_dict()\n")
    done = subprocess.run([sys.executable, "-c", script, files[0].parent], capture_output=True,
                          text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("lang", "words"), [("zh", "登记"), ("en", "table")])
def test_the_tour_runs_in_either_language(lang, words):
    path = Path(mini_module.__file__)
    done = subprocess.run([sys.executable, path, "--lang", lang], capture_output=True, text=True,
                          encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert words in done.stdout
    assert all(code in done.stdout for code, *_ in mini_module_tour.STEPS)
    assert done.stdout.count("Error: ") == 3
