"""The datasets of chapter 4 can go to workers of every start method: they stand in a module."""

import pytest
from torch.utils.data import DataLoader

import loader_data
from loader_data import Bookmarked, Doomed, Draws, Gate, Gated, Mortal, MortalStream, Numbers

METHODS = ["fork", *(pytest.param(method, marks=pytest.mark.slow)
                     for method in ("spawn", "forkserver"))]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dataset", [Numbers(4), Draws(4), Mortal(4), Doomed(4, fatal=9),
                                     MortalStream(4, at=9), Bookmarked(4, at=9)],
                         ids=lambda dataset: type(dataset).__name__)
def test_a_dataset_goes_to_workers_of_every_start_method(method, dataset):
    loader = DataLoader(dataset, None, num_workers=1, multiprocessing_context=method)
    assert len(list(loader)) == 4


@pytest.mark.parametrize("method", METHODS)
def test_a_gate_is_opened_for_workers_of_every_start_method(method):
    gated = Gated(3, behind=[0])
    batches = iter(DataLoader(gated, None, num_workers=1, multiprocessing_context=method))
    gated.gate.set()
    assert list(batches) == [0, 1, 2]


@pytest.mark.parametrize("method", METHODS)
def test_a_doomed_worker_dies_when_it_is_told_to(method):
    doomed = Doomed(3, fatal=1)
    batches = iter(DataLoader(doomed, None, num_workers=1, multiprocessing_context=method))
    assert next(batches) == 0
    doomed.now.set()
    with pytest.raises(RuntimeError, match=r"exited unexpectedly|killed by signal"):
        list(batches)


def test_a_gate_that_nobody_opens_is_an_error_and_no_hang(monkeypatch):
    monkeypatch.setattr(loader_data, "PATIENCE", 0.05)
    for dataset in (Gated(3, behind=[0]), Doomed(3, fatal=0)):
        with pytest.raises(TimeoutError, match="sample 0: nobody"):
            dataset[0]
    gate = Gate()
    assert not gate.is_set()
    assert not gate.wait(0)
    gate.set()
    assert gate.is_set()
    assert gate.wait(0)
