"""The table of operators: what a loop computes for each, as C++, and in which dtype.

A rule is C++ in which {self}, {other} ... stand for the arguments that the operator's schema names.
Three tables say what the arguments are converted to first: RESULT (the dtype of the result), COMMON
(the dtype that the operands promote to, for comparisons) and TRUTH (bool). float16 and bfloat16
are computed as float, and each operator of this table rounds its result, as eager does. Of what
mini_compile_decompositions takes apart, most is widened first and rounds at its end alone.
Source: torch/_inductor/codegen/cpp.py (CppOverrides), aten/src/ATen/native/cpu/*OpsKernel.cpp.
"""
import string
from dataclasses import dataclass

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

from mini_compile_dtypes import CPP, HALVES, WIDE_NUMBERS, NotInTable, check_operand

__all__ = ["WIDE_NUMBERS", "NotInTable", "Reduction", "arguments", "name_of", "reduction_of",
           "rule_of"]


# --- 1. Rules that look at their arguments --------------------------------------------------------

def scaled(text, with_alpha):
    """add, sub and rsub: alpha is written out only where there is one."""
    def rule(given, dtype):
        if given["alpha"] != 1 and dtype in HALVES:
            raise NotInTable("eager has no single rule for rounding alpha to a small float")
        return text if given["alpha"] == 1 else with_alpha
    return rule


def divide(given, dtype):
    mode = given.get("rounding_mode")
    if mode is None:
        return "{self} / {other}"
    if dtype in HALVES and not single(given["other"]):
        return (f"f::floor_divide({{self}}, {{other}}, {as_half(dtype)})" if mode == "floor" else
                f"f::trunc({as_half(dtype)}({{self}} / {{other}}))")
    if dtype.is_floating_point:
        return "f::floor_divide({self}, {other})" if mode == "floor" else (
            "f::trunc({self} / {other})")
    no_zero(given["other"])
    return "f::floor_divide({self}, {other})" if mode == "floor" else "{self} / {other}"


def single(operand):
    """Whether it's one number, alone or repeated: beside it eager computes a half as a float, and
    rounds once at the end. Between two tensors it rounds each step."""
    value = value_of(operand)
    return not isinstance(value, torch.Tensor) or all(
        statically_known_true(size == 1) or statically_known_true(step == 0)
        for size, step in zip(value.shape, value.stride(), strict=True))


def as_half(dtype):
    return f"as_{CPP[dtype][0]}"


def floor_divide(given, dtype):
    return divide(given | {"rounding_mode": "floor"}, dtype)


def remainder(given, dtype):
    if not dtype.is_floating_point:
        no_zero(given["other"])
    return "f::remainder({self}, {other})"


def fmod(given, dtype):
    if dtype.is_floating_point:
        return "f::fmod({self}, {other})"
    no_zero(given["other"])
    return "{self} % {other}"


def no_zero(divisor):
    """Eager raises RuntimeError("ZeroDivisionError"); a loop would stop the whole process."""
    if not isinstance(divisor, int) or divisor == 0:
        raise NotInTable("an integer division whose divisor may be 0 has to raise an error")
    if divisor == -1:
        raise NotInTable("an integer division by -1, which the smallest integer does not survive")


POWERS = {2: "{self} * {self}", 3: "{self} * {self} * {self}", 1: "{self}"}
FLOAT_POWERS = {0.5: "f::sqrt({self})", -0.5: "1 / f::sqrt({self})", -1: "1 / {self}",
                -2: "1 / ({self} * {self})", 0: "1"}
BFLOAT16_POWERS = {3: "as_bfloat16({self} * {self}) * {self}",
                   -2: "1 / as_bfloat16({self} * {self})"}


