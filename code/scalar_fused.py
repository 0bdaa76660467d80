"""Step 2, fused helpers: a dot product and a sum as one node each, so that the graph is small.

A node with many operands keeps them in two tuples. Everything else is Scalar's: order by
creation, the whole graph kept, zero gradients not skipped.
"""
from functools import partial
from operator import attrgetter

import scalar_mlp

from pytorch_deep_dive import Scalar


class Wide(Scalar):
    """A node with any number of operands, Scalars all, and a derivative for each."""

    __slots__ = ("derivatives", "operands")

    def __init__(self, data, op, operands, derivatives):
        super().__init__(data, op)
        self.operands = operands
        self.derivatives = derivatives


def dot(weights, inputs, bias):
    """bias + the sum of weight * input, in that order, as one node.

    `weights` and `bias` are Scalars; `inputs` are all Scalars or all numbers.
    """
    ws = tuple([w.data for w in weights])
    wide = isinstance(inputs[0], Scalar)
    xs = tuple([x.data for x in inputs]) if wide else tuple(inputs)
    value = bias.data
    for w, x in zip(ws, xs, strict=True):
        value += w * x
    if wide:
        return Wide(value, "dot", (bias, *weights, *inputs), (1.0, *xs, *ws))
    return Wide(value, "dot", (bias, *weights), (1.0, *xs))


def total(scalars):
    """The sum of a list of Scalars, from the left, as one node."""
    return Wide(sum([s.data for s in scalars]), "sum", tuple(scalars), (1.0,) * len(scalars))


def operands(node):
    """The Scalars that a node was computed from, each once."""
    if isinstance(node, Wide):
        return set(node.operands)
    return {x for x in (node.left, node.right) if isinstance(x, Scalar)}


def nodes(root):
    """As `Scalar.nodes`: all nodes that `root` depends on, newest first."""
    found, todo = {root}, [root]
    while todo:
        new = operands(todo.pop()) - found
        found |= new
        todo.extend(new)
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
            for operand, derivative in zip(node.operands, node.derivatives, strict=True):
                operand.grad += g * derivative
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
