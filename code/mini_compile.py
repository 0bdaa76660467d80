"""A back end for torch.compile that writes C++: Inductor again, small enough to read.

    fast = torch.compile(f, backend=mini_compile.backend)        the front end of torch, or
    fast = mini_dynamo.compile(f, backend=mini_compile.backend)  the one of this book
    print(seen := mini_compile.explain(f, x))                    what became of f, node by node
    seen.graphs, seen.loops, seen.alone, seen.source             graphs, kernels, {node: why}, C++
    mini_compile.stats                                           graphs, loops, compiler runs, cache

1. AOTAutograd turns the graph into ATen operators without side effects, one graph for the forward
   pass and one for the backward, with some operators taken apart (mini_compile_decompositions).
2. plan: operators that have a rule (mini_compile_operators) and walk over the same space share a
   loop (mini_compile_groups); the others stay as they are.
3. Each group becomes a C++ function (mini_compile_loops, _values, _write), all of a graph one file,
   which the system's compiler turns into a library, once (mini_compile_build).
4. A Program calls the functions and the remaining operators in order (mini_compile_run).

Without a compiler, or if its library cannot be built, loaded or found complete, each operator runs
as it is, and a warning gives each reason once. A library that can be loaded is trusted.
Operators that add, multiply, divide, compare or convert round like eager's, one by one, and nothing
is contracted. Eager contracts an `add` with an alpha, so its last bit may differ. Of small floats
only what then has eager's bits is taken apart, but for functions and sums. Of wide ones the last
bits may differ: some of eager's kernels contract, or take the steps in another order. Functions
such as exp may differ in the last places: glibc's libmvec and torch's own libraries each allow
themselves a few, and near 0 eager's erf of a small float is rough. Sums of floats are kept in
double and rounded once, eager's are not. Of 0.0 and -0.0, amax, amin, maximum, minimum and a clamp
by a tensor may choose the other one, and so may the gradient of a softmax. NaN, or a float outside
of an integer dtype, may become another integer than in eager. gelu of inf is inf; eager's vectors
give NaN, its single numbers inf.
AOTAutograd takes softshrink and hardshrink apart by itself: what eager refuses of them, and their
slopes at NaN, are lost. A result that nobody reads isn't computed, so it can't raise an error.
Source: torch/_inductor/compile_fx.py, torch/_dynamo/backends/common.py.
"""
import sys
import warnings
from dataclasses import dataclass, field

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import min_cut_rematerialization_partition

import mini_compile_build as build
from mini_compile_decompositions import DECOMPOSITIONS
from mini_compile_groups import VIEWS, Group, is_name, plan
from mini_compile_operators import name_of
from mini_compile_prelude import PRELUDE
from mini_compile_run import Call, Loop, Program, Sizes
from mini_compile_write import Writer

__all__ = ["Compiled", "Explanation", "backend", "compile_graph", "explain", "stats"]


# --- 1. The back end ------------------------------------------------------------------------------

def backend(module, example_inputs):
    """What torch.compile calls: a torch.fx.GraphModule and its inputs in, a callable out."""
    compiled = aot_autograd(
        fw_compiler=compiler("forward"), bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"), decompositions=DECOMPOSITIONS,
        partition_fn=partition)
    return compiled(module, example_inputs)


def partition(joint, inputs, **options):
    """torch's min cut. Here both passes are one graph, whose detached values can be the plain ones,
    but for outputs and their views; otherwise the cut would go through them."""
    for node in joint.graph.find_nodes(op="call_function", target=torch.ops.aten.detach.default):
        if not seen_outside(node):
            node.replace_all_uses_with(node.args[0])
            joint.graph.erase_node(node)
    return min_cut_rematerialization_partition(joint, inputs, **options)


def seen_outside(node):
    """Whether a value or a view of it is an output."""
    return any(user.op == "output" or (name_of(user) in VIEWS and seen_outside(user))
               for user in node.users)


def compiler(kind):
    def compile_one(module, example_inputs):
        compiled = compile_graph(module, kind)
        stats.graphs.append(compiled)

        def run(args):
            return compiled.program.run(args)
        run._boxed_call = True                       # takes a list that it may empty
        return run
    return compile_one


@dataclass(repr=False)
class Compiled:
    """One graph: loops (mini_compile_loops.Kernel), what stayed alone and why, and the C++."""

    kind: str                                        # inference, forward or backward
    module: torch.fx.GraphModule
    loops: list
    alone: dict                                      # node: why it is in no loop, in one line
    source: str = ""                                 # the C++ of the loops, without the prelude
    problem: str = ""                                # why there is no compiled code, or nothing
    program: Program = None

    def __repr__(self):
        lines = [f"{self.kind} graph: {len(self.loops)} loops, {len(self.alone)} operators alone"]
        lines += [f"  {one.name}: {', '.join(one.nodes)}" for one in self.loops]
        lines += [f"  alone: {node.name}: {why}" for node, why in self.alone.items()]
        return "\n".join(lines + ([f"  no loops: {self.problem}"] if self.problem else []))


