"""How fast Scalar trains micrograd's own demo, step by step of chapter 2, against micrograd.

    python -m benchmarks.scalar_speed               measure and print, about twelve minutes
    python -m benchmarks.scalar_speed --record      also store the result that the section shows

Two moons of 100 points, a 2-16-16-1 network, max-margin loss and L2, 100 steps. Each engine runs in
a process of its own, since the objects of one slow down the garbage collector for another; the
engines alternate. A figure is the median of the steps. All losses must equal micrograd's to 1e-12.
micrograd is installed on first use below `_build`: nothing but this needs it. torch trains the same
network twice: number by number, as the engines above do, for 20 steps, and as tensors.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import itertools
import json
import os
import platform
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from statistics import median
from typing import Any

from benchmarks import report
from book.pipeline import environment
from book.pipeline.ground.paths import CODE, ROOT

STEPS = 100
MOST_STEPS = {"torch_numbers": 20}  # slow, and enough for a median
ROUNDS = 3
TOLERANCE = 1e-12
FOLDER = ROOT / "_build" / "micrograd"
REQUIREMENTS = ROOT / "benchmarks" / "micrograd.txt"
SIZES = (2, 16, 16, 1)
COLUMNS = [
    {"key": "nodes", "zh": "图的节点数", "en": "nodes in the graph"},
    {"key": "ms", "zh": "毫秒/步", "en": "ms a step"},
    {"key": "ratio", "zh": "倍数", "en": "ratio"},
    {"key": "ms_off", "zh": "毫秒/步，回收器关", "en": "ms a step, collector off"},
    {"key": "ratio_off", "zh": "倍数，回收器关", "en": "ratio, collector off"},
    {"key": "prepare", "zh": "准备（秒）", "en": "seconds to prepare"},
]
LABELS = {
    "micrograd": ("micrograd", "micrograd"),
    "eager": ("1 逐个节点", "1 node by node"),
    "fused": ("2 dot 与 sum 各成一个节点", "2 dot and sum as one node each"),
    "python": ("3 追踪成一个 Python 函数", "3 traced to a Python function"),
    "c": ("4 追踪成 C", "4 traced to C"),
    "torch_numbers": ("torch，逐个数", "torch, number by number"),
    "torch": ("torch，整批张量", "torch, the batch as tensors"),
}
GRAPHS = ("micrograd", "eager", "fused")  # engines that hold a graph of Python objects
PREPARED = ("python", "c")  # engines whose first step traces, generates and compiles
TABLES = {
    "collector": ("闭包与槽", "Closures and slots", ["micrograd", "eager"]),
    "steps": ("训练一步", "One training step", ["micrograd", "eager", "fused", "python", "c"]),
    "torch": ("同一步，用 torch", "The same step in torch",
              ["eager", "torch_numbers", "torch", "c"]),
}
BUDGETS = {  # least ratio to micrograd
    "eager": {"ratio": 10, "ratio_off": 2}, "fused": {"ratio": 60, "ratio_off": 8},
    "python": {"ratio": 400}, "c": {"ratio": 20_000},
}
SITUATIONS = {"ratio": "collector on", "ratio_off": "collector off"}


# ---- the engines: each yields the losses of its steps -----------------------------------------

def micrograd() -> Iterator[float]:
    """The training loop of micrograd's demo notebook."""
    from micrograd.engine import Value
    from micrograd.nn import MLP

    import scalar_mlp

    model = MLP(SIZES[0], list(SIZES[1:]))
    rows, labels = scalar_mlp.two_moons()
    for step in itertools.count():
        scores = [model([Value(x) for x in row]) for row in rows]
        margins = [(1 + -label * score).relu() for label, score in zip(labels, scores, strict=True)]
        loss = (sum(margins) * (1.0 / len(margins))
                + scalar_mlp.DECAY * sum(p * p for p in model.parameters()))
        model.zero_grad()
        loss.backward()
        scalar_mlp.descend(model.parameters(), scalar_mlp.learning_rate(step))
        yield loss.data


def eager() -> Iterator[float]:
    import scalar_mlp

    return scalar_mlp.steps(scalar_mlp.MLP(*SIZES), *scalar_mlp.two_moons())


def fused() -> Iterator[float]:
    import scalar_fused
    import scalar_mlp

    model = scalar_mlp.MLP(*SIZES, dot=scalar_fused.dot)
    return scalar_fused.steps(model, *scalar_mlp.two_moons())


