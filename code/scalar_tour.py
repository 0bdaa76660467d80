"""The tour of pytorch_deep_dive.py: graph, forward values, chain rule by hand, torch's answer.

    python code/pytorch_deep_dive.py --lang zh      exit status 0: all gradients equal; 1: not;
    python code/pytorch_deep_dive.py --lang en      3: torch is not installed
    python code/pytorch_deep_dive.py --dot          the Graphviz source instead, on stdout
    python code/pytorch_deep_dive.py --dot g.gv     ... in a file
"""
import sys
import unicodedata
from pathlib import Path

import tour
from pytorch_deep_dive import Over, Scalar

TEXT = {
    "zh": {
        "graph": "计算图，从旧到新；最右一列是前向算出的值",
        "leaf": "叶子",
        "rule": "手推链式法则，从 {root} 往回走；d_x 表示 ∂{root}/∂x",
        "table": "同一个梯度，三种算法",
        "columns": ("节点", "手推", "Scalar", "torch", "相等"),
        "yes": "是",
        "no": "否",
        "interior": "中间节点的梯度：Scalar 留着，方便你看；"
                    "torch 不留，除非先调用 retain_grad()。",
        "equal": "全部相等（相对误差不超过 1e-12）。",
        "differ": "有梯度不相等，见上表中的“否”。",
        "no torch": "没有安装 torch，无法对照；先运行 pip install torch，或者用 --dot 只画图。",
        "no file": "{file}：DOT 图写不进去（{why}）；换一个可写的路径。",
    },
    "en": {
        "graph": "The graph, oldest node first; the last column holds the forward values",
        "leaf": "leaf",
        "rule": "The chain rule by hand, working back from {root}; d_x stands for ∂{root}/∂x",
        "table": "The same gradient, computed three ways",
        "columns": ("node", "by hand", "Scalar", "torch", "equal"),
        "yes": "yes",
        "no": "no",
        "interior": "Gradients of interior nodes: Scalar keeps them so that you can look at them; "
                    "torch does not, unless you call retain_grad() first.",
        "equal": "All equal (relative error at most 1e-12).",
        "differ": 'Some gradients differ: look for "no" in the tables above.',
        "no torch": "torch is not installed, so there is nothing to compare with: "
                    "run pip install torch, or draw the graph with --dot.",
        "no file": "{file}: cannot write the DOT graph ({why}); choose a writable path.",
    },
}


# --- The examples ----------------------------------------------------------------------------

def line(w, x, b):
    p = w * x
    return {"p": p, "f": p + b}


def neuron(w, x, b):
    z = w * x + b
    h = z.tanh()
    return {"z": z, "h": h, "L": (h - 0.25) ** 2 + 0.1 * w ** 2}


# Title, function, inputs, and the chain rule: (node, formula), from the root to the leaves.
# The formulas are both printed and evaluated, so that what you read is what is compared.
EXAMPLES = (
    ("f = w·x + b", line, {"w": 2.0, "x": 0.5, "b": 1.0},
     (("p", "1"), ("w", "d_p * x"), ("x", "d_p * w"), ("b", "1"))),
    ("L = (tanh(w·x + b) - 0.25)² + 0.1·w²", neuron, {"w": 0.75, "x": -2.0, "b": 0.5},
     (("h", "2 * (h - 0.25)"), ("z", "d_h * (1 - h ** 2)"),
      ("w", "d_z * x + 0.2 * w"), ("x", "d_z * w"), ("b", "d_z"))),
)


def scalar_graph(function, inputs):
    """The named Scalars of an example, labelled; its root comes last, with gradients filled."""
    leaves = {name: Scalar(data) for name, data in inputs.items()}
    named = {**leaves, **function(**leaves)}
    for name, node in named.items():
        node.label = name
    node.backward()
    return named


def torch_gradients(function, inputs):
    """torch's gradient of every named node, float64; raises ModuleNotFoundError without torch."""
    import torch
    leaves = {name: torch.tensor(data, dtype=torch.float64, requires_grad=True)
              for name, data in inputs.items()}
    named = {**leaves, **function(**leaves)}
    for tensor in named.values():
        tensor.retain_grad()
    tensor.backward()
    return {name: tensor.grad.item() for name, tensor in named.items()}


def by_hand(rules, named):
    """Gradients by the printed formulas, whose names are forward values and d_..."""
    scope = {name: node.data for name, node in named.items()}
    for name, formula in rules:
        scope["d_" + name] = eval(formula, {}, scope)          # our own text, from EXAMPLES
    return {name: scope["d_" + name] for name, _ in rules}


