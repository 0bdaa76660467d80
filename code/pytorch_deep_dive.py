"""Scalar: reverse-mode automatic differentiation of single numbers, with torch's semantics.

Read it from top to bottom: data structure, operations, algorithm, arithmetic that never raises.
It needs Python alone. In a clone of the book, `python3 code/pytorch_deep_dive.py` also gives a
tour that compares with torch (--lang zh or --lang en), or its graph for Graphviz (--dot).
"""
import math
import sys

creation = iter(range(sys.maxsize))
bare = object.__new__                        # makes an object and runs no __init__


# --- 1 and 2. The data structure, and the operations that build it ---------------------------

class Scalar:
    """A number that remembers how it was made, so that `backward` can fill in gradients.

    `data` and `grad` are floats; `grad` starts at 0.0 (torch: None). `Scalar(2.0, label="w")` is a
    leaf. What an operation makes (`interior`) also holds up to two operands, `left` and `right`,
    each with its local derivative, `dleft` and `dright`, and has a larger number than they have.

    A derivative is what the incoming gradient is multiplied by. None means that nothing flows
    that way: the operand is a plain number, or torch writes zeros there and does not multiply.

    Source: torch/include/torch/csrc/autograd/node.h:Node (next_edges_, sequence_nr_); each
    derivative is the line of that operation in tools/autograd/derivatives.yaml.
    """

    __slots__ = ("data", "dleft", "dright", "grad", "label", "left", "number", "op", "right")

    def __init__(self, data, label=""):
        self.data, self.grad, self.op = float(data), 0.0, ""
        self.left = self.dleft = self.right = self.dright = None
        self.number, self.label = next(creation), label        # torch: Node::sequence_nr

    def __add__(self, other):
        if isinstance(other, Scalar):
            return interior(self.data + other.data, "+", self, 1.0, other, 1.0)
        c = number(other)
        return interior(self.data + c, "+", self, 1.0, c)

    def __sub__(self, other):
        if isinstance(other, Scalar):
            return interior(self.data - other.data, "-", self, 1.0, other, -1.0)
        c = number(other)
        return interior(self.data - c, "-", self, 1.0, c)

    def __mul__(self, other):
        if isinstance(other, Scalar):
            return interior(self.data * other.data, "*", self, other.data, other, self.data)
        c = number(other)
        return interior(self.data * c, "*", self, c, c)

    def __truediv__(self, other):
        if isinstance(other, Scalar):
            q = divide(self.data, other.data)
            return interior(q, "/", self, Over(other.data), other, -divide(q, other.data))
        c = number(other)
        return interior(divide(self.data, c), "/", self, Over(c), c)

    def __pow__(self, other):
        x = self.data
        if isinstance(other, Scalar):
            n = other.data
            y = power(x, n)
            dx = n * power(x, n - 1) if n != 0 else None       # torch: zeros where n == 0
            dn = 0.0 if x == 0 and n >= 0 else y * log(x)
            return interior(y, "**", self, dx, other, dn)
        n = number(other)
        dx = n * power_by_number(x, n - 1) if n != 0 else None
        return interior(power_by_number(x, n), "**", self, dx, n)

    def __neg__(self):
        return interior(-self.data, "neg", self, -1.0)

    def reciprocal(self):
        r = divide(1.0, self.data)
        return interior(r, "reciprocal", self, -(r * r))

    # Reflected: the number stands on the left.
    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other):
        c = number(other)
        return interior(c - self.data, "-", c, None, self, -1.0)

    def __rtruediv__(self, other):
        return self.reciprocal() * other                       # two nodes, as in torch

    def __rpow__(self, other):
        c = number(other)
        y = 1.0 if c == 1 else power(c, self.data)
        dn = 0.0 if c == 0 and self.data >= 0 else y * log(c)
        return interior(y, "**", c, None, self, dn)

    def relu(self):
        y = 0.0 if self.data < 0 else self.data                # nan passes, -0.0 stays
        return interior(y, "relu", self, None if y <= 0 else 1.0)

    def tanh(self):
        t = math.tanh(self.data)
        return interior(t, "tanh", self, (1 - t) * (1 + t))      # near 1, t*t adds a rounding

    def sigmoid(self):
        s = sigmoid(self.data)
        return interior(s, "sigmoid", self, (1 - s) * s)

    def exp(self):
        e = exp(self.data)
        return interior(e, "exp", self, e)

    def log(self):
        return interior(log(self.data), "log", self, Over(self.data))

    # Order is by value. == and hash stay identity: two nodes of equal value are two nodes.
    def __lt__(self, other):
        return self.data < (other.data if isinstance(other, Scalar) else other)

    def __le__(self, other):
        return self.data <= (other.data if isinstance(other, Scalar) else other)

    def __gt__(self, other):
        return self.data > (other.data if isinstance(other, Scalar) else other)

    def __ge__(self, other):
        return self.data >= (other.data if isinstance(other, Scalar) else other)

    def __repr__(self):
        return f"Scalar({self.data:.6g}, grad={self.grad:.6g})"

    # --- 3. The algorithm --------------------------------------------------------------------

    def nodes(self):
        """All nodes that this one depends on, itself first, newest first.

        An operand is always older than its result, so each node stands before its operands:
        a topological order. In one thread, torch's engine comes to it by counting, leaves apart.
        Source: torch/include/torch/csrc/autograd/engine.h:CompareNodeTaskTime.
        """
        found, todo = {self}, [self]
        while todo:                                            # a loop: no recursion limit
            node = todo.pop()
            for operand in (node.left, node.right):
                if isinstance(operand, Scalar) and operand not in found:
                    found.add(operand)
                    todo.append(operand)
        return sorted(found, key=lambda node: node.number, reverse=True)

    def backward(self):
        """Fill `grad` with d(self)/d(node) for every node below; the graph stays.

        A leaf adds each call to what it holds. An interior node's `grad` is that of the last
        call, kept to be looked at; torch frees it. Zero gradients flow on: 0 * inf is nan.
        Source: torch/include/torch/csrc/autograd/engine.h:Engine, and for leaves
        torch/include/torch/csrc/autograd/functions/accumulate_grad.h:AccumulateGrad.
        """
        nodes = self.nodes()
        held = [(leaf, leaf.grad) for leaf in nodes if not leaf.op]
        zero_grad(nodes)
        self.grad = 1.0
        for node in nodes:
            g = node.grad                                      # complete: all users came before
            if node.dleft is not None:
                node.left.grad += g * node.dleft
            if node.dright is not None:
                node.right.grad += g * node.dright
        for leaf, before in held:
            leaf.grad += before


