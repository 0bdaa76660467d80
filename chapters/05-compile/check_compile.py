"""检查补完的编译器随书代码（第 5 章）· Check the compiler of chapter 5 that you have completed.

    python3 check_compile.py                 every practice file beside this file
    python3 check_compile.py FILE …

The exit status is 0 if all checks pass. It needs torch, and no C++ compiler: it reads the C++.
"""
import sys
from types import SimpleNamespace

from exercise_harness import Checker, Differs, claim

try:
    import torch
except ImportError:
    torch = None


def same(what, found, wanted):
    """Stop with one line unless what is found is what is wanted."""
    if found != wanted:
        raise Differs(f"{what}: expected {wanted}; found {found}")


def traced(function, *examples):
    """The graph of ATen operators of a function, with meta data."""
    from torch.fx.experimental.proxy_tensor import make_fx
    return make_fx(function, tracing_mode="fake")(*examples).graph


# --- mini_compile_groups.py: the stages ----------------------------------------------------------

LINKED = "a node takes the value of an operand inside the same loop"


def check_step(module):
    places = SimpleNamespace(
        stage={"single": 2, "loop": 2}, space={"loop": ((4, 3), 0)},
        linked=lambda first, then: {"loop": then == "neighbour"}[first])
    for what, first, then, wanted in [
            ("an input, which has no stage", "input", "neighbour", 0),
            (f"an operand of stage 2 in a loop and linked: {LINKED}", "loop", "neighbour", 2),
            ("an operand of stage 2 in a loop that ends before its reader", "loop", "stranger", 3),
            ("an operator of stage 2 outside of loops: it runs first in its stage", "single",
             "neighbour", 2)]:
        same(f"the stage that its reader needs after {what}", module.step(first, then, places),
             wanted)


def chain(x, w):
    return x.relu() * 2


def around(x, w):
    return (x.relu() @ w).sigmoid()


def detour(x, w):
    a = x.relu()
    return a + a @ w


def late(x, w):
    return x.exp() + (x @ w).relu() @ w


def planned(module, function):
    """Groups as lists of names, single operators as names, in the order in which they run."""
    order, _ = module.plan(traced(function, torch.ones(3, 3), torch.ones(3, 3)))
    return [[node.name for node in one.nodes] if hasattr(one, "nodes") else one.name
            for one in order]


def check_stage_all(module):
    same("the loops of (x.relu() * 2)", planned(module, chain), [["relu", "mul"]])
    same("the loops around a matrix product", planned(module, around),
         [["relu"], "mm", ["sigmoid"]])
    same("a + a @ w: the sum waits for the product, so it can't share the loop of a",
         planned(module, detour), [["relu"], "mm", ["add"]])
    same("x.exp() + …: exp moves to the stage of its only reader", planned(module, late),
         ["mm", ["relu"], "mm_1", ["exp", "add"]])


# --- mini_compile_loops.py: the index of an operand ----------------------------------------------

def check_strides_of(module):
    for what, shape, role, space, wanted in [
            ("as large as the space", (4, 3), "full", ((4, 3), 0), (3, 1)),
            ("a vector, the same for each i0", (3,), "full", ((4, 3), 0), (0, 1)),
            ("a column: a dimension of size 1 stands still", (4, 1), "full", ((4, 3), 0), (1, 0)),
            ("a vector beside a reduction, the same for each row", (3,), "full", ((4, 3), 1),
             (0, 1)),
            ("one number", (), "full", ((4, 3), 0), (0, 0)),
            ("one value a row, the reduced dimension kept as 1", (4, 1), "row", ((4, 3), 1),
             (1, 0)),
            ("one value a row, the reduced dimension gone", (4,), "short row", ((4, 3), 1),
             (1, 0)),
            ("one value a row of two dimensions", (2,), "short row", ((2, 3, 4), 2), (1, 0, 0)),
            ("one value a row, the same for each i0", (4,), "short row", ((2, 4, 3), 1),
             (0, 1, 0))]:
        check_strides(module, what, torch.ones(shape), role, space, wanted)
    check_strides(module, "a transposed matrix: its own strides, not those of its shape",
                  torch.ones(3, 4).t(), "full", ((4, 3), 0), (1, 4))


def check_strides(module, what, value, role, space, wanted):
    node, group = SimpleNamespace(meta={"val": value}), SimpleNamespace(space=space)
    same(f"{what}: strides of a tensor of shape {tuple(value.shape)} along {space[0]}, role "
         f"{role!r}", module.strides_of(node, role, group), wanted)


# --- mini_compile_dtypes.py: where an operator rounds --------------------------------------------

def bare(text):
    """C++ without spaces and without parentheses around the whole."""
    text = text.replace(" ", "")
    while text.startswith("(") and text.endswith(")") and "(" not in text[1:-1]:
        text = text[1:-1]
    return text


def check_convert(module):
    t = torch
    for what, source, target, wanted in [
            ("nothing to do", t.float32, t.float32, "x"),
            ("to bool: 0.5 is true, so a cast to an integer first is wrong", t.float32, t.bool,
             "x!=0"),
            ("each operator rounds its result to bfloat16, though a loop computes in float",
             t.float32, t.bfloat16, "as_bfloat16(x)"),
            ("each operator rounds its result to float16", t.float32, t.float16, "as_half(x)"),
            ("one small float to the other rounds again", t.bfloat16, t.float16, "as_half(x)"),
            ("a bfloat16 is a float in a loop already", t.bfloat16, t.float32, "x"),
            ("-1.0 as uint8: C++ leaves it open, eager goes through int64", t.float32, t.uint8,
             "(uint8_t)(int64_t)x"),
            ("an integer to uint8 wraps by itself", t.int32, t.uint8, "(uint8_t)x"),
            ("a wider float", t.float32, t.float64, "(double)x"),
            ("an integer to a float", t.int64, t.float32, "(float)x")]:
        same(f"{what}; C++ that turns x from {source} into {target}",
             bare(module.convert("x", source, target)), wanted)


