"""The tour of mini_samples.py: the steps that tour.py shows.

    python code/mini_samples.py --lang zh            exit status 0
    python code/mini_samples.py --lang en
"""
from collections import Counter

import torch

import mini_samples
import tour

# A line of code, then what to look at, in either language.
STEPS = (
    ("train, val = split(range(10), [0.8, 0.2], seed(0))",
     "两个视图，同一个数据集", "Two views of one dataset"),
    ("list(val)", "", ""),
    ("list(Transformed(val, lambda x: x * 100))",
     "变换包在外面，train 不受影响", "The transform is around val alone; train has none"),
    ("Concat([range(3), 'ab'])[-1]",
     "一个接一个：负下标也行", "One behind another, negative indices too"),
    ("shuffled(5, seed(0))", "采样器只给下标", "A sampler gives indices and nothing else"),
    ("Counter(weighted([1, 1, 8], 1000, True, seed(0)))",
     "每个样本一个权重：2 号约占八成",
     "One weight for each sample: index 2 is drawn about 8 times in 10"),
    ("[ranked(5, rank, 2, shuffle=False) for rank in (0, 1)]",
     "两个 rank 一样多，所以 0 号样本用了两次",
     "Both ranks get equally many, so sample 0 comes twice"),
    ("list(batched(range(7), 3))", "", ""),
    ("lengths = [1, 9, 2, 8, 1, 7, 2, 9]", "", ""),
    ("waste(lengths, batched(range(8), 2))",
     "照原来的顺序两个一批，四成是填充",
     "Two by two as they come: four tenths of the places are padding"),
    ("order = token_batches(lengths, 18, 8, seed(0))",
     "长度相近的放一起，每批填充后至多 18 个位置",
     "Near lengths together, at most 18 places a batch, padding included"),
    ("waste(lengths, order)", "", ""),
    ("collate([(1.5, 'cat'), (2.5, 'dog')])",
     "结构照第一个样本；浮点数变成 float64",
     "Built like the first sample; floats become float64"),
    ("collate([[1, 2], [3]])", "长度不等，组不成一批", "Unequal lengths make no batch"),
    ("pad([torch.tensor([1, 2, 3]), torch.tensor([4])])",
     "mask 说哪些是数据", "The mask says what is data"),
    ("pack([[5, 6, 7], [8, 9], [4]], 6)",
     "三个文档一行：位置各自从 0 数起，标签不越过边界",
     "Three documents in a row: positions restart, and no label crosses a border"),
    ("block_mask(torch.tensor([0, 0, 0, 1, 1, 2])).int()",
     "每个文档只看自己，只看前面", "Each document looks at itself only, and backwards"),
    ("list(batches(Transformed(range(5), float), batched(shuffled(5, seed(0)), 2)))",
     "合起来：下标、样本、一批", "All together: indices, samples, a batch"),
)


def seed(number):
    """A generator of its own."""
    return torch.Generator().manual_seed(number)


def main(argv=None):
    """Print the tour; the exit status, 0."""
    scope = {**vars(mini_samples), "torch": torch, "Counter": Counter, "seed": seed}
    return tour.run("A tour of what happens between samples and batches.", STEPS, scope, argv)
