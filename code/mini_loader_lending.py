"""How mini_loader saves copies: batches are made in their slots, and read there, never copied.

A step beyond mini_loader_slots.py, which the loader can do without: `Slots` there copies every
batch, and needs none of the care that is taken here. A slot whose tensors you hold is lent.
"""
import io
import os
import pickle
import threading
import weakref
from collections import deque
from functools import partial
from multiprocessing import connection

import torch
from torch.utils.data._utils import collate

from mini_loader_slots import Slot, Slots, StoragePickler

HELD = 16                     # batches the user may hold before further ones are copied
SMALL = 1 << 14               # bytes; up to that size a storage is copied out of its slot
# Not public: type -> how default_collate makes a batch of it. If torch changes it, tests here fail.
TENSORS = collate.default_collate_fn_map


# --- 1. A slot with tensors --------------------------------------------------------------------

class TensorSlot(Slot):
    """A slot in which tensors lie beside the pickle of a message, which says where.

    `placed` are the storages that lie here, and what was copied, which it keeps, so that nothing
    else gets their address: address -> (offset, storage).
    """

    def __init__(self, file, number):
        super().__init__(file, number)
        self.placed = {}

    @staticmethod
    def prepare_process():
        """torch's own would make a shared file for each batch; here it is copied to its slot."""
        if TENSORS[torch.Tensor] is collate.collate_tensor_fn:
            TENSORS[torch.Tensor] = stack

    def clear(self):
        super().clear()
        self.placed = {}

    def empty(self, shape, dtype):
        """An uninitialized tensor here."""
        nbytes = shape.numel() * dtype.itemsize
        offset = self.reserve(nbytes)
        tensor = bytes_at(self.map, offset, nbytes).view(dtype).view(shape)
        self.placed[tensor.untyped_storage().data_ptr()] = offset, tensor.untyped_storage()
        return tensor

    def place(self, tensor):
        """(offset, bytes of the storage; dtype, start, shape, stride), copied here if need be.

        A whole storage, so that tensors which share one share it afterwards; of one that is more
        than twice as large as the tensor, perhaps a whole dataset, only the tensor's elements.
        """
        tensor = tensor.resolve_conj().resolve_neg()
        storage = tensor.untyped_storage()
        _, known = self.placed.get(storage.data_ptr(), (0, None))
        if known is None or known.nbytes() < storage.nbytes():   # a part may have come first
            if storage.nbytes() > 2 * tensor.nbytes:
                return self.place(tensor.clone())
            offset = self.reserve(storage.nbytes())
            here = bytes_at(self.map, offset, storage.nbytes())
            here.copy_(torch.empty(0, dtype=torch.uint8).set_(storage))
            self.placed[storage.data_ptr()] = offset, storage
        offset, known = self.placed[storage.data_ptr()]
        return (offset, known.nbytes(), tensor.dtype, tensor.storage_offset(),
                tuple(tensor.shape), tensor.stride())

    def collate(self, collate_fn, samples):
        """`collate_fn`; if it is `default_collate`, tensors are stacked where the batch lies."""
        if collate_fn is not collate.default_collate or (
                TENSORS[torch.Tensor] not in (stack, collate.collate_tensor_fn)):
            return collate_fn(samples)
        here = partial(stack, empty=self.empty)
        return collate.collate(samples, collate_fn_map={**TENSORS, torch.Tensor: here})

    def pack(self, message):
        """Write a message and whichever of its tensors do not lie here yet; where it stands."""
        file = io.BytesIO()
        Packer(file, self).dump(message)
        return self.write(file.getbuffer())


def bytes_at(buffer, offset, nbytes):
    """A tensor of bytes whose storage is part of `buffer`, which it keeps alive."""
    return torch.frombuffer(buffer, dtype=torch.uint8, count=nbytes, offset=offset)


def is_plain(tensor):
    """Whether the elements are all there is to a tensor, and there are some."""
    return (tensor.device.type == "cpu" and tensor.layout is torch.strided
            and not tensor.is_nested and not tensor.is_quantized and not tensor.requires_grad
            and tensor.numel() > 0)


def stack(batch, *, collate_fn_map=None, empty=None):
    """As torch.utils.data._utils.collate.collate_tensor_fn, in memory from `empty`, if given."""
    first = batch[0]
    if not is_plain(first):
        return collate.collate_tensor_fn(batch, collate_fn_map=collate_fn_map)
    shape = torch.Size([len(batch), *first.shape])
    return torch.stack(batch, out=(empty or torch.empty)(shape, dtype=first.dtype))


# --- 2. Messages -------------------------------------------------------------------------------

