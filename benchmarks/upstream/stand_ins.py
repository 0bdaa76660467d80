"""torch.compile and its kin replaced for one test: by nothing, which is plain Python, by
mini_dynamo, or by themselves, with each call noted.

A function is captured with the test's own back end, so that its side effects happen. What that back
end asks of torch's graphs may not hold of others: if it fails, the graph runs as it is. So it does
for inductor and for names that no back end has, since only capture is tested. `fullgraph` is not
kept: a break is no error here, it is what mini_dynamo does where it has no rule.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import torch
import torch._dynamo.backends.registry
import torch._dynamo.testing

import mini_dynamo
from benchmarks.upstream.recorder import Recorder, as_library

BACKWARD = "CompiledAutograd"  # a graph that torch makes of its own steps of backward
PYTHON, TORCH, MINI = "python", "torch", "mini_dynamo"


class StandIns:
    """What the three names of torch are while a test runs."""

    def __init__(self, recorder: Recorder, world: str) -> None:
        self.recorder, self.world = recorder, world
        self.graphs = 0
        self.real = {"compile": torch.compile, "optimize": torch._dynamo.optimize,
                     "optimize_assert": torch._dynamo.optimize_assert}

    def install(self, test_file: ModuleType) -> None:
        """Replace the names wherever a test may look them up; the process ends with the test.

        Not in torch's own files: an export does not go by torch.compile.
        """
        real = {id(function): self.of(name) for name, function in self.real.items()}
        for space in (torch, torch._dynamo, torch._dynamo.testing, test_file):
            for name, value in list(vars(space).items()):
                if id(value) in real:
                    setattr(space, name, real[id(value)])

    def of(self, name: str) -> Callable:
        return as_library(getattr(self, name).__func__).__get__(self)

    def compile(self, model=None, *, backend="inductor", disable=False, **options):
        if model is None:
            return lambda fn: self.compile(fn, backend=backend, disable=disable, **options)
        return model if disable else self.wrapped(model, backend, lambda fn: self.real["compile"](
            fn, backend=backend, **options))

    def optimize(self, backend="inductor", *args, disable=False, **options):
        return lambda fn: fn if disable else self.wrapped(fn, backend, lambda fn: self.real[
            "optimize"](backend, *args, **options)(fn))

    def optimize_assert(self, backend, **options):
        return lambda fn: self.wrapped(fn, backend, lambda fn: self.real["optimize_assert"](
            backend, **options)(fn))

    def wrapped(self, fn: Any, backend: Any, by_torch: Callable) -> Any:
        """A function or module that notes its calls, the same from outside in each world."""
        if isinstance(fn, type) or not callable(fn) or type(fn).__name__.startswith(BACKWARD):
            return fn
        if self.world == MINI:
            inner = mini_dynamo.compile(fn, backend=self.forgiving(backend))
        else:
            inner = by_torch(fn) if self.world == TORCH else fn
        if isinstance(fn, torch.nn.Module):
            return CompiledModule(fn, as_library(self.noting(type(fn).__name__, inner)))
        noting = self.noting(getattr(fn, "__name__", type(fn).__name__), inner)
        return functools.wraps(fn)(as_library(noting))

    def noting(self, name: str, inner: Callable) -> Callable:
        recorder = self.recorder

        def compiled(*args, **kwargs):
            return recorder.call(name, inner, args, kwargs)
        return compiled

    def forgiving(self, backend: Any) -> Callable:
        """The test's back end, or where it fails the graph itself."""
        try:
            real = backend if callable(backend) else None if backend == "inductor" else \
                torch._dynamo.backends.registry.lookup_backend(backend)
        except Exception:
            real = None

        def called(module, examples):
            self.graphs += 1
            self.recorder.muted += 1
            try:
                made = real(module, examples) if real else module.forward
                return made if callable(made) else module.forward
            except Exception:
                return module.forward
            finally:
                self.recorder.muted -= 1
        return called

class CompiledModule(torch.nn.Module):
    """A compiled module: the attributes are those of the module that it was made from."""

    def __init__(self, module: torch.nn.Module, call: Callable) -> None:
        super().__init__()
        self.__dict__["_call"] = call
        self._modules["_orig_mod"] = module
        self.training = module.training

    def __call__(self, *args, **kwargs):
        return self._call(*args, **kwargs)

    def forward(self, *args, **kwargs):
        return self._call(*args, **kwargs)

    def __getattr__(self, name):
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._modules["_orig_mod"], name)

    def __setattr__(self, name, value):
        if name in ("training", "_modules", "_parameters", "_buffers") or "_orig_mod" not in \
                self.__dict__.get("_modules", {}):
            return super().__setattr__(name, value)
        return setattr(self._modules["_orig_mod"], name, value)


for method in vars(CompiledModule).values():
    if isinstance(method, FunctionType):
        as_library(method)
