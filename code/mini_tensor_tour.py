"""The tour of mini_tensor.py: the steps that tour.py shows.

    python code/mini_tensor.py --lang zh            exit status 0
    python code/mini_tensor.py --lang en
"""
import mini_tensor
import tour

# A line of code, then what to look at, in either language.
STEPS = (
    ("x = arange(6).view(2, 3)",
     "六个数的存储，看成 2 行 3 列",
     "A storage of six numbers, seen as 2 rows of 3"),
    ("y = x.t()",
     "转置只对调各维长度和步长，存储还是那一块",
     "A transpose exchanges sizes and strides; the storage stays"),
    ("shares_storage(x, y)", "同一块存储", "One storage"),
    ("y.view(3, 2, 1)",
     "不连续也能 view：每个新维度都落在一段均匀的步长里",
     "Not contiguous, and still a view: each new dimension lies in one even run of steps"),
    ("y.view(6)",
     "按行读 y，要走 0 3 1 4 2 5，没有一个步长走得出来",
     "Read by rows, y visits cells 0 3 1 4 2 5, which no single stride does"),
    ("y.reshape(6)", "reshape 于是复制一份", "So reshape copies"),
    ("y + 1",
     "新张量沿用 y 在内存里的顺序：步长 (1, 3)",
     "A new tensor, in the memory order of y: stride (1, 3)"),
    ("y + x.reshape(3, 2)",
     "两个操作数的顺序不同，第一个说了算",
     "Two operands differ in order: the first decides"),
    ("e = x[:, :1].expand(2, 3)",
     "步长 0：一行三个元素是同一个存储单元",
     "Stride 0: the three elements of a row are one cell"),
    ("e.add_(1)",
     "三个元素共用一个单元，加一次还是三次没有定义，所以拒绝",
     "Three elements share a cell, so whether it grows once or three times is not defined"),
    ("e[0, 0] = 9",
     "写单个元素不拒绝，整行都变了，x 也跟着变",
     "One element may be written; its whole row changes, and x with it"),
    ("e", "", ""),
    ("x", "", ""),
)


def main(argv=None):
    """Print the tour; the exit status, 0."""
    return tour.run("A tour of the tensor in pure Python.", STEPS, dict(vars(mini_tensor)), argv)
