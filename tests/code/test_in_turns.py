"""Workers in turn read the same wrong samples each time, and only where they share a position."""

import io
import os

import pytest
import torch

from in_turns import InTurns, Turns, epoch


class Records:
    """40 records of 8 bytes that hold their index; each process opens its own file if `own`."""

    def __init__(self, path, own=False):
        self.path, self.own, self.files = path, own, {}
        self.file()

    def file(self):
        owner = os.getpid() if self.own else None
        if owner not in self.files:
            self.files[owner] = InTurns(io.FileIO(self.path))
        return self.files[owner]

    def close(self):
        for file in self.files.values():
            file.close()

    def __len__(self):
        return 40

    def __getitem__(self, i):
        self.file().seek(8 * i)
        return int.from_bytes(self.file().read(8), "little")


@pytest.fixture(params=[False, True], ids=["shared", "own"])
def records(tmp_path, request, monkeypatch):
    monkeypatch.setattr("in_turns.STAY", 3)
    path = tmp_path / "records.bin"
    path.write_bytes(b"".join(i.to_bytes(8, "little") for i in range(40)))
    records = Records(path, own=request.param)
    yield records
    records.close()


def test_every_worker_gets_all_its_steps():
    order = Turns(3, 20, seed=1).order
    assert sorted(order) == [0] * 20 + [1] * 20 + [2] * 20
    assert order == Turns(3, 20, seed=1).order != Turns(3, 20, seed=2).order


@pytest.mark.parametrize("workers", [0, 1])
def test_alone_nothing_is_wrong(records, workers):
    assert epoch(records, workers).tolist() == list(range(40))


@pytest.mark.parametrize("workers", [0, 1])
def test_alone_there_may_be_any_number_of_samples(workers):
    assert epoch(torch.arange(7), workers).tolist() == list(range(7))


def test_workers_that_would_wait_for_one_without_further_steps_are_refused():
    with pytest.raises(ValueError, match="40 samples for 3 workers: give a multiple of 30"):
        epoch(torch.arange(40), 3)


def test_a_shared_position_goes_wrong_and_the_same_way_each_time(records):
    found = [epoch(records, 2) for _ in range(3)]
    assert bool((found[0] != torch.arange(40)).any()) != records.own
    assert all(torch.equal(each, found[0]) for each in found)
