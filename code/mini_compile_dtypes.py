"""The dtypes in C++: how a value lies in memory, what it is computed as, conversions, numbers,
and which numbers a rule may not take.

Source: c10/core/ScalarType.h, torch/_inductor/codegen/cpp_utils.py (DTYPE_TO_CPP).
"""
import math

import torch

__all__ = ["CPP", "HALVES", "WIDE_NUMBERS", "NotInTable", "check_operand", "convert", "literal",
           "variable"]

# dtype: (how it lies in memory, what a loop computes it as)
CPP = {
    torch.float32: ("float", "float"), torch.float64: ("double", "double"),
    torch.bfloat16: ("bfloat16", "float"), torch.float16: ("half", "float"),
    torch.int64: ("int64_t", "int64_t"), torch.int32: ("int32_t", "int32_t"),
    torch.int16: ("int16_t", "int16_t"), torch.int8: ("int8_t", "int8_t"),
    torch.uint8: ("uint8_t", "uint8_t"), torch.bool: ("bool", "bool"),
}
HALVES = (torch.bfloat16, torch.float16)
# A number as their second operand stays a float beside a half; elsewhere it's rounded first.
WIDE_NUMBERS = {"mul", "div", "floor_divide"}
# Eager raises an error where a number does not fit into the dtype; others wrap it around.
MUST_FIT = {"div", "floor_divide", "remainder", "fmod", "clamp", "clamp_min", "clamp_max", "full",
            "full_like", "fill", "scalar_tensor"}


class NotInTable(Exception):
    """Why a node has no rule, in one line."""


def variable(dtype):
    return CPP[dtype][1]


def convert(text, source, target):
    """C++ that turns a value of one dtype into another, with torch's rounding."""
    if source == target:
        return text
    if target == torch.bool:
        return f"({text} != 0)"
    if target in HALVES:
        return f"as_{CPP[target][0]}({text})"
    if target == torch.uint8 and source.is_floating_point:
        return f"(uint8_t)(int64_t){text}"
    return text if variable(source) == variable(target) else f"({variable(target)}){text}"


def outside(number, dtype):
    """Whether an integer dtype cannot hold a number."""
    if dtype.is_floating_point or dtype == torch.bool:
        return False
    return not torch.iinfo(dtype).min <= number <= torch.iinfo(dtype).max       # NaN is outside


def wrapped(number, dtype):
    """What is left of an int in an integer dtype, as in eager: its low bits."""
    low, bits = torch.iinfo(dtype).min, torch.iinfo(dtype).bits
    return (number - low) % 2**bits + low


def once_rounded(number):
    """A number that C++ reads as the float32 nearest to it.

    The shortest decimal of a number halfway between two float32 may be rounded to the other one.
    """
    nearest = torch.tensor(number, dtype=torch.float32).item()
    other = 2 * number - nearest                     # the other neighbour, if this is halfway
    halfway = other != nearest and torch.tensor(other, dtype=torch.float32).item() == other
    return nearest if halfway or math.isinf(nearest) else number


def literal(number, dtype, rounded=False):
    """A Python number as C++ of that dtype: 2 as float is 2.0f; rounded: to a small float first."""
    if rounded and dtype in HALVES:
        number = torch.tensor(float(number), dtype=dtype).item()
    if dtype == torch.bool:
        return "true" if number else "false"
    if dtype.is_floating_point:
        number = float(number) if dtype == torch.float64 else once_rounded(float(number))
        suffix = "" if dtype == torch.float64 else "f"
        if math.isnan(number):
            return "f::nan<double>()" if dtype == torch.float64 else "f::nan<float>()"
        if math.isinf(number):
            kind = "double" if dtype == torch.float64 else "float"
            return f"{'-' if number < 0 else ''}f::infinity<{kind}>()"
        return f"{number!r}{suffix}"
    number = wrapped(int(number), dtype)
    if dtype == torch.int64:
        return "INT64_MIN" if number == -2**63 else f"INT64_C({number})"
    return str(number) if dtype == torch.int32 else f"({variable(dtype)}){number}"


def check_operand(name, value, dtype):
    """Raises NotInTable where eager does not simply convert an operand's value first."""
    symbol, tensor = isinstance(value, torch.SymInt), isinstance(value, torch.Tensor)
    if not symbol and not tensor and not isinstance(value, (bool, int, float)):
        raise NotInTable(f"no rule for an operand of type {type(value).__name__}")
    if name in WIDE_NUMBERS and dtype in HALVES and (
            symbol or (tensor and value.dim() == 0 and value.dtype != dtype)):
        raise NotInTable("eager does not round this number to a small float")
    if name in MUST_FIT and not tensor and outside(2**62 if symbol else value, dtype):
        raise NotInTable(f"a number that {'may be' if symbol else 'is'} outside of {dtype}")
