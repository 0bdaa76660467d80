"""`make test-cpu` runs nothing on a CPU that it cannot choose, and names what does not hold."""

import os
import sys
from pathlib import Path

import pytest

from book.pipeline import other_cpu

CELL = "chapters/03-modules/initialisation.ipynb: Cell 9"
CARD = "chapters/03-modules/cards.yaml:9: card 'init': proof line 1: AssertionError"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """`main` with a Python in which torch takes this CPU, and what its two parts found."""
    asked = []

    def main(taken, cells=(), cards=()):
        python = tmp_path / "python"
        python.write_text(f"#!/bin/sh\necho {taken}\n")
        python.chmod(0o755)
        for name in other_cpu.AVX2:
            monkeypatch.setenv(name, "")

        def part(**counted):
            def run(python: Path):
                asked.append({name: os.environ[name] for name in other_cpu.AVX2})
                return counted
            return run

        monkeypatch.setattr(sys, "executable", str(python))
        monkeypatch.setattr(other_cpu, "run_notebooks", part(cells=7, failed=list(cells)))
        monkeypatch.setattr(other_cpu, "run_proofs", part(proved=5, failed=list(cards)))
        return other_cpu.main(), asked

    return main


def test_both_parts_run_with_the_other_cpu(run, capsys):
    assert run("AVX2") == (0, [other_cpu.AVX2] * 2)
    assert capsys.readouterr().out.splitlines()[-1].startswith("AVX2: 7 cells, 5 cards proved, 0 f")


@pytest.mark.parametrize("found", [{"cells": [CELL]}, {"cards": [CARD]}])
def test_what_does_not_hold_is_named(run, capsys, found):
    status, _ = run("AVX2", **found)
    assert status == 1
    [place] = *found.get("cells", []), *found.get("cards", [])
    assert place in capsys.readouterr().out.splitlines()


def test_a_cpu_that_cannot_be_chosen_is_said_in_a_line(run):
    with pytest.raises(SystemExit, match=r"^test-cpu: torch takes DEFAULT here, not AVX2; nothing"):
        run("DEFAULT")