def compile_graph(module, kind="inference"):
    """A Compiled for a graph of ATen operators whose nodes have meta data (`val`)."""
    order, alone = plan(module.graph)
    sizes = Sizes([node for node in module.graph.nodes if node.op == "placeholder"])
    steps, kernels = [], []
    for one in order:
        if not isinstance(one, Group):
            steps.append(Call(one, module))
            continue
        if stored := needed(one):
            kernel = Writer(one, f"loop_{len(kernels)}", stored).kernel()
            if not kernel.can_be_called():
                steps += [Call(node, module) for node in one.nodes]
                alone |= dict.fromkeys(one.nodes, "a loop with too many arguments")
                continue
            kernels.append(kernel)
            steps.append(Loop(kernel, sizes))
        steps += [Call(node, module) for node in views_after(one)]
    compiled = Compiled(kind, module, kernels, alone)
    compiled.source = "\n".join(kernel.source for kernel in kernels)
    if not load(compiled, steps):
        steps = [Call(node, module) for node in module.graph.nodes
                 if node.op not in ("placeholder", "output")]
    compiled.program = Program(module, steps, sizes)
    return compiled


def leaves(node, group):
    """Whether somebody outside of the loop reads the node."""
    return any(user not in group.nodes for user in node.users)


def views_after(group):
    """Views in a loop that somebody outside reads: they become real ones, after the loop."""
    found = []
    for node in reversed(group.nodes):
        if is_name(node) and (leaves(node, group) or any(user in found for user in node.users)):
            found.insert(0, node)
    return found


def needed(group):
    """The nodes whose tensors are written to memory, because somebody outside reads them."""
    found = {}
    for node in group.nodes:
        if leaves(node, group):
            while is_name(node) and node in group.nodes:
                node = node.args[0]
            found[node] = None
    return [node for node in group.nodes if node in found]


def load(compiled, steps):
    """Compile the loops and bind their functions; False where that cannot be done."""
    if not compiled.loops:
        return True
    try:
        library = build.library(PRELUDE + compiled.source)
        for step in steps:
            if isinstance(step, Loop):
                step.bind(library)
    except build.CannotBuild as problem:
        compiled.problem = str(problem)
        if compiled.problem not in stats.problems:
            stats.problems.append(compiled.problem)
            warnings.warn(f"mini_compile runs operators one by one: {problem}", stacklevel=2)
        return False
    return True


# --- 2. What it tells -----------------------------------------------------------------------------

@dataclass(repr=False)
class Stats:
    """What was compiled so far; `clear` begins anew."""

    graphs: list = field(default_factory=list)       # of Compiled
    problems: list = field(default_factory=list)     # each said once, as a warning

    loops = property(lambda self: sum(len(one.loops) for one in self.graphs))
    compiler_runs = property(lambda self: build.counts.compiled)
    found_in_cache = property(lambda self: build.counts.found)

    def clear(self):
        """Forget the graphs, the problems and the counts."""
        self.graphs, self.problems = [], []
        build.counts.compiled = build.counts.found = 0

    def __repr__(self):
        return "\n".join([f"graphs {len(self.graphs)}, loops {self.loops}, compiler runs "
                          f"{self.compiler_runs}, found in the cache {self.found_in_cache}",
                          *[f"problem: {one}" for one in self.problems]])


stats = Stats()


@dataclass(repr=False)
class Explanation:
    """What became of a function: a Compiled for each graph, in the order of compilation."""

    graphs: list

    loops = property(lambda self: [loop for one in self.graphs for loop in one.loops])
    alone = property(lambda self: {n: why for one in self.graphs for n, why in one.alone.items()})
    source = property(lambda self: "\n".join(one.source for one in self.graphs))

    def __repr__(self):
        return "\n".join(map(repr, self.graphs))


def explain(function, *args, **kwargs):
    """Compile a function anew, call it once, and tell what became of it: an Explanation.

    If the result needs gradients, they're computed too (and not stored), since the backward graph
    is compiled when it is first needed.
    """
    before = len(stats.graphs)
    torch._dynamo.reset()
    result = torch.compile(function, backend=backend)(*args, **kwargs)
    wanted = [one for one in torch.utils._pytree.tree_leaves(result)
              if isinstance(one, torch.Tensor) and one.grad_fn is not None]
    if wanted:
        torch.autograd.grad(wanted, list(parameters_of(wanted)),
                            [torch.ones_like(one) for one in wanted], retain_graph=True)
    return Explanation(stats.graphs[before:])


def parameters_of(results):
    """The leaf tensors from which some results were computed."""
    seen, waiting = set(), [one.grad_fn for one in results]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            if hasattr(node, "variable"):
                yield node.variable
            waiting += [one for one, _ in node.next_functions]


if __name__ == "__main__":
    try:
        from mini_compile_tour import main
    except ModuleNotFoundError:                      # a download: the tour is not here
        sys.stderr.write("mini_compile；下一步 · next: python3 check_compile.py\n")
        sys.exit(2)
    sys.exit(main())
