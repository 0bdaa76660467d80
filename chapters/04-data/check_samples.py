"""检查补完的 mini_samples（第 4 章）· Check a mini_samples of chapter 4 that you have completed.

    python3 check_samples.py                 every practice file beside this file
    python3 check_samples.py FILE …

The exit status is 0 if all checks pass. It needs torch and compares with it.
"""
import itertools
import sys
from collections import namedtuple

from exercise_harness import Checker, Differs, claim, compared_with

try:
    import torch
    from torch.utils import data
except ImportError:
    torch = None

numpy = sys.modules.get("numpy")         # torch has imported it if it is installed
Point = namedtuple("Point", ["x", "y"])
ERRORS = (IndexError, KeyError, RuntimeError, TypeError, ValueError)


def told(function, *arguments, **named):
    """What it returns, tensors as (dtype, values), or the name of what it raises."""
    try:
        return shown(function(*arguments, **named))
    except NotImplementedError:
        raise
    except ERRORS as error:
        return type(error).__name__


def shown(value):
    """Tensors as (dtype, values), all the way down; a named tuple keeps its name."""
    if isinstance(value, torch.Tensor):
        return str(value.dtype), value.tolist()
    if isinstance(value, dict):
        return {key: shown(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [shown(one) for one in value]
    return value


def same(what, found, wanted):
    """Stop with one line unless what is found is what is wanted."""
    if found != wanted:
        raise Differs(f"{what}: expected {wanted}; found {found}")


def seed(number):
    return torch.Generator().manual_seed(number)


# --- mini_samples.py: a sample of several datasets -----------------------------------------------

def check_concat(module):
    for sizes in [(3, 2), (1,), (0, 2, 0, 0, 3), (2, 0)]:
        parts = [[f"{k}.{i}" for i in range(size)] for k, size in enumerate(sizes)]
        ours, theirs = module.Concat(parts), data.ConcatDataset(parts)
        for i in range(-sum(sizes), sum(sizes)):
            same(f"sample {i} of datasets of {sizes} samples", told(ours.__getitem__, i), theirs[i])
        for i in (sum(sizes), sum(sizes) + 2, -sum(sizes) - 1):
            same(f"sample {i} of datasets of {sizes} samples", told(ours.__getitem__, i),
                 "IndexError")


# --- mini_samples_order.py: indices and groups ---------------------------------------------------

def check_batched(module):
    for n, size, drop_last in [(7, 3, False), (7, 3, True), (6, 3, True), (0, 3, False),
                               (2, 3, True)]:
        same(f"range({n}) in batches of {size}, drop_last={drop_last}",
             list(module.batched(range(n), size, drop_last)),
             list(data.BatchSampler(range(n), size, drop_last)))
    endless = itertools.count()
    list(itertools.islice(module.batched(endless, 3), 2))
    same("the next index after two batches of three", next(endless), 6)


def check_evened(module):
    for indices, world, wanted in [([], 3, []), ([4, 5], 2, [4, 5]), ([4, 5, 6], 2, [4, 5, 6, 4]),
                                   ([4], 4, [4, 4, 4, 4]), ([4, 5], 5, [4, 5, 4, 5, 4])]:
        same(f"{indices} for {world} ranks", told(module.evened, indices, world), shown(wanted))


def check_ranked(module):
    for n, world, drop_last, shuffle in itertools.product(
            (0, 1, 2, 7, 8), (1, 2, 4, 5), (False, True), (False, True)):
        for rank, epoch in itertools.product(range(world), (0, 3)):
            theirs = data.DistributedSampler(range(n), world, rank, shuffle, 5, drop_last)
            theirs.set_epoch(epoch)
            same(f"{n} samples, rank {rank} of {world}, epoch {epoch}, seed 5, "
                 f"drop_last={drop_last}, shuffle={shuffle}",
                 told(module.ranked, n, rank, world, epoch, 5, drop_last, shuffle),
                 shown(list(theirs)))
    for rank in (-1, 2):
        same(f"rank {rank} of 2", told(module.ranked, 8, rank, 2), "ValueError")


def fewest(lengths, budget):
    """How many batches it takes if each is filled, shortest samples first."""
    count, batch = 0, 0
    for length in sorted(lengths):
        if (batch + 1) * length > budget:
            count, batch = count + 1, 0
        batch += 1
    return count + 1


def check_token_batches(module):
    for lengths in ([3, 9, 2, 8, 3, 1, 7, 2, 9, 1], [5] * 9, [20, *[1] * 30], [20]):
        for budget, window, key in itertools.product((20, 25, 60), (1, 4, 100), range(3)):
            what = f"lengths {lengths}, budget {budget}, window {window}"
            found = list(module.token_batches(lengths, budget, window, seed(key)))
            same(f"{what}: the indices", sorted(i for batch in found for i in batch),
                 list(range(len(lengths))))
            for batch in found:
                places = len(batch) * max(lengths[i] for i in batch)
                claim(f"{what}: {places} places with padding are within the budget",
                      places <= budget)
            if window == 1:
                same(f"{what}: sizes of the batches", {*map(len, found)}, {1})
            if window == 100:
                same(f"{what}: how many batches", len(found), fewest(lengths, budget))
    first = {min(module.token_batches([1, 1, 9, 9], 18, 4, seed(key))[0]) for key in range(40)}
    claim("short and long samples both come first in some of 40 epochs", len(first) == 2)
    same("a sample of 9 tokens and a budget of 8", told(module.token_batches, [1, 9], 8, 2),
         "ValueError")


# --- mini_samples_batch.py: one batch ------------------------------------------------------------

def samples_to_collate():
    yield from ([1.5, 2.5], [1, 2], [True, False], ["a", "b"], [b"a", b"b"], [1, 2.5])
    yield from ([{"x": 1, "y": "a"}, {"x": 2, "y": "b"}], [(1, "a"), (2, "b")], [[1, 2], [3, 4]])
    yield from ([Point(1, [2.5]), Point(3, [4.5])], [{"x": 1}, {"x": 2, "y": 3}], [range(2)] * 2)
    yield from ([torch.ones(2, 3), torch.zeros(2, 3)], [torch.tensor(True)], [[], []])
    yield from ([None, None], [{1}, {2}], [object()], [[1, 2], [3]], [(1,), (2, 3)], [])
    yield from ([torch.zeros(2), torch.zeros(3)], [{"x": 1}, {"y": 1}])
    if numpy:
        yield from ([numpy.float32(1), numpy.float32(2)], [numpy.float64(1), numpy.float64(2)],
                    [numpy.ones((2, 2), "f4"), numpy.zeros((2, 2), "f4")], [numpy.bool_(True)])


def check_collate(module):
    for samples in samples_to_collate():
        same(f"a batch of {samples}", told(module.collate, samples),
             told(data.default_collate, samples))


def check_pad(module):
    def numbers(*shape):
        return torch.arange(torch.Size(shape).numel()).view(shape) + 1
    for lengths, shape, value, side in itertools.product(
            ([3, 1, 2], [2, 2], [0, 2], [4]), ((), (2,)), (0, 7), ("right", "left")):
        samples = [numbers(length, *shape) for length in lengths]
        found = module.pad(samples, value, side)
        what = f"samples of lengths {lengths}, each element of shape {shape}, {side}, value {value}"
        same(f"{what}: values", shown(found.values),
             shown(torch.nn.utils.rnn.pad_sequence(samples, True, value, side)))
        same(f"{what}: lengths", shown(found.lengths), ("torch.int64", lengths))
        longest = max(lengths)
        rows = [[True] * n + [False] * (longest - n) for n in lengths]
        rows = rows if side == "right" else [row[::-1] for row in rows]
        same(f"{what}: mask", shown(found.mask), ("torch.bool", rows))
    for samples in ([], [numbers(2), numbers(2).float()], [numbers(2).float(), numbers(2)],
                    [numbers(2, 3), numbers(2, 4)]):
        same(f"samples {samples}", told(module.pad, samples), "RuntimeError")
    same("side middle", told(module.pad, [numbers(2)], 0, "middle"), "ValueError")


def check_block_mask(module):
    for documents in ([0, 0, 1, 2, 2, 2, -1, -1], [3, 1, 1, 0], [-1]):
        for causal in (True, False):
            wanted = [[one == other and (j <= i or not causal)
                       for j, other in enumerate(documents)] for i, one in enumerate(documents)]
            same(f"documents {documents}, causal={causal}",
                 shown(module.block_mask(torch.tensor([documents, documents]), causal)),
                 ("torch.bool", [wanted, wanted]))


def check_pack(module):
    for documents, length, wanted in [
            ([[5, 6, 7], [8, 9], [4]], 6, {
                "tokens": [[5, 6, 7, 8, 9, 4]], "documents": [[0, 0, 0, 1, 1, 2]],
                "positions": [[0, 1, 2, 0, 1, 0]], "labels": [[6, 7, -100, 9, -100, -100]]}),
            ([[5, 6, 7], [8, 9], [4]], 4, {
                "tokens": [[5, 6, 7, 4], [8, 9, 1, 1]], "documents": [[0, 0, 0, 2], [1, 1, -1, -1]],
                "positions": [[0, 1, 2, 0], [0, 1, 0, 0]],
                "labels": [[6, 7, -100, -100], [9, -100, -100, -100]]}),
            ([[3, 3], [], [3]], 3, {
                "tokens": [[3, 3, 3]], "documents": [[0, 0, 2]], "positions": [[0, 1, 0]],
                "labels": [[3, -100, -100]]})]:
        for kind in (list, torch.tensor):
            found = module.pack([kind(document) for document in documents], length, 1)
            for name, rows in wanted.items():
                same(f"documents {documents} in rows of {length}: {name}",
                     shown(getattr(found, name)), ("torch.int64", rows))
    same("a document of 4 tokens in a row of 3", told(module.pack, [[1, 2, 3, 4]], 3), "ValueError")


CHECKER = Checker(
    {"mini_samples": {"Concat.__getitem__": check_concat},
     "mini_samples_order": {"batched": check_batched, "evened": check_evened,
                            "ranked": check_ranked, "token_batches": check_token_batches},
     "mini_samples_batch": {"collate": check_collate, "pad": check_pad,
                            "block_mask": check_block_mask, "pack": check_pack}},
    needs={"ranked": ["evened"], "token_batches": ["batched"]},
    imports={"mini_samples": ["mini_samples_order.py", "mini_samples_batch.py"]})

if __name__ == "__main__":
    if torch is None:
        print("要装 torch · this needs torch")
        sys.exit(1)
    sys.exit(CHECKER.main(compared_with(torch)))
