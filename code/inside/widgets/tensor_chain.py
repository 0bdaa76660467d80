"""A chain of tensor operations as text, executed by torch without evaluating the text as Python.

`run_chain("x.view(3, 4).t()[1:]", x)` is what Python would give, but only the operations named
here can be called, with literal arguments: the text may come from the browser.
"""

import ast

import torch

METHODS = frozenset([
    "view", "reshape", "transpose", "permute", "t", "expand", "squeeze", "unsqueeze", "flatten",
    "select", "narrow", "unfold", "diagonal", "as_strided", "contiguous", "clone", "flip",
])
PROPERTIES = frozenset(["T", "mT"])


class ChainError(ValueError):
    """The text is no chain of the operations above."""


def chain_steps(text):
    """The head of a chain and its steps, as syntax trees from the first operation on.

    Raises `ChainError` where the text is not an expression.
    """
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise ChainError(f"chain {text!r}: not a Python expression") from error
    steps = []
    while not is_head(node):
        steps.append(node)
        owner = node.func if isinstance(node, ast.Call) else node
        if not isinstance(owner, ast.Attribute | ast.Subscript):
            raise ChainError(f"chain {text!r}: start with x or torch.arange(n)")
        node = owner.value
    if node.col_offset:
        raise ChainError(f"chain {text!r}: start with x or torch.arange(n)")
    return node, steps[::-1]


def is_head(node):
    """Whether a tree is `x` or `torch.arange(n)`."""
    return ast.unparse(node) == "x" or (
        isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.arange"
    )


def length_of(text):
    """The n of a chain on `torch.arange(n)`, None of a chain on `x`; raises `ChainError`."""
    head, _ = chain_steps(text)
    if not isinstance(head, ast.Call):
        return None
    try:
        (length,) = (ast.literal_eval(argument) for argument in head.args)
        if type(length) is int and length >= 0 and not head.keywords:
            return length
    except ValueError:
        pass
    raise ChainError(f"chain {text!r}: write torch.arange(n) with one whole number n")


def chain_on(text, length):
    """The chain with `torch.arange(length)` for a head that is `x`, as text."""
    head, _ = chain_steps(text)
    if isinstance(head, ast.Call):
        return text.strip()
    return f"torch.arange({length}){text.strip().removeprefix('x')}"


def run_chain(text, x=None):
    """The tensors of a chain in order, `x` first.

    x is `torch.arange(n)` where the text says so, unless the tensor given has n elements: then it
    is that one. Raises `ChainError` for a text that is no chain, and whatever torch raises for a
    refused step.
    """
    _, steps = chain_steps(text)
    length = length_of(text)
    if x is None and length is None:
        raise ChainError(f"chain {text!r}: there is no x; start with torch.arange(n)")
    given = x is not None and length in (None, len(x))
    tensors = [x if given else torch.arange(length)]
    for step in steps:
        tensors.append(run_step(tensors[-1], step))
    return tensors


def run_step(tensor, step):
    """The result of one step, a syntax tree, on a tensor."""
    if isinstance(step, ast.Subscript):
        return tensor[index(step.slice)]
    if isinstance(step, ast.Attribute) and step.attr in PROPERTIES:
        return getattr(tensor, step.attr)
    known = isinstance(step, ast.Call) and step.func.attr in METHODS
    if not known or any(keyword.arg is None for keyword in step.keywords):
        raise ChainError(f"{ast.unparse(step)}: not an operation that a chain may hold")
    named = {keyword.arg: literal(keyword.value) for keyword in step.keywords}
    return getattr(tensor, step.func.attr)(*map(literal, step.args), **named)


def index(node):
    """What stands between square brackets: ints, slices, None and Ellipsis."""
    if isinstance(node, ast.Tuple):
        return tuple(map(index, node.elts))
    if isinstance(node, ast.Slice):
        bounds = (node.lower, node.upper, node.step)
        return slice(*(None if bound is None else literal(bound) for bound in bounds))
    return Ellipsis if ast.unparse(node) == "Ellipsis" else literal(node)


def literal(node):
    """The value of a literal argument; raises `ChainError` for anything that computes."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise ChainError(f"{ast.unparse(node)}: only literal arguments") from None
