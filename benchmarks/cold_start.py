"""What the first request waits for: cold, with each cache, and compiled by blocks (chapter 5).

    python -m benchmarks.cold_start             measure and print, about twelve minutes
    python -m benchmarks.cold_start --record    also store the result that the section shows

One thread, inference. Each start is a process of its own, and the time of `import torch` is not
counted. A start loads what it is given (a cache folder, the bytes of `save_cache_artifacts`, an
AOTInductor package) and answers requests; the first is timed together with the loading. Each
figure is a median of the rounds. Of the libraries that the C++ compiler built meanwhile, kernels
are the generated loops, probes are small programs that find out what the processor can do.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import report
from book.pipeline.ground.paths import ROOT

ROUNDS, LAYERS, WIDTH, SIZES = 3, 4, 64, (2, 4, 8)
ARTIFACTS, PACKAGE = "artifacts.bin", "model.pt2"
STARTS = {
    "cold": ("缓存目录是空的", "an empty cache folder"),
    "warm": ("同一个缓存目录", "the same cache folder"),
    "weights": ("同一个目录，换了权重", "the same folder, other weights"),
    "artifacts": ("空目录，装入 save_cache_artifacts 的数据",
                  "an empty folder, the bytes of save_cache_artifacts loaded"),
    "package": ("AOTInductor 的包，空目录", "an AOTInductor package, an empty folder"),
    "package-kept": ("AOTInductor 的包，同一个目录", "an AOTInductor package, the same folder"),
}
SMALLER = "avx2"  # on a processor with AVX-512
PROCESSORS = {"own": ("AVX-512，空目录", "AVX-512, an empty folder"),
              "moved": ("只用 AVX2，同一个目录", "AVX2 only, the same folder"),
              "fresh": ("只用 AVX2，空目录", "AVX2 only, an empty folder"),
              "back": ("AVX-512，只用 AVX2 的进程留下的目录",
                       "AVX-512, the folder of the process with AVX2 only")}
TITLES = {"processors": ("同一个函数", "the same function"),
          "kept": ("重启在同一台机器上", "restarted on the same machine"),
          "moved": ("换一台机器", "on another machine"),
          "layers": ("第一个请求用掉的处理器时间", "processor time of the first request")}
COLUMNS = {
    "cache-processor": [
        {"key": "hit", "zh": "FX 图缓存命中", "en": "FX graph cache hits"},
        {"key": "wrong", "zh": "算错的元素（%）", "en": "wrong elements (%)"},
        {"key": "died", "zh": "进程崩溃", "en": "process died"}],
    "first-request": [
        {"key": "first", "zh": "第一个请求（秒）", "en": "first request (s)"},
        {"key": "dynamo", "zh": "其中 Dynamo（秒）", "en": "of it Dynamo (s)"},
        {"key": "rest", "zh": "其中后端（秒）", "en": "of it the back end (s)"},
        {"key": "kernels", "zh": "编译的 kernel 库", "en": "kernel libraries built"},
        {"key": "probes", "zh": "编译的探测程序", "en": "probes built"},
        {"key": "later", "zh": "以后每个请求（毫秒）", "en": "a later request (ms)"}],
    "regional-compile": [
        {"key": "whole", "zh": "整个模型（CPU 秒）", "en": "the whole model (CPU s)"},
        {"key": "region", "zh": "nested_compile_region（CPU 秒）",
         "en": "nested_compile_region (CPU s)"},
        {"key": "blocks", "zh": "逐块编译（CPU 秒）", "en": "block by block (CPU s)"},
        {"key": "whole_later", "zh": "整个，以后（毫秒）", "en": "whole, later (ms)"},
        {"key": "region_later", "zh": "region，以后（毫秒）", "en": "region, later (ms)"},
        {"key": "blocks_later", "zh": "逐块，以后（毫秒）", "en": "by blocks, later (ms)"}],
}


def model_and_input(layers: int, seed: int = 0, region: bool = False) -> tuple[Any, Any]:
    """A stack of equal residual blocks without gradients, and a batch (32, WIDTH)."""
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.LayerNorm(WIDTH)
            self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x: Any) -> Any:
            return x + self.down(nn.functional.gelu(self.up(self.norm(x))))

    class Stack(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = nn.ModuleList(Block() for _ in range(layers))

        def forward(self, x: Any) -> Any:
            for block in self.blocks:
                x = block(x)
            return x

    if region:
        Block.forward = torch.compiler.nested_compile_region(Block.forward)
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    return Stack().eval().requires_grad_(False), torch.randn(32, WIDTH)


def clocks() -> tuple[float, float]:
    """Seconds passed, and seconds of processor time of this process and those it waited for."""
    return time.perf_counter(), sum(os.times()[:4])


def served(model: Any, x: Any, begin: tuple[float, float]) -> dict[str, float]:
    """The first request since `begin`, its stages by torch's clocks, and later requests."""
    from torch._dynamo.utils import get_compilation_metrics

    model(x)
    first, cpu = (now - then for now, then in zip(clocks(), begin, strict=True))
    later = []
    for _ in range(200):
        at = time.perf_counter()
        model(x)
        later.append(time.perf_counter() - at)
    found = get_compilation_metrics()
    dynamo, rest = (sum(getattr(one, f"{stage}_cumulative_compile_time_us") or 0
                        for one in found) / 1e6 for stage in ("dynamo", "aot_autograd"))
    return {"first": first, "cpu": cpu, "dynamo": dynamo - rest, "rest": rest,
            "later": median(later) * 1e3}


