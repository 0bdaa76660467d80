"""Dynamo: torch.compile's front end again, small enough to read.

A function is called. Instead of running its bytecode, a symbolic interpreter walks through it once:
tensor operations become nodes of a torch.fx.Graph, everything else is done on the spot, and what
was read from outside becomes a guard. The graph goes to a back end. The next call checks the guards
and runs the graph. Where the interpreter cannot go on, the graph ends: that one instruction runs
for real, and a new capture begins behind it.

The real Dynamo hooks into CPython and writes new bytecode: the call of the graph, the changes, the
unsupported instruction, the call of a resume function. Here a frame is data (mini_dynamo_bytecode),
so an interpreter can carry out that plan without any bytecode, and it is the same on each Python.
Not as in plain Python, for want of a guard or of a real frame:
- seen from outside: line, module, depth (over about 200) and __traceback__ of a frame; which of two
  equal constants is returned; when __del__ runs; the order of a set; an alias of locals(); calls
  counted by a mode, or by a method put on torch.Tensor; the attributes of a compiled module
- changed after a capture and not seen: a builtin, __bases__, __setattr__, a default removed
- which of two views, one made under no_grad, gets a gradient after a graph by AOTAutograd
- torch.jit.trace of a compiled function: names of generated code differ from run to run
- an error that the graph itself raises after it wrote to an input leaves the function at once
Read on: mini_dynamo_capture; then from below _bytecode, _functions, _rules, _rules_control,
_opcodes, _run (so far without torch), _values, _guards, _wrap, _attributes, _builtins, _calls,
_trace, _effects. Source: torch/_dynamo/convert_frame.py, symbolic_convert.py, resume_execution.py.
"""
import functools
import sys
import threading
import types
from dataclasses import dataclass, field

import torch

import mini_dynamo_guards as guards
from mini_dynamo_builtins import is_library
from mini_dynamo_bytecode import why_not
from mini_dynamo_capture import (
    Entry,
    Refused,
    Stopped,
    calls_forward,
    draws,
    may_resume,
    operations,
    output_tuple,
    sees_tensors,
    trace,
    unseen,
)
from mini_dynamo_effects import Recipes
from mini_dynamo_functions import frame_of
from mini_dynamo_opcodes import RULES
from mini_dynamo_rules_control import Returned
from mini_dynamo_run import Break, Real, run, step
from mini_dynamo_stats import Stats
from mini_dynamo_trace import state_of
from mini_dynamo_values import Lazy

__all__ = ["Unsupported", "compile", "stats"]
RECOMPILE_LIMIT = 8                                  # torch._dynamo.config.recompile_limit


class Unsupported(RuntimeError):
    """With fullgraph=True: why the function is not one graph."""


# --- 1. The cache ---------------------------------------------------------------------------------

@dataclass
class Point:
    """The cache of one place where a frame may begin: the start of a code, or behind a break."""

    entries: list = field(default_factory=list)
    skipped: bool = False