class Packer(StoragePickler):
    """Pickles everything but plain CPU tensors and storages, for which a slot finds a place."""

    def __init__(self, file, slot):
        super().__init__(file, protocol=5)
        self.slot = slot

    def persistent_id(self, thing):
        """What pickle writes instead of `thing`; None: pickle it as usual."""
        if isinstance(thing, torch.UntypedStorage) and thing.device.type == "cpu":
            thing = torch.empty(0, dtype=torch.uint8).set_(thing)
            return (True, *self.slot.place(thing)) if thing.numel() else None
        if type(thing) is torch.Tensor and is_plain(thing):
            return False, *self.slot.place(thing)
        return None


class Unpacker(pickle.Unpickler):
    """Puts the tensors back: views of `window`, or of copies."""

    def __init__(self, file, window, copy_all):
        super().__init__(file)
        self.window, self.copy_all, self.storages = window, copy_all, {}

    def persistent_load(self, place):
        alone, offset, nbytes, dtype, *where = place
        if offset not in self.storages:
            there = bytes_at(self.window, offset, nbytes)
            copied = self.copy_all or nbytes <= SMALL
            self.storages[offset] = (there.clone() if copied else there).untyped_storage()
        storage = self.storages[offset]
        return storage if alone else torch.empty(0, dtype=dtype).set_(storage, *where)


# --- 3. Lending --------------------------------------------------------------------------------

class Loan(weakref.ref):
    """Of a window; `slot` comes back when the window's last tensor is gone.

    What is called then is C code, `deque.append`: in a Python function a Ctrl-C could arrive, and
    what a callback raises, Python prints and forgets.
    """

    __slots__ = ("slot",)


class LentSlots(Slots):
    """The slots of one loader: free, with a worker, or lent, holding a batch.

    A lent slot is free again when the last tensor in it is gone, here and in every child that was
    forked meanwhile. While HELD + `limit` or more are lent, batches are copied out, so that one
    can keep any number of them.
    """

    kind = TensorSlot

    def __init__(self, limit):
        super().__init__(limit)
        self.most_lent = HELD + limit
        self.loans, self.returned = {}, deque()    # number -> Loan; those whose tensors are gone
        self.children, self.waiting = [], []       # (pipe of a child, what it may hold); slots
        lenders.add(self)

    @property
    def lent(self):
        """Numbers of the slots that are lent."""
        self.settle()
        return set(self.loans)

    def unpack(self, number, offset, length):
        """As of `Slots`. Its tensors keep `window` alive, and nothing else does: with the last of
        them it goes.
        """
        slot = self.slots[number]
        pickled = io.BytesIO(slot.read(offset, length))
        window = memoryview(slot.map)
        copy_all = len(self.lent) >= self.most_lent
        loan = Loan(window, self.returned.append)
        loan.slot = slot
        self.loans[number] = loan
        return Unpacker(pickled, window, copy_all).load()

    def settle(self):
        """Give back the slots whose tensors are gone."""
        while True:
            try:
                slot = self.returned.popleft().slot
            except IndexError:                     # none is left, perhaps by another thread
                return
            del self.loans[slot.number]
            self.give_back(slot)

    def give_back(self, slot):
        if self.children:
            self.waiting.append(slot)
        else:
            super().give_back(slot)

    def take(self):
        """As of `Slots`, after those have come back that no child can hold any more."""
        self.settle()
        self.forget_ended()
        held = set().union(*(numbers for _, numbers in self.children))
        waiting, self.waiting = self.waiting, []
        for slot in waiting:
            if slot.number in held:
                self.waiting.append(slot)
            else:
                super().give_back(slot)
        return super().take()

    def forget_ended(self):
        """Forget the children that have ended."""
        living = [pipe for pipe, _ in self.children if pipe]
        ended = connection.wait(living, 0) if living else []
        self.children = [child for child in self.children if child[0] not in ended]


# A forked child has its parent's tensors, in the same memory. When it lets go of them cannot be
# seen, but when it ends: it inherits one end of a pipe, and nobody else has that. Python tells of
# forks that it makes itself, which are those of os.fork and multiprocessing.
lenders = weakref.WeakSet()            # the LentSlots of this process
forking, inherited = {}, []            # what each thread that forks has lent, and for a life


def before_fork():
    lent = [(slots, slots.lent) for slots in lenders]
    if any(numbers for _, numbers in lent):
        forking[threading.get_ident()] = lent, *ends()


def ends():
    """Of a pipe; none if no descriptor is left: then the child counts as one that never ends."""
    try:
        return connection.Pipe(duplex=False)
    except OSError:
        return None, None


def after_fork_in_parent():
    if known := forking.pop(threading.get_ident(), None):
        lent, reader, writer = known
        for slots, numbers in lent:
            slots.forget_ended()
            if numbers:
                slots.children.append((reader, numbers))
        if writer:
            writer.close()


def after_fork_in_child():
    inherited.extend(forking.pop(threading.get_ident(), ())[2:])
    forking.clear()                    # ends of other children
    lenders.clear()


os.register_at_fork(before=before_fork, after_in_parent=after_fork_in_parent,
                    after_in_child=after_fork_in_child)
