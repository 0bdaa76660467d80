"""The loader of three sections: torch's batches, errors in their turn, and nobody left behind."""

import itertools
import multiprocessing
import os
import signal
import threading

import pytest
import torch
from torch.utils.data import BatchSampler, DataLoader, SequentialSampler

import loader_data
import loader_steps
from loader_data import Acting, Gated, Numbers
from loader_steps import Epoch, Machine, answerer, opened, start


def threads(dataset, batches, helpers=2):
    answer = answerer(dataset)
    return Epoch([start(answer) for _ in range(helpers)], batches)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_processes_make_the_batches_of_torch(workers):
    data = Numbers(10)
    batches = BatchSampler(SequentialSampler(data), 3, drop_last=False)
    got = list(Machine(answerer(data), batches, workers))
    assert [batch.tolist() for batch in got] == [batch.tolist() for batch in DataLoader(data, 3)]


def test_what_comes_early_waits_for_its_turn():
    data = Gated(6, behind={0})
    epoch = threads(data, [[i] for i in range(6)])
    threading.Timer(0.3, data.gate.set).start()
    assert [int(opened(reply)) for reply in epoch] == list(range(6))


def test_at_most_the_limit_is_sent_and_not_delivered():
    epoch = threads(Numbers(10), [[i] for i in range(10)])
    assert epoch.out == 4
    assert [epoch.out for _ in epoch] == [4] * 6 + [3, 2, 1, 0]


@pytest.mark.parametrize("kind", [threads, lambda data, batches: Machine(answerer(data), batches)])
def test_an_error_takes_the_place_of_its_batch_and_the_next_still_comes(kind):
    data = Acting(4, {1: loader_data.missing, 2: loader_data.stop})
    epoch = kind(data, [[0], [1], [2], [3]])

    def batch():
        reply = next(epoch)
        return int(opened(reply) if isinstance(reply, tuple) else reply)

    assert batch() == 0
    with pytest.raises(KeyError, match=r"(?s)in batch 1\..*at index 1"):
        batch()
    with pytest.raises(RuntimeError, match=r"(?s)in batch 2\..*at index 2"):
        batch()
    assert batch() == 3
    assert list(epoch) == []


def test_silence_is_an_error_and_not_the_end(monkeypatch):
    monkeypatch.setattr(loader_steps, "PATIENCE", 0.1)
    data = Gated(4, behind={0, 1})
    epoch = threads(data, [[i] for i in range(4)])
    with pytest.raises(RuntimeError, match="batch 0"):
        next(epoch)
    data.gate.set()
    monkeypatch.undo()
    assert [int(opened(reply)) for reply in epoch] == [0, 1, 2, 3]


def test_no_process_is_left_after_a_break():
    epoch = Machine(answerer(Numbers(100)), [[i] for i in range(100)])
    processes = [worker.process for worker in epoch.workers]
    assert len(list(itertools.islice(epoch, 3))) == 3
    del epoch
    assert not any(process.is_alive() for process in processes)
    assert not set(processes) & set(multiprocessing.active_children())


def test_two_epochs_at_once_end_each_on_its_own():
    first, second = (Machine(answerer(Numbers(6)), [[i] for i in range(6)]) for _ in range(2))
    processes = [worker.process for worker in first.workers]
    assert [int(a) for a in first] == list(range(6))
    del first
    assert not any(process.is_alive() for process in processes)
    assert torch.stack(list(second)).flatten().tolist() == list(range(6))


@pytest.mark.parametrize("workers", [0, -1])
def test_no_workers_are_an_error_and_not_an_epoch_of_nothing(workers):
    with pytest.raises(ValueError, match="at least one"):
        Machine(answerer(Numbers(4)), [[0], [1]], workers)


def test_ctrl_c_is_left_to_the_main_process():
    epoch = Machine(answerer(Numbers(20)), [[i] for i in range(20)])
    assert int(next(epoch)) == 0
    assert int(next(epoch)) == 1  # both workers have answered, so both are past their beginning
    for worker in epoch.workers:
        os.kill(worker.process.pid, signal.SIGINT)
    assert [int(batch) for batch in epoch] == list(range(2, 20))


def test_an_oserror_out_of_an_answer_is_not_taken_for_a_closed_pipe(monkeypatch):
    seen = []
    monkeypatch.setattr(threading, "excepthook", lambda args: seen.append(args.exc_type))

    def answer(task):
        raise FileNotFoundError(task)

    pipe = start(answer)
    pipe.send("a photo")
    with pytest.raises(EOFError):
        pipe.recv()
    assert seen == [FileNotFoundError]


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_only_fork_copies_our_end_of_a_pipe(method):
    context = multiprocessing.get_context(method)
    ours, theirs = context.Pipe()
    process = context.Process(target=theirs.poll, args=(None,), daemon=True)  # until end of file
    process.start()
    theirs.close()
    ours.close()
    process.join(30)
    alive = process.is_alive()
    process.kill()
    process.join()
    assert not alive
