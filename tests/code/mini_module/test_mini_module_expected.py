"""mini_module against torch.nn: what a user of torch expects to find, and where torch warns."""

import inspect
import random
import warnings
from collections import OrderedDict

import pytest
import torch
from torch import nn

import mini_module
import mini_module_handy
import mini_module_layers
from oracles.module_trees import ENGINES
from oracles.module_views import plain

OURS, TORCH = ENGINES
pytestmark = pytest.mark.usefixtures("one_thread")


def outcome(action, side):
    """What an action gives or how it is refused, and what it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", "Casting complex")      # torch says it once
        try:
            found = action(side)
        except Exception as error:
            found = plain(error)[0]
    return found, sorted({(w.category.__name__, str(w.message)[:60]) for w in caught})


def same(action, refused=()):
    """Both sides give the same; of the errors `refused`, one is as good as another."""
    ours, theirs = (outcome(action, side) for side in ENGINES)
    ours, theirs = (("refused", told) if found in refused else (found, told)
                    for found, told in (ours, theirs))
    assert ours == theirs


# ---- names ---------------------------------------------------------------------------------------

def test_a_public_name_of_module_is_here_or_among_those_left_out():
    missing = {name for name in dir(nn.Module)
               if not name.startswith("_") and not hasattr(mini_module.Module, name)}
    named = {name for names in mini_module_handy.LEFT_OUT.values() for name in names}
    assert "compile" in missing
    assert missing <= named
    assert not [name for name in named if hasattr(mini_module.Module, name)]


LAYERS = {"Linear": (2, 3), "ReLU": (), "Dropout": (), "BatchNorm1d": (3,), "Sequential": (),
          "ModuleList": (), "ModuleDict": ()}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_has_the_arguments_attributes_and_methods_of_torch(name):
    ours, theirs = (getattr(side, name) for side in ENGINES)
    wanted = [(p.name, p.default, p.kind) for p in inspect.signature(theirs).parameters.values()
              if p.name not in ("device", "dtype", "args")]
    found = [(p.name, p.default, p.kind) for p in inspect.signature(ours).parameters.values()
             if p.kind is not p.VAR_POSITIONAL]
    assert found == wanted
    layers = [kind(*LAYERS[name]) for kind in (ours, theirs)]
    public = [{key: value for key, value in vars(layer).items() if key[0] != "_"}
              for layer in layers]
    assert public[0] == public[1]
    assert {key for key in dir(theirs) if key[0] != "_"} - {*dir(ours)} <= {*dir(nn.Module)}
    operators = {key for key in dir(theirs) if key.endswith("__") and key not in dir(nn.Module)}
    assert operators - {"__constants__"} <= {*dir(ours)}


# ---- one action at a time ------------------------------------------------------------------------

def values(net):
    return [t.tolist() for t in net.state_dict().values()]


def net(side):
    torch.manual_seed(0)
    made = side.Sequential(side.Linear(2, 3), side.BatchNorm1d(3), side.ReLU())
    made.odd = side.Buffer(torch.ones(2, dtype=torch.complex64))
    return made


def with_gradients(side):
    made = net(side)
    made(torch.arange(8.0).view(4, 2)).sum().backward()
    return made


def view(made):
    return [(path, t.dtype, t.device.type, t.requires_grad, t.is_shared())
            for path, t in made.state_dict(keep_vars=True).items()]


def grads(made):
    return [None if p.grad is None else (p.grad.tolist(), p.grad.requires_grad)
            for p in made.parameters()]


ACTIONS = {name: (lambda side, name=name: view(getattr(net(side), name)())) for name in (
    "float", "double", "half", "bfloat16", "cpu", "share_memory")} | {
    "type": lambda side: view(net(side).type(torch.float64)),
    "type, text": lambda side: view(net(side).type("torch.DoubleTensor")),
    "cuda": lambda side: view(net(side).cuda()),
    "to_empty": lambda side: view(net(side).to_empty(device="meta")),
    "to_empty, here": lambda side: view(net(side).to_empty(device="meta", recurse=False)),
    "to_empty, back": lambda side: view(net(side).to("meta").to_empty(device="cpu")),
    "zero_grad": lambda side: (lambda m: (m.zero_grad(), grads(m)))(with_gradients(side)),
    "zero_grad, kept": lambda side: (lambda m: (m.zero_grad(False), grads(m)))(
        with_gradients(side)),
    "zero_grad, named": lambda side: (lambda m: (m.zero_grad(set_to_none=False), grads(m)))(
        net(side)),
    "requires_grad_": lambda side: view(net(side).requires_grad_(False)),
    "requires_grad_, again": lambda side: view(net(side).requires_grad_(False).requires_grad_()),
    "apply": lambda side: (lambda seen: (type(net(side).apply(lambda m: seen.append(
        type(m).__name__))).__name__, seen))([]),
    "register_module": lambda side: [name for name, _ in (lambda m: (m.register_module(
        "more", side.ReLU()), m)[1])(net(side)).named_modules()],
    "dir": lambda side: [name for name in dir(net(side)) if name in (
        "0", "1", "odd", "weight", "forward", "training")],
    "dir, a layer": lambda side: [name for name in dir(side.Linear(1, 1)) if name in (
        "weight", "bias", "forward")],
    "to complex": lambda side: view(net(side).to(torch.complex64)),
    "reset": lambda side: (lambda m: (torch.manual_seed(1), m[0].reset_parameters(),
                                      m[1].reset_parameters(), values(m)))(with_gradients(side)),
    "reset, statistics": lambda side: (lambda m: (m[1].reset_running_stats(), values(m)))(
        with_gradients(side))}
for method, paths in {"get_submodule": ["", "0", "1", "3", "odd", "0.weight", "training", "0.x"],
                      "get_parameter": ["0.weight", "0", "weight", "odd", "1.running_mean", "9.x"],
                      "get_buffer": ["odd", "1.running_mean", "0.weight", "1", "9.x"]}.items():
    for path in paths:
        ACTIONS[f"{method} {path}"] = lambda side, method=method, path=path: type(
            getattr(net(side), method)(path)).__name__.replace("Parameter", "Tensor")


@pytest.mark.parametrize("action", ACTIONS.values(), ids=ACTIONS)
def test_what_is_expected_of_a_module_does_what_it_does_in_torch(action):
    same(action)


# ---- arguments of layers -------------------------------------------------------------------------

X = torch.arange(12.0).view(4, 3) - 5
MAKES = {
    "Linear": [((0, 3), {}), ((3, 0), {}), ((0, 0), {}), ((-1, 2), {}), ((2, -1), {}),
               ((3, 2), {"bias": None}), ((3, 2, 0), {}), ((3.0, 2), {}), ((3, 2), {"b": 1})],
    "ReLU": [((True,), {}), ((), {"inplace": True}), ((1, 2), {})],
    "Dropout": [((0.5, True), {}), ((), {"p": 0.2, "inplace": True}), ((1.0,), {}), ((0,), {}),
                ((2,), {}), (("a",), {})],
    "BatchNorm1d": [((3,), {"affine": False}), ((3,), {"track_running_stats": False}),
                    ((3,), {"momentum": None}), ((3, 1e-3, 0.5, False, False), {}),
                    ((3,), {"bias": False}), ((3,), {"affine": False, "momentum": None}),
                    ((3,), {"momentum": None, "track_running_stats": False}), ((0,), {}),
                    ((2,), {}), ((3,), {"momentum": 0}), ((3,), {"eps": 0.0})]}
CALLS = [(kind, *arguments) for kind, several in MAKES.items() for arguments in several]


@pytest.mark.parametrize(("kind", "args", "named"), CALLS, ids=str)
@pytest.mark.parametrize("rows", [4, 1, 0])
def test_a_layer_takes_the_arguments_of_torch(kind, args, named, rows):
    if kind == "BatchNorm1d" and not rows and args[0] != 3:
        return                                     # of an empty batch torch counts no channels

    def run(side):
        torch.manual_seed(0)
        layer = getattr(side, kind)(*args, **named)
        wide = args[0] if kind == "Linear" and args[0] != 3.0 else 3
        x = X[:rows].clone()[:, :wide]
        leaf = x.clone().requires_grad_()
        found = [{k: v for k, v in vars(layer).items() if k[0] != "_"}, list(layer.state_dict())]
        for _ in range(2):
            y = layer(leaf * 1)
            y.sum().backward()
            given = x.clone()
            z = layer(given)
            found += [rounded(y), rounded(leaf.grad), z is given, rounded(given)]
        return [*found, *map(rounded, layer.state_dict().values()), rounded(layer.eval()(x))]
    same(run, refused=("ValueError", "RuntimeError"))


def rounded(t):
    return (tuple(t.shape), [round(v, 4) for v in t.detach().flatten().tolist()])


def test_an_old_state_of_a_norm_that_tracks_nothing():
    for side in ENGINES:
        norm = side.BatchNorm1d(2, track_running_stats=False)
        assert not any(norm.load_state_dict(dict(norm.state_dict()), strict=False)[1])


@pytest.mark.parametrize("first", [True, False])
def test_a_norm_looks_at_track_running_stats_at_each_call(first):
    def run(side):
        norm, x = side.BatchNorm1d(2, track_running_stats=first), torch.arange(6.).reshape(3, 2)
        found = []
        for tracks in (first, not first, first):
            norm.track_running_stats = tracks
            found += [rounded(norm.train()(x)), *map(rounded, norm.state_dict().values()),
                      rounded(norm.eval()(x))]
        return found
    same(run)


# ---- containers ----------------------------------------------------------------------------------

class Three:
    def __index__(self):
        return 1


def named_relus(side, kind, count=3):
    if kind == "OrderedDict":
        return side.Sequential(OrderedDict((name, side.ReLU()) for name in "xyz"[:count]))
    return getattr(side, kind)(*((side.ReLU() for _ in range(count)) if kind == "Sequential" else
                                 ([side.ReLU() for _ in range(count)],)))


CONTAINER = {
    "pop -1": lambda c, s: c.pop(-1), "pop 0": lambda c, s: c.pop(0),
    "pop 5": lambda c, s: c.pop(5),
    "pop slice": lambda c, s: c.pop(slice(1, None)), "get index": lambda c, s: c[Three()],
    "set index": lambda c, s: c.__setitem__(Three(), s.Dropout()),
    "del index": lambda c, s: c.__delitem__(Three()), "get float": lambda c, s: c[1.0],
    "get text": lambda c, s: c["0"],
    "add": lambda c, s: c + c, "add other": lambda c, s: c + [s.Dropout()],  # noqa: RUF005
    "add number": lambda c, s: c + 3,
    "iadd": lambda c, s: c.__iadd__(named_relus(s, "Sequential")),
    "iadd list": lambda c, s: c.__iadd__([s.Dropout()]), "iadd 3": lambda c, s: c.__iadd__(3),
    "extend list": lambda c, s: c.extend([s.Dropout()]), "extend 3": lambda c, s: c.extend(3),
    "extend self": lambda c, s: c.extend(c), "extend wrong": lambda c, s: c.extend([3]),
    "append wrong": lambda c, s: c.append(3), "append None": lambda c, s: c.append(None),
    "insert 1": lambda c, s: c.insert(1, s.Dropout()), "insert 3": lambda c, s: c.insert(
        3, s.Dropout()), "insert wrong": lambda c, s: c.insert(1, 3) if not isinstance(
            c, s.ModuleList) else None,
    "in": lambda c, s: c[0] in c, "reversed": lambda c, s: len(list(reversed(list(c))))}
SEQUENTIAL = {
    "mul": lambda c, s: c * 2, "rmul": lambda c, s: 2 * c, "mul 0": lambda c, s: c * 0,
    "mul float": lambda c, s: c * 1.5, "imul": lambda c, s: c.__imul__(2),
    "imul 0": lambda c, s: c.__imul__(0), "imul text": lambda c, s: c.__imul__("a"),
    "insert -1": lambda c, s: c.insert(-1, s.Dropout()), "insert 9": lambda c, s: c.insert(
        9, s.Dropout()), "insert -9": lambda c, s: c.insert(-9, s.Dropout())}
CASES = [(kind, action) for kind in ("Sequential", "OrderedDict", "ModuleList")
         for action in (CONTAINER if kind == "ModuleList" else CONTAINER | SEQUENTIAL)
         if not (kind == "OrderedDict" and ("i" in action[:2] or action == "iadd"))]


def told(side, box, result):
    def tree(thing):
        return [(name, type(m).__name__) for name, m in thing.named_children()] if isinstance(
            thing, side.Module) else thing
    return type(result).__name__, result is box, tree(result), tree(box), list(box._modules)


@pytest.mark.parametrize(("kind", "action"), CASES)
def test_a_container_does_what_it_does_in_torch(kind, action):
    def run(side):
        box = named_relus(side, kind)
        return told(side, box, (CONTAINER | SEQUENTIAL)[action](box, side))
    same(run)


@pytest.mark.parametrize("given", [
    lambda s: None, lambda s: {}, lambda s: {"a": s.ReLU()}, lambda s: [("a", s.ReLU())],
    lambda s: [["a", s.ReLU()]], lambda s: s.ModuleDict({"a": s.ReLU()}), lambda s: s.ReLU(),
    lambda s: s.Sequential(s.ReLU()), lambda s: [s.ReLU()], lambda s: ["abc"], lambda s: 3,
    lambda s: [("a",)], lambda s: [("a", s.ReLU(), 1)], lambda s: {"a": 3}, lambda s: {1: s.ReLU()},
    lambda s: {"a.b": s.ReLU()}, lambda s: {"keys": s.ReLU()}, lambda s: OrderedDict(a=None),
    lambda s: [3], lambda s: "ab", lambda s: iter([("a", s.ReLU())])])
def test_a_dictionary_of_modules_takes_and_refuses_what_it_does_in_torch(given):
    same(lambda side: list(side.ModuleDict(given(side))))
    same(lambda side: (lambda box: (box.update(given(side)), list(box))[1])(side.ModuleDict()))


def test_a_dictionary_of_modules_pops_and_clears():
    for action in (lambda box: type(box.pop("a")).__name__, lambda box: box.pop("x"),
                   lambda box: box.clear()):
        same(lambda side: (lambda box: (action(box), list(box)))(  # noqa: B023
            side.ModuleDict({"a": side.ReLU(), "b": side.ReLU()})))


@pytest.mark.parametrize("given", [None, (), [], 3, {}, "a"])
def test_a_list_of_modules_is_made_of_what_torch_makes_it_of(given):
    same(lambda side: list(side.ModuleList(given)))


# ---- where torch warns ---------------------------------------------------------------------------

def returning(kind):
    def run(side):
        class Returns(side.Module):
            def forward(self, x):
                return {"dict": {"a": x * 2}, "list": [x * 2], "tuple": (x * 2,), "none": None,
                        "tensor": x * 2, "number": 3}[kind]
        log, module = [], Returns()
        module.register_full_backward_hook(lambda *_: log.append("called"))
        found = module(torch.ones(1, requires_grad=True))
        for y in {"dict": dict.values, "list": list, "tuple": list, "tensor": lambda t: [t]}.get(
                kind, lambda _: ())(found):
            y.sum().backward()
        return log
    return run


def fires(needs, hooks=1):
    def run(side):
        layer, log = side.Linear(2, 2), []
        for _ in range(hooks):
            layer.register_full_backward_hook(lambda *_: log.append("called"))
        layer(torch.ones(1, 2, requires_grad=needs)).sum().backward()
        return log
    return run


def loads(assign=False, strict=True, state=None, to="meta", nested=False):
    def run(side):
        layer = side.Linear(2, 2)
        given = layer.state_dict() if state is None else state
        target = side.Linear(2, 2).to(to)
        if nested:
            target, given = side.Sequential(target), {f"0.{k}": t for k, t in given.items()}
        return [*map(len, target.load_state_dict(given, strict=strict, assign=assign))]
    return run


WARNS = {**{f"returns {kind}": returning(kind) for kind in (
    "dict", "list", "tuple", "none", "tensor", "number")},
    "no input needs a gradient": fires(False), "an input needs one": fires(True),
    "two hooks": fires(False, 2), "load into meta": loads(), "load into meta below": loads(
        nested=True), "assign into meta": loads(assign=True), "load into cpu": loads(to="cpu"),
    "part": loads(strict=False, state={"bias": torch.ones(2)}),
    "misfit": loads(state={"bias": torch.ones(3), "weight": torch.ones(2, 2)}),
    "meta into meta": loads(state={"bias": torch.ones(2, device="meta"),
                                   "weight": torch.ones(2, 2, device="meta")}),
    "a buffer": lambda side: str(side.BatchNorm1d(2).to("meta").load_state_dict(
        side.BatchNorm1d(2).state_dict())),
    "complex": lambda side: side.ReLU().to(torch.complex64) and None,
    "complex tensor": lambda side: side.ReLU().to(torch.ones(1, dtype=torch.complex128)) and None,
    "nothing to fill": lambda side: side.Linear(0, 2) and None}


@pytest.mark.parametrize("action", WARNS.values(), ids=WARNS)
def test_what_torch_warns_of_is_warned_of(action):
    same(action)


# ---- hooks: the same one twice, removed twice, removed amid a call -------------------------------

@pytest.mark.parametrize("kind", ["forward_pre", "forward", "full_backward"])
def test_registrations_of_hooks_are_told_apart_as_in_torch(kind):
    def program(side, seed):
        rng, log, handles, layer = random.Random(seed), [], [], side.Linear(1, 1)

        def added(hook):
            handles.append(getattr(layer, f"register_{kind}_hook")(
                hook, prepend=rng.random() < 0.3))

        def hook(*_):
            log.append("plain")

        def removes(*_):
            log.append("removes")
            handles[rng.randrange(len(handles))].remove()

        def adds(*_):
            log.append("adds")
            added(hook)
        for _ in range(3):
            for _ in range(rng.randint(1, 4)):
                if handles and rng.random() < 0.4:
                    handles[rng.randrange(len(handles))].remove()
                else:
                    added(rng.choice([hook, hook, removes, adds]))
            layer(torch.ones(1, 1, requires_grad=True)).sum().backward()
            log.append("end")
        return log
    for seed in range(60):
        assert program(OURS, seed) == program(TORCH, seed), seed


# ---- what a subclass overrides and nobody would call ---------------------------------------------

@pytest.mark.parametrize("name", ["_save_to_state_dict", "_load_from_state_dict",
                                  "get_extra_state", "set_extra_state", "call_super_init"])
def test_what_would_never_be_called_is_refused_when_the_class_is_made(name):
    defined = {name: lambda self: None}
    mixin = type("Mixin", (type("Base", (), defined),), {})
    for bases, own in (((mini_module.Module,), defined), ((mixin, mini_module.Module), {}),
                       ((mixin, mini_module_layers.Linear), {})):
        with pytest.raises(TypeError, match=f"Box defines {name}"):
            type("Box", bases, own)
    for package in (mini_module, nn):                      # behind a module it isn't called
        box = type("Box", (package.Module, mixin), {})()
        assert box.state_dict() == {}
        box.load_state_dict({})
