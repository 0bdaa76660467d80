"""检查补完的随书代码（第 3 章）· Check the companions of chapter 3 that you have completed.

    python3 check_modules.py                 every practice file beside this file
    python3 check_modules.py FILE …

The exit status is 0 if all checks pass. It needs torch: what you wrote is compared with torch.nn.
"""
import sys
from types import SimpleNamespace

from exercise_harness import Checker, Differs

try:
    import torch
except ImportError:
    torch = None


def same(what, found, wanted):
    """Stop with one line unless what is found is what is wanted."""
    if found != wanted:
        raise Differs(f"{what}: expected {wanted}; found {found}")


# --- mini_module.py: the walk --------------------------------------------------------------------

def module_tree(library):
    """A root with children a, b, a once more as c, and None as d; a weight that is tied.

    Tables are filled directly, so that nothing depends on what an assignment does.
    """
    root, a, b = (library.Module() for _ in range(3))
    tied, own = (library.Parameter(torch.full((2,), value)) for value in (1.0, 2.0))
    a._parameters.update(weight=tied, bias=None)
    b._parameters.update(weight=own, twin=tied)
    b._buffers.update(mean=torch.full((1,), 3.0), count=torch.tensor(4), none=None)
    b._non_persistent_buffers_set.add("mean")
    root._parameters["scale"] = own
    root._modules.update(a=a, b=b, c=a, d=None)
    return SimpleNamespace(root=root, a=a, b=b, tied=tied, own=own)


def check_module_named_modules(module):
    for once in (True, False):
        paths = [[path for path, _ in module_tree(library).root.named_modules(
            prefix="net", remove_duplicate=once)] for library in (module, torch.nn)]
        same(f"paths of named_modules(prefix='net', remove_duplicate={once})", *paths)
    tree = module_tree(module)
    same("what has the path c", [path for path, found in tree.root.named_modules(
        remove_duplicate=False) if found is tree.a], ["a", "c"])


def check_module_named_members(module):
    for table, public in (("_parameters", "named_parameters"), ("_buffers", "named_buffers")):
        for prefix in ("", "net"):
            for recurse in (True, False):
                for once in (True, False):
                    found = module_tree(module).root._named_members(table, prefix, recurse, once)
                    wanted = getattr(module_tree(torch.nn).root, public)(prefix, recurse, once)
                    same(f"{table} with prefix '{prefix}', recurse={recurse}, "
                         f"remove_duplicate={once}", values(found), values(wanted))


def values(named):
    return [(path, tensor.tolist()) for path, tensor in named]


def check_module_apply(module):
    tree = module_tree(module)
    weight, tree.own.grad = tree.a._parameters["weight"], torch.ones(2)
    result = tree.root._apply(lambda t: t.double() * 2)
    same("what _apply returns is the module", result is tree.root, True)
    for path, table, name, wanted in [
            ("b", "_buffers", "mean", [6.0]), ("b", "_buffers", "count", 8.0),
            ("b", "_buffers", "none", None), ("a", "_parameters", "bias", None)]:
        found = getattr(getattr(tree, path), table)[name]
        same(f"{path}.{name} after doubling", found if found is None else found.tolist(), wanted)
    # Two modules hold each of them, so that each is doubled twice, in torch as well.
    same("a tied weight after doubling", weight.tolist(), [4.0, 4.0])
    same("a.weight is the same object as before", tree.a._parameters["weight"] is weight, True)
    same("b.twin is still a.weight", tree.b._parameters["twin"] is weight, True)
    same("dtype of the gradient", tree.own.grad.dtype, torch.float64)


# --- mini_module.py: the assignment --------------------------------------------------------------

def module_values(library):
    """What is assigned, by kind."""
    return {
        "a Parameter": library.Parameter(torch.zeros(2)), "a Module": library.Module(),
        "a Buffer": library.Buffer(torch.zeros(2)), "None": None, "a tensor": torch.zeros(2),
        "a Buffer that is not saved": library.Buffer(torch.zeros(2), persistent=False),
        "a number": 1}


def module_after(library, before, value):
    """The tables and attributes after one or two assignments, or how the last was refused."""
    owner = library.Module()
    refused = None
    try:
        for kind in (before, value):
            if kind is not None:
                owner.x = module_values(library)[kind]
    except (AttributeError, KeyError, TypeError) as error:
        refused = type(error).__name__
    tables = [name for name in ("_parameters", "_buffers", "_modules", "__dict__")
              if "x" in getattr(owner, name)]
    kept = getattr(owner, "x", None)
    return (refused, tables, "saved" if "x" not in owner._non_persistent_buffers_set else "not",
            "None" if kept is None else "a value")


