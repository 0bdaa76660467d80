"""The functions that the pipeline explorer shows, and every word of it that is not the page's.

A stage is named here and filled by `inside.compile.observe.pipeline_stages`; the page shows the
stages in this order, as many as the record has.
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
    "joint": (
        ("联合图", "Joint graph"),
        ("AOTAutograd 把前向和反向记在一张图里，`primals` 是输入，`tangents` 是传给反向的梯度。"
         "不需要梯度的函数没有这张图。",
         "AOTAutograd writes forward and backward into one graph. `primals` are the inputs, "
         "`tangents` the gradients that come in. A function without gradients has none.")),
    "graphs": (
        ("给后端的图", "Graphs for the back end"),
        ("需要梯度时，联合图在这里切成前向和反向。这几个例子里，前向在结果之外返回的，都是留给反向的。",
         "With gradients the joint graph is cut into forward and backward here. What the forward "
         "graph returns besides the result is kept, in these examples, for the backward graph.")),
    "loops": (
        ("融合", "Fusion"),
        ("Inductor 排好的任务，一行一个。`loops` 是一组循环，里面有一个或者几个算子；"
         "`call` 是调用一次现成的 kernel。后面写着来自哪些算子。",
         "What Inductor schedules, a row for each unit. `loops` is one nest of loops, for one or "
         "several operators, and `call` is one call of a ready-made kernel. The operators that "
         "it came from follow.")),
    "code": (
        ("生成的 C++", "Generated C++"),
        ("不带向量指令的写法，没有编译，也没有运行。下标的类型转换、花括号、检查和注释都略去了；"
         "C++ 函数本来叫 `kernel`，这里换成了 `call` 里的名字。`call` 是分配内存、调用 kernel 的 "
         "Python，它的各行没有追溯到源代码。"
         "一组循环来自哪些源代码行，循环里的每一行就都算来自它们。",
         "Written without vector instructions, and neither compiled nor run. Index casts, braces, "
         "checks and comments are left out, and the C++ function, which is really called "
         "`kernel`, has the name that `call` uses. `call` is the Python that allocates memory and "
         "calls kernels; its lines aren't traced to the source. All lines of a loop count as "
         "coming from all the source lines of that loop.")),
    "rewritten": (
        ("改写后的字节码", "Rewritten bytecode"),
        ("守卫都成立时，Python 执行的是这一份。只搬动数据的指令略去了，`⋯` 后面是略去的条数。"
         "录制时关掉了 Dynamo 的计时调用。",
         "What Python runs when all guards hold. Instructions that only move values are left "
         "out, and `⋯` counts them. Dynamo's own timing calls were switched off.")),
    "times": (
        ("用时", "Timings"),
        ("第一次运行时各个阶段用的时间。`C++` 是 C++ 编译器，包括先试哪种向量指令能用、做预编译头。"
         "`compiled` 是编译好以后再跑一遍，`eager` 是不编译跑一遍，需要梯度的连反向一起算。",
         "What each stage took when the example first ran. `C++` is the C++ compiler, with its "
         "trials of vector instructions and its precompiled header. `compiled` is a later run, "
         "`eager` a run without the compiler, with backward where there is one.")),
}

TIMES = [("dynamo", "Dynamo", "ms"), ("aot", "AOTAutograd", "ms"), ("inductor", "Inductor", "ms"),
         ("cpp", "C++", "ms"), ("later", "compiled", "µs"), ("eager", "eager", "µs")]


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
         "Dynamo 重新编译，这一回把长度记成符号 `s77`。守卫要求它在 2 和 4096 之间，"
         "其中 4096 是 Inductor 加的，求和再长，它就换一种写法。",
         "The first call writes the size 4 into the graph and into a guard. The second brings 5, "
         "the guard fails, and Dynamo compiles again. Now the size is a symbol, `s77`, and a "
         "guard asks that it's between 2 and 4096. The 4096 comes from Inductor, which writes "
         "a longer sum another way."),
        """\
def step(x):
    y = x * x.shape[0]
    return y.sum()
""", ("step(torch.ones(4))", "step(torch.ones(5))")),
    "gradient": Function(
        ("需要梯度", "A gradient"),
        ("`w` 需要梯度，所以多了一张联合图。切开以后，前向没有留下 `sin` 的结果，只留下两个输入，"
         "反向把乘积和正弦又算了一遍，而且和别的运算在同一个循环里。",
         "`w` needs a gradient, so there is a joint graph. After the cut the forward graph keeps "
         "the two inputs, not the result of `sin`. The backward graph computes the product and "
         "the sine once more, in one loop with the rest."),
        """\
def step(x, w):
    y = torch.sin(x * w)
    return (y * y).sum()
""", ("step(torch.ones(4), torch.ones(4, requires_grad=True))",)),
    "product": Function(
        ("矩阵乘法", "A matrix product"),
        ("矩阵乘法交给现成的 kernel，所以融合里有一行 `call`。`relu` 和 softmax 合成一组循环，"
         "每一行里有三个：先求最大值；再算指数、求和，并把指数存进一小块局部缓冲；最后做除法。"
         "只有前两个循环去读这一行数据。",
         "The matrix product goes to a ready-made kernel, the row `call` under Fusion. `relu` and "
         "the softmax become one nest of loops with three loops inside. One finds the maximum of "
         "a row, one sums the exponentials and keeps them in a small local buffer, and one "
         "divides. Only the first two read the row."),
        """\
def step(x, w):
    y = torch.relu(x @ w)
    return torch.softmax(y, -1)
""", ("step(torch.ones(2, 4), torch.ones(4, 8))",)),
}
