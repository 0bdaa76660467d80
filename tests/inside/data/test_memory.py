"""What Linux counts as the memory of a process, and what a forked process copies."""

import gc
import importlib
import os
import sys
from multiprocessing import active_children, get_context

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Subset

import inside.data.observe.memory as module
from inside.data.observe.memory import copied_by, memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has smaps_rollup")
COUNT = 300_000
NOISE = 2_000_000          # a fork also copies pages of the interpreter, up to 1.3 MB were seen


@pytest.fixture(scope="module")
def paths():
    return [f"/data/train/images/{i:08d}.jpg" for i in range(COUNT)]


def read(things):
    for _ in things:
        pass


def fail():
    raise RuntimeError("the work failed")


def test_a_string_of_the_section_takes_80_bytes_of_memory(paths):
    assert (sys.getsizeof(paths[0]) + 15) // 16 * 16 == 80


def test_private_memory_is_part_of_the_shared_out_and_that_of_all_pages():
    now = memory()
    assert 0 < now["private"] <= now["pss"] <= now["rss"]


def test_no_such_process():
    with pytest.raises(FileNotFoundError):
        memory(2**22 + 1)                        # more than the largest pid


def test_a_process_that_has_ended_and_that_nobody_has_waited_for():
    if not (pid := os.fork()):
        os._exit(0)
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(ProcessLookupError):
            memory(pid)
    finally:
        os.waitpid(pid, 0)


def test_without_the_file_of_linux_it_is_the_same_error_as_without_the_process(
        monkeypatch, capfd, tmp_path):
    monkeypatch.setattr(module, "Path", lambda text: tmp_path / text.lstrip("/"))
    with pytest.raises(FileNotFoundError):
        memory()
    with pytest.raises(EOFError):
        copied_by(int)
    assert "FileNotFoundError" in capfd.readouterr().err


def test_without_fork_the_module_loads_and_says_so_when_asked(monkeypatch):
    monkeypatch.setattr(module.multiprocessing, "get_context", multiprocessing_without_fork)
    importlib.reload(module)
    with pytest.raises(ValueError, match="cannot find context for 'fork'"):
        module.copied_by(int)


def multiprocessing_without_fork(method):
    raise ValueError(f"cannot find context for {method!r}")


def test_work_that_fails_is_an_error(capfd):
    with pytest.raises(EOFError):
        copied_by(fail)
    assert "the work failed" in capfd.readouterr().err


def test_reading_strings_copies_them_and_reading_an_array_does_not(paths):
    size = sum(map(sys.getsizeof, paths))
    assert copied_by(lambda: read(paths)) > 0.9 * size
    assert copied_by(lambda: read(np.array(paths, dtype=object))) > 0.9 * size
    array = np.array(paths, dtype="S")
    assert copied_by(lambda: read(array)) < NOISE < 0.25 * array.nbytes
    tensor = torch.from_numpy(array.view(np.uint8))
    assert copied_by(lambda: tensor.max()) < NOISE


def test_few_objects_are_few_pages_however_often_the_list_names_them():
    labels = [i % 10 for i in range(COUNT)]
    assert copied_by(lambda: read(labels)) < 0.5 * sys.getsizeof(labels)


def test_the_collector_writes_into_containers_unless_they_are_frozen(paths):
    records = [[path, 1] for path in paths]
    size = sum(map(sys.getsizeof, records))
    gc.collect()
    assert copied_by(gc.collect) > 0.8 * size
    gc.freeze()
    try:
        assert copied_by(gc.collect) < 0.2 * size
        assert copied_by(lambda: read(records)) > 0.7 * size
    finally:
        gc.unfreeze()


def test_different_numbers_in_a_list_are_copied_and_a_tensor_of_them_is_not():
    floats = [i / 7 for i in range(4 * COUNT)]
    assert copied_by(lambda: read(floats)) > 0.9 * 24 * len(floats)
    tensor = torch.tensor(floats, dtype=torch.float64)
    assert copied_by(lambda: tensor.numpy().sum()) < NOISE < 0.25 * tensor.nbytes


def private_of_a_worker(things, method):
    """Private bytes of a worker that has delivered a sample of `things`."""
    loader = DataLoader(Subset(things, range(4)), batch_size=None, num_workers=1,
                        multiprocessing_context=method)
    batches = iter(loader)
    next(batches)
    (worker,) = active_children()
    return memory(worker.pid)["private"]


@pytest.mark.slow
def test_spawned_workers_have_lists_and_memmaps_of_their_own_and_share_tensors(paths, tmp_path):
    rows = np.zeros((COUNT, 80), dtype=np.uint8)
    rows.tofile(tmp_path / "rows")
    mapped = np.memmap(tmp_path / "rows", dtype=np.uint8, mode="r+", shape=rows.shape)
    tensor = torch.from_numpy(rows)
    private = {name: private_of_a_worker(things, "spawn")
               for name, things in (("list", paths), ("memmap", mapped), ("tensor", tensor))}
    assert private["list"] - private["tensor"] > 0.8 * rows.nbytes
    assert private["memmap"] - private["tensor"] > 0.8 * rows.nbytes
    assert private_of_a_worker(paths, "fork") < private["tensor"]


def sum_of(field, processes):
    return memory()[field] + sum(memory(each.pid)[field] for each in processes)


def wait(ready, go, done, stay, things):
    ready.release()
    go.acquire()
    read(things)
    done.release()
    stay.acquire()


def test_rss_counts_a_shared_list_in_full_from_the_start(paths):
    size, fork = sum(map(sys.getsizeof, paths)), get_context("fork")
    ready, go, done, stay = (fork.Semaphore(0) for _ in range(4))
    # Daemons: where an assertion fails, no worker may be waited for without end.
    workers = [fork.Process(target=wait, args=(ready, go, done, stay, paths), daemon=True)
               for _ in range(3)]
    for each in workers:
        each.start()
    for _ in workers:
        ready.acquire()
    start = {field: sum_of(field, workers) for field in ("rss", "pss")}
    assert all(memory(each.pid)["rss"] > size for each in workers)
    # No second list. The sum of all "pss" could not tell: it grows by what is shared with processes
    # outside the sum, such as the one that this test was forked from.
    assert all(memory(each.pid)["private"] < 0.25 * size for each in workers)
    for _ in workers:
        go.release()
    for _ in workers:
        done.acquire()
    end = {field: sum_of(field, workers) for field in ("rss", "pss")}
    for _ in workers:
        stay.release()
    for each in workers:
        each.join()
    assert end["rss"] - start["rss"] < 0.5 * size
    assert end["pss"] - start["pss"] > 2.5 * size
