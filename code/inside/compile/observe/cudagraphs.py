"""What torch itself says about CUDA graphs, without a GPU, and what a replay machine's pool holds.

    from inside.compile.observe.cudagraphs import calls, calls_of_a_model, recordings, why_skipped
    why_skipped(lambda x, y: x * y, "cuda", "cpu")   # the reason, in torch's words, or None
    calls_of_a_model(4)         # what torch's manager does at each of four calls of a model
    calls_of_a_model([8, 8, 12])                     # the same for inputs of these sizes
    calls_of_a_model(["f", "g", "f", "g"])           # for two functions, one after the other
    micro_batches(4)            # for forward and backward, as in gradient accumulation
    torch.compile(f, backend=replaying)              # gradients at the same addresses each time
    calls(graphs), recordings(graphs)                # what a `replay.Graphs` has recorded
    writes(graphs, f, inputs)   # what was written where in the pool, run after run

The reasons come from fake tensors, which have a device and no memory. The manager is torch's own
(`torch._inductor.cudagraph_trees.CUDAGraphTreeManager`) with the work on the GPU left out; its
warnings are raised as in torch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import chain
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.backends.cudagraphs import check_for_skip
from torch._dynamo.mutation_guard import GenerationTracker
from torch._functorch.aot_autograd import make_boxed_func
from torch._inductor import cudagraph_trees as trees
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import ShapeEnv


def why_skipped(fn: Callable, *devices: str) -> str | None:
    """Why torch's `cudagraphs` back end would not record `fn`, or None if it would.

    For each device `fn` gets a vector of length 3, for "cpu" a tensor without dimensions.
    """
    with FakeTensorMode(shape_env=ShapeEnv()):
        graph = make_fx(fn)(*(torch.empty(() if each == "cpu" else (3,), device=each)
                              for each in devices))
    reason = check_for_skip(graph, 0)
    return reason and reason.split("\n")[0].split(" Found from")[0].rstrip(". ")


class _Node(trees.CUDAGraphNode):
    """A recording of which only its place in the tree is left."""

    def __init__(self) -> None:
        self.children = defaultdict(list)
        self.id = trees.GraphID(0)

    def check_invariants(self, inputs: list) -> tuple:
        return trees.CheckInvariantStatus.SUCCESS, str

    def all_outputs_are_dead(self) -> bool:
        return False                                 # somebody keeps each output


class _WarmUp(trees.CUDAWarmupNode):
    """A warm-up run without the run: what it ran, and what ran before it in the same step."""

    def __init__(self, function: Any, parent: Any) -> None:
        self.id = trees.GraphID(0)
        self.wrapped_function, self.parent = function, parent

    def all_outputs_are_dead(self) -> bool:
        return False


class _Manager(trees.CUDAGraphTreeManager):
    """torch's decisions; what they would do on the GPU is written down."""

    def __init__(self, modes: dict[Any, trees.CompilationMode]) -> None:
        self.said: list[str] = []
        self.marked = False
        self.ids_to_funcs = {each: SimpleNamespace(
            mutated_input_idxs=(), static_input_idxs=(), id=each) for each in modes}
        self.id_to_mode = modes
        self.id_to_compile_id = dict.fromkeys(modes)
        self.ids_to_stack_traces = {each: [] for each in modes}
        self.roots = defaultdict(list)
        self.warmed_up_functions, self.warned_functions = set(), set()
        self.non_cudagraph_managed_mutation_hint = defaultdict(dict)
        self.skip_cudagraph = defaultdict(dict)                # from torch 2.15 on
        self.num_rerecord = defaultdict(lambda: defaultdict(int))
        self.running_forwards_with_pending_backwards = False
        self.has_live_user_visible_output_cloning = False      # from torch 2.14 on
        self.graph, self.current_gen, self.debug_fail_counter = object(), -1, 0
        self.current_node = None

    def run_eager(self, new_inputs: list, function_id: Any) -> None:
        self.warmed_up_functions.add(function_id)
        node = _WarmUp(self.ids_to_funcs[function_id], self.current_node)
        self._at(node, trees.ExecutionState.WARMUP, "warm-up")

    def record_function(self, new_inputs: list, function_id: Any) -> None:
        node = _Node()
        children = self.current_node.children if self.current_node else self.roots
        children[function_id].append(node)
        self._at(node, trees.ExecutionState.RECORDING, "recording")

    def execute_node(self, node: _Node, new_inputs: list) -> None:
        self._at(node, trees.ExecutionState.EXECUTION, "replay")

    def dealloc_current_path_weakrefs(self) -> None:
        self.marked = True                           # torch marks the old outputs here

    def apply_checkpoint_execution_state_in_allocator(self) -> None:
        """Nothing to restore."""

    def _clone_current_path_live_user_visible_outputs(self) -> None:
        """From torch 2.14 on; does nothing unless its option is set."""

    def _at(self, node: Any, state: trees.ExecutionState, what: str) -> None:
        self.current_node, self.path_state = node, state
        self.update_generation()
        self.said.append(what)


