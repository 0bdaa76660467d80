"""The tour of mini_index.py: the steps that tour.py shows.

    python code/mini_index.py --lang zh            exit status 0
    python code/mini_index.py --lang en
"""
import torch

import mini_index
import tour

# A line of code, then what to look at, in either language.
STEPS = (
    ("x = torch.arange(24).view(2, 3, 4)",
     "24 个数，步长 (12, 4, 1)", "24 numbers, strides (12, 4, 1)"),
    ("basic(x, (1, slice(0, 2), None))",
     "整数、切片和 None 只改长度、步长和偏移，所以是视图",
     "An int, a slice and None change only sizes, strides and offset, so this is a view"),
    ("basic(x, (0, slice(None), [2, 0]))",
     "列表还没有挑，只记下它站在哪个维度",
     "The list has not chosen yet; its dimension is noted"),
    ("addresses(basic(x, (0, slice(None), [2, 0])))",
     "每个元素一个地址：行走步长 4，列表挑 2 和 0",
     "One address for each element: rows step by 4, the list chooses 2 and 0"),
    ("index(x, (0, slice(None), [2, 0]))",
     "照着地址一个一个读，得到副本", "Read address by address, which gives a copy"),
    ("index(x, ([0, 1], slice(None), [2, 0])).shape",
     "两个列表被切片隔开：它们的维度到了最前面",
     "A slice stands between two lists: their dimension goes to the front"),
    ("index(x, ([0, 1], [2, 0])).shape",
     "两个列表挨着：维度留在原处", "Two lists side by side: it stays where they stood"),
    ("index(x, x > 20)",
     "掩码就是 nonzero：三个维度各得一个下标张量",
     "A mask is nonzero: an index tensor for each of the three dimensions"),
    ("votes = torch.zeros(3)", "", ""),
    ("index_put(votes, [1, 1, 1, 2], 1)",
     "同一个地址写三次 1，还是 1", "1 written three times to one address is 1"),
    ("index_put(votes, [1, 1, 1, 2], 1, accumulate=True)",
     "accumulate 每次先读再加", "accumulate reads and adds each time"),
    ("gather(torch.tensor([[5, 6], [7, 8]]), 1, torch.tensor([[1], [0]]))",
     "gather 也是一个键：别的维度取自己的位置",
     "gather is a key too: every other dimension has its own position"),
    ("index_put(votes, [0, 1], torch.ones(3))",
     "值要能广播到挑出来的形状", "A value must broadcast to the shape of what was chosen"),
)


def main(argv=None):
    """Print the tour; the exit status, 0."""
    scope = {**vars(mini_index), "torch": torch}
    return tour.run("A tour of torch's indexing, as addresses.", STEPS, scope, argv)
