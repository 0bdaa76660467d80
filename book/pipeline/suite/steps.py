"""The steps of the suite, floor by floor: what each runs, and what could make it fail.

    desk        all that can be judged without running torch or a browser
    tools       the pipeline and the extension, on input made up for the test
    companions  the code that readers study, against torch
    evidence    what the book claims: proofs of cards, cells of notebooks
    specimen    what scripts and styles do, on a small book that holds every construct once
    lab         what a reader runs, with JupyterLab: `make lab`, and what is to be downloaded
    pages       what only content can break: one visit to each page

A step names its inputs; once it has passed, it runs again only when one of them changes (see
passed.py). `watch.py` fails a step that opens a file of the book which is not among its inputs.
Steps without inputs always run; some of them remember what passed one by one (see remember.py).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import NamedTuple

from book.pipeline.ground.paths import NOTEBOOKS
from book.pipeline.notebooks import under_nbval

PYTHON = sys.executable
LOCKED = ("constraints.txt", "requirements*.txt", "package.json", "package-lock.json")
# What every test uses: conftest.py at the root imports the reader of notebooks.
ALWAYS = (*LOCKED, "pyproject.toml", "conftest.py", "tests/conftest.py", "tests/helpers/**/*",
          "oracles/**/*", "book/pipeline/*.py", "book/pipeline/content/*",
          "book/pipeline/ground/*", "book/pipeline/state/*", "book/pipeline/suite/*",
          "book/pipeline/notebooks/**/*")
PIPELINE = ("book/extension/**/*", "book/pipeline/**/*", "book/*.yaml")
CODE = ("code/**/*",)
WEB = ("book/web/**/*",)
EXERCISES = ("chapters/*/check_*.py", "chapters/*/exercises*.yaml")
CONTENT = ("chapters/**/*", "book/*", "_toc.yml", "_config.yml", "benchmarks/results/*")


@dataclass(frozen=True)
class Step:
    """One command; `advice` says how to go on when it fails."""

    name: str
    command: list[str]
    advice: str
    groups: str = "quick core all"
    inputs: tuple[str, ...] = ()
    products: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class Floor(NamedTuple):
    """A folder of tests; `own` is what they test, beside what every test may use."""

    folder: str
    own: tuple[str, ...]
    advice: str = "mend the failing test"


FLOORS = {
    "companions": Floor("tests/code", (*CODE, *WEB, *PIPELINE, *EXERCISES, "benchmarks/**/*")),
    "tools": Floor("tests/tools", (*PIPELINE, *CODE, *WEB, *EXERCISES, "Makefile", "*.txt",
                                   "*.json", ".npmrc", ".gitignore", "LICENSE", "_config.yml",
                                   "_toc.yml", "book/drill.md", "tests/pages/*",
                                   "benchmarks/**/*")),
    "inside": Floor("tests/inside", (*CODE, *WEB, *PIPELINE, "benchmarks/results/*")),
    "web": Floor("tests/web", (*CODE, *WEB, *PIPELINE, "book/pictures/*")),
    "content": Floor("tests/content", (*CONTENT, *CODE, *WEB, *PIPELINE, "*", ".ci/*",
                                       ".devcontainer/*", "binder/*", "book/pictures/*",
                                       "benchmarks/**/*", "tests/**/*"), "mend the text"),
}


def module(name: str, *arguments: str) -> list[str]:
    return [PYTHON, "-m", f"book.pipeline.{name}", *arguments]


def pytest(*arguments: str) -> list[str]:
    # book.pipeline comes before nbformat, whose checks of addresses it keeps from being compiled
    return [PYTHON, "-m", "pytest", "-p", "book.pipeline", "--durations=12",
            "--durations-min=1.0", *arguments]


def tests(name: str, group: str, marks: str) -> Step:
    """The tests of a floor that a group runs."""
    floor = FLOORS[name]
    command = pytest(floor.folder, "-p", "book.pipeline.suite.watch", *(["-m", marks] if marks
                                                                        else []))
    return Step(name, command, floor.advice, group, (*ALWAYS, f"{floor.folder}/**/*", *floor.own))


NBVAL = [*NOTEBOOKS, *under_nbval.OPTIONS, *under_nbval.FORKED]
# In the order in which they are begun: the longest first, so that both lanes end together.
STEPS = [
    Step("desk", module("desk"), "mend the named lines; what is stale: `make sync`, `make prove`"),
    *(tests(name, "quick", "not slow and not compiler") for name in FLOORS),
    *(tests(name, "core", "not compiler") for name in FLOORS),
    tests("companions", "all", ""),
    Step("site", module("site"), "mend what Sphinx names", "core all",
         (*LOCKED, *PIPELINE, *CODE, *WEB, *CONTENT, "LICENSE", ".npmrc",
          "benchmarks/**/*", "tests/code/**/*.py"), ("_build/html/**/*", "_build/web/**/*")),
    Step("built-pages", module("pages.check"), "mend the page", "core all", after=("site",)),
    Step("specimen", pytest("tests/specimen"), "mend the script or the style", "all",
         (*ALWAYS, "tests/specimen/**/*", *PIPELINE, *CODE, *WEB, "_config.yml",
          "LICENSE", "benchmarks/*.py", "benchmarks/results/*")),
    Step("lab", pytest("tests/lab"), "mend what `make lab` starts", "all",
         (*ALWAYS, "tests/lab/**/*", "tests/specimen/source/**/*", "book/pipeline/**/*", *CODE,
          *WEB, *EXERCISES, "LICENSE", "benchmarks/*.py", "benchmarks/results/*")),
    Step("pages", pytest("tests/pages", "-p", "book.pipeline.suite.remember"),
         "mend the page", "all", after=("site",)),
    Step("proofs", module("prove", "--verify"), "mend the card or its proof",
         "core all", (*LOCKED, "book/pipeline/**/*", "book/*.yaml", *CODE, "chapters/*/cards/*",
                      "chapters/*/chapter.yaml", "benchmarks/results/*")),
    Step("notebooks", pytest(*NBVAL, "-p", "book.pipeline.suite.remember"),
         "mend the section, then `make sync`", "core all"),
    # Those that carry no seal of having passed: none, where `make sync` was run.
    Step("rehearsal", module("notebooks.rehearsed"),
         "let the cell hold on every device, or keep it on the CPU and tag it with the reason",
         "all", (*LOCKED, "conftest.py", "pyproject.toml", *PIPELINE, *CODE, *WEB,
                 "chapters/*/*.ipynb", "book/index.ipynb", "benchmarks/results/*")),
    *(tests(name, "all", "") for name in FLOORS if name != "companions"),
]