def check_module_setattr(module):
    kinds = list(module_values(module))
    for before in (None, *kinds):
        for value in kinds:
            found, wanted = (module_after(library, before, value) for library in (module, torch.nn))
            if found != wanted:
                first = f"m.x is {before}; " if before else ""
                raise Differs(f"{first}m.x = {value}: expected {told(*wanted)}; "
                              f"found {told(*found)}")
    for value in ("a Parameter", "a Module", "a Buffer"):
        owner = module.Module.__new__(module.Module)
        try:
            owner.x = module_values(module)[value]
        except AttributeError as error:
            same(f"{value} before super().__init__()", "before Module.__init__() call" in
                 str(error), True)
        else:
            raise Differs(f"{value} before super().__init__(): expected AttributeError; "
                          "nothing was raised")


def told(refused, tables, saved, kept):
    where = " and ".join(tables) or "no table"
    return f"{refused or 'no error'}, then x in {where}, {saved} by state_dict, holding {kept}"


# --- mini_module_state.py ------------------------------------------------------------------------

def state_tree(module):
    """The tree of `module_tree`, of modules that can only be saved and loaded."""
    class Node(module.Stateful):
        def __init__(self):
            self._parameters, self._buffers, self._modules = {}, {}, {}
            self._non_persistent_buffers_set = set()

    def parameter(data):
        return torch.nn.Parameter(data)
    return module_tree(SimpleNamespace(Module=Node, Parameter=parameter))


def check_state_dict(module):
    ours, theirs = state_tree(module), module_tree(torch.nn)
    for prefix in ("", "net."):
        found, wanted = (tree.root.state_dict(prefix=prefix) for tree in (ours, theirs))
        same(f"state_dict(prefix='{prefix}')", values(found.items()), values(wanted.items()))
        same(f"paths in the metadata, prefix='{prefix}'", list(found._metadata),
             list(wanted._metadata))
    state = ours.root.state_dict()
    same("the weight in the state needs a gradient", state["a.weight"].requires_grad, False)
    same("the weight in the state shares the module's storage",
         state["a.weight"].data_ptr(), ours.tied.data_ptr())
    same("with keep_vars, the weight in the state is the module's own",
         ours.root.state_dict(keep_vars=True)["a.weight"] is ours.tied, True)


def state_damaged(case):
    """A state for the tree with something wrong."""
    fitting = module_tree(torch.nn).root.state_dict()
    state = {key: torch.full_like(tensor, 9) for key, tensor in fitting.items()}
    for key in case.get("missing", ()):
        del state[key]
    for key in case.get("more", ()):
        state[key] = torch.zeros(1)
    for key, value in case.get("instead", {}).items():
        state[key] = value
    return state


def check_state_load_own(module):
    cases = [
        {}, {"missing": ["a.weight"]}, {"missing": ["scale", "b.count"]},
        {"more": ["b.mean"]}, {"more": ["shift", "e.weight", "a.bias"]}, {"more": ["d.weight"]},
        {"more": ["a.weight.more", "b.x.y"]}, {"missing": ["b.weight"], "more": ["b.w"]},
        {"instead": {"scale": torch.zeros(3)}, "missing": ["b.twin"], "more": ["z"]},
        {"instead": {"a.weight": 3}}]
    for case in cases:
        for strict in (True, False):
            ours, theirs = state_tree(module), module_tree(torch.nn)
            told_by = [state_load(tree, case, strict) for tree in (ours, theirs)]
            what = f"load_state_dict with {case or 'nothing wrong'}, strict={strict}"
            same(what, *told_by)
            same(f"{what}: what the modules hold", *map(state_held, (ours, theirs)))


def state_load(tree, case, strict):
    """The keys or the message, without the name of the class."""
    try:
        return tuple(tree.root.load_state_dict(state_damaged(case), strict=strict))
    except RuntimeError as error:
        return str(error).partition(":\n")[2]


def state_held(tree):
    """The numbers in the tables, without a look at what is saved."""
    return [[tensor.tolist() for table in (node._parameters, node._buffers)
             for tensor in table.values() if tensor is not None]
            for node in (tree.root, tree.a, tree.b)]


CHECKER = Checker(
    {"mini_module": {"Module.named_modules": check_module_named_modules,
                     "Module._named_members": check_module_named_members,
                     "Module._apply": check_module_apply,
                     "Module.__setattr__": check_module_setattr},
     "mini_module_state": {"Stateful.state_dict": check_state_dict,
                           "Stateful._load_own": check_state_load_own}},
    needs={"Module._named_members": ["Module.named_modules"]},
    imports={"mini_module": ["mini_module_tensors.py", "mini_module_state.py",
                             "mini_module_hooks.py"]})

if __name__ == "__main__":
    if torch is None:
        print("要装 torch · this needs torch")
        sys.exit(1)
    sys.exit(CHECKER.main())
