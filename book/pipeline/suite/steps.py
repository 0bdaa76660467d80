"""The steps of the suite, floor by floor: what each runs, and what could make it fail.

    desk        all that can be judged without running torch or a browser
    tools       the pipeline and the extension, on input made up for the test
    companions  the code that readers study, against torch
    evidence    what the book claims: proofs of cards, cells of notebooks
    specimen    what scripts and styles do, on a small book that holds every construct once
    lab         what a reader runs, with JupyterLab: `make lab`, and what is to be downloaded
    pages       what only content can break: one visit to each page

A step of tests remembers what passed file by file, with what each file was seen to look at
(`files.py`); notebooks and pages are remembered one by one (`remember.py`). Another step is
remembered as a whole: with its `inputs`, and where it is `seen`, with what it was seen to look at
(`seen.py`); then its inputs are what its `programs` read, which are no Python. What names neither
always runs.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from book.pipeline.ground.paths import NOTEBOOKS
from book.pipeline.notebooks import under_nbval
from book.pipeline.suite.passed import BROWSERS

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
    seen: bool = False
    programs: tuple[str, ...] = ()


FLOORS = {"companions": "tests/code", "tools": "tests/tools", "inside": "tests/inside",
          "web": "tests/web", "content": "tests/content"}


def module(name: str, *arguments: str) -> list[str]:
    return [PYTHON, "-m", f"book.pipeline.{name}", *arguments]


def pytest(*arguments: str) -> list[str]:
    return [PYTHON, "-m", "pytest", "--durations=12", "--durations-min=1.0", *arguments]


def tests(name: str, group: str, marks: str) -> Step:
    """The tests of a floor that a group runs."""
    return Step(name, module("suite.files", FLOORS[name], *(["-m", marks] if marks else [])),
                "mend the text" if name == "content" else "mend the failing test", group)


SPECIMEN = "_build/specimen/_build/html/**/*"
SITE_PROGRAMS = ("esbuild", "node", "purgecss", "git")
NBVAL = [*NOTEBOOKS, *under_nbval.OPTIONS, *under_nbval.FORKED]
# In the order in which they are begun: the longest first, so that all lanes end together.
STEPS = [
    Step("desk", module("desk"), "mend the named lines; what is stale: `make sync`, `make prove`"),
    *(tests(name, "quick", "not slow and not compiler") for name in FLOORS),
    *(tests(name, "core", "not compiler") for name in FLOORS),
    tests("companions", "all", ""),
    Step("site", module("site"), "mend what Sphinx names", "core all",
         (*LOCKED, *WEB), ("_build/html/**/*", "_build/web/**/*"),
         seen=True, programs=SITE_PROGRAMS),
    Step("built-pages", module("pages.check"), "mend the page", "core all",
         ("_build/html/**/*",), after=("site",), seen=True),
    Step("specimen-site", [PYTHON, "-m", "tests.specimen.build"], "mend what Sphinx names", "all",
         (*LOCKED, *WEB), (SPECIMEN,), seen=True, programs=SITE_PROGRAMS),
    # pandoc: nbconvert asks it for its version.
    Step("specimen", pytest("tests/specimen", "-p", "tests.specimen.build"),
         "mend the script or the style", "all", (*LOCKED, SPECIMEN, *WEB),
         after=("specimen-site",), seen=True, programs=(*SITE_PROGRAMS, *BROWSERS, "pandoc")),
    tests("tools", "all", ""),
    Step("lab", pytest("tests/lab"), "mend what `make lab` starts", "all",
         (*ALWAYS, "tests/lab/**/*", "tests/specimen/source/**/*", "book/pipeline/**/*", *CODE,
          *WEB, *EXERCISES, "LICENSE", "benchmarks/*.py", "benchmarks/results/*")),
    Step("pages", pytest("tests/pages", "-p", "book.pipeline.suite.remember"),
         "mend the page", "all", after=("site",)),
    Step("proofs", module("prove", "--verify"), "mend the card or its proof",
         "core all", LOCKED, seen=True),
    Step("notebooks", pytest(*NBVAL, "-p", "book.pipeline.suite.remember"),
         "mend the section, then `make sync`", "core all"),
    # Those that carry no seal of having passed: none, where `make sync` was run.
    Step("rehearsal", module("notebooks.rehearsed"),
         "let the cell hold on every device, or keep it on the CPU and tag it with the reason",
         "all", (*LOCKED, "conftest.py", "pyproject.toml", *PIPELINE, *CODE, *WEB,
                 "chapters/*/*.ipynb", "book/index.ipynb", "benchmarks/results/*")),
    *(tests(name, "all", "") for name in ("inside", "web", "content")),
]
