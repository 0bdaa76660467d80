"""How well and how fast the search of the built site answers, by class of queries.

    python -m benchmarks.search             after `make site`
    python -m benchmarks.search --record    also store the result for the status page

The queries are those of oracles/web/search_queries.yaml. `held` are those that were not looked at
while the ranking was made; `at once` are all of them, asked of what is loaded first. Times are
Node's: of a query, once the index is there; of loading, the first search of a reader without what
the network takes.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import sys
from pathlib import Path
from typing import Any

from benchmarks import report
from book.pipeline.ground.paths import SITE
from oracles.web import search_queries

BUDGETS = {"share": report.Budget("queries answered among the first five", 95, " %", floor=True),
           "ms": report.Budget("a query", 20, " ms"),
           "bytes": report.Budget("before the first answer, compressed", 60 * 1024, " bytes")}
LANGS = ("zh", "en")


def sizes() -> dict[str, int]:
    """Compressed bytes: what is loaded before the first answer, each index as a whole, its largest
    chapter, the script that searches, the longest text of a page."""
    def wire(*files: Path) -> int:
        return sum(len(gzip.compress(file.read_bytes())) for file in files)
    names, folder = search_queries.names()
    indices = {lang: search_queries.loaded(lang) for lang in LANGS}
    chapters = [wire(*pair) for files in indices.values()
                for pair in zip(files[1::2], files[2::2], strict=True)]
    return {"first": wire(*search_queries.at_first()), "box": wire(folder / names["box"]),
            **{lang: wire(*files) for lang, files in indices.items()}, "a chapter": max(chapters),
            "a page's text": max(wire(folder / name) for lang in LANGS
                                 for name in names["texts"][lang])}


def measure() -> dict[str, Any]:
    """The result as it is recorded."""
    asked = search_queries.queries()
    parts = {part: search_queries.judge(asked[part]) for part in ("tuned", "held")}
    parts["at once"] = search_queries.judge([*asked["tuned"], *asked["held"]], whole=False)
    return {"machine": report.machine(), "date": datetime.date.today().isoformat(),
            "bytes": sizes(), **parts}


def lines(result: dict[str, Any]) -> list[str]:
    """The printed table: a class a line, then what was missed, then the budgets."""
    found, pairs = [], {part: result[part]["classes"] for part in ("tuned", "held")}
    for name in pairs["tuned"]:
        found.append(f"{name:12} " + "   ".join(
            f"{part} {pairs[part].get(name, (0, 0))[0]:2} of {pairs[part].get(name, (0, 0))[1]:2}"
            for part in pairs))
    for part in (*pairs, "at once"):
        hits, number = (sum(pair[at] for pair in result[part]["classes"].values()) for at in (0, 1))
        found.append(f"{part}: {hits} of {number}, median {result[part]['median_ms']:.1f} ms")
    for part in pairs:
        found += [f"    missed: {miss}" for miss in result[part]["misses"]]
    return [*found, *verdicts(result)]


def verdicts(result: dict[str, Any]) -> list[str]:
    pairs = [pair for part in ("tuned", "held") for pair in result[part]["classes"].values()]
    share = 100 * sum(hit for hit, _ in pairs) / sum(number for _, number in pairs)
    times = {part: round(result[part]["median_ms"], 1) for part in ("tuned", "held")}
    return [*BUDGETS["share"].lines({"all": round(share, 1)}), *BUDGETS["ms"].lines(times),
            *BUDGETS["bytes"].lines({"both languages": result["bytes"]["first"]})]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="put the queries to the search of the built site")
    parser.add_argument("--record", action="store_true", help="store the result")
    chosen = parser.parse_args(arguments)
    if not (SITE / "_static" / "search").is_dir():
        sys.exit("bench: no search in _build/html; run make site")
    report.warn_if_busy()
    result = measure()
    print(*lines(result), f"bytes compressed: {result['bytes']}", sep="\n")
    if chosen.record:
        report.write("search", result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
