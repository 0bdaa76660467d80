"""The tour of mini_shards.py: the steps that tour.py shows.

    python code/mini_shards.py --lang zh            exit status 0
    python code/mini_shards.py --lang en
"""
import tarfile
import tempfile
from pathlib import Path

import torch

import mini_shards
import tour

# A line of code, then what to look at, in either language.
STEPS = (
    ("index = write(({'cls': n} for n in range(10)), folder, 4)",
     "10 个样本，每 4 个一个 shard", "10 samples, 4 to a shard"),
    ("names(folder / 'shard-000002.tar')",
     "shard 就是 tar 文件：点号之前是样本的键", "A shard is a tar file: before the dot is the key"),
    ("numbers(Shards(folder))",
     "shard 的次序随机，里面的次序不变", "Shards in a random order, inside them no change"),
    ("numbers(Shards(folder, buffer=4))",
     "再过一个 4 个样本的缓冲", "Through a buffer of 4 samples as well"),
    ("numbers(shuffle_buffer(range(10), 4, generator))",
     "缓冲区里谁都可能先出来，但最多提前 3 个位置",
     "Any of those held may come next, but at most 3 places early"),
    ("[numbers(Shards(folder, rank, 3)) for rank in range(3)]",
     "三个 rank，步数一样多：剩下的 1 个这一轮不用",
     "Three ranks, equally many steps: the one left over is not used in this epoch"),
    ("[numbers(Shards(folder, rank, 3, repeat=True)) for rank in range(3)]",
     "或者有两个样本用两次", "Or two samples come twice"),
    ("data = Shards(folder, rank=0, world=2, buffer=4)", "", ""),
    ("stopped = numbers(data, 2)", "给出两个就停下", "It stops after two"),
    ("data.state_dict()['stages']", "", ""),
    ("again = Shards(folder, rank=0, world=2, buffer=4)", "", ""),
    ("again.load_state_dict(data.state_dict())", "", ""),
    ("numbers(again)", "接着给剩下的三个", "The three that were still to come"),
    ("numbers(data) == stopped + numbers(again)", "", ""),
    ("alone = Shards(folder, buffer=4)", "现在只有一个 rank", "Now there is one rank only"),
    ("alone.load_state_dict(data.state_dict())",
     "", ""),
    ("numbers(alone)",
     "另一个 rank 给过什么，它不知道，所以不肯猜",
     "What the other rank has given it can't know, and does not guess"),
    ("cut_short(folder / 'shard-000001.tar')", "", ""),
    ("numbers(Shards(folder))", "坏了的 shard：一行话", "A broken shard: one line"),
)


def names(path):
    with tarfile.open(path) as tar:
        return tar.getnames()


def numbers(samples, count=None):
    """The first `count` samples, or all: of a dataset, what their field cls holds."""
    found = []
    for sample in samples:
        found.append(sample["cls"] if isinstance(sample, dict) else sample)
        if len(found) == count:
            break
    return found


def cut_short(path):
    """As a copy that was broken off."""
    path.write_bytes(path.read_bytes()[:1000])


def main(argv=None):
    """Print the tour; the exit status, 0."""
    with tempfile.TemporaryDirectory() as folder:
        scope = {**vars(mini_shards), "folder": Path(folder), "names": names, "numbers": numbers,
                 "cut_short": cut_short, "generator": torch.Generator().manual_seed(0)}
        return tour.run("A tour of shards, dealt out to ranks.", STEPS, scope, argv)
