"""How many bytes the nodes of a graph keep for the backward pass, counted while they keep them."""

from contextlib import contextmanager

from torch.autograd.graph import saved_tensors_hooks


@contextmanager
def saved_bytes(apart_from=()):
    """Count what the nodes recorded in this block save: `with saved_bytes() as saved: ...`.

    `saved.held` is the number of bytes kept at this moment, also after the block, and
    `saved.peak` the largest it has been. Tensors on one storage count once, with the whole
    storage, because that is what stays in memory. `apart_from` takes tensors whose storages are
    not counted, such as `model.parameters()`, which are in memory anyway. Built on
    `torch.autograd.graph.saved_tensors_hooks`, so not counted either are Python numbers, which
    the hooks never see, and what is saved under other such hooks inside the block. A saved
    sparse tensor raises `NotImplementedError`, since it has no one storage.
    """
    saved = SavedBytes(apart_from)
    with saved_tensors_hooks(saved.pack, saved.unpack):
        yield saved


class SavedBytes:
    """The storages that nodes keep, each with its size and how many times it is kept."""

    def __init__(self, apart_from=()):
        self._apart_from = list(apart_from)  # kept alive: no new storage gets one of their keys
        self._uncounted = {storage_key(tensor) for tensor in self._apart_from}
        self._times = {}
        self.held = self.peak = 0

    def pack(self, tensor):
        """What the node is to keep in the place of `tensor`."""
        return Kept(self, tensor.detach())  # an output, not detached, would keep its own node

    def unpack(self, kept):
        """What the node is to use in backward.

        Raises `RuntimeError` where the tensor was changed in place, as torch does without hooks.
        """
        if kept.tensor._version != kept.version:
            raise RuntimeError("saved_bytes: a saved tensor was changed in place before backward")
        return kept.tensor

    def change(self, key, nbytes, by):
        """One storage is kept once more or once less; only the first and the last time counts."""
        before = self._times.get(key, 0)
        self._times[key] = before + by
        if key not in self._uncounted and 0 in (before, before + by):
            self.held += by * nbytes
            self.peak = max(self.peak, self.held)


class Kept:
    """A saved tensor; only its node refers to it, so it ends when the node lets go of it."""

    def __init__(self, saved, tensor):
        self.saved, self.tensor, self.version = saved, tensor, tensor._version
        self.key, self.nbytes = storage_key(tensor), tensor.untyped_storage().nbytes()
        saved.change(self.key, self.nbytes, +1)

    def __del__(self):
        if hasattr(self, "nbytes"):  # absent where a sparse tensor was refused
            self.saved.change(self.key, self.nbytes, -1)


def storage_key(tensor):
    """Which storage the tensor reads, as long as that storage lives."""
    return tensor.untyped_storage()._cdata
