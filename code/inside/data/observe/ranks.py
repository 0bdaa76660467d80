"""Ranks as threads of one process that meet in gloo's real all-reduce, so that waiting can be seen.

As in training, a rank calls it once a step, and nothing says to which epoch a step belongs: the
nth call of one rank meets the nth call of the others.
"""

from datetime import timedelta
from threading import Thread

import torch
import torch.distributed as dist

LONG = timedelta(minutes=5)


def meet(steps, epochs, seconds=1):
    """What met in each all-reduce: a list of lines, such as `rank 0 in epoch 1, rank 1 in epoch 2`.

    Rank r makes `steps[r]` steps in each of `epochs` epochs. When the first rank has finished, the
    next one waits `seconds` for it, and its line says which error ends the waiting. For a rank that
    is only slow it waits long enough, whatever else the machine does.
    """
    store, groups, met, shared = dist.HashStore(), {}, {}, min(steps) * epochs

    def train(rank):
        group = groups[rank] = gloo(store, rank, len(steps))
        met[rank] = []
        for epoch in range(1, epochs + 1):
            for _ in range(steps[rank]):
                sent = torch.zeros(len(steps))
                sent[rank] = epoch               # the sum holds the epoch of each rank
                call = dist.AllreduceOptions()
                call.timeout = LONG if len(met[rank]) < shared else timedelta(seconds=seconds)
                try:
                    group.allreduce([sent], call).wait()
                except RuntimeError as error:
                    met[rank].append(f"rank {rank} waits: {type(error).__name__}")
                    return
                met[rank].append(", ".join(f"rank {other} in epoch {int(at)}"
                                           for other, at in enumerate(sent.tolist())))

    threads = [Thread(target=train, args=(rank,)) for rank in range(len(steps))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return max(met.values(), key=len)


def gloo(store, rank, world):
    """The process group of one rank, on the loopback address."""
    options = dist.ProcessGroupGloo._Options()
    options._timeout = LONG
    options._devices = [dist.ProcessGroupGloo.create_device(hostname="127.0.0.1")]
    return dist.ProcessGroupGloo(store, rank, world, options)
