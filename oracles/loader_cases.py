"""Random arguments for both loaders, and how what they give is compared."""

import itertools
import random
from collections.abc import Mapping

import numpy
import torch
from torch.utils import data

from oracles import loader_datasets as datasets
from oracles.loader_datasets import Numbers


def same(a, b):
    """Equal in type and value, all the way down; tensors also in dtype, sizes and strides."""
    if type(a) is not type(b):
        return False
    if isinstance(a, torch.Tensor):
        return (a.dtype == b.dtype and a.shape == b.shape and a.layout == b.layout
                and a.requires_grad == b.requires_grad
                and (a.is_sparse or a.stride() == b.stride())
                and torch.equal(a.to_dense(), b.to_dense()))
    if isinstance(a, numpy.ndarray):
        return a.dtype == b.dtype and numpy.array_equal(a, b)
    if isinstance(a, Mapping):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


SAMPLERS = {
    "none": lambda d, g: {},
    "shuffle": lambda d, g: {"shuffle": True},
    "with replacement": lambda d, g: {"sampler": data.RandomSampler(d, replacement=True,
                                                                    generator=g)},
    "weighted": lambda d, g: {"sampler": data.WeightedRandomSampler(
        torch.arange(1.0, len(d) + 1), 2 * len(d), generator=g)},
    "subset": lambda d, g: {"sampler": data.SubsetRandomSampler(range(0, len(d), 2), generator=g)},
    "drawn at once": lambda d, g: {"sampler": AtOnceSampler(d, g)},
    "list": lambda d, g: {"sampler": [0, 0, len(d) - 1]},
}


class AtOnceSampler(data.Sampler):
    """Draws when iteration begins, not when the first index is asked for."""

    def __init__(self, dataset, generator):
        self.size, self.generator = len(dataset), generator

    def __iter__(self):
        return iter(torch.randperm(self.size, generator=self.generator).tolist())

    def __len__(self):
        return self.size


class Case:
    """Random arguments, for both loaders; what each gives with them, over some epochs.

    `method` is how workers start, where there are some; None: as the platform does.
    """

    def __init__(self, seed, method=None):
        rng = self.rng = random.Random(seed)
        self.seed, self.epochs = seed, rng.randint(1, 3)
        self.dataset = rng.choice([Numbers, datasets.AtOnce])(
            rng.randint(1, 60), rng.choice([(3,), datasets.SHAPE]))
        self.sampler = rng.choice(sorted(SAMPLERS))
        self.mode = rng.choice(["batches", "batches", "batches", "single", "batch_sampler"])
        self.size, self.drop_last = rng.randint(1, 12), rng.random() < 0.5
        self.workers, self.global_generator = rng.randint(0, 2), rng.random() < 0.3
        self.workers_given = {"num_workers": self.workers}
        if self.workers:
            self.workers_given |= {"prefetch_factor": rng.choice([None, 1, 3]),
                                   "persistent_workers": rng.random() < 0.5,
                                   "multiprocessing_context": method}
        self.leave_early = rng.random() < 0.3

    def arguments(self):
        """Fresh ones: samplers and generators have state."""
        generator = None if self.global_generator else torch.Generator().manual_seed(self.seed)
        arguments = SAMPLERS[self.sampler](self.dataset, generator)
        if self.mode == "batches":
            arguments |= {"batch_size": self.size, "drop_last": self.drop_last}
        elif self.mode == "single":
            arguments |= {"batch_size": None}
        else:
            sampler = arguments.get("sampler") or data.SequentialSampler(self.dataset)
            arguments = {"batch_sampler": data.BatchSampler(sampler, self.size, self.drop_last)}
        return {"dataset": self.dataset, "generator": generator, **arguments, **self.workers_given}

    def run(self, kind):
        """The batches of each epoch, their promised number, and what the global generator gives
        next."""
        torch.manual_seed(self.seed)
        loader = kind(**self.arguments())
        length, epochs = len(loader), [list(loader) for _ in range(self.epochs)]
        if self.leave_early:
            epochs += [list(itertools.islice(loader, 2)), list(loader)]
        return {"length": length, "epochs": epochs, "next": torch.rand(1)}
