"""The engine of variable.py: what nodes save, and the order in which they run.

Nodes know other nodes and what they saved. A gradient is anything that can be added; here it
is a Variable.
"""
import heapq
import itertools
import math
from contextlib import contextmanager

sequence = itertools.count()
recording = [True]                                             # torch: GradMode, one per thread


@contextmanager
def grad_mode(enabled):
    """Record what is computed inside, or not; torch.no_grad() is `grad_mode(False)`."""
    recording.append(enabled)
    try:
        yield
    finally:
        recording.pop()


# ---- 1. Nodes ---------------------------------------------------------------------------------

class Saved:
    """A value that a node keeps: the storage itself, not a copy, with its version of that time.

    Source: torch/include/torch/csrc/autograd/saved_variable.h:SavedVariable.
    """

    def __init__(self, variable, is_output):
        self.handle, self.version = variable.detach(), variable.storage.version
        self.is_output = is_output
        self.edge = None if is_output else variable.edge       # its own node would be a cycle

    def unpack(self, node):
        """A handle of the saved value; RuntimeError if it was changed in place since."""
        if self.handle.storage.version != self.version:
            raise RuntimeError(
                f"a value that {node.name} saved has been modified by an in-place operation: it "
                f"is at version {self.handle.storage.version}, saved was version {self.version}")
        value = self.handle.detach()
        value.node = node if self.is_output else self.edge
        return value


class Node:
    """One operation of the graph: edges to the nodes before it, rules, and what they need.

    Source: torch/include/torch/csrc/autograd/node.h:Node.
    """

    def __init__(self, name, edges, rules):
        self.name, self.edges, self.rules = f"{name}Backward", edges, rules
        self.number = next(sequence)                           # torch: sequence_nr
        self.saved, self.pre_hooks, self.retain_hooks = {}, [], []

    def save(self, values):
        """Keep those of the (letter, variable) that the gradient of an operand needs."""
        needed = "".join(letters for edge, (letters, _) in zip(self.edges, self.rules, strict=True)
                         if edge)
        for letter, variable in values:
            if letter in needed:
                self.saved[letter] = Saved(variable, is_output=letter == "y")

    def apply(self, g, wanted):
        """(edge, gradient) for each edge in `wanted`.

        RuntimeError if an earlier pass freed what was saved, or `Saved.unpack` refuses.
        """
        if self.saved is None:
            raise RuntimeError(f"{self.name} ran before and what it saved is freed; pass "
                               "retain_graph=True to the first backward")
        values = {letter: saved.unpack(self) for letter, saved in self.saved.items()}
        return [(edge, rule(g, *(values[letter] for letter in letters)))
                for edge, (letters, rule) in zip(self.edges, self.rules, strict=True)
                if edge in wanted]

    def release(self):
        if self.saved:                                         # nothing saved: may run again
            self.saved = None


class AccumulateGrad:
    """The node of a leaf: adds what arrives to `grad`. It runs as soon as it is ready.

    Source: torch/include/torch/csrc/autograd/functions/accumulate_grad.h:AccumulateGrad.
    """

    name, edges, number, retain_hooks = "AccumulateGrad", (), math.inf, ()

    def __init__(self, leaf):
        self.leaf, self.pre_hooks, self.post_hooks = leaf, [], []

    def apply(self, g, wanted):
        self.leaf.accumulate(g)
        for hook in list(self.post_hooks):
            hook(self.leaf)
        return []

    def release(self):
        """Nothing is saved here."""


# ---- 2. The engine ----------------------------------------------------------------------------

def dependencies(root):
    """Node -> how many edges lead to it: one walk over the graph, nothing is sorted."""
    count, todo = {root: 0}, [root]
    while todo:
        for edge in filter(None, todo.pop().edges):
            if edge not in count:
                count[edge] = 0
                todo.append(edge)
            count[edge] += 1
    return count


def leading_to(targets, nodes):
    """Those of the nodes from which an edge leads, in one step or several, to a target."""
    found = set()
    for node in sorted(nodes, key=lambda node: node.number):
        if any(edge in found or edge in targets for edge in node.edges):
            found.add(node)
    return found


def run(root, gradient, keep_graph, create_graph, capture=None):
    """Run each node once all that feeds it has arrived; of the nodes ready, the newest first.

    `capture` maps nodes to None and is filled with the gradients that arrive there; then only
    what leads to them runs, and no leaf accumulates.
    Source: torch/include/torch/csrc/autograd/engine.h:ReadyQueue, :compute_dependencies.
    """
    waiting = dependencies(root)
    wanted = waiting if capture is None else leading_to(capture, waiting) | {*capture}
    arrived, ready, pushed = {root: gradient}, [(-root.number, 0, root)], itertools.count(1)
    with grad_mode(create_graph):
        while ready:
            node = heapq.heappop(ready)[-1]
            g, runs = arrived.pop(node), capture is None or any(e in wanted for e in node.edges)
            after = hooked(node, g)
            if capture is not None and node in capture:
                capture[node] = g if runs else after           # as torch: from before the hooks
            for edge, share in node.apply(after, wanted) if runs else ():
                arrived[edge] = arrived[edge] + share if edge in arrived else share
                waiting[edge] -= 1
                if not waiting[edge]:
                    heapq.heappush(ready, (-edge.number, next(pushed), edge))
            if runs and not keep_graph:
                node.release()


def hooked(node, g):
    """The gradient after the hooks on this value, as they were added; retain_grad comes last."""
    for hook in [*node.pre_hooks, *node.retain_hooks]:
        returned = hook(g)
        if not isinstance(returned, (type(g), type(None))):
            raise TypeError(f"a hook returned {type(returned).__name__}; "
                            f"return {type(g).__name__}, or None to change nothing")
        g = g if returned is None else returned
    return g