# --- Printing --------------------------------------------------------------------------------

def names_of(nodes):
    """A name for every node: its label, else v and its place, counted from the oldest."""
    return {node: node.label or f"v{place}" for place, node in enumerate(reversed(nodes))}


def formula_of(node, names):
    """How a node was made, such as `w * x` or `tanh(z)`."""
    left, right = (names[o] if isinstance(o, Scalar) else "" if o is None else f"{o:g}"
                   for o in (node.left, node.right))
    return f"{left} {node.op} {right}" if right else f"{node.op}({left})"


def row(cells, widths):
    """Cells padded to columns of the terminal, where a Chinese character takes two."""
    def width(text):
        return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
    padded = (c + " " * (w - width(c)) for c, w in zip(cells, widths, strict=True))
    return "  " + "  ".join(padded).rstrip()


def show_graph(nodes, text):
    names = names_of(nodes)
    print(text["graph"])
    for node in reversed(nodes):
        made = "= " + formula_of(node, names) if node.op else text["leaf"]
        print(row((names[node], made, f"{node.data:.12g}"), (3, 14, 16)))


def show_comparison(hand, named, theirs, text):
    """Print a row per gradient; True if the three agree in all of them."""
    widths = (6, 18, 18, 18, 6)
    print(text["table"])
    print(row(text["columns"], widths))
    good = True
    for name, expected in hand.items():
        ours = named[name].grad
        same = all(abs(ours - other) <= 1e-12 * abs(other) for other in (expected, theirs[name]))
        good = good and same
        numbers = (f"{g:.12g}" for g in (expected, ours, theirs[name]))
        print(row((name, *numbers, text["yes" if same else "no"]), widths))
    return good


def show_example(title, function, inputs, rules, text):
    """Print one example; True if all its gradients agree."""
    theirs = torch_gradients(function, inputs)
    named = scalar_graph(function, inputs)
    hand = by_hand(rules, named)
    root = list(named)[-1]
    print("##", title)
    show_graph(named[root].nodes(), text)
    print(text["rule"].format(root=root))
    for name, formula in rules:
        print(f"  d_{name} = {formula} = {hand[name]:.12g}")
    good = show_comparison(hand, named, theirs, text)
    print()
    return good


def dot(root):
    """Graphviz source: a box per node; each arrow, operand to result, bears the derivative."""
    nodes = root.nodes()
    names = names_of(nodes)
    lines = ["digraph {", "  rankdir=LR; node [shape=box];"]
    for node in reversed(nodes):
        made = f" = {formula_of(node, names)}" if node.op else ""
        lines.append(f'  n{names[node]} [label="{names[node]}{made}\\n'
                     f'data {node.data:.6g}\\ngrad {node.grad:.6g}"];')
        for operand, slope in ((node.left, node.dleft), (node.right, node.dright)):
            if isinstance(operand, Scalar):
                lines.append(f'  n{names[operand]} -> n{names[node]} [label="{show(slope)}"];')
    return "\n".join([*lines, "}"])


def show(slope):
    """A local derivative for display: a number, 1/y, or none where nothing flows."""
    if isinstance(slope, Over):
        return f"1/{slope.y:.6g}"
    return "none" if slope is None else f"{slope:.6g}"


def write_dot(file, text):
    """Write the second example's graph to `file`, "-" for stdout; the exit status."""
    _, function, inputs, _ = EXAMPLES[-1]
    source = dot(list(scalar_graph(function, inputs).values())[-1])
    if file == "-":
        print(source)
        return 0
    try:
        Path(file).write_text(source + "\n", encoding="utf-8")
    except OSError as error:
        print(text["no file"].format(file=file, why=error.strerror), file=sys.stderr)
        return 1
    return 0


def main(argv=None):
    """Run the tour or draw its graph; the exit status, as in the docstring of this file."""
    parser = tour.parser("A tour of the Scalar engine.")
    parser.add_argument("--dot", nargs="?", const="-", metavar="FILE",
                        help="write the graph for Graphviz, to FILE or to stdout")
    options = parser.parse_args(argv)
    text = TEXT[options.lang]
    if options.dot:
        return write_dot(options.dot, text)
    try:
        good = [show_example(*example, text) for example in EXAMPLES]
    except ModuleNotFoundError:
        print(text["no torch"], file=sys.stderr)
        return 3
    print(text["interior"])
    print(text["equal" if all(good) else "differ"])
    return 0 if all(good) else 1
