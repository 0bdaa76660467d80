"""Variable: a Scalar whose handle and whose node of the graph are two things, as in torch.

In pytorch_deep_dive.py a Scalar is a value and a node of the graph at once. Here a Variable is a
handle: it refers to a storage, which in-place operations change, and to the node that computed
it. Nodes and the engine that runs them stand in variable_engine.py. The rules of differentiation
are written with Variables, so a backward pass can be recorded like other arithmetic.
"""
import math
from functools import partial
from operator import add, mul, neg, sub

from pytorch_deep_dive import divide, exp, log, power, power_by_number, sigmoid
from variable_engine import AccumulateGrad, Node, grad_mode, recording, run

__all__ = ["Variable", "grad", "grad_mode"]

# ---- 1. Handles -------------------------------------------------------------------------------

class Storage:
    """A number that several handles may share, and how often it was changed in place."""

    __slots__ = ("value", "version")

    def __init__(self, value):
        self.value, self.version = value, 0


class Variable:
    """A handle of a number: `Variable(2.0, requires_grad=True)` makes a leaf.

    `grad` is None until a backward pass arrives at a leaf, then a Variable. `node` computed the
    value: torch calls it `grad_fn`. A leaf has none.
    """

    def __init__(self, value, requires_grad=False, node=None):
        self.storage = value if isinstance(value, Storage) else Storage(float(value))
        self.node, self.grad, self.accumulator = node, None, None
        if requires_grad:
            self.accumulator = AccumulateGrad(self)

    @property
    def edge(self):
        """The node that a gradient of this value goes to: its own, or that of a leaf; or None."""
        return self.node or self.accumulator

    @property
    def requires_grad(self):
        return self.edge is not None

    @property
    def data(self):
        return self.storage.value

    @property
    def is_leaf(self):
        return self.node is None

    def detach(self):
        """Another handle of the same storage, version included, that the graph does not know."""
        return Variable(self.storage)

    def __copy__(self):
        """Another leaf of the same storage: with the same accumulator, the old one would learn."""
        return Variable(self.storage, self.requires_grad)

    def __repr__(self):
        made = f", grad_fn={self.node.name}" if self.node else ""
        return f"Variable({self.data:.6g}{made})"

    # ---- arithmetic; what each operation computes and saves stands in RULES
    def __add__(self, other):
        return record("Add", self, other)

    def __sub__(self, other):
        return record("Sub", self, other)

    def __mul__(self, other):
        return record("Mul", self, other)

    def __truediv__(self, other):
        return record("Div", self, other)

    def __pow__(self, other):
        return record("Pow" if isinstance(other, Variable) else "PowNumber", self, other)

    def __rsub__(self, other):
        return record("Sub", other, self)

    def __rtruediv__(self, other):
        return record("Reciprocal", self) * other              # two nodes, as in torch

    def __rpow__(self, other):
        return record("Pow", other, self)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return record("Neg", self)

    def relu(self):
        return record("Relu", self)

    def tanh(self):
        return record("Tanh", self)

    def sigmoid(self):
        return record("Sigmoid", self)

    def exp(self):
        return record("Exp", self)

    def log(self):
        return record("Log", self)

    # ---- in place: a new node, the same storage
    def add_(self, other):
        return overwrite(self, "Add", other)

    def mul_(self, other):
        return overwrite(self, "Mul", other)

    def exp_(self):
        return overwrite(self, "Exp")

    def tanh_(self):
        return overwrite(self, "Tanh")

    # ---- hooks
    def register_hook(self, hook):
        """Call hook(gradient) before the node of this value runs; what it returns replaces it.

        Returns a function that removes the hook. RuntimeError unless a gradient is required; the
        pass raises TypeError if the hook returns anything but a Variable or None.
        """
        return attach(start(self).pre_hooks, hook)

    def retain_grad(self):
        """Add the gradient of an interior value, after its hooks, to `grad`; a leaf does so anyway.

        RuntimeError unless a gradient is required.
        """
        node = start(self)
        if not (self.is_leaf or node.retain_hooks):
            node.retain_hooks.append(self.retain)

    def retain(self, g):
        self.grad = g.own() if self.grad is None else self.grad + g

    def accumulate(self, g):
        """Add to the `grad` of a leaf: in place, unless the pass is recorded."""
        if self.grad is None:
            self.grad = g.own()
        elif recording[-1]:
            self.grad = self.grad + g
        else:
            self.grad.add_(g)

    def own(self):
        """Another handle of the same history, with a storage of its own."""
        return Variable(self.data, node=self.edge)

    def register_post_accumulate_grad_hook(self, hook):
        """Call hook(leaf) each time after a gradient was added to the leaf's `grad`."""
        if not (self.is_leaf and self.requires_grad):
            raise RuntimeError("only a leaf that requires a gradient accumulates one")
        return attach(self.edge.post_hooks, hook)

    def backward(self, retain_graph=False, create_graph=False):
        """Add the derivative of this value to the `grad` of every leaf it depends on.

        What the nodes saved is freed, unless `retain_graph`; `create_graph` records the pass and
        keeps everything. RuntimeError as `Node.apply`, or if no gradient is required.
        """
        run(start(self), Variable(1.0), retain_graph or create_graph, create_graph)