def start(how: str, folder: str, layers: int = LAYERS) -> dict[str, float]:
    """Serve in this process, with the caches that the environment names."""
    import torch

    model, x = model_and_input(layers, seed=how == "weights", region=how == "region")
    begin = clocks()
    if how.startswith("package"):
        return served(torch._inductor.aoti_load_package(f"{folder}/{PACKAGE}"), x, begin)
    if how == "artifacts":
        torch.compiler.load_cache_artifacts(Path(folder, ARTIFACTS).read_bytes())
    if how == "blocks":
        for block in model.blocks:
            block.compile()
    else:
        model.compile()
    found = served(model, x, begin)
    if how == "cold":
        artifacts, _ = torch.compiler.save_cache_artifacts()
        Path(folder, ARTIFACTS).write_bytes(artifacts)
    return found


def package(how: str, folder: str, layers: int = LAYERS) -> dict[str, float]:
    """Export the model and build its package, before any start."""
    import torch

    model, x = model_and_input(layers)
    begin = time.perf_counter()
    torch._inductor.aoti_compile_and_package(torch.export.export(model, (x,)),
                                             package_path=f"{folder}/{PACKAGE}")
    return {"build": time.perf_counter() - begin}


def difference(how: str, folder: str, layers: int) -> dict[str, float]:
    """Whether Inductor's cache is hit for a small function, and how many results are wrong, in %.

    `how` is the instruction set that this process may use, empty for what the processor has. The
    hits are printed before the function runs, because the run may be the end of the process.
    """
    if how:
        os.environ["ATEN_CPU_CAPABILITY"] = how
    import torch
    from torch._dynamo.utils import counters
    from torch._inductor.compile_fx import compile_fx

    def inductor(graph: Any, inputs: Any) -> Any:
        compiled = compile_fx(graph, inputs)
        print(json.dumps({"hit": counters["inductor"]["fxgraph_cache_hit"]}), flush=True)
        return compiled

    def fn(x: Any) -> Any:
        return (torch.softmax(x, -1) * 2).sin() + x.exp()

    torch.set_num_threads(1)
    torch.manual_seed(0)
    x = torch.randn(37, 53)
    got = torch.compile(fn, backend=inductor)(x)
    right = torch.isclose(got, fn(x), rtol=1e-4, atol=1e-4)  # False for nan
    return {"wrong": 100 * (1 - right.double().mean().item())}


def probe(how: str, folder: str, layers: int) -> dict[str, float]:
    """Build the programs that ask the processor what it can do, and nothing else."""
    from torch._inductor.cpu_vec_isa import pick_vec_isa

    pick_vec_isa()
    return {}


def in_process(what: str, how: str, folder: str, caches: str, layers: int) -> dict[str, float]:
    """`start`, `package`, `probe` or `difference` in a fresh process, and what libraries it built.

    A `difference` that a signal ended has what it printed until then, and `died` is 1.
    """
    before = libraries(caches)
    program = (f"import json; from benchmarks import cold_start as c; "
               f"print(json.dumps(c.{what}({how!r}, {folder!r}, {layers})))")
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False,
                          capture_output=True, text=True,
                          env=os.environ | {"TORCHINDUCTOR_CACHE_DIR": caches})
    died = done.returncode < 0 and what == "difference"
    if done.returncode and not died:
        sys.exit(f"{done.stderr}\nbench: {what} {how} failed; the reason stands above")
    built = {kind: n - before[kind] for kind, n in libraries(caches).items()}
    printed = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    ended = {"died": int(died)} if what == "difference" else {}
    return {key: value for each in printed for key, value in each.items()} | ended | built


