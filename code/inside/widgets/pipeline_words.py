"""The functions that the pipeline explorer shows, and every word of it that is not the page's.

A stage is named here and filled by `inside.observe.pipeline_stages`; the page shows the stages in
this order, as many as the record has.
"""

from dataclasses import dataclass

Texts = tuple[str, str]  # zh, en

STAGES: dict[str, tuple[Texts, Texts]] = {  # its name, what it is
    "source": (
        ("源代码", "Source"),
        ("你写的函数。`>>>` 后面是这里做的调用。",
         "The function as you write it; `>>>` marks the calls made here.")),
    "bytecode": (
        ("字节码", "Bytecode"),
        ("Python 把函数编译成的指令。Dynamo 读的是这些指令，不是源代码。",
         "The instructions that Python compiles the function to. Dynamo reads these, "
         "not the source.")),
    "graph": (
        ("FX 图", "FX graph"),
        ("Dynamo 顺着字节码走一遍，把张量运算记成节点。数值还没有算。",
         "Dynamo follows the bytecode and writes down each tensor operation as a node. "
         "Nothing is computed yet.")),
    "guards": (
        ("守卫", "Guards"),
        ("下一次调用之前要检查的条件。有几条不属于哪一行，多半检查的是函数以外的设置。"
         "很长的条件截短了，只差一个名字的几条并成了一条。",
         "What is checked before the result is used again. Some guards belong to no line; most "
         "of those check a setting outside the function. Long conditions are shortened, and "
         "guards that differ only in one name are merged.")),
    "rewritten": (
        ("改写后的字节码", "Rewritten bytecode"),
        ("守卫都成立时，Python 执行的是这一份。只搬动数据的指令略去了，`⋯` 后面是略去的条数。"
         "录制时关掉了 Dynamo 的计时调用。",
         "What Python runs when all guards hold. Instructions that only move values are left "
         "out, and `⋯` counts them. Dynamo's own timing calls were switched off.")),
}


@dataclass(frozen=True)
class Function:
    """An example: what to look for, the source, and the calls of `step`, one after the other."""

    name: Texts
    say: Texts
    source: str
    calls: tuple[str, ...]


FUNCTIONS = {
    "straight": Function(
        ("一条直线", "A straight line"),
        ("没有分支，也没有副作用，所以是一张图。改写后的字节码只剩一件事，调用编译好的图。",
         "No branches and no side effects, so it becomes one graph. In the rewritten bytecode "
         "a single call of the compiled graph is left."),
        """\
def step(x, w):
    y = torch.sin(x * w)
    y += 1
    return y.sum()
""", ("step(torch.ones(4), torch.ones(4))",)),
    "flag": Function(
        ("一个 Python 开关", "A Python flag"),
        ("`if train` 没有进图。每张图只记下走到的那一边，再配一条守卫，"
         "检查 `train` 还是不是那个值。所以两个值就有两张图。",
         "The `if` isn't in the graph. Each graph holds only the side that was taken, and a guard "
         "checks that `train` still has that value. Two values, two graphs."),
        """\
def step(x, train):
    if train:
        x = x * 0.5
    return x.cos()
""", ("step(torch.ones(4), True)", "step(torch.ones(4), False)")),
    "loop": Function(
        ("一个循环", "A loop"),
        ("字节码里循环体只有一份，图里有三份，因为 Dynamo 真的转了三圈，每圈的 `k` 都成了常数。",
         "The bytecode holds the loop's body once, the graph three times, because Dynamo went "
         "round three times. In each round `k` became a constant."),
        """\
def step(x):
    for k in range(3):
        x = x * x + k
    return x
""", ("step(torch.ones(4))",)),
    "helper": Function(
        ("调用另一个函数", "A helper"),
        ("Dynamo 走进了 `scale`，乘法直接记在同一张图里，所以那个节点对应两行。"
         "有一条守卫检查 `scale` 的代码有没有换掉。",
         "Dynamo went into `scale`, and the product stands in the same graph, so that its node "
         "belongs to two lines. A guard checks that `scale` still has the same code."),
        """\
def scale(x, by):
    return x * by

def step(x):
    y = scale(x, 3)
    return y.relu()
""", ("step(torch.ones(4))",)),
    "list": Function(
        ("改一个列表", "A list that is changed"),
        ("`append` 不是张量运算，图里没有它。图把 `y` 也返回出来，改写后的字节码再拿它去改 `log`。",
         "`append` is no tensor operation, so it isn't in the graph. The graph returns `y` as "
         "well, and the rewritten bytecode puts it into `log` afterwards."),
        """\
def step(x, log):
    y = x.sin()
    log.append(y)
    return y + 1
""", ("step(torch.ones(4), [])",)),
    "break": Function(
        ("`print` 中断了图", "A graph break"),
        ("Dynamo 不能把 `print` 记进图，于是图在第 3 行断开。改写后的字节码调用第一张图，"
         "照常执行 `print`，再调用一个恢复函数。恢复函数从断开的地方接着走，有自己的图和守卫。",
         "Dynamo can't put `print` into a graph, so the graph ends at line 3. The rewritten "
         "bytecode calls the first graph, runs `print` as usual, and then calls a resume "
         "function. That one goes on after the break, with a graph and guards of its own."),
        """\
def step(x):
    y = x.sin()
    print("half way")
    return y.cos() * 2
""", ("step(torch.ones(4))",)),
    "dynamic": Function(
        ("长度变了", "A size that changes"),
        ("第一次调用，长度 4 写死在图里，也写在守卫里。第二次来的是 5，守卫不成立，"
         "Dynamo 重新编译，这一回把长度记成符号 `s77`，守卫只要求至少是 2。",
         "The first call writes the size 4 into the graph and into a guard. The second brings 5, "
         "the guard fails, and Dynamo compiles again. Now the size is a symbol, `s77`, and a "
         "guard asks only that it's at least 2."),
        """\
def step(x):
    y = x * x.shape[0]
    return y.sum()
""", ("step(torch.ones(4))", "step(torch.ones(5))")),
}
