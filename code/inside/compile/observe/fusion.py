"""Which loops Inductor's scheduler fused, and what it wrote into its log about those it did not.

`fused(fn, *args)` takes a function through the real Dynamo, AOTAutograd and Inductor, up to the C++
for a CPU (`inside.compile.observe.inductor`), and reads the scheduler when it has finished.
"""
import logging
import re
from dataclasses import dataclass
from unittest import mock

from torch._inductor import ir
from torch._inductor.graph import GraphLowering
from torch._inductor.scheduler import ExternKernelSchedulerNode, Scheduler

from inside.compile.observe.inductor import generated

__all__ = ["Fused", "Node", "fused"]
LOG = logging.getLogger("torch._inductor.scheduler.__fusion")  # that of TORCH_LOGS=fusion
REFUSED = re.compile(r"cannot fuse (\w+) with (\w+): (.*)")
NODE = re.compile(r"op\d+")  # a unit is named after its nodes, such as op1_op2


@dataclass(frozen=True)
class Node:
    """A node of the schedule before fusion; its `kind` is "loop", "call" or "template".

    A call is that of a ready-made kernel. `operators` are those computed in the node, `shape` is
    that of its result (empty for a call), and `reads` are the names of the nodes it needs.
    """

    name: str
    kind: str
    operators: tuple[str, ...]
    shape: tuple[int, ...]
    reads: tuple[str, ...]

    def __str__(self):
        return " ".join(self.operators)


@dataclass(frozen=True)
class Fused:
    """What the scheduler made of one graph: its units, each a tuple of nodes, and its log."""

    units: tuple[tuple[Node, ...], ...]
    log: tuple[tuple[str, str, str], ...]

    def show(self):
        """Print a line for each unit: its number, what it is, its operators node by node."""
        for number, unit in enumerate(self.units, 1):
            print(number, f"{unit[0].kind}:", " | ".join(map(str, unit)))

    def reasons(self):
        """[(unit, unit, reason)] that the log gives for two whole units, in its last word on them.

        A line about parts of units is left out: it was written before they grew, and says nothing
        about why they stayed apart. What the back end refuses has no line at all.
        """
        whole = {frozenset(node.name for node in unit): number
                 for number, unit in enumerate(self.units, 1)}
        found = {}
        for first, second, reason in self.log:
            pair = tuple(whole.get(frozenset(NODE.findall(name))) for name in (first, second))
            if None not in pair:
                found[pair] = reason
        return [(*pair, reason) for pair, reason in sorted(found.items())]


def fused(fn, *args, **options):
    """What Inductor's scheduler did with the graph of `fn(*args)`; options as for `generated`.

    Raises `ValueError` if the call gives more than one graph, or none.
    """
    made, log, codegen = [], [], Scheduler.codegen
    compile_lines = GraphLowering._compile_to_module_lines

    def finished(scheduler):
        units = (nodes(unit, scheduler) for unit in scheduler.nodes)
        made.append(tuple(unit for unit in units if unit))
        return codegen(scheduler)

    with (mock.patch.object(Scheduler, "codegen", finished), listening(log),
          mock.patch("inside.compile.observe.inductor.watching", return_value=compile_lines)):
        generated(fn, *args, **options)
    if len(made) != 1:
        raise ValueError(f"{len(made)} graphs were compiled, not one")
    return Fused(made[0], tuple(REFUSED.match(line).groups() for line in log
                                if REFUSED.match(line)))


def nodes(unit, scheduler):
    """The nodes of one unit of the schedule, without those that only unpack a call's results."""
    return tuple(Node(node.get_name(), kind(node), operators(node), shape(node),
                      reads(node, scheduler))
                 for node in unit.get_nodes() if node.node is not None
                 and not isinstance(node.node, ir.MultiOutput))


def kind(node):
    """What a node is: a template is code with a gap for other code, a call has no gap."""
    if node.is_template():
        return "template"
    return "call" if isinstance(node, ExternKernelSchedulerNode) else "loop"


def operators(node):
    """The names of the operators computed in a node, in the order of the graph.

    For a call or a template it is the operator itself, without those that prepare its arguments;
    a loop that prepares an argument of a custom operator doesn't count that operator as its own.
    """
    origins = [origin for origin in node.node.origins if origin.op == "call_function"
               and (kind(node) != "loop" or namespace(origin) in ("aten", "prims", "inductor"))]
    if not origins:
        return ()
    order = {origin: at for at, origin in enumerate(origins[0].graph.nodes)}
    names = [getattr(origin.target, "__name__", str(origin.target)).split(".")[0]
             for origin in sorted(origins, key=lambda origin: order.get(origin, 0))]
    return tuple(names if kind(node) == "loop" else names[-1:])


def namespace(origin):
    """The library that an operator belongs to, "aten" for torch's own."""
    return getattr(origin.target, "namespace", None) or "aten"


def shape(node):
    """The shape of what a loop computes."""
    return tuple(map(int, getattr(getattr(node.node, "data", None), "ranges", ())))


def reads(node, scheduler):
    """The names of the nodes whose results a node reads, in their order."""
    made_by = {buffer.get_name(): other.get_name() for unit in scheduler.nodes
               for other in unit.get_nodes() for buffer in other.get_outputs()}
    names = {made_by[read.name] for read in node.read_writes.reads if read.name in made_by}
    return tuple(sorted(names - {node.get_name()}, key=lambda name: (len(name), name)))


class listening(logging.Handler):
    """While it is open, the lines of the fusion log go to `lines`, and nowhere else."""

    def __init__(self, lines):
        super().__init__()
        self.lines = lines

    def emit(self, record):
        self.lines.append(record.getMessage().split("\n")[0])

    def __enter__(self):
        self.before = LOG.level, LOG.propagate
        LOG.addHandler(self)
        LOG.setLevel(logging.DEBUG)
        LOG.propagate = False

    def __exit__(self, *error):
        LOG.removeHandler(self)
        LOG.setLevel(self.before[0])
        LOG.propagate = self.before[1]
