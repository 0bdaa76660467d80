"""One line that Dynamo cannot trace, put in different places; and a function around any line.

Each of the functions takes a tensor, calls `print` between two operations and returns a tensor of
the same shape. `print` ends the graph; what else it costs depends on where it stands.
"""

import logging
import sys
import time
import warnings

import numpy as np
import torch

logger = logging.getLogger("break_cases")
logger.disabled = True
NAMES = {"logger": logger, "np": np, "sys": sys, "time": time, "torch": torch,
         "warnings": warnings}


def straight(x):
    y = x.sin()
    print(end="")
    return y.cos()


def helper(y):
    y = y * 2
    print(end="")
    return y + 1


def in_a_call(x):
    y = x.sin()
    y = helper(y)
    return y.cos()


def in_a_with(x):
    y = x.sin()
    with torch.no_grad():
        y = y * 2
        print(end="")
    return y.cos()


def in_a_loop(x):
    y = x.sin()
    for _ in range(3):
        y = y * 2
        print(end="")
    return y.cos()


def in_a_try(x):
    y = x.sin()
    try:
        y = y * 2
        print(end="")
    finally:
        y = y + 1
    return y.cos()


def between(line):
    """A function of a tensor `x` that runs one line, a text, between `y = x.sin()` and `y.cos()`.

    The line may use `x`, `y`, `np`, `torch`, `time`, `sys`, `warnings` and a silent `logger`.
    """
    found = {}
    exec(f"def fn(x):\n    y = x.sin()\n    {line}\n    return y.cos()\n", dict(NAMES), found)
    return found["fn"]
