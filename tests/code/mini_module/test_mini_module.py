"""mini_module against torch.nn: random trees, and rules that look right; the tour."""

import subprocess
import sys
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
from oracles.module_steps import STEPS
from oracles.module_trees import Tree
from oracles.module_views import Disagreement
from tests.helpers.depth import cases

TREES = cases(400)

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
    for what in (*STEPS, "shared module", "tied", "frozen", "buffer", "transient",
                 "registered", "no param", "no buffer", "none", "tensor", "number",
                 *(f"at the end {kind}" for kind in (
                     "Linear", "BatchNorm1d", "Dropout", "ReLU", "Sequential", "ModuleList",
                     "ModuleDict")),
                 "missing", "unexpected", "misfit", "no metadata", "call refused", "hooks called",
                 *(f"refused {step}" for step in set(STEPS) - never_refused)):
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


def copy_whatever_broadcasts(self, name, tensor, key, value, report):
    if isinstance(value, torch.Tensor):
        value = value.expand_as(tensor) if value.shape == (1,) else value
    load_tensor(self, name, tensor, key, value, report)


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


def biased_estimate(x, mean, var, weight, bias, training, momentum, eps):
    """The variance noted is divided by n, not by n - 1."""
    before = var.clone()
    out = batch_norm(x, mean, var, weight, bias, training, momentum, eps)
    if training:
        now = x.var([dim for dim in range(x.dim()) if dim != 1], correction=0)
        var.copy_(before.lerp(now.detach(), momentum))
    return out


def cast_all(*args, **kwargs):
    convert = mini_module_tensors.conversion(*args, **kwargs)
    return lambda t: t.to(*args) if convert(t) is t else convert(t)


Module, Stateful = mini_module.Module, mini_module_state.Stateful
load_tensor, batch_norm = Stateful._load_tensor, mini_module_layers.batch_norm
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
    (Stateful, "_load_tensor", copy_whatever_broadcasts),
    (mini_module_state.Report, "messages", stop_at_the_first),
    (mini_module_hooks.Handle, "__init__", newest_hook_first),
    (mini_module_hooks.Handle, "remove", lambda self: None),
    (mini_module_hooks.BackwardHook, "_call", hooks_only_watch),
    (mini_module_layers, "batch_norm", biased_estimate),
    (mini_module_layers.BatchNorm1d, "_load_own", Stateful._load_own),
]


@pytest.mark.parametrize(("place", "name", "rule"), WRONG_RULES,
                         ids=lambda value: getattr(value, "__name__", value))
def test_trees_find_a_rule_that_only_looks_right(monkeypatch, place, name, rule):
    if rule is stop_at_the_first:
        monkeypatch.setattr(place, "messages_", place.messages, raising=False)
    monkeypatch.setattr(place, name, rule)
    assert first_disagreement(400)


# ---- the files -----------------------------------------------------------------------------------

def test_it_runs_without_torch_nn():
    script = ("import sys; sys.path[:0] = [sys.argv[1]]\nimport torch\nnn = torch.nn\n"
              "torch.nn = None\nimport mini_module_layers as m\n"
              "net = m.Sequential(m.Linear(2, 2), m.BatchNorm1d(2), m.ReLU(), m.Dropout())\n"
              "net(torch.ones(3, 2)).sum().backward()\nnet.to(torch.float64).state_dict()\n")
    done = subprocess.run([sys.executable, "-c", script, Path(mini_module.__file__).parent],
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("lang", "words"), [("zh", "不会注册"), ("en", "enters no table")])
def test_the_tour_runs_in_either_language(lang, words):
    path = Path(mini_module.__file__)
    done = subprocess.run([sys.executable, path, "--lang", lang], capture_output=True, text=True,
                          encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert words in done.stdout
    assert all(code in done.stdout for code, *_ in mini_module_tour.STEPS)
    assert done.stdout.count("Error: ") == 3