def power(given, dtype):
    """The exponents that eager treats apart; others call pow, and so do all of float16."""
    exponent = given["exponent"]
    number = isinstance(exponent, (int, float))
    if number and dtype == torch.bfloat16 and exponent in BFLOAT16_POWERS:
        return BFLOAT16_POWERS[exponent]
    if number and exponent in POWERS:
        return POWERS[exponent]
    if not dtype.is_floating_point:
        raise NotInTable("an integer power other than 1, 2, 3")
    if number and exponent == -0.5:
        one_rounding(dtype)
    apart = number and dtype != torch.float16 and exponent in FLOAT_POWERS
    return FLOAT_POWERS[exponent] if apart else "f::pow({self}, {exponent})"


def reciprocal_root(given, dtype):
    one_rounding(dtype)
    return "1 / f::sqrt({self})"


def one_rounding(dtype):
    """1 / sqrt: whether eager rounds a half in between depends on how it lies in memory."""
    if dtype in HALVES:
        raise NotInTable("eager has no single rule for rounding the root of a small float")


def clamp(given, dtype):
    """Of 0.0 and -0.0, a bound that is a number leaves x, one that is a tensor takes its place."""
    text = "{self}"
    for bound, number, tensor in (("min", "at_least", "maximum"), ("max", "at_most", "minimum")):
        limit = given.get(bound)
        if limit is not None:
            single = isinstance(limit, (int, float)) and limit == limit           # and no NaN
            text = f"f::{number if single else tensor}({text}, {{{bound}}})"
    return text


def bitwise(sign):
    def rule(given, dtype):
        return f"{{self}} {sign} {{other}}"
    return rule


def invert(given, dtype):
    return "!{self}" if dtype == torch.bool else "~{self}"


def only_float(text):
    """A rounding function: an integer stays what it is."""
    return lambda given, dtype: text if dtype.is_floating_point else "{self}"


# --- 2. The tables --------------------------------------------------------------------------------

UNARY = ("exp exp2 expm1 log log2 log10 log1p sqrt sin cos tan asin acos atan sinh cosh tanh asinh "
         "acosh atanh erf erfc")
RESULT = {name: f"f::{name}({{self}})" for name in UNARY.split()} | {
    "add": scaled("{self} + {other}", "{self} + {alpha} * {other}"),
    "sub": scaled("{self} - {other}", "{self} - {alpha} * {other}"),
    "rsub": scaled("{other} - {self}", "{other} - {alpha} * {self}"), "mul": "{self} * {other}",
    "div": divide, "floor_divide": floor_divide, "remainder": remainder, "fmod": fmod, "pow": power,
    "neg": "-{self}", "abs": "f::abs({self})", "sign": "f::sign({self})",
    "sgn": "f::sign({self})", "reciprocal": "1 / {self}", "rsqrt": reciprocal_root,
    "square": "{self} * {self}", "sigmoid": "1 / (1 + f::exp(-{self}))",
    "floor": only_float("f::floor({self})"), "ceil": only_float("f::ceil({self})"),
    "trunc": only_float("f::trunc({self})"), "round": only_float("f::round({self})"),
    "relu": "f::relu({self})", "maximum": "f::maximum({self}, {other})",
    "minimum": "f::minimum({self}, {other})", "clamp": clamp, "clamp_min": clamp,
    "clamp_max": clamp, "atan2": "f::atan2({self}, {other})",
    "bitwise_and": bitwise("&"), "bitwise_or": bitwise("|"), "bitwise_xor": bitwise("^"),
    "bitwise_not": invert, "where": "{condition} ? {self} : {other}",
    "clone": "{self}", "_to_copy": "{self}", "convert_element_type": "{a}", "copy": "{src}",
    "lift_fresh_copy": "{self}", "full": "{fill_value}", "full_like": "{fill_value}",
    "scalar_tensor": "{s}", "zeros_like": "0", "ones_like": "1", "fill": "{value}",
    "zeros": "0", "ones": "1",
}
COMMON = {
    "eq": "{self} == {other}", "ne": "{self} != {other}", "lt": "{self} < {other}",
    "le": "{self} <= {other}", "gt": "{self} > {other}", "ge": "{self} >= {other}",
    "isnan": "f::isnan({self})", "isinf": "f::isinf({self})", "signbit": "f::signbit({self})",
}
TRUTH = {
    "logical_not": "!{self}", "logical_and": "{self} && {other}",
    "logical_or": "{self} || {other}", "logical_xor": "{self} != {other}",
}
# What a rule's text may leave out: the meta data of the result say it, or the rule looked at it.
MAY_BE_LEFT_OUT = {"dtype", "layout", "device", "pin_memory", "memory_format", "non_blocking",
                   "size", "self", "alpha", "rounding_mode", "exponent"}


