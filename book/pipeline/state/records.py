"""What the recorded results of `benchmarks/results/` were measured of, and what changed since.

A record holds `measured`: {name: digest} of what it is about when it is stored. Where one of these
differs today, its numbers were measured before a change. Nothing fails because of that: the pages
that show them say so, and the command that records measures anew. The equipment of a script
(report, oracles) does not count. Needs neither torch nor Jupyter.

`BENCHES` and `OTHERS` say all there is to know of a record in one place: which command writes it,
what it measures, how long that takes, what it needs.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from book.pipeline.ground import digests
from book.pipeline.ground.paths import RESULTS, ROOT, relative, write_atomic
from book.pipeline.notebooks import depends

MAKES_PAGES = ("book/extension", "book/web")
Measured = dict[str, str]


class Record(NamedTuple):
    """A file of results: the command that renews it, and what it would measure today."""

    renew: str
    subject: Callable[[], Measured]
    lacks: Callable[[], str] = str  # names what this machine has not; str() says it has all


class Bench(NamedTuple):
    """A script of benchmarks/: what `make bench` measures, and the records it writes."""

    records: tuple[str, ...]
    minutes: float  # about, on two idle cores
    subject: Callable[[], Measured] | None = None  # None: the script and what it imports
    lacks: Callable[[], str] = str
    site: bool = False  # whether it looks at the built site


def script(name: str) -> Measured:
    """A script of benchmarks/ and the files of code/ that it imports."""
    file = ROOT / "benchmarks" / f"{name}.py"
    files = [file, *sorted(depends.files([file.read_text(encoding="utf-8")]))]
    return {relative(one): digests.of_file(one) for one in files}


def notebooks(root: Path) -> Measured:
    """The program of each notebook of chapters/: its code, its companions, the pinned torch."""
    found = {}
    for file in sorted(root.glob("chapters/*/*.ipynb")):
        metadata = json.loads(file.read_text(encoding="utf-8"))["metadata"]
        name = file.relative_to(root).with_suffix("").as_posix()
        found[name] = metadata.get("book", {}).get("program", "")
    return found


def pages() -> Measured:
    """What stands on each page, its cards included, and the two folders that make all of them."""
    from sphinx_external_toc.parsing import parse_toc_yaml  # here: a run on a GPU goes without it

    page_of = {document: digests.of_value([digests.of_file(file) for file in _written(document)])
               for document in parse_toc_yaml(ROOT / "_toc.yml")}
    return page_of | {name: _folder(name) for name in MAKES_PAGES}


def _written(document: str) -> Iterator[Path]:
    page = ROOT / document
    yield from sorted(file for suffix in ("md", "ipynb")
                      if (file := page.with_name(f"{page.name}.{suffix}")).is_file())
    yield from sorted(page.parent.glob(f"cards/{page.name}.*"))


def whole_book(root: Path) -> Measured:
    """All notebooks and all proved cards, for a run of everything."""
    cards = {file.relative_to(root).as_posix(): digests.of_file(file)
             for file in sorted(root.glob("chapters/*/cards/*.json"))}
    return {"notebooks": digests.of_value(notebooks(root)), "cards": digests.of_value(cards)}


def of_test(file: Path) -> str:
    """Digest of a file of tests and of the files of code/ that it imports."""
    files = [file, *sorted(depends.files([file.read_text(encoding="utf-8")]))]
    return digests.of_value([digests.of_file(one) for one in files])


def random_cases() -> Measured:
    """The tests whose counts are recorded, as they are today."""
    stored = RESULTS / "random-cases.json"
    named = json.loads(stored.read_text(encoding="utf-8"))["measured"] if stored.exists() else {}
    return {name: of_test(ROOT / name) for name in named if (ROOT / name).is_file()}


def whole_suite() -> Measured:
    """What a run of `make test` runs: notebooks and cards, the tests, the pipeline."""
    return whole_book(ROOT) | {name: _folder(name) for name in ("book/pipeline", "tests")}


def _folder(name: str) -> str:
    """Digest of a folder's files."""
    return digests.of_value({relative(file): digests.of_file(file)
                             for file in sorted((ROOT / name).rglob("*.*"))
                             if "__pycache__" not in file.parts and file.is_file()})


def no_triton() -> str:
    return "" if find_spec("triton") else "the package triton (benchmarks/triton_code.py says how)"


def no_gpu() -> str:
    return "" if shutil.which("nvidia-smi") else "a GPU"


UPSTREAM = {  # make upstream ONLY=: what runs PyTorch's own tests and compares; the companion
    "dynamo": (("dynamo", "recorder", "stand_ins", "values"), "mini_dynamo"),
    "compile": (("cases", "inductor", "opinfo"), "mini_compile"),
    "module": (("adapters", "dynamo", "replaced"), "mini_module_layers"),
    "layers": (("adapters", "dynamo", "replaced"), "mini_layers_attention"),
    "index": (("adapters", "dynamo", "replaced"), "mini_index")}


