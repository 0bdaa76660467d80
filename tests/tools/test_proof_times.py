"""`make bench` holds each proof against its budget, and names the slowest."""

from benchmarks import proofs
from book.pipeline.cards.book import load
from tests.helpers.card_examples import card, write_book


def rows(tmp_path):
    write_book(tmp_path, card(), card("tensors-two"), card("tensors-three", needs="loader"))
    return load(tmp_path)[0].cards


def test_the_slowest_are_named_and_each_class_has_its_budget(tmp_path, capsys):
    seconds = {"tensors-one": 0.1, "tensors-two": 0.4, "tensors-three": 12.0}
    assert not proofs.over(rows(tmp_path), seconds)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines[:3]] == [
        "tensors-three", "tensors-two", "tensors-one"]
    assert lines[3:] == [
        "within budget: processor time, needs: cpu 0.4 s (≤ 0.5 s)  tensors-two",
        "within budget: processor time, needs: loader 12 s (≤ 20 s)  tensors-three"]


def test_a_proof_over_its_budget_fails_the_bench(tmp_path, capsys):
    seconds = {"tensors-one": 0.6, "tensors-two": 0.4, "tensors-three": 0.6}
    assert proofs.over(rows(tmp_path), seconds)
    assert "OVER   budget: processor time, needs: cpu 0.6 s (≤ 0.5 s)  tensors-one" in (
        capsys.readouterr().out)