def attach(hooks, hook):
    """Add a hook. What is returned removes this registration alone, and again does nothing."""
    own = partial(hook)                                        # equal to itself and nothing else

    def remove():
        if own in hooks:
            hooks.remove(own)

    hooks.append(own)
    return remove


# ---- 2. Rules ---------------------------------------------------------------------------------

def relu(x):
    return 0.0 if x < 0 else x


def mask(g, y):
    """torch: threshold_backward. A product would be nan where g is infinite."""
    return 0.0 if y <= 0 else g


# Per operation: what it computes, and for each operand which values its gradient needs (a, b the
# operands, y the result) and the gradient. Source: tools/autograd/derivatives.yaml.
RULES = {
    "Add": (add, ("", lambda g: g), ("", lambda g: g)),
    "Sub": (sub, ("", lambda g: g), ("", lambda g: -g)),
    "Mul": (mul, ("b", lambda g, b: g * b), ("a", lambda g, a: g * a)),
    "Reciprocal": (lambda x: divide(1.0, x), ("y", lambda g, y: -g * (y * y))),
    "Div": (divide, ("b", lambda g, b: g / b), ("ab", lambda g, a, b: -g * ((a / b) / b))),
    "Pow": (power,
            ("ab", lambda g, a, b: g * (b * a ** (b - 1)) if b.data else Variable(0.0)),
            ("aby", lambda g, a, b, y: g * 0.0 if a.data == 0 <= b.data else g * (y * a.log()))),
    "PowNumber": (power_by_number,
                  ("ab", lambda g, a, b: g * (b * a ** (b.data - 1)) if b.data else Variable(0.0)),
                  ("", None)),                                 # a number: nothing flows there
    "Neg": (neg, ("", lambda g: -g)),
    "Relu": (relu, ("y", lambda g, y: record("Mask", g, y))),
    "Mask": (mask, ("b", lambda g, b: record("Mask", g, b)), ("b", lambda g, b: Variable(0.0))),
    "Tanh": (math.tanh, ("y", lambda g, y: g * (1 - y * y))),
    "Sigmoid": (sigmoid, ("y", lambda g, y: g * ((1 - y) * y))),
    "Exp": (exp, ("y", lambda g, y: g * y)),
    "Log": (log, ("a", lambda g, a: g / a)),
}


def record(name, *operands, into=None):
    """Compute, and where a gradient is required, make the node that will differentiate.

    The value goes into a new handle, or in place into the storage of the handle `into`.
    """
    compute, *rules = RULES[name]
    operands = [x if isinstance(x, Variable) else Variable(x) for x in operands]
    node = None
    if recording[-1] and any(x.requires_grad for x in operands):
        node = Node(name, [x.edge for x in operands], rules)
        node.save(zip("ab", operands, strict=False))           # before they may be overwritten
    value = compute(*(x.data for x in operands))
    if into is None:
        into = Variable(value)
    else:
        into.storage.value, into.storage.version = value, into.storage.version + 1
    if node:
        node.save({"y": into}.items())
        if into.node:                                          # retain_grad follows the value
            node.retain_hooks, into.node.retain_hooks = into.node.retain_hooks, []
        into.node = node
    return into


def overwrite(handle, name, *others):
    """`record`, with the first operand's storage for the result.

    RuntimeError for a leaf that requires a gradient: no node could lead back to its old value.
    """
    if recording[-1] and handle.is_leaf and handle.requires_grad:
        raise RuntimeError("a leaf that requires a gradient cannot be changed in place; "
                           "use grad_mode(False), or work on a copy")
    return record(name, handle.own(), *others, into=handle)    # torch saves self.clone()


# ---- 3. Derivatives as values -----------------------------------------------------------------

def grad(output, inputs, retain_graph=None, create_graph=False, allow_unused=False):
    """The derivatives of `output` with respect to `inputs`, as Variables; no `grad` is touched.

    `create_graph` records them, so that they can be differentiated again. RuntimeError for an
    input that requires no gradient, or that `output` does not depend on, unless `allow_unused`.
    """
    edges = [start(x) for x in inputs]
    capture = dict.fromkeys(edges)
    keep = create_graph if retain_graph is None else retain_graph
    run(start(output), Variable(1.0), keep, create_graph, capture)
    if not allow_unused and None in capture.values():
        raise RuntimeError("the output does not depend on one of the inputs; "
                           "pass allow_unused=True to get None for it")
    return [capture[edge] for edge in edges]


def start(variable):
    if variable.edge is None:
        raise RuntimeError("this Variable does not require a gradient and has no node")
    return variable.edge
