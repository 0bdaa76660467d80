"""The tour of mini_compile.py: the steps that tour.py shows.

    python code/mini_compile.py --lang zh            exit status 0
    python code/mini_compile.py --lang en
"""
import torch

import mini_compile
import tour


def chain(x, y):
    return ((x * 2 + y).tanh() - x).exp()


def softmax(x):
    return torch.softmax(x * 0.5, -1)


def layer(x, w):
    return (x.relu() @ w).sigmoid() * 2


# A line of code, then what to look at, in either language.
STEPS = (
    ("seen = mini_compile.explain(chain, x, y)", "先看五个逐元素运算变成了什么",
     "First: what became of five pointwise operations"),
    ("seen", "全部在同一个循环里", "All of them share one loop"),
    ("print(seen.source)", "读两个数，算完，写一个数；中间结果不进内存",
     "It reads two numbers, computes, writes one; nothing in between goes to memory"),
    ("fast = torch.compile(chain, backend=mini_compile.backend)", "", ""),
    ("torch.allclose(fast(x, y), chain(x, y))", "结果与 eager 一样", "The result is eager's"),
    ("seen = mini_compile.explain(softmax, x)", "带归约的函数：一行要扫几遍",
     "A function with reductions: a row is swept several times"),
    ("print(seen.source)", "第一遍求最大值，第二遍求和，第三遍相除",
     "One sweep for the maximum, one for the sum, one to divide"),
    ("mini_compile.explain(layer, x, w)", "矩阵乘法不在表里，循环在它两边断开",
     "A matrix product has no rule, so it parts two loops"),
    ("seen = mini_compile.explain(lambda x: (chain(x, w[0]) ** 2).sum(), x)",
     "w 要梯度：前向一张图，反向一张图",
     "w wants a gradient: one graph forward, one backward"),
    ("seen", "", ""),
)


def main(argv=None):
    """Print the tour; the exit status, 0."""
    x, y = torch.ones(4, 3), torch.full((4, 3), 0.5)
    w = torch.ones(3, 3).requires_grad_()
    scope = {**globals(), "x": x, "y": y, "w": w, "mini_compile": mini_compile}
    return tour.run("A tour of a small compiler.", STEPS, scope, argv)
