"""The memory below `replay`: one block whose ranges keep their addresses.

A range is in use as long as some storage refers to it, views included, so an operator's result
frees its range when the last tensor dies, as with the caching allocator. An `alias` has the address
of a tensor and doesn't count. That is what a recording keeps.
"""
import ctypes
import weakref

import torch

ALIGN = 64                                           # an address is a multiple of 64 bytes


def over(memory, like):
    """A tensor of the shape, strides and dtype of `like` whose storage is a ctypes array."""
    flat = torch.frombuffer(memory, dtype=like.dtype, count=len(memory) // like.itemsize)
    return flat.as_strided(like.shape, like.stride(), like.storage_offset())


def address(tensor):
    return tensor.untyped_storage().data_ptr()


def alias(tensor):
    """A tensor at the same address that doesn't keep the memory alive."""
    nbytes = max(tensor.untyped_storage().nbytes(), tensor.itemsize)
    return over((ctypes.c_char * nbytes).from_address(address(tensor)), tensor)


class Pool:
    """One block of memory. A range of it is in use as long as a storage refers to it."""

    def __init__(self, nbytes):
        self.memory, self.claims = bytearray(nbytes), {}   # claims: position -> weakref to a range
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))

    def position(self, tensor):
        """Where the tensor's storage begins, in bytes from the start, or None if it's elsewhere."""
        position = address(tensor) - self.start
        return position if 0 <= position < len(self.memory) else None

    def live(self):
        """{first position: end} of the ranges in use, in bytes, in the order of positions."""
        held = {at: claim() for at, claim in sorted(self.claims.items())}
        return {at: at + len(memory) for at, memory in held.items() if memory is not None}

    def claim(self, position, nbytes):
        """The memory of a range, in use until the returned object has died."""
        memory = self.claims.get(position, lambda: None)()
        if memory is None:
            memory = (ctypes.c_char * nbytes).from_buffer(self.memory, position)
            self.claims[position] = weakref.ref(memory)
        return memory

    def place(self, tensor):
        """A copy of the tensor in the first gap that is large enough. Raises `MemoryError`."""
        tensor, position = tensor.clone(), 0         # a clone: its memory may lie in that gap
        nbytes = max(-(-tensor.untyped_storage().nbytes() // ALIGN), 1) * ALIGN
        for first, end in self.live().items():
            if position + nbytes <= first:
                break
            position = max(position, end)
        if position + nbytes > len(self.memory):
            raise MemoryError(f"pool of {len(self.memory)} bytes: no room for {nbytes} more")
        return over(self.claim(position, nbytes), tensor).copy_(tensor)