def libraries(caches: str) -> dict[str, int]:
    """How many of each kind lie in a cache folder; a kernel's file ends in `.main.so`."""
    found = [file.name for file in Path(caches).rglob("*.so")]
    kernels = sum(name.endswith(".main.so") for name in found)
    return {"kernels": kernels, "probes": len(found) - kernels}


def one_round() -> dict[str, dict[str, float]]:
    """Every kind of start once, from folders of its own; warm starts use the cold one's."""
    with tempfile.TemporaryDirectory() as folder:
        in_process("package", "package", folder, f"{folder}/build", LAYERS)
        caches = {"artifacts": f"{folder}/fresh", "package": f"{folder}/none"}
        return {how: in_process("start", how, folder, caches.get(how, f"{folder}/caches"), LAYERS)
                for how in STARTS}


def one_regional_round(layers: int) -> dict[str, float]:
    """Processor seconds of the first, milliseconds of a later request, for three ways to compile.

    The probes are built beforehand, because their time would be the same in each figure. Processor
    time counts the work, however many kernels are compiled at a time.
    """
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        in_process("probe", "", folder, f"{folder}/probes", layers)
        for how in ("whole", "region", "blocks"):
            shutil.copytree(f"{folder}/probes", f"{folder}/{how}")
            measured = in_process("start", how, folder, f"{folder}/{how}", layers)
            found |= {how: measured["cpu"], f"{how}_later": measured["later"]}
    return found


def medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    """The median of each figure."""
    return {key: round(median(one[key] for one in rounds), 4) for key in rounds[0]}


def starts(rounds: int) -> dict[str, list[dict[str, Any]]]:
    """The rows of the starts, those that find the folder again and those that moved."""
    found = [one_round() for _ in range(rounds)]
    rows = [{"key": how, "zh": zh, "en": en} | medians([one[how] for one in found])
            for how, (zh, en) in STARTS.items()]
    return {"kept": rows[:3], "moved": rows[3:]}


def regional(rounds: int) -> dict[str, list[dict[str, Any]]]:
    """The rows of the three ways to compile, by the number of layers."""
    return {"layers": [{"key": f"layers{n}", "zh": f"{n} 层", "en": f"{n} layers"}
                       | medians([one_regional_round(n) for _ in range(rounds)]) for n in SIZES]}


def processors(_rounds: int) -> dict[str, list[dict[str, Any]]]:
    """A folder written with one instruction set and read with another, in both directions."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for key, (zh, en) in PROCESSORS.items():
            how = SMALLER if key in ("moved", "fresh") else ""
            caches = "new" if key in ("fresh", "back") else "old"
            found = in_process("difference", how, folder, f"{folder}/{caches}", 0)
            rows.append({"key": key, "zh": zh, "en": en} | found)
    return {"processors": rows}


def result(name: str, rows: dict[str, list[dict[str, Any]]], load: float,
           rounds: int) -> dict[str, Any]:
    """One file as it is recorded."""
    of = (f"{rounds} 个进程的中位数", f"median of {rounds} processes") if rounds > 1 else (
        "1 个进程", "1 process")
    tables = {table: {"zh": f"{TITLES[table][0]}（{of[0]}）", "en": f"{TITLES[table][1]}, {of[1]}",
                      "rows": found} for table, found in rows.items()}
    return {"machine": report.machine(), "python": platform.python_version(),
            "torch": version("torch"), "threads": 1, "load": load,
            "date": datetime.date.today().isoformat(), "columns": COLUMNS[name], "tables": tables}


def main(arguments: list[str] | None = None) -> int:
    import torch

    parser = argparse.ArgumentParser(description="what the first request waits for")
    parser.add_argument("--record", action="store_true", help="store the result")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args(arguments)
    report.warn_if_busy()
    for name, measure in {"first-request": starts, "regional-compile": regional,
                          "cache-processor": processors}.items():
        if measure is processors and not torch.cpu._is_avx512_supported():
            print("bench: left out cache-processor, which wants a processor with AVX-512")
            continue
        load = round(os.getloadavg()[0], 2)
        measured = result(name, measure(chosen.rounds), load, chosen.rounds)
        print(json.dumps(measured["tables"], indent=1, ensure_ascii=False), flush=True)
        if chosen.record:
            report.write(name, measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
