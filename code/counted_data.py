"""A dataset that counts what is read of it, by all processes together.

It stands in a module, not in a notebook, because a worker that spawn or forkserver starts has to
import its class.
"""

import torch
from torch.utils.data import Dataset, get_worker_info


class Counted(Dataset):
    """Sample i is a tensor that holds i; in shared memory, each process counts what it reads.

    `requests` counts calls and `read` counts samples, in the main process and in up to `workers`
    workers together.
    """

    def __init__(self, size, workers=8):
        self.size = size
        self.tally = torch.zeros(workers + 1, 2, dtype=torch.int64).share_memory_()

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        return self.__getitems__([i])[0]

    def __getitems__(self, indices):
        info = get_worker_info()
        self.tally[info.id + 1 if info else 0] += torch.tensor([1, len(indices)])
        return [torch.tensor(float(i)) for i in indices]

    @property
    def requests(self):
        return int(self.tally[:, 0].sum())

    @property
    def read(self):
        return int(self.tally[:, 1].sum())