def python() -> Iterator[float]:
    import scalar_mlp
    import scalar_trace

    return scalar_trace.steps(scalar_mlp.MLP(*SIZES), *scalar_mlp.two_moons())


def c() -> Iterator[float]:
    import scalar_c
    import scalar_mlp

    return scalar_c.steps(scalar_mlp.MLP(*SIZES), *scalar_mlp.two_moons())


def torch_numbers() -> Iterator[float]:
    """torch as Scalar is used: every number a tensor without dimensions, every operation a node."""
    import scalar_mlp

    model, (rows, labels) = scalar_mlp.MLP(*SIZES), scalar_mlp.two_moons()
    for neuron in (neuron for layer in model.layers for neuron in layer.neurons):
        neuron.w = tuple(torch_leaf(w.data) for w in neuron.w)
        neuron.b = torch_leaf(neuron.b.data)
    return torch_steps(model.parameters(), lambda: scalar_mlp.loss(model, rows, labels))


def torch_tensors() -> Iterator[float]:
    """torch as it is meant to be used: the whole batch at once, a matrix for each layer."""
    import torch

    import scalar_mlp

    model, (rows, labels) = scalar_mlp.MLP(*SIZES), scalar_mlp.two_moons()
    x, y = torch.tensor(rows, dtype=torch.float64), torch.tensor(labels, dtype=torch.float64)
    layers = [(torch_leaf([[w.data for w in neuron.w] for neuron in layer.neurons]),
               torch_leaf([neuron.b.data for neuron in layer.neurons])) for layer in model.layers]
    parameters = [p for layer in layers for p in layer]

    def loss() -> Any:
        h = x
        for i, (weight, bias) in enumerate(layers):
            h = torch.nn.functional.linear(h.relu() if i else h, weight, bias)
        margins = (1 + -y * h.squeeze(1)).relu()
        return margins.mean() + scalar_mlp.DECAY * sum((p * p).sum() for p in parameters)

    return torch_steps(parameters, loss)


def torch_leaf(value: Any) -> Any:
    import torch

    return torch.tensor(value, dtype=torch.float64, requires_grad=True)


def torch_steps(parameters: list[Any], loss: Callable[[], Any]) -> Iterator[float]:
    """As `scalar_mlp.steps`, on one thread."""
    import torch

    import scalar_mlp

    torch.set_num_threads(1)
    for step in itertools.count():
        value = loss()
        for p in parameters:
            p.grad = None
        value.backward()
        with torch.no_grad():
            for p in parameters:
                p -= scalar_mlp.learning_rate(step) * p.grad
        before = value.item()
        del value
        yield before


ENGINES: dict[str, Callable[[], Iterator[float]]] = {
    "micrograd": micrograd, "eager": eager, "fused": fused, "python": python, "c": c,
    "torch_numbers": torch_numbers, "torch": torch_tensors}


def run(engine: str, count: int, collector: bool) -> dict[str, Any]:
    """{losses, seconds a step, preparation in seconds, nodes} of one engine in this process.

    Without the collector what it would have freed is collected between steps, outside the clock.
    """
    random.seed(1337)
    steps = ENGINES[engine]()
    losses, seconds = [], []
    if not collector:
        gc.disable()
    for _ in range(min(count, MOST_STEPS.get(engine, count))):
        begin = time.perf_counter()
        losses.append(next(steps))
        seconds.append(time.perf_counter() - begin)
        if not collector:
            gc.collect()
    usual = median(seconds[1:])  # the first step also traces and compiles
    return {"losses": losses, "seconds": usual, "prepare": max(0.0, seconds[0] - usual),
            "nodes": nodes(steps) if engine in GRAPHS else None}


def nodes(steps: Iterator[float]) -> int:
    """The nodes in memory when one more step comes to update its parameters: those of its graph."""
    import scalar_mlp

    found, descend = [], scalar_mlp.descend

    def count(*arguments: Any) -> None:
        gc.collect()
        found.append(sum(type(one).__name__ in {"Value", "Scalar", "Dot", "Total"}
                         for one in gc.get_objects()))
        descend(*arguments)

    scalar_mlp.descend = count
    next(steps)
    scalar_mlp.descend = descend
    return found[0]


# ---- in processes of their own ----------------------------------------------------------------