def interior(data, op, left, dleft, right=None, dright=None):
    """The Scalar that an operation makes. Most of a forward pass is spent here."""
    node = bare(Scalar)
    node.data, node.grad, node.op = data, 0.0, op
    node.left, node.dleft = left, dleft
    node.right, node.dright = right, dright
    node.number, node.label = next(creation), ""
    return node


def zero_grad(scalars):
    """Set the `grad` of each to 0.0: for parameters, or for a whole graph, `f.nodes()`."""
    for scalar in scalars:
        scalar.grad = 0.0


# --- 4. Arithmetic that answers inf or nan where Python raises -------------------------------

def number(x):
    """`x` as a float; TypeError unless it is an int or a float."""
    if isinstance(x, (int, float)):
        return float(x)
    raise TypeError(f"Scalar works with Scalar, int and float, not with {type(x).__name__}")


class Over:
    """The derivative 1/y kept as a division: g / y may be finite where 1 / y overflows."""

    def __init__(self, y):
        self.y = y

    def __rmul__(self, g):
        return divide(g, self.y)


def divide(x, y):
    if y != 0:
        return x / y
    if x == 0 or x != x:
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1, y)    # -0.0 is a zero with a sign


def exp(x):
    try:
        return math.exp(x)
    except (OverflowError, ValueError):                        # MicroPython: ValueError
        return math.inf


def log(x):
    return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan


def sigmoid(x):
    return 1 / (1 + exp(-x))


def power(x, n):
    try:
        return math.pow(x, n)
    except (OverflowError, ValueError):
        if x == 0:                                             # 0 ** negative
            return divide(1.0, math.pow(x, -n))
        if x < 0 and n % 1:                                    # negative ** fraction
            return math.nan
        return -math.inf if x < 0 and n % 2 else math.inf      # overflow


def power_by_number(x, n):
    """x ** n as torch has it for a number n: -0.0 ** 0.5 is -0.0, where pow gives 0.0.

    torch's CPU kernel takes a root, a product or a quotient for these exponents, and calls pow
    for all others. Source: aten/src/ATen/native/native_functions.yaml:pow.Tensor_Scalar.
    """
    if n in (-0.5, -1, -2):
        return divide(1.0, power_by_number(x, -n))
    if n == 0.5:
        return math.sqrt(x) if x >= 0 else math.nan
    if n in (1, 2, 3):
        return x if n == 1 else x * x if n == 2 else x * x * x
    return power(x, n)


# --- 5. The tour, in the file scalar_tour.py beside this one ---------------------------------

if __name__ == "__main__":
    try:
        from scalar_tour import main
    except ModuleNotFoundError:                                # a download: the tour is not here
        sys.stderr.write("Scalar 引擎；下一步 · The Scalar engine; next: python3 check_scalar.py\n")
        sys.exit(2)
    sys.exit(main())