def calls_of_a_model(calls: int | Sequence, backward: bool = False,
                     mark_every: int = 0) -> list[tuple[str, bool]]:
    """For each call of a compiled function, what torch does and whether it first marks outputs.

    `calls` is how many, or for each call the size of its input or the name of its function: torch
    keeps each size as a function for itself (`cudagraphify_impl`). All outputs stay referenced.
    With `backward`, each call waits for a backward that never comes, and torch warns. With
    `mark_every=n`, `cudagraph_mark_step_begin` comes before every n-th call, also the first.
    """
    functions = [0] * calls if isinstance(calls, int) else calls
    modes = trees.CompilationMode
    mode = modes.FORWARD if backward else modes.INFERENCE
    return _run([(function, mode) for function in functions], mark_every)


def micro_batches(count: int) -> list[tuple[str, bool]]:
    """The same for the forwards and backwards of as many micro-batches, in turn.

    The gradients stay referenced, as those in `.grad` do.
    """
    modes = trees.CompilationMode
    return _run([("forward", modes.FORWARD), ("backward", modes.BACKWARD)] * count)


def _run(calls: Sequence[tuple], mark_every: int = 0) -> list[tuple[str, bool]]:
    modes = {trees.FunctionID(function): mode for function, mode in calls}
    manager = _Manager(modes)
    before, found = GenerationTracker.generation, []
    marks = trees.MarkStepBox.mark_step_counter
    try:
        for call, (function, mode) in enumerate(calls):
            if mode != trees.CompilationMode.BACKWARD:
                GenerationTracker.generation += 1    # as a call of a compiled function does
            if mark_every and call % mark_every == 0:
                torch.compiler.cudagraph_mark_step_begin()
            manager.marked = False
            manager.run([], trees.FunctionID(function))
            found.append((manager.said[-1], manager.marked))
    finally:
        GenerationTracker.generation, trees.MarkStepBox.mark_step_counter = before, marks
    return found


_GRADIENTS: list[torch.Tensor] = []  # torch notes cached tensors by address, so they must stay


def _same_addresses(module: torch.fx.GraphModule, inputs: list) -> Callable:
    """A backward that returns the same tensors in each run, marked as cached, as torch's do."""
    kept: list[torch.Tensor | None] = []

    def run(*args: torch.Tensor) -> list:
        made = module.forward(*args)
        if not kept:
            torch._C._set_cached_tensors_enabled(True)
            kept.extend(None if each is None else each.clone() for each in made)
            for each in filter(torch.is_tensor, kept):
                torch._C._add_cached_tensor(each)    # `CUDAGraphNode._initialize_cached_tensors`
                _GRADIENTS.append(each)
        for at, each in zip(kept, made, strict=True):
            _ = at is None or at.copy_(each)
        return list(kept)
    return make_boxed_func(run)


replaying = aot_autograd(
    fw_compiler=lambda module, inputs: make_boxed_func(module.forward), bw_compiler=_same_addresses)


def recordings(graphs: Any) -> int:
    """How many recordings the tree of a `replay.Graphs` holds."""
    def count(children: dict) -> int:
        return sum(1 + count(each.children) for each in children.values())
    return count(graphs.roots)


def calls(graphs: Any) -> list[str]:
    """The operators of the first recording, with the addresses of their tensors in the pool."""
    def places(values: Any) -> str:
        tensors = (each for each in values if isinstance(each, torch.Tensor))
        return ", ".join(str(graphs.pool.position(each)) for each in tensors)
    node = next(iter(graphs.roots.values()))
    return [f"{op}: reads {places(args)}, writes {places(made)}"
            for op, args, _, made in node.calls]


class Write(NamedTuple):
    """One write into the pool: by which run, what wrote, and what each 64-byte slot then holds."""

    run: int
    by: str
    slot: int
    held: dict[int, float]


def writes(graphs: Any, fn: Callable, inputs: Sequence[torch.Tensor]) -> list[Write]:
    """Every write of `fn` into the pool of a new `replay.Graphs`, one step for each input.

    Slots show the first element that was written there. The first step records and is then
    replayed with the same input, so that all runs are seen in the same way.
    """
    output = graphs(fn, inputs[0])
    node, held, found = next(iter(graphs.roots.values())), {}, []
    del output
    for run, x in enumerate(inputs, start=1):
        graphs.step()
        node.inputs[0].copy_(x)
        for by, places in chain([("copy", node.inputs)], _again(node)):
            for at in places:
                slot = graphs.slots(at)[0]
                held = held | {slot: at.reshape(-1)[0].item()}
                found.append(Write(run, by, slot, held))
    return found


def _again(node: Any) -> Any:
    """The operators of a recording, each run again when it is asked for."""
    for op, args, kwargs, made in node.calls:
        made[0].copy_(op(*args, **kwargs))
        yield op._schema.name.split("::")[1], made
