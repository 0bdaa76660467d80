"""What mini_loader loses while its workers are killed at random moments: nothing, or exit status 1.

    python -m benchmarks.loader_chaos               kill, count and print, about five minutes
    python -m benchmarks.loader_chaos --record      also store the result that the section shows
    python -m benchmarks.loader_chaos --kills 100   fewer, for a look; not recorded

For each start method, a random worker of two gets SIGKILL at random moments, until so many were
replaced. Each batch is compared with that of a loader in peace: indices, content and random draws;
some are held, and compared again at the end of their epoch. What the process holds afterwards is
compared with what it held before. In the last table both loaders get the same random arguments.
Linux only: it reads /proc.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import itertools
import os
import platform
import random
import signal
import sys
import time
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.metadata import version
from multiprocessing import set_forkserver_preload
from typing import Any

import torch
from torch.utils import data

from benchmarks import report
from book.pipeline.ground.paths import CODE
from oracles import leftovers
from oracles.loader_cases import Case, same
from oracles.loader_datasets import Draws


@dataclass(frozen=True)
class Fire:
    """How many workers are to be replaced under a start method, and the pace: a kill each `mean`
    seconds, and every seventh sample takes `slow` seconds, so that an epoch outlasts a restart.

    `cases` is the number of random argument sets.
    """

    kills: int
    mean: float
    slow: float
    cases: int


METHODS = {"fork": Fire(1000, 0.01, 0.0005, 400), "forkserver": Fire(40, 0.2, 0.02, 10),
           "spawn": Fire(20, 1.0, 0.05, 10)}
BATCHES, BATCH_SIZE = 38, 8  # in one epoch of 300 samples
AHEAD = 4  # by so many a loader's deaths may exceed its batches
ENDLESS = 10**9
PATIENCE = 300.0  # seconds without a batch, after which the loader gives up; workers die meanwhile
FAULTS = {
    "lost": ("丢失的批", "batches lost"),
    "repeated": ("重复的批", "batches repeated"),
    "disordered": ("乱序的批", "batches out of order"),
    "altered": ("内容不同的批", "batches with other content"),
    "redrawn": ("随机数不同的批", "batches with other random draws"),
}
COUNTS = {
    "kills": ("发出的 SIGKILL（有的打在已死的进程上）", "SIGKILLs sent, some to a dead process"),
    "restarts": ("死后换新的工作进程", "workers that died and were replaced"),
    "resent": ("重发的任务", "tasks sent again"),
    "epochs": ("轮数", "epochs"),
    "batches": ("交付的批", "batches delivered"),
    **FAULTS,
    "seconds": ("秒", "seconds"),
}
EQUALITY = {
    "cases": ("比较的随机参数组", "random argument sets compared"),
    "compared": ("比较的批", "batches compared"),
    "differing": ("结果不同的参数组", "argument sets with another result"),
}


# ---- who kills ----------------------------------------------------------------------------------

class Killer:
    """Kills a random worker at random moments, until so many were replaced.

    By an alarm, since beside threads fork is unsafe. It spares them while more have died than
    batches came: else, on a busy machine, all deaths would fall into one epoch.
    """

    def __init__(self, mean_seconds: float, enough: int) -> None:
        self.mean, self.enough, self.rng = mean_seconds, enough, random.Random(0)
        self.kills = self.restarts = 0

    def aim(self, loader: Any, batches: Any) -> None:
        self.loader, self.pool = loader, batches.pool
        self.set_alarm()

    def __enter__(self) -> Killer:
        self.before = signal.signal(signal.SIGALRM, self.strike)
        return self

    def set_alarm(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, max(1e-4, self.rng.expovariate(1 / self.mean)))

    def strike(self, *_: Any) -> None:
        counted = self.loader.statistics
        if self.restarts + counted.restarts >= self.enough:
            return
        if counted.restarts <= counted.batches + AHEAD:
            self.kill_one()
        self.set_alarm()

    def kill_one(self) -> None:
        processes = [worker.process for worker in self.pool.workers if worker.process]
        with contextlib.suppress(ProcessLookupError, IndexError):        # dead already; closed
            os.kill(self.rng.choice(processes).pid, signal.SIGKILL)
            self.kills += 1

    def cease(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        self.restarts += self.loader.statistics.restarts

    def __exit__(self, *_: Any) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)


# ---- who judges ---------------------------------------------------------------------------------

class Judge:
    """Counts how an epoch differs from the same one in peace. A batch is known by its indices."""

    def __init__(self, expected: list[Any], rng: random.Random) -> None:
        self.expected, self.rng = expected, rng
        self.places = {tuple(batch[1].tolist()): place for place, batch in enumerate(expected)}
        self.seen, self.held, self.counts = set(), deque(maxlen=10), Counter()

    def watch(self, batches: Iterable[Any]) -> Counter:
        """The counts of an epoch; it may be endless, and is then left."""
        for batch in itertools.islice(batches, 2 * len(self.expected)):
            self.see(batch)
        for place, batch in self.held:          # a slot that was written too early shows here
            self.compare(place, batch)
        self.counts["lost"] = len(self.expected) - len(self.seen)
        self.counts["epochs"] = 1
        return self.counts

    def see(self, batch: Any) -> None:
        self.counts["batches"] += 1
        place = self.places.get(tuple(batch[1].tolist()))
        if place is None:
            self.counts["altered"] += 1
            return
        self.counts["repeated"] += place in self.seen
        self.counts["disordered"] += place < max(self.seen, default=0) and place not in self.seen
        self.seen.add(place)
        if self.compare(place, batch) and self.rng.random() < 0.3:
            self.held.append((place, batch))

    def compare(self, place: int, batch: Any) -> bool:
        """Whether all of a batch is as in peace; what is not, is counted."""
        *content, draws = self.expected[place]
        altered, redrawn = not same(batch[:-1], content), not same(batch[-1], draws)
        self.counts["altered"] += altered
        self.counts["redrawn"] += redrawn
        return not altered and not redrawn


# ---- under fire ---------------------------------------------------------------------------------

def ours(*arguments: Any, **named: Any) -> Any:
    """A mini_loader.DataLoader."""
    if str(CODE) not in sys.path:
        sys.path.insert(0, str(CODE))
    import mini_loader

    return mini_loader.DataLoader(*arguments, **named)


def loader_of_draws(method: str, fire: Fire, persistent: bool) -> Any:
    """A loader whose samples draw random numbers, always the same ones in its first epoch, and
    the same in its second."""
    return ours(Draws(BATCHES * BATCH_SIZE - 4, slow=fire.slow), BATCH_SIZE, True,
                num_workers=2, prefetch_factor=3, persistent_workers=persistent,
                generator=torch.Generator().manual_seed(9), max_restarts=ENDLESS,
                multiprocessing_context=method, timeout=PATIENCE)


def in_peace(fire: Fire, persistent: bool) -> list[list[Any]]:
    """The batches of two epochs in which nobody is killed."""
    loader = loader_of_draws("fork", replace(fire, slow=0), persistent)
    return [list(loader), list(loader)]


def chaos(method: str, enough: int, fire: Fire) -> Counter:
    """Epochs until `enough` workers died and were replaced: what was counted meanwhile.

    Every second loader keeps its workers for a second epoch. Raises what the loader raises.
    """
    peace = {kept: in_peace(fire, kept) for kept in (False, True)}
    rng, counts, begin = random.Random(1), Counter(), time.perf_counter()
    with Killer(fire.mean, enough) as killer:
        for kept in itertools.cycle(peace):
            if killer.restarts >= enough:
                break
            loader = loader_of_draws(method, fire, kept)
            for expected in peace[kept]:
                batches = iter(loader)
                killer.aim(loader, batches)
                counts.update(Judge(expected, rng).watch(batches))
            killer.cease()
            counts["resent"] += loader.statistics.resent
    counts.update(kills=killer.kills, restarts=killer.restarts,
                  seconds=round(time.perf_counter() - begin, 1))
    return counts


def chaos_and_after(method: str, enough: int, fire: Fire) -> tuple[Counter, dict[str, set[str]]]:
    """What `chaos` counts, and what it left behind.

    A start method keeps a fork server or a resource tracker for good: an epoch in peace starts it.
    """
    with leftovers.own_temporary_folder(), leftovers.noting_processes() as own:
        list(loader_of_draws(method, fire, False))
        before = leftovers.holdings()
        return chaos(method, enough, fire), leftovers.left_behind(before, own)


# ---- equality -----------------------------------------------------------------------------------

def equality(method: str, cases: int) -> Counter:
    """How many random argument sets give another result than with torch; those with workers.

    A result is every batch of every epoch, their promised number, and the state in which the
    global generator is left.
    """
    counts, seeds = Counter(), itertools.count()
    while counts["cases"] < cases:
        case = Case(next(seeds), method)
        if not case.workers:
            continue
        theirs = case.run(data.DataLoader)
        counts["cases"] += 1
        counts["compared"] += sum(map(len, theirs["epochs"]))
        counts["differing"] += not same(case.run(ours), theirs)
    return counts


# ---- results ------------------------------------------------------------------------------------

def table(zh: str, en: str, labels: dict[str, tuple[str, str]],
          found: dict[str, Any]) -> dict[str, Any]:
    """A row for each label; its columns are the start methods."""
    rows = [{"key": key, "zh": texts[0], "en": texts[1],
             **{method: counts[key] for method, counts in found.items()}}
            for key, texts in labels.items()]
    return {"zh": zh, "en": en, "rows": rows}


def scaled(kills: int) -> dict[str, Fire]:
    """METHODS with so many kills under fork, and as much less or more of all else."""
    share = kills / METHODS["fork"].kills
    return {method: replace(fire, kills=max(1, round(fire.kills * share)),
                            cases=max(1, round(fire.cases * share)))
            for method, fire in METHODS.items()}


def result(fires: dict[str, Fire]) -> dict[str, Any]:
    """All tables as they are recorded."""
    load = os.getloadavg()[0]
    torch.set_num_threads(1)
    set_forkserver_preload(["oracles.loader_datasets"])
    deaths, stayed, equal = {}, {}, {}
    for method, fire in fires.items():
        deaths[method], left = chaos_and_after(method, fire.kills, fire)
        stayed[method] = {kind: len(things) for kind, things in left.items()}
        equal[method] = equality(method, fire.cases)
        print(f"{method}: {dict(deaths[method])}", *(left.items() if any(left.values()) else ()),
              flush=True)
    return {"machine": report.machine(), "python": platform.python_version(),
            "torch": version("torch"), "threads": 1, "load": round(load, 1),
            "date": datetime.date.today().isoformat(),
            "columns": [{"key": method, "zh": method, "en": method} for method in fires],
            "tables": {
                "deaths": table("两个工作进程，随时被杀", "Two workers, killed at random moments",
                                COUNTS, deaths),
                "left": table("此后比以前多的", "More than before, afterwards",
                              leftovers.HOLDINGS, stayed),
                "equality": table("与 torch 比较，无人被杀", "Against torch, nobody killed",
                                  EQUALITY, equal)}}


MUST_BE_NONE = {"deaths": FAULTS, "left": leftovers.HOLDINGS, "equality": ["differing"]}


def verdicts(measured: dict[str, Any]) -> list[str]:
    methods = [column["key"] for column in measured["columns"]]
    lines = []
    for name, keys in MUST_BE_NONE.items():
        for row in measured["tables"][name]["rows"]:
            if row["key"] in keys:
                budget = report.Budget(row["en"], 0)
                lines += budget.lines({method: row[method] for method in methods})
    return lines


def show(measured: dict[str, Any]) -> None:
    for one in measured["tables"].values():
        print(one["en"])
        for row in one["rows"]:
            print(f"  {row['en']:38}" + "".join(f"{row[column['key']]:12,g}"
                                                for column in measured["columns"]))
    print("columns: " + "; ".join(column["en"] for column in measured["columns"]))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="mini_loader while its workers are killed")
    parser.add_argument("--record", action="store_true", help="store the result")
    least = METHODS["fork"].kills
    parser.add_argument("--kills", type=int, default=least,
                        help=f"under fork; fewer under the others. default: {least}")
    chosen = parser.parse_args(arguments)
    if chosen.record and chosen.kills < least:
        parser.error(f"--record needs --kills {least} or more")
    if sys.platform != "linux":
        parser.error("it looks in /proc for what stays behind; run it on Linux")
    measured = result(scaled(chosen.kills))
    show(measured)
    lines = verdicts(measured)
    print("\n".join(lines))
    failed = any(line.startswith("OVER") for line in lines)
    if chosen.record and not failed:
        report.write("loader-chaos", measured)
    return failed


if __name__ == "__main__":
    sys.exit(main())
