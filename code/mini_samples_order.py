"""Which samples, in which order, in which groups: what torch calls samplers, as functions.

Each gives the indices of one epoch and looks at no sample. From the same state of its generator
it draws the same; without one it draws from torch's own. What it is given is checked when the
first index is asked for.
"""
import math
from itertools import cycle, islice
from numbers import Integral

import torch

__all__ = ["EachEpoch", "Resumable", "batched", "bucketed", "by_length", "mixed", "ranked",
           "shuffled", "token_batches", "waste", "weighted"]

# --- 1. Indices --------------------------------------------------------------------------------

class EachEpoch:
    """A sampler for DataLoader: calls the function again at the beginning of each epoch.

    `sampler=EachEpoch(shuffled, len(data), generator)`; for lists of indices, `batch_sampler=`.
    It has no `__len__`, since the number of batches may differ from epoch to epoch.
    """

    def __init__(self, function, *arguments, **named):
        self.function, self.arguments, self.named = function, arguments, named

    def __iter__(self):
        return iter(self.function(*self.arguments, **self.named))


def shuffled(n, generator=None):
    """Each of 0 … n - 1 once, every order as likely as any other. As RandomSampler."""
    return torch.randperm(n, generator=generator).tolist()


def weighted(weights, count, replacement=True, generator=None):
    """`count` indices; index i is drawn in proportion to weights[i]: one weight for each sample.

    The law is that of WeightedRandomSampler, not its random numbers. With replacement, draws do
    not depend on one another. Without, what is drawn is out of the race: the first index is drawn
    as above, the next in proportion to the weights that are left. ValueError for weights of no
    such law, for a count below 1, and if too few are positive to draw without replacement.
    Source: Efraimidis and Spirakis, Weighted random sampling with a reservoir (2006).
    """
    weights = torch.as_tensor(weights, dtype=torch.float64)
    positive = int((weights > 0).sum())
    if count < 1:
        raise ValueError(f"count={count}: draw at least one sample")
    if weights.dim() != 1 or not (weights >= 0).all() or not 0 < weights.sum() < float("inf"):
        raise ValueError("weights: one number for each sample, none negative, at least one above 0")
    if not replacement and count > positive:
        raise ValueError(f"{count} samples without replacement, but {positive} have a weight above "
                         "0; draw fewer, or with replacement")
    if replacement:
        ends = weights.cumsum(0)                           # sample i owns [ends[i - 1], ends[i])
        points = torch.rand(count, dtype=torch.float64, generator=generator) * ends[-1]
        return torch.searchsorted(ends, points, right=True).tolist()
    times = -torch.rand(len(weights), dtype=torch.float64, generator=generator).log() / weights
    return times.argsort()[:count].tolist()                # twice the weight: half the time


