"""检查补完的 Scalar · Check a Scalar that you have completed.

    python3 check_scalar.py                 every practice file beside this file
    python3 check_scalar.py FILE …

The exit status is 0 if all checks pass. What you wrote is compared with torch, or, where torch is
not installed, with the numbers that torch gave.
"""
import math
import sys
from functools import partial

from exercise_harness import Checker, Differs, claim, compared_with

try:
    import torch
except ImportError:
    torch = None

DEPTH = 100_000  # of the deepest graph

# What is computed, from which leaves.
CASES = {
    "tanh(0.7)": (lambda a: a.tanh(), (0.7,)),
    "tanh(-3)": (lambda a: a.tanh(), (-3.0,)),
    "sigmoid(0.7)": (lambda a: a.sigmoid(), (0.7,)),
    "sigmoid(-3)": (lambda a: a.sigmoid(), (-3.0,)),
    "a * b + a": (lambda a, b: a * b + a, (2.0, -3.0)),
    "(a * a) * a": (lambda a: (a * a) * a, (2.0,)),
    "a.exp() / b - 3 * a": (lambda a, b: a.exp() / b - 3 * a, (0.5, 4.0)),
    "a.sigmoid() ** b * b": (lambda a, b: a.sigmoid() ** b * b, (0.5, 2.0)),
}

# The value and the gradient of each leaf, as torch gave them in float64.
NUMBERS = {
    "tanh(0.7)": [0.604367777117163, 0.634739589982459],
    "tanh(-3)": [-0.99505475368673, 0.00986603716544],
    "sigmoid(0.7)": [0.668187772168166, 0.221712873293109],
    "sigmoid(-3)": [0.047425873177567, 0.045176659730912],
    "a * b + a": [-4.0, -2.0, 2.0],
    "(a * a) * a": [8.0, 12.0],
    "a.exp() / b - 3 * a": [-1.087819682324968, -2.587819682324968, -0.103045079418758],
    "a.sigmoid() ** b * b": [0.77491123800052, 0.58512101410783, 0.020088036281701],
}


def expected(case):
    """The value of a case and the gradient of each of its leaves."""
    if torch is None:
        return NUMBERS[case]
    function, values = CASES[case]
    leaves = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in values]
    result = function(*leaves)
    result.backward()
    return [result.item(), *(leaf.grad.item() for leaf in leaves)]


def close(what, found, number):
    """Stop with one line unless the number found is the one expected."""
    if not (isinstance(found, float) and math.isclose(found, number, rel_tol=1e-9)):
        raise Differs(f"{what}: expected {number}, found {found}")


# --- one check for each function -------------------------------------------------------------

def check_unary(module, name):
    for case in (f"{name}(0.7)", f"{name}(-3)"):
        function, (x,) = CASES[case]
        leaf = module.Scalar(x)
        result = function(leaf)
        claim(f"{case} is a Scalar made from its operand",
              isinstance(result, module.Scalar) and result.left is leaf)
        value, derivative = expected(case)
        close(case, result.data, value)
        close(f"derivative of {case}", result.dleft, derivative)


def check_zero_grad(module):
    first, second, other = (module.Scalar(1.0) for _ in range(3))
    first.grad = second.grad = other.grad = 5.0
    module.zero_grad([first, second])
    close("the first grad", first.grad, 0.0)
    close("the second grad", second.grad, 0.0)
    close("the grad of a Scalar not in the list", other.grad, 5.0)


def check_nodes(module):
    a, b = module.Scalar(2.0), module.Scalar(3.0)
    product = a * b
    root = (product + a) * (product + 1.0)
    unused = a + b
    nodes = root.nodes()
    claim("nodes() gives a list", isinstance(nodes, list))
    claim("the root comes first", nodes and nodes[0] is root)
    claim("each node stands there once", len(nodes) == len(set(nodes)))
    claim("both leaves, the product, two sums and the root are in it",
          set(nodes) == {a, b, product, root, root.left, root.right} and unused not in nodes)
    place = {node: i for i, node in enumerate(nodes)}
    claim("each node stands before its operands",
          all(place[node] < place[operand] for node in nodes
              for operand in (node.left, node.right) if operand in place))


def check_backward(module):
    for case, (function, values) in CASES.items():
        leaves = [module.Scalar(v) for v in values]
        function(*leaves).backward()
        for leaf, name, gradient in zip(leaves, "ab", expected(case)[1:], strict=False):
            close(f"{name}.grad of {case}", leaf.grad, gradient)
    check_second_backward(module)
    zero = module.Scalar(0.0)
    (zero.log() * 0.0).backward()            # a zero gradient meets an infinite derivative
    claim("0 * inf is nan, as in torch", math.isnan(zero.grad))
    leaf = deep = module.Scalar(1.0)
    for _ in range(DEPTH):
        deep = deep + leaf
    deep.backward()
    close(f"the grad after {DEPTH} additions", leaf.grad, DEPTH + 1.0)


def check_second_backward(module):
    a = module.Scalar(2.0)
    square = a * a
    root = square * a
    gradient = expected("(a * a) * a")[1]
    for times in (1, 2, 3):
        root.backward()
        close(f"the grad of the leaf after {times} backward", a.grad, times * gradient)
        close(f"the grad of a * a after {times} backward", square.grad, 2.0)


CHECKER = Checker(
    {"pytorch_deep_dive": {
        "Scalar.sigmoid": partial(check_unary, name="sigmoid"),
        "Scalar.tanh": partial(check_unary, name="tanh"),
        "zero_grad": check_zero_grad,
        "Scalar.nodes": check_nodes,
        "Scalar.backward": check_backward}},
    needs={"Scalar.backward": ["Scalar.sigmoid", "Scalar.tanh", "zero_grad", "Scalar.nodes"]})

if __name__ == "__main__":
    sys.exit(CHECKER.main(compared_with(torch)))
