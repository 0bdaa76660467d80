"""The tour of mini_cache.py: the steps that tour.py shows.

    python code/mini_cache.py --lang zh            exit status 0
    python code/mini_cache.py --lang en
"""
import torch
from torch.utils.data import Dataset

import mini_cache
import tour

# A line of code, then what to look at, in either language.
STEPS = (
    ("nbytes(torch.zeros(1000, 1000))", "一百万个 float32", "A million float32"),
    ("nbytes(torch.zeros(1000, 1000)[0, :1])",
     "视图只有一个数，可是整个 storage 都跟着留在内存里",
     "A view of one number, but its whole storage stays in memory"),
    ("cache = LRU(24)", "24 字节：放得下三个 float64", "24 bytes: room for three float64"),
    ("[cache.put(key, number()) for key in 'abc']", "", ""),
    ("cache.get('a')", "用过 a，最久没用的就成了 b", "Now b is the one used longest ago"),
    ("cache.put('d', number())", "", ""),
    ("[*cache.kept]", "淘汰的是 b", "b was evicted"),
    ("cache.put('e', torch.zeros(1000))",
     "4000 字节放不下：不收，别的也不淘汰",
     "4,000 bytes are over the limit: refused, and nothing is evicted for it"),
    ("cache.get('b')", "", ""),
    ("(cache.hits, cache.misses, cache.evictions, cache.bytes)", "", ""),
    ("lru = Cached(Numbers(2000), LRU(8 * 1000))",
     "缓存放得下一半样本", "A cache for half of the samples"),
    ("fixed = Fixed(Numbers(2000), range(1000))",
     "固定留下一半样本", "Half of the samples, fixed"),
    ("shuffled(lru, 10)", "", ""),
    ("shuffled(fixed, 10)", "", ""),
    ("round(lru.cache.hit_rate, 2)",
     "打乱顺序，LRU 命中得很少", "Under shuffling, LRU rarely hits"),
    ("round(lru_hit_rate(0.5), 2)", "公式算出来的（样本很多时）", "What the formula says"),
    ("fixed.hits / (fixed.hits + fixed.misses)",
     "不淘汰，正好一半命中", "Without eviction, exactly half are hits"),
    ("ahead = ReadAhead(Numbers(2000), 100)",
     "一次读 100 个", "Reads 100 samples at a time"),
    ("shuffled(ahead, 1)", "", ""),
    ("round(ahead.amplification)",
     "打乱之后，要一个就得读近一百个",
     "Shuffled, each sample asked for costs almost a hundred reads"),
)


class Numbers(Dataset):
    """Sample i is i, as a float64."""

    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        return torch.tensor(i, dtype=torch.float64)


def shuffled(dataset, epochs):
    """Ask for every sample, in another order each epoch."""
    generator = torch.Generator().manual_seed(0)
    for _ in range(epochs):
        for i in torch.randperm(len(dataset), generator=generator).tolist():
            dataset[i]


def number():
    return torch.zeros(1, dtype=torch.float64)


def main(argv=None):
    """Print the tour; the exit status, 0."""
    scope = {**vars(mini_cache), "torch": torch, "Numbers": Numbers, "shuffled": shuffled,
             "number": number}
    return tour.run("A tour of caches, and of what shuffling leaves of them.", STEPS, scope, argv)