@dataclass(frozen=True)
class Reduction:
    """start: the accumulator's first value; step: how a value joins it; kind: OpenMP's name."""

    start: str
    step: str
    kind: str
    divides: bool = False                            # by the number of values: a mean


SUM = Reduction("0", "{acc} + {value}", "+")
LARGEST = Reduction("f::lowest<{type}>()", "f::maximum({acc}, {value})", "maximum")
SMALLEST = Reduction("f::highest<{type}>()", "f::minimum({acc}, {value})", "minimum")
REDUCTIONS = {
    "sum": SUM, "mean": Reduction(SUM.start, SUM.step, SUM.kind, divides=True),
    "amax": LARGEST, "amin": SMALLEST,
    "any": Reduction("false", "{acc} || {value}", "||"),
    "all": Reduction("true", "{acc} && {value}", "&&"),
}


# --- 3. What a node says --------------------------------------------------------------------------

def name_of(node):
    """`exp` for aten.exp.default and prims.exp.default; None for other functions."""
    space, _, name = getattr(getattr(node.target, "_schema", None), "name", "").partition("::")
    return name if space in ("aten", "prims") else None


def arguments(node):
    """The node's arguments by the names of the operator's schema, defaults included."""
    schema = node.target._schema.arguments
    given = {one.name: one.default_value for one in schema if one.has_default_value()}
    given.update(zip((one.name for one in schema), node.args, strict=False))
    return given | dict(node.kwargs)


def rule_of(node):
    """(C++ text, {argument: dtype it is converted to}) of a pointwise node; raises NotInTable."""
    name, dtype = name_of(node), node.meta["val"].dtype
    rule = next((table[name] for table in (RESULT, COMMON, TRUTH) if name in table), None)
    if rule is None:
        raise NotInTable("no rule in the table")
    given = arguments(node)
    text = rule(given, dtype) if callable(rule) else rule
    used = [field for _, field, _, _ in string.Formatter().parse(text) if field]
    for left in given.keys() - set(used) - MAY_BE_LEFT_OUT:
        if given[left] is not None:
            raise NotInTable(f"no rule for the argument {left}={given[left]}")
    targets = {one: converted_to(node, name, one, given) for one in used}
    for one, target in targets.items():
        check_operand("clamp" if one == "alpha" else name, value_of(given[one]), target)
    return text, targets


def converted_to(node, name, argument, given):
    if name in TRUTH or argument == "condition":
        return torch.bool
    if name in COMMON:
        operands = [one for one in (given["self"], given.get("other")) if one is not None]
        return promoted([value_of(one) for one in operands])
    return node.meta["val"].dtype


def promoted(operands):
    """The dtype in which operands are compared: tensors with numbers, or one alone."""
    if len(operands) == 1:
        return operands[0].dtype
    plain = [torch.empty((), dtype=torch.int64) if isinstance(one, torch.SymInt) else one
             for one in operands]
    return torch.result_type(*plain)


def value_of(operand):
    return operand.meta["val"] if isinstance(operand, torch.fx.Node) else operand


def reduction_of(node):
    """(Reduction, the dimensions reduced, dtype of the values) or None for another operator."""
    rule = REDUCTIONS.get(name_of(node))
    if rule is None:
        return None
    given, value = arguments(node), node.args[0].meta["val"]
    dims = given.get("dim")
    dims = [] if dims is None else [dims] if isinstance(dims, int) else list(dims)
    dims = sorted({d % max(value.dim(), 1) for d in dims}) or list(range(value.dim()))
    return rule, dims, node.meta["val"].dtype