# --- mini_compile_write.py: the end of a sweep ---------------------------------------------------

def rows_mean(x):
    return torch.ops.aten.mean.dim(x, [-1])


def blocks_mean(x):
    return torch.ops.aten.mean.dim(x, [1, 2])


def whole_mean(x):
    return torch.ops.aten.mean.default(x)


def rows_sum(x):
    return torch.ops.aten.sum.dim_IntList(x, [-1])


def rows_largest(x):
    return torch.ops.aten.amax.default(x, [-1])


def check_finish(module):
    x, plan = torch.ones(4, 3), sys.modules["mini_compile_groups"].plan
    for what, function, value, name, wanted in [
            ("a sum is rounded once, from double to float, by the declaration", rows_sum, x,
             "sum_1", "constfloatsum_1=sum_1_acc;"),
            ("a maximum divides by nothing", rows_largest, x, "amax", "constfloatamax=amax_acc;"),
            ("a mean divides by the length of a row, n1, and not by the number of rows",
             rows_mean, x, "mean", "constfloatmean=mean_acc/(n1);"),
            ("a mean of the whole: there are no rows", whole_mean, x, "mean",
             "constfloatmean=mean_acc/(n0);"),
            ("a row of two dimensions has n1 * n2 values", blocks_mean,
             torch.ones(2, 3, 4).transpose(1, 2), "mean", "constfloatmean=mean_acc/(n1*n2);"),
            ("a mean of bfloat16 is divided first and rounded to bfloat16 afterwards", rows_mean,
             x.bfloat16(), "mean", "constfloatmean=as_bfloat16((float)(mean_acc/(n1)));"),
            ("a sum of float16 is rounded to float16", rows_sum, x.half(), "sum_1",
             "constfloatsum_1=as_half((float)(sum_1_acc));")]:
        group = plan(traced(function, value))[0][0]
        text = module.Writer(group, "loop_0", group.nodes[-1:]).kernel().source
        lines = [line.replace(" ", "") for line in text.splitlines()]
        same(f"{what}; the line that declares {name}, without spaces",
             [line for line in lines if line.startswith("const") and f"{name}=" in line], [wanted])
        claim(f"the result is stored, after {name} is declared", any(
            line.startswith(f"out_{name}[") for line in lines[lines.index(wanted):]))


# --- mini_compile_build.py: the key of the cache -------------------------------------------------

def key(module, source="int f();", path="c++", flags=("-O3", "-fopenmp"), machine=b"__AVX2__"):
    """The key under a make-believe compiler that has these flags and says this of itself."""
    known = module.compiler, module.flags, module.says_of_itself
    module.compiler, module.flags = lambda: path, lambda path: list(flags)
    module.says_of_itself = lambda path: machine
    try:
        return module.key_of(source)
    finally:
        module.compiler, module.flags, module.says_of_itself = known


def check_key_of(module):
    first = key(module)
    claim("the key is text of 32 hexadecimal digits: it is the start of a file's name, and hash() "
          "would differ in each process",
          isinstance(first, str) and len(first) == 32 and set(first) <= set("0123456789abcdef"))
    same("the key of the same content, asked for twice", key(module), first)
    same("the key by the same compiler under another path: the content counts",
         key(module, path="/usr/bin/c++"), first)
    claim("another source has another key", key(module, source="int g();") != first)
    claim("a source that differs only at its end has another key",
          key(module, source="int f();" * 900 + "a") != key(module, source="int f();" * 900 + "b"))
    claim("other flags have another key: -O0 makes another library", key(
        module, flags=("-O0", "-fopenmp")) != first)
    claim("another CPU or compiler has another key: AVX-512 code stops a CPU without it", key(
        module, machine=b"__AVX512F__") != first)
    claim("a text that moves from the source to the flags has another key: the parts are parted",
          key(module, source="a-O3", flags=["-g"]) != key(module, source="a", flags=["-O3-g"]))


BELOW_PLAN = ["mini_compile_operators.py", "mini_compile_dtypes.py", "mini_compile_eager.py"]

CHECKER = Checker(
    {"mini_compile_groups": {"step": check_step, "stage_all": check_stage_all},
     "mini_compile_loops": {"strides_of": check_strides_of},
     "mini_compile_write": {"Writer.finish": check_finish},
     "mini_compile_dtypes": {"convert": check_convert},
     "mini_compile_build": {"key_of": check_key_of}},
    needs={"stage_all": ["step"]},
    imports={"mini_compile_groups": BELOW_PLAN,
             "mini_compile_loops": ["mini_compile_groups.py", *BELOW_PLAN],
             "mini_compile_write": ["mini_compile_groups.py", "mini_compile_loops.py",
                                    "mini_compile_values.py", *BELOW_PLAN]})

if __name__ == "__main__":
    if torch is None:
        print("要装 torch · this needs torch")
        sys.exit(1)
    sys.exit(CHECKER.main())
