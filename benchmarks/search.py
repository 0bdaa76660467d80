"""How well and how fast the search of the built site answers, by class of queries.

    python -m benchmarks.search             after `make site`
    python -m benchmarks.search --record    also store the result for the status page

The queries are those of oracles/web/search_queries.yaml. `held` are those that were not looked at
while the ranking was made. Times are Node's: of a query, once the index is there; of loading, the
first search of a reader without what the network takes.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import sys
from typing import Any

from benchmarks import report
from book.pipeline.ground.paths import SITE
from oracles.web import search_queries

BUDGETS = {"share": report.Budget("queries answered among the first five", 95, " %", floor=True),
           "ms": report.Budget("a query", 20, " ms"),
           "bytes": report.Budget("an index, compressed", 350 * 1024, " bytes")}
LANGS = ("zh", "en")


def sizes() -> dict[str, int]:
    """Compressed bytes: each index, the script that searches, the longest text of a page."""
    folder, names = search_queries.files()
    of = {lang: [folder / names[lang]] for lang in LANGS}
    of |= {"box": [*folder.glob("box.*")], "a page's text": [*folder.glob("text-*")]}
    return {name: max(len(gzip.compress(file.read_bytes())) for file in found)
            for name, found in of.items()}


def measure() -> dict[str, Any]:
    """The result as it is recorded."""
    asked = search_queries.queries()
    parts = {part: search_queries.judge(asked[part]) for part in ("tuned", "held")}
    return {"machine": report.machine(), "date": datetime.date.today().isoformat(),
            "bytes": sizes(), **parts}


def lines(result: dict[str, Any]) -> list[str]:
    """The printed table: a class a line, then what was missed, then the budgets."""
    found, pairs = [], {part: result[part]["classes"] for part in ("tuned", "held")}
    for name in pairs["tuned"]:
        found.append(f"{name:12} " + "   ".join(
            f"{part} {pairs[part].get(name, (0, 0))[0]:2} of {pairs[part].get(name, (0, 0))[1]:2}"
            for part in pairs))
    for part in pairs:
        hits, number = (sum(pair[at] for pair in pairs[part].values()) for at in (0, 1))
        found.append(f"{part}: {hits} of {number}, median {result[part]['median_ms']:.1f} ms")
        found += [f"    missed: {miss}" for miss in result[part]["misses"]]
    return [*found, *verdicts(result)]


def verdicts(result: dict[str, Any]) -> list[str]:
    pairs = [pair for part in ("tuned", "held") for pair in result[part]["classes"].values()]
    share = 100 * sum(hit for hit, _ in pairs) / sum(number for _, number in pairs)
    times = {part: round(result[part]["median_ms"], 1) for part in ("tuned", "held")}
    return [*BUDGETS["share"].lines({"all": round(share, 1)}), *BUDGETS["ms"].lines(times),
            *BUDGETS["bytes"].lines({lang: result["bytes"][lang] for lang in LANGS})]


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