def install() -> None:
    """micrograd as its requirement says; no time when that was done before."""
    environment.once(
        "micrograd", FOLDER, [REQUIREMENTS],
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(FOLDER),
         "-r", str(REQUIREMENTS)], "Is there a network?")


def measure(engine: str, count: int, collector: bool) -> dict[str, Any]:
    """`run` in a fresh process."""
    program = (f"import sys, json; sys.path[:0] = [{str(CODE)!r}, {str(FOLDER)!r}]; "
               f"from benchmarks import scalar_speed as s; "
               f"print(json.dumps(s.run({engine!r}, {count}, {collector})))")
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False,
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stderr}\nbench: {engine} failed; the reason stands above")
    return json.loads(done.stdout)


def differing(losses: list[float], expected: list[float]) -> float:
    """The largest relative difference of any step."""
    return max(abs(a - b) / abs(b)
               for a, b in zip(losses, expected[:len(losses)], strict=True))


def measure_all(count: int, rounds: int) -> dict[str, Any]:
    """The result as it is recorded. Ends the program where a loss is not micrograd's."""
    found: dict[tuple[str, bool], list[dict[str, Any]]] = {}
    for number, collector in itertools.product(range(rounds), (True, False)):
        for engine in ENGINES:
            one = measure(engine, count, collector)
            found.setdefault((engine, collector), []).append(one)
            print(f"round {number + 1}, collector {'on' if collector else 'off'}: "
                  f"{engine:10} {one['seconds'] * 1e3:10.4f} ms a step", flush=True)
    expected = found["micrograd", True][0]["losses"]
    largest = {engine: max(differing(one["losses"], expected) for key in (True, False)
                           for one in found[engine, key]) for engine in ENGINES}
    for engine, difference in largest.items():
        if not difference <= TOLERANCE:
            sys.exit(f"bench: the losses of {engine} differ from micrograd's by {difference:.1e}")
    return result(found, largest)


def result(found: dict[tuple[str, bool], list[dict[str, Any]]],
           largest: dict[str, float]) -> dict[str, Any]:
    """The record: its tables hold the rows of the engines that they compare."""
    rows = {engine: row(engine, found) | {"largest_difference": largest[engine]}
            for engine in LABELS}
    tables = {key: {"zh": zh, "en": en, "rows": [rows[engine] for engine in engines]}
              for key, (zh, en, engines) in TABLES.items()}
    return {"machine": report.machine(), "python": platform.python_version(),
            "torch": version("torch"), "threads": 1, "date": datetime.date.today().isoformat(),
            "steps": len(found["micrograd", True][0]["losses"]), "columns": COLUMNS,
            "tables": tables}


def row(engine: str, found: dict[tuple[str, bool], list[dict[str, Any]]]) -> dict[str, Any]:
    """Medians over the rounds, and ratios to micrograd within each round."""
    zh, en = LABELS[engine]
    made: dict[str, Any] = {"key": engine, "zh": zh, "en": en}
    for collector, suffix in ((True, ""), (False, "_off")):
        ours = [one["seconds"] for one in found[engine, collector]]
        base = [one["seconds"] for one in found["micrograd", collector]]
        made[f"ms{suffix}"] = round(median(ours) * 1e3, 5)
        made[f"ratio{suffix}"] = round(median(b / a for a, b in zip(ours, base, strict=True)), 2)
    first = found[engine, True]
    if engine in GRAPHS:
        made["nodes"] = first[0]["nodes"]
    if engine in PREPARED:
        made["prepare"] = round(median(one["prepare"] for one in first), 3)
    return made


def verdicts(measured: dict[str, Any]) -> list[str]:
    rows = {row["key"]: row for row in measured["tables"]["steps"]["rows"]}
    lines = []
    for engine, limits in BUDGETS.items():
        for key, limit in limits.items():
            budget = report.Budget(f"{engine} against micrograd", limit, "x", floor=True)
            lines += budget.lines({SITUATIONS[key]: rows[engine][key]})
    return lines


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Scalar against micrograd on its own demo")
    parser.add_argument("--record", action="store_true", help="store the result")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args(arguments)
    install()
    report.warn_if_busy()
    load = os.getloadavg()[0]
    measured = measure_all(chosen.steps, chosen.rounds) | {"load": round(load, 2)}
    lines = verdicts(measured)
    print("\n".join(lines))
    if chosen.record:
        report.write("scalar-speed", measured)
    return any(line.startswith("OVER") for line in lines)


if __name__ == "__main__":
    sys.exit(main())
