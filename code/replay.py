"""CUDA graphs without CUDA: operator calls are recorded with their addresses and replayed there.

A CUDA graph stores kernels together with the addresses they read and write. Replaying it runs the
same kernels on the same addresses, with no Python and no memory allocation in between. Here the
kernels are torch operators on the CPU, and the addresses lie in a `Pool` (replay_pool.py).

    graphs = Graphs()
    y = graphs(f, x)        # the first time: records; later: copies x in and replays
    graphs.step()           # old outputs may be overwritten from now on
    graphs.overwritten(y)   # whether a later run has written to the memory of y

Not as on a GPU: a replay calls each operator from Python, which computes somewhere else; then its
result is copied to the recorded address. Autograd is off, the pool has one fixed size, and nobody
checks what can't be replayed. Source: torch/_inductor/cudagraph_trees.py, cuda/graphs.py
"""
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only
from torch.utils.weak import WeakIdKeyDictionary

from replay_pool import ALIGN, Pool, address, alias, over

Tensor = torch.Tensor
WAITS = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}


# --- 1. Recording and replaying -------------------------------------------------------------------

class Recording(TorchDispatchMode):
    """The operators of one function, with the addresses that they read and write."""

    def __init__(self, pool):
        super().__init__()
        self.pool, self.calls, self.children, self.outside = pool, [], {}, []

    def record(self, fn, inputs, copied):
        """Run `fn` once and note its operators. Inputs with `copied` are copied into the pool."""
        inputs = [self.pool.place(x) if copy else x
                  for x, copy in zip(inputs, copied, strict=True)]
        self.inputs = [alias(x) if copy else None for x, copy in zip(inputs, copied, strict=True)]
        with torch.no_grad(), self:
            result = fn(*inputs)
        self.outputs = tree_map_only(Tensor, self.note, result)
        return result

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        if WAITS & set(op.tags):
            raise RuntimeError(f"{op}: a replay can't wait for a value")
        kwargs, made = kwargs or {}, []
        noted = tree_map_only(Tensor, self.note, (args, kwargs))
        old = {address(each) for each in tree_leaves(noted) if isinstance(each, Tensor)}

        def place(value):                            # what isn't a view or an argument is new
            new = self.pool.place(value) if address(value) not in old else value
            made.append(alias(new) if new is not value else None)
            return new

        result = tree_map_only(Tensor, place, op(*args, **kwargs))
        if op._schema.is_mutable or any(at is not None for at in made):
            self.calls.append((op, *noted, made))    # a view runs no kernel: nothing to note
        return result

    def note(self, tensor):
        """A tensor as the recording keeps it: an address. Memory outside the pool must stay."""
        if self.pool.position(tensor) is None:
            self.outside.append(tensor)
        return alias(tensor)

    def replay(self, inputs):
        """Copy the inputs in and run the operators on what the addresses hold now."""
        fresh = [x.clone() for x in inputs]          # one may lie where another is copied to
        for at, x in zip(self.inputs, fresh, strict=True):
            _ = at is None or at.copy_(x)
        for op, args, kwargs, made in self.calls:
            results = [x for x in tree_leaves(op(*args, **kwargs)) if isinstance(x, Tensor)]
            for at, result in zip(made, results, strict=True):
                _ = at is None or at.copy_(result)
        return tree_map_only(Tensor, self.give, self.outputs)

    def give(self, output):
        """A tensor for the caller, which keeps its range of the pool in use."""
        at = self.pool.position(output)
        return alias(output) if at is None else over(
            self.pool.claim(at, output.untyped_storage().nbytes()), output)

    def written(self):
        """The tensors that a run writes to."""
        yield from (at for at in self.inputs if at is not None)
        for op, args, kwargs, made in self.calls:
            yield from (at for at in made if at is not None)
            for each, value in zip(op._schema.arguments, args, strict=False):
                yield from tree_leaves(value) if each.is_write else ()
            yield from (kwargs[each.name] for each in op._schema.arguments
                        if each.is_write and each.name in kwargs)


# --- 2. A tree of recordings in one pool ----------------------------------------------------------

class Graphs:
    """Runs functions from recordings. What a recording may follow is part of its key."""

    def __init__(self, nbytes=4096):
        self.pool, self.roots, self.runs = Pool(nbytes), {}, 0
        self.made, self.last = WeakIdKeyDictionary(), {}   # run of an output, of a 64-byte slot
        self.step()

    def step(self):
        """Begin a new step: nothing in the pool is in use any more, whoever still looks at it."""
        self.pool.claims.clear()
        self.children = self.roots

    def __call__(self, fn, *inputs):
        """`fn(*inputs)`; the result lies in the pool. Outputs of this step aren't copied in."""
        live = self.pool.live()
        if not live:                                 # all outputs are dead: as in a new step
            self.children = self.roots
        copied = [self.pool.position(x) not in live for x in inputs]
        key = fn, *live.items(), *(
            (x.shape, x.stride(), x.dtype, copy or (address(x), x.storage_offset()))
            for x, copy in zip(inputs, copied, strict=True))
        if key in self.children:
            node = self.children[key]
            result = node.replay(inputs)
        else:
            node = Recording(self.pool)
            result = node.record(fn, inputs, copied)
            self.children[key] = node
        self.children, self.runs = node.children, self.runs + 1
        for at in node.written():
            self.last |= dict.fromkeys(self.slots(at), self.runs)
        for output in tree_leaves(result):
            if isinstance(output, Tensor):
                self.made[output] = self.runs
        return result

    def slots(self, tensor):
        """The 64-byte slots of the pool that the tensor's storage covers."""
        first = self.pool.position(tensor)
        end = (first or 0) + tensor.untyped_storage().nbytes()
        return range(0) if first is None else range(first // ALIGN, -(-end // ALIGN))

    def overwritten(self, output):
        """Whether a run after the one that made `output` has written to its memory."""
        return any(self.last.get(slot, 0) > self.made[output] for slot in self.slots(output))
