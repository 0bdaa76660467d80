"""Where mini_loader's batches travel: slots of one shared file, written in place, never sent.

A slot holds one message at a time: a task, then the reply to it. A reply is a pickle from which
tensors are left out: they lie beside it in the slot, and the pickle says where.
"""
import io
import mmap
import os
import pickle
import tempfile
import weakref
from multiprocessing import reduction

import torch

SLOT_BYTES = 1 << 36          # how far slots lie apart; the file takes memory only where written
ALIGNMENT = 64                # bytes of a cache line
SMALL = 1 << 14               # bytes; up to that size a tensor is copied out of its slot


# --- 1. The file -------------------------------------------------------------------------------

class SharedFile:
    """A file that has no name: processes map it that inherited it or got it at their start.

    The kernel frees it with the last process that has it, however that process ends, so nothing
    is ever left behind. As an argument of a process it goes over as a file descriptor.

    Source: torch.multiprocessing.reductions.reduce_storage, which sends one for each batch.
    """

    def __init__(self, fd=None):
        self.fd = unnamed_file() if fd is None else fd
        weakref.finalize(self, os.close, self.fd)

    def __reduce__(self):
        return attached, (reduction.DupFd(self.fd),)


def attached(duplicate):
    return SharedFile(duplicate.detach())


def unnamed_file():
    if hasattr(os, "memfd_create"):
        return os.memfd_create("mini_loader")
    with tempfile.TemporaryFile() as file:                 # macOS; unlinked as soon as it is made
        return os.dup(file.fileno())


# --- 2. One slot -------------------------------------------------------------------------------

class Slot:
    """One stretch of the file, mapped as far as this process has needed it.

    `used` bytes hold the message so far. `placed` are the tensors made here, which it keeps, so
    that nothing else gets their address: address of the storage -> (offset, tensor).
    """

    def __init__(self, file, number):
        self.file, self.number = file, number
        self.map, self.used, self.placed = b"", 0, {}

    def reach(self, end):
        """Map the slot up to byte `end` at least; tensors in an older, shorter map stay valid."""
        if end > SLOT_BYTES:
            raise MemoryError(f"a batch needs {end} bytes, and a slot has {SLOT_BYTES}; "
                              "make batches smaller")
        if end > len(self.map):
            length = max(mmap.PAGESIZE, 1 << (end - 1).bit_length())
            self.map = mmap.mmap(self.file.fd, length, offset=self.number * SLOT_BYTES)

    def reserve(self, nbytes):
        """The offset of `nbytes` behind what is used."""
        offset = -(-self.used // ALIGNMENT) * ALIGNMENT
        self.reach(offset + nbytes)
        self.used = offset + nbytes
        return offset

    def empty(self, like):
        """An uninitialized tensor here, with the sizes, strides and dtype of another."""
        offset = self.reserve(extent(like.shape, like.stride()) * like.itemsize)
        tensor = tensor_at(self.map, (offset, like.dtype, like.shape, like.stride()))
        self.placed[tensor.untyped_storage().data_ptr()] = offset, tensor
        return tensor

    def place(self, tensor):
        """(offset, dtype, shape, stride) of a tensor's elements, copied here if they are not.

        A copy keeps the order in memory, as `clone` does.
        """
        offset, _ = self.placed.get(tensor.untyped_storage().data_ptr(), (None, None))
        if offset is None:
            return self.place(self.empty(torch.empty_like(tensor, device="meta")).copy_(tensor))
        offset += tensor.storage_offset() * tensor.itemsize
        return offset, tensor.dtype, tuple(tensor.shape), tensor.stride()

    def clear(self):
        self.used, self.placed = 0, {}

    def write(self, data):
        """Where bytes stand that are written behind what is used: (slot number, offset, length)."""
        offset, length = self.reserve(len(data)), len(data)
        self.map[offset:offset + length] = data
        return self.number, offset, length

    def read(self, offset, length):
        self.reach(offset + length)
        return self.map[offset:offset + length]

    def pack(self, message):
        """Write a message and whichever of its tensors do not lie here yet; where it stands."""
        file = io.BytesIO()
        Packer(file, self).dump(message)
        return self.write(file.getbuffer())


def extent(shape, stride):
    """The number of elements from the first to the last, both included."""
    return 1 + sum((size - 1) * step for size, step in zip(shape, stride, strict=True))


def tensor_at(buffer, place):
    """The tensor whose storage is part of `buffer`, which it keeps alive."""
    offset, dtype, shape, stride = place
    flat = torch.frombuffer(buffer, dtype=dtype, count=extent(shape, stride), offset=offset)
    return flat.as_strided(shape, stride)


# --- 3. Messages -------------------------------------------------------------------------------

class Packer(pickle.Pickler):
    """Pickles everything but plain CPU tensors, for which a slot finds a place."""

    def __init__(self, file, slot):
        super().__init__(file, protocol=5)
        self.slot = slot

    def persistent_id(self, thing):
        """What pickle writes instead of `thing`; None: pickle it as usual."""
        return self.slot.place(thing) if type(thing) is torch.Tensor and is_plain(thing) else None


class Unpacker(pickle.Unpickler):
    """Puts the tensors back: views of `window`, or copies."""

    def __init__(self, file, window, copy_all):
        super().__init__(file)
        self.window, self.copy_all = window, copy_all

    def persistent_load(self, place):
        tensor = tensor_at(self.window, place)
        return tensor.clone() if self.copy_all or tensor.nbytes <= SMALL else tensor


def is_plain(tensor):
    """Whether the elements are all there is to a tensor, and there are some."""
    return (tensor.device.type == "cpu" and tensor.layout is torch.strided
            and not tensor.is_quantized and not tensor.requires_grad and tensor.numel() > 0)


# --- 4. All slots, as the parent sees them -----------------------------------------------------

class Slots:
    """The slots of one loader: free, with a worker, or lent, holding a batch.

    A lent slot is free again when the last tensor in it is gone. While `most_lent` or more are,
    batches are copied out, so that one can keep any number of them. The slot freed last is taken
    first: its pages are mapped already, and in the cache if anything is.
    """

    def __init__(self, most_lent):
        self.most_lent, self.lent = most_lent, set()
        self.file, self.slots, self.free = SharedFile(), [], []

    def take(self):
        """A slot nobody uses; a new one if there is none."""
        if not self.free:
            os.ftruncate(self.file.fd, (len(self.slots) + 1) * SLOT_BYTES)
            self.free.append(Slot(self.file, len(self.slots)))
            self.slots.append(self.free[-1])
        return self.free.pop()

    def unpack(self, number, offset, length):
        """The message that a worker packed into a slot; raises what its objects raise.

        Its tensors keep `window` alive, and nothing else does: with the last of them it goes.
        """
        slot = self.slots[number]
        pickled = io.BytesIO(slot.read(offset, length))
        window = memoryview(slot.map)
        copy_all = len(self.lent) >= self.most_lent
        self.lent.add(number)
        weakref.finalize(window, self.give_back, slot).atexit = False
        return Unpacker(pickled, window, copy_all).load()

    def give_back(self, slot):
        self.lent.discard(slot.number)
        self.free.append(slot)
