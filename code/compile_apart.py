"""Programs that run apart with one of torch's debugging variables, and what they leave behind.

Chapter 5, "From symptom to tool". torch reads these variables while it is imported, so the program
needs a process of its own; it starts as a new Python (a plain `subprocess`, no fork).

    TORCH_TRACE             what was compiled, as lines of JSON: `events`
    TORCHDYNAMO_REPRO_AFTER write a program that repeats a failure, made smaller: `minify`
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
from collections import Counter

BROKEN = """
import torch
def f(x):
    y = x.sin()
    torch._dynamo.graph_break()
    return y.cos()
f = torch.compile(f, backend="eager")
f(torch.ones(3))
f(torch.ones(4))
"""
INACCURATE = """
import torch
def f(x):
    a = x.sin() + 1
    b = torch.relu(a * 2 - 3)
    return (b.cos() * a + b).tanh()
torch.compile(f, backend="relu_accuracy_error_TESTING_ONLY")(torch.linspace(-1, 1, 8))
"""


def run_apart(program: str, folder: str, **variables: str) -> subprocess.CompletedProcess:
    """Runs a program as `program.py` in `folder`, with these variables set."""
    file = pathlib.Path(folder) / "program.py"
    file.write_text(program, encoding="utf-8")
    return subprocess.run([sys.executable, str(file)], cwd=folder, env=os.environ | variables,
                          capture_output=True, text=True, check=False)


def events(folder: str) -> Counter[str]:
    """{kind of event: how often}, from the file that TORCH_TRACE has left in `folder`.

    A line that begins an event ends in JSON whose first key is the kind; an artifact counts under
    its own name. The text that belongs to it follows on lines that begin with a tab.
    """
    kinds: Counter[str] = Counter()
    for file in pathlib.Path(folder).glob("*.log"):
        for line in file.read_text(encoding="utf-8").splitlines():
            if found := re.match(r"V.*?\] (\{.*)", line):
                kind, value = next(iter(json.loads(found[1]).items()))
                kinds[value["name"] if kind == "artifact" else kind] += 1
    return kinds


def minify(program: str, folder: str) -> list[list[str]]:
    """The lines of the failing graph, first as captured, then as small as the minifier makes it.

    `program` must fail a check of accuracy (TORCHDYNAMO_REPRO_LEVEL=4) after Dynamo.
    """
    run_apart(program, folder, TORCHDYNAMO_REPRO_AFTER="dynamo", TORCHDYNAMO_REPRO_LEVEL="4")
    launcher = next(pathlib.Path(folder).rglob("minifier_launcher.py"))
    subprocess.run([sys.executable, str(launcher)], cwd=folder, capture_output=True, check=True)
    return [forward(launcher), forward(pathlib.Path(folder) / "repro.py")]


def forward(file: pathlib.Path) -> list[str]:
    """The statements of `Repro.forward` in a program that torch wrote."""
    after = file.read_text(encoding="utf-8").split("def forward", 1)[1].split("\n")[1:]
    lines = [line.split(";")[0].strip() for line in after[:after.index("")]]
    return [line for line in lines if line]
