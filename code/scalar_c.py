"""Step 4, trace to C: the same assignments as in scalar_trace.py, compiled, called by ctypes.

It needs a C compiler, `cc` or what the environment variable CC names.
"""
import ctypes
import itertools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import scalar_mlp
from pytorch_deep_dive import Scalar
from scalar_trace import BACKWARD, FORWARD, Language, Program

# An `if` is written another way; the functions are those of PRELUDE and of math.h.
C = Language(
    FORWARD | {"relu": "({a} < 0 ? 0.0 : {a})"},
    BACKWARD | {
        "relu": ("({y} <= 0 ? 0.0 : {g})",),
        "**": ("({b} != 0 ? {g} * ({b} * power({a}, {b} - 1)) : 0.0)",
               "{g} * ({a} == 0 && {b} >= 0 ? 0.0 : {y} * log({a}))"),
        "** number": ("({b} != 0 ? {g} * ({b} * power_by_number({a}, {b} - 1)) : 0.0)",),
    },
    "p[{}]", "d[{}]")

PRELUDE = """\
#include <math.h>
#define inf INFINITY
#define nan NAN
#define divide(x, y) ((x) / (y))
#define power pow
static inline double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static inline double power_by_number(double x, double n) {
  if (n == -0.5 || n == -1 || n == -2) return 1 / power_by_number(x, -n);
  if (n == 0.5) return sqrt(x);
  if (n == 1 || n == 2 || n == 3) return n == 1 ? x : n == 2 ? x * x : x * x * x;
  return pow(x, n);
}
"""


DESCEND = """\
void descend(double *restrict p, double *restrict d, long n, double rate) {
  for (long j = 0; j < n; j++) { p[j] -= rate * d[j]; d[j] = 0.0; }
}
"""
DOUBLES = ctypes.POINTER(ctypes.c_double)


class CompilerMissing(RuntimeError):
    """There is no C compiler to call."""


def function_source(program, inputs):
    """The C function `run`: the sum of the outputs; the gradients are added to `d`.

    `p` and `d` point to the parameters and their gradients, `batch` to n rows of `inputs` values.
    """
    lines = ["double run(const double *restrict p, double *restrict d,",
             "    const double *restrict batch, long n, double seed) {",
             "  double total = 0.0;",
             "  for (long i = 0; i < n; i++) {"]
    lines += [f"    const double x{j} = batch[i * {inputs} + {j}];" for j in range(inputs)]
    lines += [f"    const double {name} = {value};" for name, value in program.forward]
    lines.append(f"    total += {program.output};")
    lines += [f"    {'const double ' if sign == '=' else ''}{name} {sign} {value};"
              for name, sign, value in program.backward]
    return "\n".join([*lines, "  }", "  return total;", "}", ""])


def to_c(output, parameters, inputs=()):
    """As `scalar_trace.to_python`, in C: `run(p, d, batch, n, seed)`, a function of pointers.

    The arguments are arrays of doubles as `doubles` makes them; gradients are added to `d`.
    Raises CompilerMissing. Its source is `run.source`.
    """
    source = PRELUDE + function_source(Program(output, parameters, inputs, C), len(inputs))
    run = build(source).run
    run.argtypes = [DOUBLES, DOUBLES, DOUBLES, ctypes.c_long, ctypes.c_double]
    run.restype = ctypes.c_double
    run.source = source
    return run


def doubles(values):
    values = list(values)
    return (ctypes.c_double * len(values))(*values)


def build(source, flags=("-O1",)):
    """The shared library of some C source. No fused multiply-add: Python has none either."""
    wanted = os.environ.get("CC", "cc")
    compiler = shutil.which(wanted)
    if not compiler:
        raise CompilerMissing(f"no C compiler '{wanted}'; install one (Debian: apt install gcc), "
                              "or name yours in the environment variable CC")
    with tempfile.TemporaryDirectory() as folder:
        file, library = Path(folder, "traced.c"), Path(folder, "traced.so")
        file.write_text(source, encoding="utf-8")
        subprocess.run([compiler, *flags, "-ffp-contract=off", "-shared", "-fPIC",
                        "-o", str(library), str(file), "-lm"], check=True)
        return ctypes.CDLL(str(library))


def steps(model, rows, labels):
    """As `scalar_trace.steps`, in C: one call for the margins, one for the penalty, one to move.

    The parameters stay in C: the model's Scalars keep what they began with. Raises
    CompilerMissing.
    """
    parameters, x, label = model.parameters(), [Scalar(v) for v in rows[0]], Scalar(1.0)
    margin = to_c(scalar_mlp.margin(model, x, label), parameters, [*x, label])
    penalty = to_c(scalar_mlp.penalty(parameters), parameters)
    descend = build(DESCEND).descend
    descend.argtypes, descend.restype = [DOUBLES, DOUBLES, ctypes.c_long, ctypes.c_double], None
    batch = doubles(v for row, y in zip(rows, labels, strict=True) for v in (*row, y))
    values, gradients = doubles(p.data for p in parameters), doubles([0.0] * len(parameters))
    scale = 1.0 / len(rows)
    for step in itertools.count():
        total = margin(values, gradients, batch, len(rows), scale)
        extra = penalty(values, gradients, None, 1, 1.0)
        descend(values, gradients, len(parameters), scalar_mlp.learning_rate(step))
        yield total * scale + extra
