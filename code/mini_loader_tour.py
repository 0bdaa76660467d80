"""The tour of mini_loader.py: the steps that tour.py shows.

    python code/mini_loader.py --lang zh            exit status 0
    python code/mini_loader.py --lang en
"""
import os
import signal

import torch
from torch.utils.data import DataLoader as TorchLoader
from torch.utils.data import Dataset

import mini_loader
import tour

# A line of code, then what to look at, in either language.
STEPS = (
    ("loader = DataLoader(Noisy(10), 4)",
     "不用 worker：要一批，当场取一批",
     "Without workers: each batch is made when it is asked for"),
    ("[i.tolist() for i, noise in loader]", "", ""),
    ("draws(TorchLoader, 1) == draws(TorchLoader, 2)",
     "torch 的随机数种子跟着 worker 走，worker 数一变，数就变了",
     "torch seeds each worker, so another number of workers draws other numbers"),
    ("draws(DataLoader, 0) == draws(DataLoader, 1) == draws(DataLoader, 2)",
     "这里每一批有自己的种子，谁来做都一样",
     "Here each batch has its own seed, whoever makes it"),
    ("loader = DataLoader(Noisy(400), 4, num_workers=2)",
     "两个进程，各有一条自己的管道",
     "Two processes, each with a pipe of its own"),
    ("batches = iter(loader)", "", ""),
    ("kill_a_worker(batches)", "SIGKILL，它手上还有任务", "SIGKILL, with tasks in its hands"),
    ("[n for i, noise in batches for n in i.tolist()] == list(range(400))",
     "一个不少，一个不重，次序不乱",
     "None lost, none repeated, all in order"),
    ("loader.statistics.restarts", "换了一个新的 worker", "A new worker took over"),
    ("list(DataLoader(Noisy(10, broken=7), 4))",
     "样本出错，附上它的下标",
     "An error of a sample, with its index"),
)


class Noisy(Dataset):
    """Sample i is i and a random number; one sample may be broken."""

    def __init__(self, size, broken=None):
        self.size, self.broken = size, broken

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        if i == self.broken:
            raise OSError("truncated file")
        return i, torch.rand(())


def draws(kind, workers):
    """The random numbers of one epoch, with a fixed generator."""
    loader = kind(Noisy(40), 4, num_workers=workers, generator=torch.Generator().manual_seed(0))
    return torch.cat([noise for _, noise in loader]).tolist()


def kill_a_worker(batches):
    os.kill(batches.pool.workers[0].process.pid, signal.SIGKILL)


def main(argv=None):
    """Print the tour; the exit status, 0."""
    scope = {**vars(mini_loader), "Noisy": Noisy, "TorchLoader": TorchLoader, "draws": draws,
             "kill_a_worker": kill_a_worker}
    return tour.run("A tour of the loader that survives its workers.", STEPS, scope, argv)
