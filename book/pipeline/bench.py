"""Measure what the book prints about itself; `records.BENCHES` says what there is.

    python -m book.pipeline.bench                     run every script of benchmarks/, one by one
    python -m book.pipeline.bench --only pages loader these alone, each by its script or its record
    python -m book.pipeline.bench --record            and store the results
    python -m book.pipeline.bench --stale             renew the records that are not current
    python -m book.pipeline.bench --list              only say what there is and how long it takes

With `--stale` a busy machine is refused, before each script; a script that fails does not keep
the others from running, and the end says what was renewed, what was not, and what cannot be here.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from book.pipeline.ground.paths import ROOT
from book.pipeline.state import quiet, records

LONG = 10  # minutes above which a script is pointed out


class Outcome(NamedTuple):
    """What became of one script: the records that it renewed, and what there is to say of it."""

    renewed: list[str]
    failed: str


def stale(bench: str) -> list[str]:
    """Records of a script that are not current and that this machine can renew."""
    return [name for name in records.BENCHES[bench].records
            if not records.current(name) and not records.RECORDS[name].lacks()]


def elsewhere() -> list[str]:
    """A line for each record that is not current and that `make bench` cannot renew here."""
    benches = {name for bench in records.BENCHES.values() for name in bench.records}
    lines = []
    for name, record in records.RECORDS.items():
        lacks = record.lacks()
        if (lacks or name not in benches) and not records.current(name):
            lines.append(f"{name}: {record.renew}" + (f"; needs {lacks}" if lacks else ""))
    return lines


def listing(benches: Sequence[str]) -> list[str]:
    """A line for each script: about how long it takes, what it writes, and the sum."""
    lines = []
    for bench in benches:
        minutes, names = records.BENCHES[bench].minutes, records.BENCHES[bench].records
        states = [f"{name} ({'current' if records.current(name) else 'not current'})"
                  for name in names]
        lines.append(f"{bench:20} {minutes:5g} min{' (long)' if minutes > LONG else '':8}"
                     f"{', '.join(states) or 'stores nothing'}")
    total = sum(records.BENCHES[bench].minutes for bench in benches)
    return [*lines, f"{len(benches)} scripts, about {total:g} min on two idle cores"]


def run(bench: str, record: bool) -> int:
    """Run one script in a process of its own, after the site where it looks at that."""
    if records.BENCHES[bench].site and not built():
        return 1
    started = time.perf_counter()
    print(f"\nbench: {bench}, about {records.BENCHES[bench].minutes:g} min", flush=True)
    status = subprocess.run([sys.executable, "-m", f"benchmarks.{bench}",
                             *(["--record"] if record else [])], cwd=ROOT, check=False).returncode
    print(f"bench: {bench} took {(time.perf_counter() - started) / 60:.1f} min", flush=True)
    return status


_site: list[int] = []


def built() -> bool:
    """Build the site, once in a run of this command."""
    if not _site:
        _site.append(subprocess.run([sys.executable, "-m", "book.pipeline.site"], cwd=ROOT,
                                    check=False).returncode)
    return _site == [0]


def renew(bench: str) -> Outcome:
    """Run one script on a quiet machine and look whether its records are current now."""
    wanted = stale(bench)
    if found := quiet.busy():
        return Outcome([], f"this machine is busy: {found}")
    status = run(bench, record=True)
    renewed = [name for name in wanted if records.current(name)]
    left = [name for name in wanted if name not in renewed]
    said = f"exit status {status}, its messages stand above" if status else "it wrote nothing new"
    if not left:
        said = f"renewed, but {said}" if status else ""
    return Outcome(renewed, said)


def renew_all(benches: Sequence[str]) -> int:
    """Renew what is not current, each alone; exit status 1 if something was not."""
    todo = [bench for bench in benches if stale(bench)]
    print(*listing(todo), sep="\n", flush=True)
    if todo and (found := quiet.busy()):
        sys.exit(f"bench: this machine is busy: {found}; nothing was measured")
    outcomes = {bench: renew(bench) for bench in todo}
    renewed = [name for outcome in outcomes.values() for name in outcome.renewed]
    failed = [f"{bench}: {outcome.failed}" for bench, outcome in outcomes.items() if outcome.failed]
    print(*section("renewed", renewed), *section("failed", failed),
          *section("not renewed here", elsewhere()), sep="\n")
    return int(bool(failed))


def script_of(name: str) -> str:
    """The script of that name, or the one that writes the record of that name; else ValueError."""
    for bench, told in records.BENCHES.items():
        if name == bench or name in told.records:
            return bench
    raise ValueError(f"bench: ONLY={name} is none of: {' '.join(records.BENCHES)}")


def section(title: str, lines: Sequence[str]) -> list[str]:
    """A part of the summary."""
    return [f"\nbench: {title}: {len(lines)}", *(f"  {line}" for line in lines)]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="measure what the book prints about itself")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[*records.BENCHES])
    parser.add_argument("--record", action="store_true", help="store the results")
    parser.add_argument("--stale", action="store_true", help="renew the records not current")
    parser.add_argument("--list", action="store_true", help="say how long each takes, run none")
    chosen = parser.parse_args(arguments)
    try:
        benches = list(dict.fromkeys(map(script_of, chosen.only)))
    except ValueError as error:
        sys.exit(str(error))
    if chosen.list:
        print(*listing(benches), *section("not renewed here", elsewhere()), sep="\n")
        return 0
    if chosen.stale:
        return renew_all(benches)
    failed = [name for name in benches if run(name, chosen.record)]
    print(*section("failed", failed), sep="\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
