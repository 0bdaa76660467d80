"""Step 2, fused helpers: a dot product and a sum as one node each, so that the graph is small.

Everything else is Scalar's: order by creation, derivatives fixed in the forward pass, the whole
graph kept, zero gradients not skipped.
"""
from functools import partial
from operator import attrgetter, mul

import scalar_mlp
from pytorch_deep_dive import Scalar, bare, creation


class Wide(Scalar):
    """A node with groups of operands, which this module's `backward` knows and Scalar's does not.

    A subclass has `groups()`, the operands as tuples of Scalars, and `send(g)`, which adds its
    share of the incoming gradient to each of them.
    """

    __slots__ = ()

    @property
    def left(self):
        raise TypeError("this graph has wide nodes: call scalar_fused.backward(root)")


class Dot(Wide):
    """bias + the sum of weight * input; the derivatives are `xs` for `weights`, `ws` for `inputs`.

    Where the inputs are numbers, `inputs` is empty: nothing flows to them.
    """

    __slots__ = ("bias", "inputs", "weights", "ws", "xs")

    def groups(self):
        return self.weights, self.inputs, (self.bias,)

    def send(self, g):
        self.bias.grad += g
        for w, x in zip(self.weights, self.xs):  # noqa: B905, dot counts; strict= costs a tenth
            w.grad += g * x
        for x, w in zip(self.inputs, self.ws):   # noqa: B905, none where the inputs are numbers
            x.grad += g * w


class Total(Wide):
    """A sum; each derivative is 1."""

    __slots__ = ("operands",)

    def groups(self):
        return self.operands,

    def send(self, g):
        for operand in self.operands:
            operand.grad += g


def wide_node(kind, data, op):
    """As `interior`, for a node whose operands are set by the caller."""
    node = bare(kind)
    node.data = data
    node.grad = 0.0
    node.op = op
    node.number = next(creation)
    node.label = ""
    return node


def dot(weights, inputs, bias):
    """bias + the sum of weight * input, as one node; from Python 3.12 on `sum` rounds less.

    `weights` and `bias` are Scalars; `inputs` are as many, all Scalars or all numbers.
    """
    if len(weights) != len(inputs):
        raise ValueError(f"dot: {len(weights)} weights, but {len(inputs)} inputs; give as many")
    wide = isinstance(inputs[0], Scalar)
    ws = [w.data for w in weights]
    xs = [x.data for x in inputs] if wide else list(inputs)
    node = wide_node(Dot, sum(map(mul, ws, xs), bias.data), "dot")
    node.bias, node.weights, node.ws, node.xs = bias, tuple(weights), ws, xs
    node.inputs = tuple(inputs) if wide else ()
    return node


def total(scalars):
    """The sum of some Scalars, as one node."""
    node = wide_node(Total, sum([s.data for s in scalars]), "sum")
    node.operands = tuple(scalars)
    return node


def nodes(root):
    """As `Scalar.nodes`; a group of operands that many nodes share is looked through once."""
    found, seen, todo = {root}, set(), [root]
    for node in todo:
        if isinstance(node, Wide):
            new = []
            for group in node.groups():
                if group not in seen:
                    seen.add(group)
                    new += group
        else:
            new = node.left, node.right
        for operand in new:
            if operand not in found and isinstance(operand, Scalar):
                found.add(operand)
                todo.append(operand)
    return sorted(found, key=attrgetter("number"), reverse=True)


def backward(root):
    """As `Scalar.backward`, for graphs with wide nodes."""
    order = nodes(root)
    held = [(leaf, leaf.grad) for leaf in order if not leaf.op]
    for node in order:
        node.grad = 0.0
    root.grad = 1.0
    for node in order:
        g = node.grad
        if isinstance(node, Wide):
            node.send(g)
            continue
        if node.dleft is not None:
            node.left.grad += g * node.dleft
        if node.dright is not None:
            node.right.grad += g * node.dright
    for leaf, before in held:
        leaf.grad += before


def steps(model, rows, labels):
    """As `scalar_mlp.steps`; the model was made with `dot=scalar_fused.dot`."""
    loss = partial(scalar_mlp.loss, total=total)
    return scalar_mlp.steps(model, rows, labels, loss, backward)
