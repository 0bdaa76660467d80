"""A compiled graph runs: its loops and its single operators, one after the other.

Each step takes its operands from the values so far and adds its results; a value that no later step
reads is dropped, so its memory can serve the next. Sizes that are symbolic are computed once a call
from the graph's inputs. Source: torch/_inductor/codegen/wrapper.py (what its `call` does).
"""
import ctypes
import math

import torch
from torch.utils._sympy.printers import PythonPrinter

from mini_compile_build import CannotBuild

__all__ = ["Call", "Loop", "Program", "Sizes"]
GRAIN = 32768                                        # values that are worth a thread, as in ATen


class Sizes:
    """Symbolic numbers become a Python function of the graph's inputs, evaluated once a call."""

    def __init__(self, placeholders):
        self.sources, self.wanted, self.code = {}, {}, None
        for at, node in enumerate(placeholders):
            value = node.meta.get("val")
            if isinstance(value, torch.SymInt):
                self.sources.setdefault(value.node.expr, (at, None))
        for at, node in enumerate(placeholders):
            value = node.meta.get("val")
            for d, size in enumerate(value.shape if isinstance(value, torch.Tensor) else ()):
                if isinstance(size, torch.SymInt):
                    self.sources.setdefault(size.node.expr, (at, d))

    def ask(self, numbers):
        """A function that gives the numbers of a call, from what `of` returned."""
        if all(isinstance(number, int) for number in numbers):
            fixed = tuple(numbers)
            return lambda known: fixed
        places = [self.wanted.setdefault(str(self.expression(n)), len(self.wanted))
                  for n in numbers]
        return lambda known: tuple(known[at] for at in places)

    def expression(self, number):
        return number if isinstance(number, int) else PythonPrinter().doprint(number.node.expr)

    def of(self, args):
        """All numbers asked for, for one call."""
        if not self.wanted:
            return ()
        if self.code is None:
            self.code = compile(f"({', '.join(self.wanted)},)", "<sizes>", "eval")
        names = {str(symbol): args[at] if d is None else args[at].shape[d]
                 for symbol, (at, d) in self.sources.items() if symbol.is_symbol}
        return eval(self.code, {"math": math, "max": max, "min": min}, names)


class Call:
    """One operator as it is."""

    def __init__(self, node, module):
        self.node, self.module = node, module

    def run(self, values, known):
        node = self.node
        if node.op == "get_attr":
            value = self.module
            for name in node.target.split("."):
                value = getattr(value, name)
        else:
            args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), values.__getitem__)
            function = getattr(args[0], node.target) if node.op == "call_method" else node.target
            value = function(*(args[1:] if node.op == "call_method" else args), **kwargs)
        values[node] = value


class Loop:
    """A kernel: allocate its results, then one call of the C++ function."""

    def __init__(self, kernel, sizes):
        self.kernel, self.function = kernel, None
        self.numbers = sizes.ask(kernel.numbers)
        self.inputs = [(node, sizes.ask(node.meta["val"].stride()), node.meta["val"].dtype)
                       for node in kernel.inputs]
        self.outputs = [(node, sizes.ask(node.meta["val"].shape),
                         sizes.ask(node.meta["val"].stride()), node.meta["val"].dtype)
                        for node in kernel.outputs]

    def bind(self, library):
        """Find the function in the compiled library. Raises CannotBuild."""
        try:
            self.function = getattr(library, self.kernel.name)
        except AttributeError:
            raise CannotBuild(f"the C++ compiler left out {self.kernel.name}") from None
        pointers = len(self.inputs) + len(self.outputs)
        self.function.argtypes = [*[ctypes.c_void_p] * pointers,
                                  *[ctypes.c_int64] * len(self.kernel.numbers), ctypes.c_int]
        self.function.restype = None

    def run(self, values, known):
        read = [as_expected(values[node].to(dtype), stride(known))
                for node, stride, dtype in self.inputs]   # fakes announce some dtypes wrongly
        for node, shape, stride, dtype in self.outputs:
            values[node] = torch.empty_strided(shape(known), stride(known), dtype=dtype,
                                               device="cpu")
        numbers = self.numbers(known)
        pointers = [t.data_ptr() for t in read] + [
            values[node].data_ptr() for node, *_ in self.outputs]
        work = math.prod(numbers[:self.kernel.loops])
        threads = max(1, min(torch.get_num_threads(), work // GRAIN))
        self.function(*pointers, *numbers, threads)


def as_expected(tensor, stride):
    """The tensor with the strides for which the loop was written; as a rule it has them."""
    if tensor.is_neg() or tensor._is_zerotensor():    # the memory does not hold the values
        tensor = torch.zeros_like(tensor) if tensor._is_zerotensor() else tensor.resolve_neg()
    dims = zip(tensor.shape, tensor.stride(), stride, strict=True)
    if tensor.numel() == 0 or all(size == 1 or is_now == wanted for size, is_now, wanted in dims):
        return tensor                                 # a dimension of size 1 is never stepped along
    repeats = [n > 1 and s == 0 for n, s in zip(tensor.shape, stride, strict=True)]
    first = tensor[tuple(slice(1) if same else slice(None) for same in repeats)]
    made = torch.empty_strided(first.shape, stride, dtype=tensor.dtype).copy_(first)
    made = made.expand(tensor.shape)
    if any(repeats) and not torch.equal(made, tensor):
        raise RuntimeError(f"mini_compile: a tensor of strides {tensor.stride()} came where the "
                           f"graph says {stride}, and its repeated values differ")
    return made


class Program:
    """The compiled graph, a callable: tensors and ints in, a list out."""

    def __init__(self, module, steps, sizes):
        self.steps, self.sizes = steps, sizes
        self.placeholders = [n for n in module.graph.nodes if n.op == "placeholder"]
        self.output = next(n for n in module.graph.nodes if n.op == "output").args[0]
        self.drop = self.last_uses()

    def last_uses(self):
        """For each step, the values that nobody reads after it."""
        seen = set()
        torch.fx.node.map_arg(self.output, seen.add)
        drops = []
        for step in reversed(self.steps):
            nodes = {step.node} | set(step.node.all_input_nodes) if isinstance(step, Call) else {
                *step.kernel.inputs, *step.kernel.outputs}
            drops.append(nodes - seen)
            seen |= nodes
        return drops[::-1]

    def __call__(self, *args):
        return self.run(list(args))

    def run(self, args):
        """args: a list, which is emptied, so that the caller does not keep the tensors alive."""
        values = dict(zip(self.placeholders, args, strict=True))
        known = self.sizes.of(args)
        args.clear()
        for step, drop in zip(self.steps, self.drop, strict=True):
            step.run(values, known)
            for node in drop:
                del values[node]
        return list(torch.fx.node.map_arg(self.output, values.__getitem__))
