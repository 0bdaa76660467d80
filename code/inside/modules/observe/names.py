"""What stands behind a name of a module: where Python finds it, and who gets its gradient."""

from dataclasses import dataclass

from inside.observe.autograd_graph import nodes_behind


@dataclass(frozen=True)
class Name:
    """One read of `module.name`: `found` says where, `trains` which parameters get a gradient."""

    name: str
    found: str
    trains: tuple[str, ...]
    left_out: tuple[str, ...]


def read_name(module, name, also=()):
    """Read `module.name`, a tensor: its `Name`.

    `trains` are the leaves behind the tensor, called as in `named_parameters`, or `?` where the
    module has no name for one. `left_out` are those of the parameters `also` that are not among
    them. Raises AttributeError where the module has no such name.
    """
    tensor, known = getattr(module, name), dict(module.named_parameters())
    leaves = {id(leaf) for leaf in leaves_behind(tensor)}
    trains = [called for called, p in known.items() if id(p) in leaves]
    trains += ["?"] * (len(leaves) - len(trains))
    missed = [called for called in also if id(known[called]) not in leaves]
    return Name(name, where(module, name), tuple(trains), tuple(missed))


def leaves_behind(tensor):
    """The leaves that backward from the tensor would reach; itself, if it is one that trains."""
    if tensor.grad_fn is None:
        return [tensor] if tensor.requires_grad else []
    reached = [getattr(node, "variable", None) for node in nodes_behind([tensor])]
    return [leaf for leaf in reached if leaf is not None]


def where(module, name):
    """Where `module.name` is found, in the order in which Python and then torch look."""
    owner = next((c for c in type(module).__mro__ if name in vars(c)), None)
    if owner is not None and hasattr(vars(owner)[name], "__set__"):
        return f"property of {owner.__name__}"
    if name in vars(module):
        return "__dict__"
    return next(shelf for shelf in ("_parameters", "_buffers") if name in vars(module)[shelf])
