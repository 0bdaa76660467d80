"""A model as text, built by torch without evaluating the text as Python.

    a = Linear(4, 4); Sequential(a, ReLU(), a)

is what Python would give, but only the layers named here can be made, with literal arguments: the
text may come from the browser. The same text is read in book/web/module-inspector/parse.js.
"""

import ast
from math import prod

import torch
from torch import nn

LAYERS = frozenset([
    "Linear", "Conv2d", "MaxPool2d", "BatchNorm1d", "BatchNorm2d", "LayerNorm", "Embedding",
    "Dropout", "Flatten", "ReLU", "GELU", "SiLU", "Tanh", "Sigmoid", "Identity",
])
LENGTH, LARGEST = 600, 1_000_000  # characters of a text; elements of a tensor or a model


class TypedModelError(ValueError):
    """A text that is no model, or one that torch refuses to build."""


def build(text):
    """The `nn.Module` that the last statement of `text` makes; raises `TypedModelError`."""
    if len(text) > LENGTH:
        raise TypedModelError(f"the text has {len(text)} characters; at most {LENGTH}")
    try:
        statements = ast.parse(text.strip()).body
    except (SyntaxError, ValueError) as error:
        raise TypedModelError(f"{text!r}: not Python") from error
    names, made = {}, None
    for statement in statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                made = names[name] = layer(value, names)
            case ast.Expr(value=value):
                made = layer(value, names)
            case _:
                raise TypedModelError(f"{ast.unparse(statement)}: not a layer")
    if made is None:
        raise TypedModelError("no layer; write one such as Linear(4, 8)")
    return made


def layer(node, names):
    """The module that a syntax tree stands for."""
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    kind = layer_name(node.func) if isinstance(node, ast.Call) else None
    if kind == "Sequential" and not node.keywords:
        return nn.Sequential(*(layer(argument, names) for argument in node.args))
    if kind not in LAYERS or any(keyword.arg is None for keyword in node.keywords):
        raise TypedModelError(f"{ast.unparse(node)}: not a layer that a typed model may hold")
    args = [literal(argument) for argument in node.args]
    named = {keyword.arg: literal(keyword.value) for keyword in node.keywords}
    check_size(node, [*args, *named.values()])
    try:
        return getattr(nn, kind)(*args, **named)
    except (TypeError, ValueError, RuntimeError, AssertionError, ZeroDivisionError) as error:
        raise TypedModelError(f"{ast.unparse(node)}: {str(error).splitlines()[0]}") from error


def layer_name(node):
    """`Linear`, also where it is written `nn.Linear` or `torch.nn.Linear`."""
    return ast.unparse(node).removeprefix("torch.").removeprefix("nn.")


def literal(node):
    """The value of a literal argument; raises `TypedModelError` for anything that computes."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise TypedModelError(f"{ast.unparse(node)}: only literal arguments") from None


def check_size(node, values):
    """Refuse a layer before it fills the memory: the product of its numbers bounds its size."""
    numbers = [n for value in values for n in (value if isinstance(value, tuple) else (value,))]
    if prod(max(1, n) for n in numbers if type(n) is int) > LARGEST:
        raise TypedModelError(f"{ast.unparse(node)}: has more than {LARGEST:,} elements")


def input_for(model, shape):
    """Zeros of `shape`: int64 where the first layer that is called is an Embedding."""
    if prod(shape) > LARGEST:
        raise TypedModelError(f"input {shape}: has more than {LARGEST:,} elements")
    first = model
    while isinstance(first, nn.Sequential):
        first = next((inner for inner in first if not is_empty(inner)), None)
    return torch.zeros(shape, dtype=torch.int64 if isinstance(first, nn.Embedding) else None)


def is_empty(module):
    return isinstance(module, nn.Sequential) and all(map(is_empty, module))