def upstream(part: str) -> Measured:
    """What a part of `make upstream` measures; not what counts and prints."""
    own, companion = UPSTREAM[part]
    scripts = [ROOT / "benchmarks" / "upstream" / f"{name}.py"
               for name in ("checkout", "isolated", "loading", *own)]
    files = [*scripts, *sorted(depends.files([f"import {companion}"]))]
    return {relative(one): digests.of_file(one) for one in files}


def no_checkout() -> str:
    return "a checkout of PyTorch (benchmarks/upstream/__init__.py says more)"


BENCHES = {  # in the order in which they run
    "pages": Bench(("pages",), 12, pages, site=True),
    "search": Bench(("search",), 0.5, pages, site=True),
    "site_build": Bench(("site-build",), 3, pages),
    "notebooks": Bench(("notebooks",), 12, lambda: notebooks(ROOT)),
    "memory_order": Bench(("memory-order",), 1),
    "tensor_bytes": Bench(("tensor-bytes",), 0.2),
    "scalar_speed": Bench(("scalar-speed",), 12),
    "loader": Bench(("loader",), 3),
    "loader_chaos": Bench(("loader-chaos",), 5),
    "graph_breaks": Bench(("graph-breaks",), 1),
    "capture_costs": Bench(("first-call", "guard-checks"), 3),
    "compile_differences": Bench(("compile-differences",), 0.3),
    "compile_stages": Bench(("compile-stages",), 1),
    "pipeline_times": Bench(("pipeline-times",), 3),
    "mini_dynamo": Bench(("mini-dynamo",), 1.5),
    "triton_code": Bench(("triton-code",), 0.3, lacks=no_triton),
    "load_inline": Bench(("load-inline", "recurrence-in-cpp"), 3),
    "cold_start": Bench(("first-request", "regional-compile", "cache-processor"), 12),
    "recompute": Bench(("recompute",), 0.5),
    "loader_traces": Bench(("loader-traces",), 0.5),
    "when_it_pays": Bench(("when-it-pays", "when-it-pays-cuda"), 5),
    "mini_compile": Bench(("mini-compile",), 6),
    "proofs": Bench((), 12),  # holds each proof against its budget and stores nothing
}
OTHERS = {  # written by commands of their own
    "random-cases": Record("make test DEPTH=20 RECORD=1", random_cases),
    "suite": Record("make test FRESH=1 RECORD=1", whole_suite),
    "torch-versions": Record("make test-torch TORCH=… RECORD=1", lambda: whole_book(ROOT)),
    "cuda": Record("make test-cuda RECORD=1", lambda: whole_book(ROOT), no_gpu),
} | {f"upstream-{part}": Record(f"make upstream CHECKOUT=… ONLY={part} RECORD=1",
                                partial(upstream, part), no_checkout) for part in UPSTREAM}
NEEDS = {"when-it-pays-cuda": no_gpu}  # of one record of several that a script writes


def _record(bench: str, name: str) -> Record:
    chosen = BENCHES[bench]
    return Record(f"make bench ONLY={bench} RECORD=1", chosen.subject or (lambda: script(bench)),
                  NEEDS.get(name, chosen.lacks))


RECORDS = {name: _record(bench, name) for bench, chosen in BENCHES.items()
           for name in chosen.records} | OTHERS


def recorded(name: str) -> dict[str, Any]:
    """A result that a record command wrote; empty while nothing was recorded."""
    file = RESULTS / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def write(name: str, result: Mapping[str, Any]) -> Path:
    """Replace a file of results; it also says what was measured, by digest."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    file = RESULTS / f"{name}.json"
    content = {**result, "measured": RECORDS[name].subject()}
    write_atomic(file, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return file


def changed(record: Mapping[str, Any], now: Measured) -> list[str] | None:
    """Names of what is new, gone or different since; None where the record does not say."""
    then = record.get("measured")
    if then is None:
        return None
    return sorted(name for name in then.keys() | now.keys() if then.get(name) != now.get(name))


def current(name: str) -> bool:
    """Whether a record exists and nothing that it measured has changed since."""
    found = of_record(name)
    return all(row["date"] and row["changed"] == [] for row in found)


def of_record(name: str) -> list[dict[str, Any]]:
    """The rows of one record: its name, how to renew it, its date, what changed since.

    `changed` is None where a record does not say what it measured; a record of several runs gives
    a row for each. Where nothing is recorded, `date` is None.
    """
    content, (renew, subject, _) = recorded(name), RECORDS[name]
    runs = {f"{name} {key}": run for key, run in content.items()} \
        if name == "torch-versions" and content else {name: content}
    return [{"name": each, "renew": renew, "date": run.get("date"),
             "changed": changed(run, subject())} for each, run in runs.items()]


def state() -> list[dict[str, Any]]:
    """The rows of all records."""
    return [row for name in RECORDS for row in of_record(name)]
