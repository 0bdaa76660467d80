"""One capture: from a frame to an entry of the cache.

`trace` walks through a frame; an Entry is what remains of it: guards, a compiled graph, and what to
do after the graph. Source: torch/_dynamo/convert_frame.py, output_graph.py (compile_subgraph).
"""
import contextlib
import random
import types
from dataclasses import dataclass

import torch

from mini_dynamo_builtins import hooks_on_all
from mini_dynamo_effects import Run
from mini_dynamo_rules_control import Returned
from mini_dynamo_run import Break, step
from mini_dynamo_trace import Tracer, cell_full, state_of


@dataclass
class Entry:
    """Guards, the compiled graph, and what to do after it."""

    guards: list
    inputs: list                     # sources of the graph's arguments
    compiled: object                 # a callable that returns a tuple, or None without operations
    sources: list                    # what is fetched before the graph runs, for the recipes
    outputs: int                     # how many tensors the graph returns
    changes: list
    result: object                   # the recipe of what is returned, or None
    frame: dict                      # or where the frame goes on, and what is live there
    locals: dict
    deleted: list
    stack: list
    random: bool = False             # whether the graph draws random numbers
    plain: bool = False              # whether the rest runs as plain Python

    def holds(self, state):
        return all(guard.check(state) for guard in self.guards)

    def why(self, state):
        return next(g.reason(state) for g in self.guards if not g.check(state))

    def run(self, frame):
        """Run the graph, apply the changes, and bring the frame to where tracing ended.

        Returns (done, value)."""
        state = state_of(frame)
        fetched = [source.fetch(state) for source in self.sources]
        outputs = self.run_graph([source.fetch(state) for source in self.inputs])
        now = Run(outputs, fetched)
        live = {name: recipe(now) for name, recipe in self.locals.items()}
        stack = [recipe(now) for recipe in self.stack]
        value = self.result and self.result(now)
        for change in self.changes:
            change(now)
        if self.result:
            return True, value
        for name in self.deleted:
            frame.locals.pop(name, None)
        frame.locals.update(live)                    # what nobody touched stays as it is
        frame.stack[:] = stack
        vars(frame).update(self.frame)
        return False, None

    def run_graph(self, inputs):
        if self.compiled is None:
            return ()
        grad_mode, versions = torch.is_grad_enabled(), versions_of(inputs)
        drawn = torch.get_rng_state() if self.random else None
        try:
            outputs = self.compiled(*inputs)
        except Exception as error:
            torch._C._set_grad_enabled(grad_mode)    # the graph may have stopped inside no_grad
            if versions != versions_of(inputs) or (self.random and torch.cuda.is_initialized()):
                raise
            if self.random:
                torch.set_rng_state(drawn)
            raise Refused from error
        if not isinstance(outputs, (tuple, list)) or len(outputs) != self.outputs:
            raise TypeError("the compiled graph must return a tuple as long as the graph's own, "
                            f"{self.outputs}; it returned a {type(outputs).__name__}")
        return outputs


def versions_of(tensors):
    """How often each was written to; an inference tensor does not count, so it equals nothing."""
    return [object() if t.is_inference() else t._version for t in tensors]


class Refused(Exception):
    """The graph raised an error, and has changed nothing: the frame can run as plain Python, which
    raises the same after the side effects that come before it. (torch raises at once.)"""


class Stopped(Exception):
    """The trace met a break after `count` instructions; `fallback` is the last safe count."""

    def __init__(self, count, cause, where, fallback):
        self.count, self.where, self.fallback = count, where, fallback
        self.cause = cause.with_traceback(None)      # its frames would keep the inputs alive


def trace(frame, stop=None):
    """Walk through a copy of the frame, to its end or for `stop` instructions.

    Returns the Tracer and, at the end, [the returned value]; raises Stopped at a break."""
    tracer, mode, fallback = Tracer(frame), torch.is_grad_enabled(), None
    f, count = tracer.frame, 0
    try:
        while count != stop:
            if not f.stack and may_resume(f, f.at) and operations(tracer.graph):
                fallback = count
            position = f.at
            try:
                step(f, tracer)
            except Returned as end:
                return tracer, [end.value]
            except Break as cause:
                raise Stopped(count, cause, position, fallback) from None
            except tracer.foreign:                   # meant for the user, not for the program
                raise
            except BaseException as error:           # nobody in the program catches it
                cause = Break(f"{type(error).__name__} is raised: {error}", hopeless=True)
                raise Stopped(count, cause, position, fallback) from None
            count += 1
        return tracer, None
    except BaseException:
        tracer.forget()
        raise
    finally:
        torch._C._set_grad_enabled(mode)


@contextlib.contextmanager
def unseen():
    """Capture takes no random number from the program and calls none of its hooks.

    A back end may try the graph, and tracing does operations on fakes.
    """
    hooks = torch._C._autograd._saved_tensors_hooks_set_tracing
    drawn, before = (random.getstate(), torch.get_rng_state()), hooks(True)
    try:
        yield
    finally:
        hooks(before)
        random.setstate(drawn[0])
        torch.set_rng_state(drawn[1])


def may_resume(f, position):
    """Whether a capture may begin or end here: not inside `try`, and not in an `except` block."""
    handler = f.program.handler(f.program.instructions[position].offset)
    return f.handling is None and (handler is None or handler.target in f.grad_blocks)


def calls_forward(module):
    """Whether calling a module is calling its forward: no hooks, no __call__ of its own."""
    hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return type(module).__call__ is torch.nn.Module.__call__ and not any(
        getattr(module, name) for name in hooks) and not hooks_on_all()


def sees_tensors(frame):
    """Whether a frame is worth a look: it holds a tensor or a module, or names torch.

    Source: torch/_dynamo/convert_frame.py (has_tensor_in_frame).
    """
    ahead = {name for inst in frame.program.instructions[frame.at:]
             for name in (inst.argval if isinstance(inst.argval, tuple) else (inst.argval,))
             if isinstance(name, str)}
    named = [frame.globals.get(name) for name in ahead]
    if any(isinstance(v, types.ModuleType) and v.__name__.split(".")[0] == "torch" for v in named):
        return True
    seen, waiting = set(), [*frame.stack, *(v for name, v in frame.locals.items() if name in ahead)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, (torch.Tensor, torch.nn.Module)):
            return True
        if id(value) not in seen and isinstance(value, (list, tuple, dict, types.CellType)):
            seen.add(id(value))
            waiting.extend(inside(value))
    return False


def inside(value):
    if isinstance(value, types.CellType):
        return [value.cell_contents] if cell_full(value) else []
    return value.values() if isinstance(value, dict) else value


def draws(graph):
    """Whether an operation may draw random numbers, judged by its name."""
    return any(word in str(node.target) for node in operations(graph) for word in (
        "rand", "drop", "bernoulli", "normal", "multinomial", "poisson", "exponential", "uniform",
        "gumbel", "rrelu", "scaled_dot_product"))


def operations(graph):
    return [node for node in graph.nodes if node.op.startswith("call")]


def output_tuple(graph, nodes):
    """End the graph: return these nodes, and drop placeholders that nobody reads."""
    graph.output(tuple(nodes))
    for node in list(graph.nodes):
        if node.op == "placeholder" and not node.users:
            graph.erase_node(node)
    return torch.fx.GraphModule(torch.nn.Module(), graph)
