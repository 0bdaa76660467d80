"""Triton kernels are printed without a GPU where triton is there, and refused in a line if not."""

import json

import pytest

from benchmarks import triton_code
from book.pipeline.ground.paths import RESULTS

RECORDED = json.loads((RESULTS / "triton-code.json").read_text("utf-8"))


def test_without_triton_a_line_says_so_and_nothing_is_stored(monkeypatch, capsys):
    monkeypatch.setattr(triton_code, "find_spec", lambda name: None)
    assert triton_code.main(["--record"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("bench: triton is missing")
    assert shown.err.count("\n") == 1


def test_each_listing_is_recorded_and_says_what_made_it():
    assert set(RECORDED["listings"]) == set(triton_code.LISTINGS)
    assert {"torch", "triton", "device", "date"} <= set(RECORDED)


@pytest.mark.slow
@pytest.mark.parametrize("name", triton_code.LISTINGS)
def test_what_is_recorded_is_what_inductor_writes(name):
    pytest.importorskip("triton", reason="see benchmarks/triton_code.py")
    assert triton_code.listing(*triton_code.LISTINGS[name]) == RECORDED["listings"][name]
