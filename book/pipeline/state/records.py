"""What the recorded results of `benchmarks/results/` were measured of, and what changed since.

A record holds `measured`: {name: digest} of what it is about when it is stored. Where one of these
differs today, its numbers were measured before a change. Nothing fails because of that: the status
page says so, and the command that records measures anew. The equipment of a script (report,
oracles) does not count. Needs neither torch nor Jupyter.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from book.pipeline.ground import digests
from book.pipeline.ground.paths import RESULTS, ROOT, relative
from book.pipeline.notebooks import depends

MAKES_PAGES = ("book/extension", "book/web")
Measured = dict[str, str]


class Record(NamedTuple):
    """A file of results: the command that renews it, and what it would measure today."""

    renew: str
    subject: Callable[[], Measured]


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
    return page_of | {name: digests.of_value(
        {relative(file): digests.of_file(file) for file in sorted((ROOT / name).rglob("*.*"))
         if "__pycache__" not in file.parts}) for name in MAKES_PAGES}


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


def _bench(name: str) -> Record:
    return Record(f"make bench ONLY={name} RECORD=1", lambda: script(name))


RECORDS = {
    "pages": Record("make bench ONLY=pages RECORD=1", pages),
    "search": Record("make bench ONLY=search RECORD=1", pages),
    "site-build": Record("make bench ONLY=site_build RECORD=1", pages),
    "notebooks": Record("make bench ONLY=notebooks RECORD=1", lambda: notebooks(ROOT)),
    "memory-order": _bench("memory_order"),
    "tensor-bytes": _bench("tensor_bytes"),
    "scalar-speed": _bench("scalar_speed"),
    "loader": _bench("loader"),
    "loader-chaos": _bench("loader_chaos"),
    "graph-breaks": _bench("graph_breaks"),
    "first-call": _bench("capture_costs"),
    "guard-checks": _bench("capture_costs"),
    "first-request": _bench("cold_start"),
    "regional-compile": _bench("cold_start"),
    "cache-processor": _bench("cold_start"),
    "compile-differences": _bench("compile_differences"),
    "compile-stages": _bench("compile_stages"),
    "pipeline-times": _bench("pipeline_times"),
    "triton-code": _bench("triton_code"),
    "load-inline": _bench("load_inline"),
    "recurrence-in-cpp": _bench("load_inline"),
    "mini-dynamo": _bench("mini_dynamo"),
    "recompute": _bench("recompute"),
    "when-it-pays": _bench("when_it_pays"),
    "when-it-pays-cuda": _bench("when_it_pays"),
    "mini-compile": _bench("mini_compile"),
    "random-cases": Record("make test DEPTH=20 RECORD=1", random_cases),
    "torch-versions": Record("make test-torch TORCH=… RECORD=1", lambda: whole_book(ROOT)),
    "cuda": Record("make test-cuda RECORD=1", lambda: whole_book(ROOT)),
    "suite": Record("make test FRESH=1 RECORD=1", lambda: whole_book(ROOT)),
}


def changed(record: Mapping[str, Any], now: Measured) -> list[str] | None:
    """Names of what is new, gone or different since; None where the record does not say."""
    then = record.get("measured")
    if then is None:
        return None
    return sorted(name for name in then.keys() | now.keys() if then.get(name) != now.get(name))
