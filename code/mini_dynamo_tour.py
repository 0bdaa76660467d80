"""The tour of mini_dynamo.py: the steps that tour.py shows.

    python code/mini_dynamo.py --lang zh            exit status 0
    python code/mini_dynamo.py --lang en
"""
import torch

import mini_dynamo
import tour


def scaled(x, n):
    return (x * n).sum()


def logged(x, log):
    log.append(x * 2)
    return log


def noisy(x):
    y = x.sin()
    print("between")
    return y.cos()


def looping(x):
    for k in range(2):
        x = x + k
        print(k)
    return x


# A line of code, then what to look at, in either language.
STEPS = (
    ("seen = mini_dynamo.stats(fast := mini_dynamo.compile(scaled))", "还什么都没有编译",
     "Nothing is compiled yet"),
    ("fast(x, 2)", "第一次调用：捕获一张图，再运行它",
     "The first call captures a graph and runs it"),
    ("print(seen.graph_modules[0].code.strip())", "图里只有张量运算",
     "The graph holds tensor operations and nothing else"),
    ("print(*seen.guards[0][-2:], sep='\\n')", "下次调用之前要查的条件",
     "What the next call checks first"),
    ("fast(x, 3)", "守卫不成立，再捕获一次", "A guard fails, so there is a second capture"),
    ("seen", "", ""),
    ("log = []", "", ""),
    ("mini_dynamo.compile(logged)(x, log) is log", "还是同一个列表",
     "The list is the very same list"),
    ("len(log)", "图运行之后，才真的 append，而且只有一次",
     "The append happens after the graph, once"),
    ("seen = mini_dynamo.stats(fast := mini_dynamo.compile(noisy))", "", ""),
    ("fast(x)", "print 那条指令真的执行，前后各一张图",
     "The print runs for real, between two graphs"),
    ("seen", "", ""),
    ("mini_dynamo.compile(noisy, fullgraph=True)(x)", "要求只有一张图，就报出原因",
     "Asked for one graph, it raises the reason"),
    ("seen = mini_dynamo.stats(fast := mini_dynamo.compile(looping))", "", ""),
    ("fast(x)", "循环里的中断：整个帧都不编译", "A break in a loop gives the whole frame up"),
    ("seen", "", ""),
)


def main(argv=None):
    """Print the tour; the exit status, 0."""
    scope = {**globals(), "x": torch.ones(3), "mini_dynamo": mini_dynamo}
    return tour.run("A tour of Dynamo written again.", STEPS, scope, argv)
