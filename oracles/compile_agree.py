"""mini_compile beside eager: many graphs, few runs of the compiler, and what differs in words."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import torch

import mini_compile
import mini_compile_build
from mini_compile_prelude import PRELUDE
from oracles.compile_graphs import Drawn, random_graph

RELATIVE = {torch.float64: 1e-9, torch.float32: 2e-5, torch.float16: 1.5e-2, torch.bfloat16: 8e-2}


class Batch:
    """Stands in for mini_compile_build.library: sources are gathered until a function is called."""

    def __init__(self) -> None:
        self.pending: list[tuple[str, str]] = []
        self.count = self.runs = 0
        self.libraries: dict[str, object] = {}
        self.real = mini_compile_build.library

    def library(self, source: str) -> Later:
        prefix, self.count = f"g{self.count}_", self.count + 1
        body = source.removeprefix(PRELUDE)
        self.pending.append((prefix, re.sub(r"\bloop_(\d+)\(", rf"{prefix}loop_\1(", body)))
        return Later(self, prefix)

    def function(self, prefix: str, name: str):
        if self.pending:
            built = self.real(PRELUDE + "\n".join(text for _, text in self.pending))
            self.libraries |= {prefix: built for prefix, _ in self.pending}
            self.pending, self.runs = [], self.runs + 1
        return getattr(self.libraries[prefix], prefix + name)


class Later:
    """A library that is not built yet."""

    def __init__(self, batch: Batch, prefix: str) -> None:
        self._batch, self._prefix = batch, prefix

    def __getattr__(self, name: str) -> Function:
        return Function(self._batch, self._prefix, name)


class Function:
    """A function of it, which is found when it is called."""

    def __init__(self, *where) -> None:
        self.where, self.found = where, None

    def __call__(self, *args) -> None:
        if self.found is None:
            batch, prefix, name = self.where
            self.found = batch.function(prefix, name)
            self.found.argtypes, self.found.restype = self.argtypes, self.restype
        self.found(*args)


@contextmanager
def batched() -> Iterator[Batch]:
    """Within it, graphs are compiled together."""
    batch = Batch()
    mini_compile_build.library = batch.library
    try:
        with torch._functorch.config.patch(force_non_lazy_backward_lowering=True):
            yield batch
    finally:
        mini_compile_build.library = batch.real


def copied(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor again, with its own memory and the same strides."""
    room = tensor.detach().untyped_storage().clone()
    again = torch.empty(0, dtype=tensor.dtype).set_(
        room, tensor.storage_offset(), tensor.shape, tensor.stride())
    return again.requires_grad_(tensor.requires_grad)


def steps(tensor: torch.Tensor) -> list[int]:
    """The strides that matter: a dimension of size 1 has none."""
    return [s for n, s in zip(tensor.shape, tensor.stride(), strict=True) if n != 1]


def unlike(name: str, found, wanted, exact: bool, scale: float, near: float) -> str:
    """What differs between two tensors, or nothing."""
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return f"{name}: {found.dtype}{list(found.shape)}, not {wanted.dtype}{list(wanted.shape)}"
    if found.requires_grad != wanted.requires_grad:
        return f"{name}: requires_grad is {found.requires_grad}"
    if wanted.numel() and name.startswith("output") and steps(found) != steps(wanted):
        return f"{name}: strides {found.stride()}, not {wanted.stride()}"
    found, wanted = found.detach(), wanted.detach()
    if exact or not wanted.is_floating_point():
        same = torch.equal(found.nan_to_num(7.5), wanted.nan_to_num(7.5)) and torch.equal(
            found.isnan(), wanted.isnan()) if wanted.is_floating_point() else torch.equal(
                found, wanted)
        return "" if same else f"{name}: not the same bits: {found} and {wanted}"
    if torch.allclose(found, wanted, rtol=near, atol=near * scale, equal_nan=True):
        return ""
    return f"{name}: too far away: {found} and {wanted}"


def gradients(one: Drawn, outputs, inputs):
    wanted = [out for out in outputs if out.requires_grad and out.grad_fn is not None]
    if not wanted:
        return []
    return torch.autograd.grad([out.double().sum() for out in wanted], inputs, allow_unused=True)


def differences(one: Drawn, compiled) -> str:
    """What differs between eager and a compiled graph; the first thing, in words, or nothing."""
    ours, theirs = [copied(x) for x in one.inputs], [copied(x) for x in one.inputs]
    wanted, found = one.module(*theirs), compiled(*ours)
    near = max(RELATIVE[dtype] for dtype in one.floats)
    for k, (a, b, exact) in enumerate(zip(found, wanted, one.exact, strict=True)):
        if words := unlike(f"output {k}", a, b, exact, one.scale, near):
            return words
    slopes = gradients(one, found, ours), gradients(one, wanted, theirs)
    for k, (a, b) in enumerate(zip(*slopes, strict=True)):
        if (a is None) != (b is None):
            return f"gradient {k}: {a}, not {b}"
        if a is not None:
            scale = max(one.scale, b.detach().double().nan_to_num(0, 0, 0).abs().max().item()
                        if b.numel() else 0)
            if words := unlike(f"gradient {k}", a, b, False, scale, near):
                return words
    return ""


class Survey:
    """Random graphs compiled in batches, each compared with eager."""

    def __init__(self, seeds, gradient: bool = False, each: int = 50) -> None:
        self.wrong: list[str] = []
        self.count, self.loops, self.operators = 0, 0, Counter()
        seeds = list(seeds)
        for at in range(0, len(seeds), each):
            self.some(seeds[at:at + each], gradient)

    def some(self, seeds, gradient: bool) -> None:
        before = len(mini_compile.stats.graphs)
        with batched(), warnings.catch_warnings():
            warnings.simplefilter("ignore")              # var of one number
            warnings.filterwarnings("error", message="mini_compile")
            drawn = [random_graph(seed, gradient) for seed in seeds]
            compiled = [self.compiled(one) for one in drawn]
            for one, run in zip(drawn, compiled, strict=True):
                self.count += 1
                try:
                    words = run if isinstance(run, str) else differences(one, run)
                except Exception as error:
                    words = f"{type(error).__name__}: {error}"
                if words:
                    self.wrong.append(f"seed {one.seed} {'/'.join(one.operations)}: {words}")
        for graph in mini_compile.stats.graphs[before:]:
            self.loops += len(graph.loops)
            self.operators.update(sum(len(loop.nodes) for loop in graph.loops) * ["in a loop"])
            self.operators.update(why for why in graph.alone.values())

    def compiled(self, one: Drawn):
        try:
            return mini_compile.backend(one.module, [copied(x) for x in one.inputs])
        except Exception as error:
            return f"{type(error).__name__}: {error}"
