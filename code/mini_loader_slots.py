"""Where mini_loader's messages lie: slots of one shared file. Only their places go through a pipe.

A slot holds one message at a time, pickled: a task, then the reply to it. So no message is too
long for a pipe, and a worker goes on with its next task before anybody has read its last reply.
"""
import ctypes
import io
import mmap
import os
import pickle
import sys
import tempfile
import weakref
from contextlib import contextmanager, suppress
from multiprocessing import reduction

import torch

SLOT_BYTES = 1 << 36          # how far slots lie apart; the file takes memory only where written
ALIGNMENT = 64                # bytes of a cache line
NO_COPY_OF_FD = {"trackfd": False} if sys.version_info >= (3, 13) else {}   # else one for each map


# --- 1. The file -------------------------------------------------------------------------------

class SharedFile:
    """A file that has no name: processes map it that inherited it or got it at their start.

    The kernel frees it with the last process that has it, however that process ends, so nothing
    is ever left behind. As an argument of a process it goes over as a file descriptor.

    Source: torch.multiprocessing.reductions.reduce_storage, which sends one for each storage.
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


@contextmanager
def explained(remedy):
    """OSError inside says what can be done."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror}; {remedy}") from error


# --- 2. Storages ------------------------------------------------------------------------------

class StoragePickler(pickle.Pickler):
    """Pickles a storage without a dtype as its bytes, which torch's own reducer can't do."""

    def reducer_override(self, thing):
        if isinstance(thing, torch.UntypedStorage) and thing.device.type == "cpu":
            return storage_of, (ctypes.string_at(thing.data_ptr(), thing.nbytes()),)
        return NotImplemented


def storage_of(data):
    if not data:
        return torch.UntypedStorage(0)
    return torch.frombuffer(bytearray(data), dtype=torch.uint8).untyped_storage()


# --- 3. One slot -------------------------------------------------------------------------------

class Slot:
    """One stretch of the file, mapped as far as this process has needed it.

    `used` bytes hold the message so far; up to byte `high` it may have memory.
    """

    def __init__(self, file, number):
        self.file, self.number = file, number
        self.map, self.used, self.high = b"", 0, 0

    def reach(self, end):
        """Map the slot up to byte `end` at least; tensors in an older, shorter map stay valid."""
        if end > SLOT_BYTES:
            raise MemoryError(f"a batch needs {end} bytes, and a slot has {SLOT_BYTES}; "
                              "make batches smaller")
        if end > len(self.map):
            length = max(mmap.PAGESIZE, 1 << (end - 1).bit_length())
            with explained("lower prefetch_factor: each slot takes a map and, before Python "
                           "3.13, a file descriptor (ulimit -n)"):
                self.map = mmap.mmap(self.file.fd, length, offset=self.number * SLOT_BYTES,
                                     **NO_COPY_OF_FD)
        self.high = max(self.high, end)

    def reserve(self, nbytes):
        """The offset of `nbytes` behind what is used."""
        offset = -(-self.used // ALIGNMENT) * ALIGNMENT
        self.reach(offset + nbytes)
        self.used = offset + nbytes
        return offset

    def clear(self):
        self.used = 0

    def write(self, data):
        """Where bytes stand that are written behind what is used: (slot number, offset, length)."""
        offset, length = self.reserve(len(data)), len(data)
        self.map[offset:offset + length] = data
        return self.number, offset, length

    def read(self, offset, length):
        self.used = offset + length            # a message ends with its pickle
        self.reach(self.used)
        return self.map[offset:self.used]

    def shrink(self, end):
        """Give memory behind byte `end` back to the kernel if it is more than what stays.

        Where batches have about one size, it never is. Linux only.
        """
        begin = -(-end // mmap.PAGESIZE) * mmap.PAGESIZE
        if self.high > 2 * begin and hasattr(mmap, "MADV_REMOVE"):
            with suppress(OSError):            # a kernel that cannot
                self.map.madvise(mmap.MADV_REMOVE, begin, len(self.map) - begin)
            self.high = begin

    # What a worker asks of its slot; mini_loader_lending.py answers otherwise.

    @staticmethod
    def prepare_process():
        pass

    def collate(self, collate_fn, samples):
        return collate_fn(samples)

    def pack(self, message):
        """Write a message; where it stands."""
        file = io.BytesIO()
        StoragePickler(file, protocol=5).dump(message)
        return self.write(file.getbuffer())


# --- 4. All slots, as the parent sees them -----------------------------------------------------

class Slots:
    """The slots of one loader that has at most `limit` tasks under way.

    The slot freed last is taken first: its pages are mapped already, and in the cache if anything
    is. Of those that lie longest, more than `limit`, the memory goes back to the kernel.
    """

    kind = Slot

    def __init__(self, limit):
        self.limit, self.pid = limit, os.getpid()
        self.file, self.slots, self.free = SharedFile(), [], []

    def take(self):
        """A slot nobody uses; a new one if there is none."""
        if not self.free:
            with explained(f"slots lie {SLOT_BYTES} bytes apart in one file, which takes memory "
                           "only where written; lift the limit of file sizes (ulimit -f)"):
                os.ftruncate(self.file.fd, (len(self.slots) + 1) * SLOT_BYTES)
            self.free.append(self.kind(self.file, len(self.slots)))
            self.slots.append(self.free[-1])
        return self.free.pop()

    def unpack(self, number, offset, length):
        """The message that a worker packed into a slot; raises what its objects raise."""
        pickled = self.slots[number].read(offset, length)
        self.give_back(self.slots[number])
        return pickle.loads(pickled)

    def give_back(self, slot):
        if os.getpid() != self.pid:            # a forked child lets go of its copy
            return
        slot.shrink(0 if len(self.free) >= self.limit else slot.used)
        self.free.append(slot)
