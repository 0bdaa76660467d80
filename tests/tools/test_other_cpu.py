"""`make test-cpu` runs nothing on a CPU that it cannot choose, and names what does not hold."""

import os
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from book.pipeline import other_cpu
from book.pipeline.notebooks import under_nbval
from book.pipeline.proofs.forks import Trials

SET = (*other_cpu.AVX2, "BOOK_THREADS")
CELL = "chapters/03-modules/initialisation.ipynb: Cell 9"
CARD = "chapters/03-modules/cards.yaml:9: card 'init': proof line 1: AssertionError"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """`main` with a Python in which torch takes this CPU, and what its two parts found."""
    asked = []

    def main(taken, *arguments, cells=(), cards=()):
        python = tmp_path / "python"
        python.write_text(f"#!/bin/sh\necho {taken}\n")
        python.chmod(0o755)
        for name in SET:
            monkeypatch.setenv(name, "")

        def part(**counted):
            def run(python: Path):
                asked.append({name: os.environ[name] for name in SET})
                return counted
            return run

        monkeypatch.setattr(sys, "executable", str(python))
        monkeypatch.setattr(other_cpu, "run_notebooks", part(cells=7, failed=list(cells)))
        monkeypatch.setattr(other_cpu, "run_proofs", part(proved=5, failed=list(cards)))
        return other_cpu.main(arguments), asked

    return main


@pytest.mark.parametrize(("arguments", "threads"), [([], "2"), (["--threads", "1"], "1")])
def test_both_parts_run_with_the_other_cpu(run, capsys, arguments, threads):
    assert run("AVX2", *arguments) == (0, [other_cpu.AVX2 | {"BOOK_THREADS": threads}] * 2)
    assert capsys.readouterr().out.splitlines()[-1].startswith(
        f"AVX2, {threads} threads: 7 cells, 5 cards proved, 0 f")


def test_the_number_of_threads_reaches_proofs(monkeypatch):
    seen = []
    for threads in ("", "1", "2"):
        monkeypatch.setenv("BOOK_THREADS", threads)
        with Trials() as trials:
            seen.append(trials.run(code="import torch\nprint(torch.get_num_threads())").shown)
    assert seen == ["1", "1", "2"]


@pytest.mark.slow
def test_the_number_of_threads_reaches_notebooks(tmp_path):
    cell = v4.new_code_cell("import os\nprint(os.environ['OMP_NUM_THREADS'])", execution_count=1,
                            outputs=[v4.new_output("stream", name="stdout", text="1\n")])
    path = tmp_path / "a.ipynb"
    nbformat.write(v4.new_notebook(cells=[cell]), path)
    failed = [bool(under_nbval.run(sys.executable, [str(path)], 1, environment={
        **os.environ, "BOOK_THREADS": threads}).failed) for threads in ("1", "2")]
    assert failed == [False, True]


@pytest.mark.parametrize("found", [{"cells": [CELL]}, {"cards": [CARD]}])
def test_what_does_not_hold_is_named(run, capsys, found):
    status, _ = run("AVX2", **found)
    assert status == 1
    [place] = *found.get("cells", []), *found.get("cards", [])
    assert place in capsys.readouterr().out.splitlines()


def test_a_cpu_that_cannot_be_chosen_is_said_in_a_line(run):
    with pytest.raises(SystemExit, match=r"^test-cpu: torch takes DEFAULT here, not AVX2; nothing"):
        run("DEFAULT")