class Session:
    """Caches by code and position, and a back end: what one call of `compile` makes."""

    def __init__(self, backend, fullgraph=False):
        self.backend, self.fullgraph = backend, fullgraph
        self.points, self.stats, self.roots = {}, Stats(), set()
        self.real, self.lock = Real(self.call), threading.RLock()

    def call(self, function, args, kwargs):
        """A call in the real world. A Python function of the program is a frame of its own."""
        kind = type(function)
        if kind is types.MethodType:
            return self.call(function.__func__, [function.__self__, *args], kwargs)
        if isinstance(function, torch.nn.Module) and calls_forward(function):
            return self.call(function.forward, args, kwargs)
        if kind is not types.FunctionType or is_library(function):
            return function(*args, **kwargs)
        why = why_not(function.__code__, RULES)
        if why:
            self.skip(function.__code__, self.point(function.__code__, 0, 0), why)
            return function(*args, **kwargs)
        return self.run(frame_of(function, args, kwargs))

    def point(self, code, at, depth):
        return self.points.setdefault((code, at, depth), Point())

    def run(self, frame):
        """A frame from start to end: graph, one real instruction, graph, ..."""
        while True:
            with self.lock:                          # two threads would capture the same twice
                entry = self.entry(frame)
            if entry is None:
                return run(frame, self.real)
            done, value = self.attempt(entry, frame)
            if done:
                return value
            if entry.plain or done is None:          # outside of any `except`: no __context__
                return run(frame, self.real)
            try:
                step(frame, self.real)
            except Returned as end:
                return end.value
            if not may_resume(frame, frame.at):
                return run(frame, self.real)

    def attempt(self, entry, frame):
        try:
            return entry.run(frame)
        except Refused:
            return None, None

    def entry(self, frame):
        """The entry whose guards hold, a new one, or None if the frame runs as plain Python."""
        point = self.point(frame.code, frame.at, len(frame.stack))
        state = state_of(frame)
        for entry in () if point.skipped else point.entries:
            if entry.holds(state):
                return entry
        if point.skipped:
            return None
        if (frame.at or frame.code not in self.roots) and not sees_tensors(frame):
            return None
        if len(point.entries) >= RECOMPILE_LIMIT:
            return self.skip(frame.code, point, f"recompile limit of {RECOMPILE_LIMIT} reached")
        if point.entries:
            self.stats.recompile_reasons.append(point.entries[-1].why(state))
        with unseen():
            return self.capture(frame, point)

    def skip(self, code, point, why):
        if not point.skipped:
            self.stats.skipped.append((code.co_qualname, why))
        point.skipped = True

    # --- 2. Capture, with what to do at a break ---------------------------------------------------

    def capture(self, frame, point):
        try:
            return self.keep(frame, point, *trace(frame))
        except Stopped as met:
            stopped, cause = met.with_traceback(None), met.cause
            if self.fullgraph:
                raise Unsupported(cause.reason) from None
        except Break as broken:                      # what is returned cannot be rebuilt
            return self.skip(frame.code, point, broken.reason)
        if cause.hopeless or frame.program.loops_around(stopped.where):
            where = "" if cause.hopeless else "break in a loop: "
            return self.skip(frame.code, point, where + cause.reason)
        plain = not (cause.resumable and self.resumable_at(frame, stopped))
        stop = stopped.fallback if plain else stopped.count
        if stop is None:
            return self.skip(frame.code, point, cause.reason)
        try:
            entry = self.keep(frame, point, *trace(frame, stop), plain)
        except Break as broken:
            return self.skip(frame.code, point, broken.reason)
        self.stats.break_reasons.append(cause.reason)
        return entry

    def resumable_at(self, frame, stopped):
        tracer, _ = trace(frame, stopped.count)
        try:
            return may_resume(tracer.frame, stopped.where)
        finally:
            tracer.forget()

    def keep(self, frame, point, tracer, returned, plain=False):
        """Turn a finished trace into an entry, if it's worth one."""
        try:
            if returned and not (operations(tracer.graph) or self.fullgraph):
                return self.skip(frame.code, point, "no operation on tensors in it")
            return self.made(point, tracer, returned, plain)
        finally:
            tracer.forget()

    def made(self, point, tracer, returned, plain):
        """An entry: recipes, changes, and the graph for the back end."""
        recipes, f = Recipes(tracer), tracer.frame
        result = recipes.of(returned[0]) if returned else None
        live = {} if returned else {name: recipes.of(value) for name, value in f.locals.items()
                                    if type(value) is not Lazy}
        deleted = [name for name in tracer.real_state["L"] if name not in f.locals]
        stack = [] if returned else [recipes.of(value) for value in f.stack]
        changes = recipes.changes()
        compiled, inputs = self.hand_over(tracer, recipes)
        if len(several := tracer.mutable_sources()) > 1:
            tracer.guard(guards.distinct(several))
        if len(several := tracer.overlapping()) > 1:
            tracer.guard(guards.overlap(several, tracer.real_state))
        goes_on = {"at": f.at, "kw_names": f.kw_names, "grad_blocks": f.grad_blocks}
        entry = Entry(tracer.guards, inputs, compiled, recipes.sources, len(recipes.outputs),
                      changes, result, goes_on, live, deleted, stack, draws(tracer.graph), plain)
        point.entries.append(entry)
        self.stats.guards.append(tracer.guards)
        return entry

    def hand_over(self, tracer, recipes):
        """Give the graph to the back end; a graph without operations only returns nothing."""
        if not operations(tracer.graph):
            return None, []
        module = output_tuple(tracer.graph, recipes.outputs)
        nodes = {node for node in module.graph.nodes if node.op == "placeholder"}
        used = [t for t in tracer.inputs if t.node in nodes]
        order = {node: k for k, node in enumerate(module.graph.nodes)}
        used.sort(key=lambda t: order[t.node])
        examples = [t.source.fetch(tracer.real_state) for t in used]
        self.stats.graph_modules.append(module)
        compiled = self.backend(module, examples) if self.backend else module.forward
        if not callable(compiled):
            raise TypeError(f"a back end must return a callable; this one returned {compiled!r}")
        return compiled, [t.source for t in used]


# --- 3. The face ----------------------------------------------------------------------------------

def compile(fn=None, backend=None, *, fullgraph=False):
    """A callable that does what `fn` does, by graphs.

    fn: a function, a method or a torch.nn.Module; without it, a decorator.
    backend(gm, example_inputs) gets a torch.fx.GraphModule and returns a callable that takes the
    same tensors and returns the same tuple; None runs the module itself.
    Raises Unsupported, at a call, if fullgraph=True and the function would break.
    Source: torch/__init__.py:compile, torch/_dynamo/eval_frame.py.
    """
    if fn is None:
        return functools.partial(compile, backend=backend, fullgraph=fullgraph)
    if wrong := [v for v in (fn, backend) if not (v is None or callable(v))]:
        raise TypeError(f"fn and backend must be a callable, not {wrong[0]!r}")
    session = Session(backend, fullgraph)

    @functools.wraps(fn, updated=())
    def compiled(*args, **kwargs):
        return session.call(fn, args, kwargs)
    target = getattr(fn, "forward", fn)
    session.roots.add(getattr(getattr(target, "__func__", target), "__code__", None))
    compiled.session = session
    return compiled


def stats(compiled):
    """The Stats of what `compile` returned."""
    return compiled.session.stats


if __name__ == "__main__":
    try:
        from mini_dynamo_tour import main
    except ModuleNotFoundError:                      # a download: the tour is not here
        sys.stderr.write("mini_dynamo；下一步 · next: python3 check_dynamo.py\n")
        sys.exit(2)
    sys.exit(main())
