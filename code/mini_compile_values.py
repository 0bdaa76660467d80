"""Where a value of the graph is in the C++ of its loop, and the C++ that computes it.

A value is a variable with the node's name; in_x and out_x are tensors, indexed by the loops'
variables; row_x is what a sweep keeps for the next. n0, n1 ... are the loops' sizes, s0, s1 ...
strides that no product of sizes gives, and symbolic numbers.
Source: torch/_inductor/codegen/common.py (CSE, KernelArgs), ir.py (make_loader, make_indexer).
"""
import torch

from mini_compile_dtypes import CPP, HALVES, convert, literal
from mini_compile_groups import is_name, reduces, tensors
from mini_compile_loops import Kernel, Space, Sweeps, same, strides_of
from mini_compile_operators import WIDE_NUMBERS, arguments, name_of, rule_of

__all__ = ["Values"]


class Values:
    """The values of one group. stored: the nodes whose tensors others will read."""

    def __init__(self, group, name, stored):
        self.group, self.stored, self.row = group, stored, group.places.row
        self.members = set(group.nodes)
        self.made = [node for node in group.nodes if not is_name(node)]
        self.sweeps = Sweeps(group)
        self.access = {(one, self.role(one, user)): None
                       for user in group.nodes for one in tensors(user) if one not in self.members}
        self.access |= {(one, self.role(one, one)): None for one in stored}
        for one, role in self.access:
            self.access[one, role] = strides_of(one, role, group)
        self.space = Space(group.places.sizes[group.space], group.space[1],
                           list(self.access.values()))
        self.result = Kernel(name, group, numbers=list(self.space.sizes))
        self.result.loops = len(self.space.sizes)
        self.result.inputs = list(dict.fromkeys(
            one for one, _ in self.access if one not in self.members))
        self.result.outputs = list(stored)
        self.now = -1                                # the sweep that is being written

    def role(self, one, user):
        """How `user` reads a tensor along the space; for a stored node, how it is written."""
        if not self.row[user] or (reduces(user) and one is not user):
            return "full"
        rank, split = len(self.group.space[0]), self.group.space[1]
        shape = (one if is_name(user) else user).meta["val"].shape
        return "short row" if len(shape) == rank - split else "row"

    # --- 1. Numbers and places --------------------------------------------------------------------

    def number(self, value):
        """The name of an argument that is a stride or a symbolic number."""
        for at, known in enumerate(self.result.numbers[self.result.loops:]):
            if same(known, value):
                return f"s{at}"
        self.result.numbers.append(value)
        return f"s{len(self.result.numbers) - self.result.loops - 1}"

    def index(self, node, role):
        """The place of the current value in a tensor: i0 * n1 + i1."""
        strides, terms = self.access[node, role], []
        for at, part in enumerate(self.space.loops):
            stride = strides[part[-1]]
            if not same(stride, 0):
                terms.append(f"i{at}" + self.factor(at, stride))
        return " + ".join(terms) or "0"

    def factor(self, at, stride):
        if same(stride, 1):
            return ""
        product, text = 1, ""
        for inner in range(at + 1, len(self.space.sizes)):
            product, text = product * self.space.sizes[inner], f"{text} * n{inner}"
            if same(product, stride):
                return text
        return f" * {self.number(stride)}"

    def in_row(self):
        """The place of the current value in its row."""
        text = ""
        for at in range(self.space.rows, len(self.space.sizes)):
            text = f"({text}) * n{at} + i{at}" if text else f"i{at}"
        return text or "0"

    # --- 2. Values --------------------------------------------------------------------------------

    def value(self, node, user):
        """C++ for the value of a tensor where `user` is computed."""
        dtype = node.meta["val"].dtype
        if node not in self.members:
            text = f"in_{node.name}[{self.index(node, self.role(node, user))}]"
        elif is_name(node):
            return self.value(node.args[0], node)
        elif self.row[node] or self.sweeps.at[node] == self.now:
            return node.name
        elif node in self.stored:
            text = f"out_{node.name}[{self.index(node, self.role(node, node))}]"
        else:
            return f"row_{node.name}[{self.in_row()}]"    # kept as it was computed
        return f"from_{CPP[dtype][0]}({text})" if dtype in HALVES else text

    def operand(self, given, user, dtype, argument="self"):
        if not isinstance(given, torch.fx.Node):
            wide = argument == "other" and name_of(user) in WIDE_NUMBERS
            return literal(given, dtype, rounded=not wide)
        value = given.meta["val"]
        if isinstance(value, torch.Tensor):
            return convert(self.value(given, user), value.dtype, dtype)
        return convert(self.number(value), torch.int64, dtype)

    def expression(self, node):
        text, conversions = rule_of(node)
        given, dtype = arguments(node), node.meta["val"].dtype
        text = text.format(**{name: self.operand(given[name], node, to, name)
                              for name, to in conversions.items()})
        return convert(f"({text})", torch.float32, dtype) if dtype in HALVES else text