def ranked(n, rank, world, epoch=0, seed=0, drop_last=False, shuffle=True):
    """What one of `world` ranks sees of n samples in an epoch: every rank equally many.

    All ranks draw the same order, since they draw from the same seed, and each takes every
    world-th index of it. If n is no multiple of `world`, indices from the beginning come again, or
    with drop_last the last are left out. ValueError for a rank that is not there.
    Source: torch/utils/data/distributed.py:DistributedSampler.
    """
    if not 0 <= rank < world:
        raise ValueError(f"rank {rank} of {world}: ranks are 0 … {world - 1}")
    generator = torch.Generator().manual_seed(seed + epoch)
    order = shuffled(n, generator) if shuffle else list(range(n))
    if drop_last:
        order = order[:n // world * world]
    return evened(order, world)[rank::world]


def evened(indices, world):
    """A list of indices made longer to a multiple of `world`, by the first ones once more.

    If there are fewer than are missing, they are gone through several times.
    """
    return [*indices, *islice(cycle(indices), -len(indices) % world)]


def mixed(sources, weights, generator=None, until="first"):
    """Samples of several iterables: for each, a source is drawn in proportion to its weight.

    When a source that is drawn has nothing left, until="first" ends there, so the mixture is the
    same to the end; until="last" goes on with the others, so each sample comes once, unless its
    weight is 0. ValueError for another word, and as `weighted`.
    """
    if until not in ("first", "last") or len(sources) != len(weights):
        raise ValueError(f'until={until!r}, {len(weights)} weights: give "first" or "last", and '
                         f"a weight for each of the {len(sources)} sources")
    iterators, weights, nothing = [iter(source) for source in sources], list(weights), object()
    while True:
        which, = weighted(weights, 1, generator=generator)
        sample = next(iterators[which], nothing)
        if sample is not nothing:
            yield sample
            continue
        weights[which] = 0
        if until == "first" or not any(weights):
            return


# --- 2. Groups ---------------------------------------------------------------------------------

def batched(indices, size, drop_last=False):
    """Lists of `size` indices in their order; the last may be shorter, or is left out.

    No more is taken from `indices` than is given, so they may have no end. ValueError for a size
    below 1. As BatchSampler.
    """
    if size < 1:
        raise ValueError(f"size={size}: a batch has at least one sample")
    indices = iter(indices)
    while batch := list(islice(indices, size)):
        if drop_last and len(batch) < size:
            return
        yield batch


def by_length(lengths, window, generator=None):
    """Shuffled indices in windows, each sorted by length. Equal lengths stay shuffled."""
    for indices in batched(shuffled(len(lengths), generator), window):
        yield sorted(indices, key=lambda i: lengths[i])


def bucketed(lengths, size, window, generator=None):
    """Lists of `size` indices whose lengths are near each other, in random order.

    Each index comes once. Out of `window` samples drawn at random, batches are cut in order of
    length: a large window saves padding, a small one leaves more to chance, and window=size all of
    it. At most one batch is shorter, and it may come anywhere. ValueError unless the window is a
    multiple of the size, since otherwise each window would end in a short batch.
    """
    if size < 1 or window % size:
        raise ValueError(f"window={window} is no multiple of size={size}")
    found = [batch for indices in by_length(lengths, window, generator)
             for batch in batched(indices, size)]
    return [found[i] for i in shuffled(len(found), generator)]


def token_batches(lengths, budget, window, generator=None):
    """Lists of indices, padded to at most `budget` tokens: count times the longest; random order.

    Each index comes once, and short samples come many at a time. Windows as in `bucketed`.
    ValueError for a sample that is longer than the budget.
    """
    for i, length in enumerate(lengths):
        if length > budget:
            raise ValueError(f"sample {i} has {length} tokens, more than the budget of {budget}; "
                             "shorten it, leave it out, or raise the budget")
    found = []
    for indices in by_length(lengths, window, generator):
        batch = []
        for i in indices:                                  # the newest is the longest
            if (len(batch) + 1) * lengths[i] > budget:
                found.append(batch)
                batch = []
            batch.append(i)
        found.append(batch)
    return [found[i] for i in shuffled(len(found), generator)]


def waste(lengths, batches):
    """The share of padding in all places of these batches: 0.5 if every second is empty."""
    batches = list(batches)
    places = sum(len(batch) * max(lengths[i] for i in batch) for batch in batches)
    return 1 - sum(lengths[i] for batch in batches for i in batch) / places


# --- 3. Going on inside an epoch ---------------------------------------------------------------

class Resumable:
    """A batch sampler that goes on where training was, on as many ranks as there are then.

    `DataLoader(data, batch_sampler=Resumable(len(data), batch_size, rank, world, seed))`. Each of
    n samples comes once an epoch, on one rank, in an order that follows from seed and epoch. The
    place in it is how many samples are gone, on all ranks together. A loader asks for batches
    ahead, so the training loop has to move the place: call `trained()` after each step, on every
    rank. After the last one the next epoch begins.

    Ranks take equally many steps. If `world` doesn't divide what is left of the epoch, samples from
    the beginning of what is left come again, `world` - 1 at most, as in `evened`. Equal arguments,
    but for `rank`, belong in all ranks, and then `state_dict` is the same on all. ValueError for a
    rank that is not there, and if there is no sample or no batch size.
    """

    def __init__(self, n, batch_size, rank=0, world=1, seed=0):
        if not 0 <= rank < world or n < 1 or batch_size < 1:
            raise ValueError(f"rank {rank} of {world}, {n} samples, batch_size={batch_size}: ranks "
                             f"are 0 … {world - 1}, and a batch has at least one sample")
        self.n, self.batch_size, self.rank, self.world = n, batch_size, rank, world
        self.seed, self.epoch, self.gone = seed, 0, 0

    def __iter__(self):
        """Lists of indices for this rank, from the place on to the end of the epoch."""
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        left = evened(shuffled(self.n, generator)[self.gone:], self.world)
        return batched(left[self.rank::self.world], self.batch_size)

    def __len__(self):
        """How many batches are left of the epoch, on every rank alike."""
        return math.ceil((self.n - self.gone) / (self.batch_size * self.world))

    def trained(self):
        """A step has been made, on all ranks: its samples won't come again in this epoch."""
        self.gone += self.batch_size * self.world
        if self.gone >= self.n:
            self.epoch, self.gone = self.epoch + 1, 0

    def state_dict(self):
        """Four integers, the same on all ranks."""
        return {"n": self.n, "seed": self.seed, "epoch": self.epoch, "gone": self.gone}

    def load_state_dict(self, state):
        """Go on there. Ranks and batch size may be others; ValueError for another n.

        ValueError, too, for what `state_dict` cannot have given; nothing is loaded then.
        """
        wrong = [name for name in self.state_dict() if not isinstance(state, dict)
                 or not isinstance(state.get(name), Integral)]
        if wrong:
            raise ValueError(f"no state of Resumable: {', '.join(wrong)} missing or no integer")
        if state["n"] != self.n:
            raise ValueError(f"the state is of {state['n']} samples, the dataset has {self.n}; "
                             "their order would be another")
        if state["epoch"] < 0 or not 0 <= state["gone"] < self.n:
            raise ValueError(f"the state is damaged: epoch {state['epoch']}, {state['gone']} of "
                             f"{self.n} samples gone")
        self.seed, self.epoch, self.gone = state["seed"], state["epoch"], state["gone"]
