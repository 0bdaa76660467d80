"""What the tests of mini_shards share."""

from types import SimpleNamespace

import pytest

import mini_shards


@pytest.fixture
def reader(monkeypatch):
    """`reader(data, worker, workers)`: an iterator as it would be in that worker, without one.

    The body of the iterator begins with its first `next`, so that is asked here, too.
    """
    def begin(data, worker=0, workers=1):
        info = SimpleNamespace(id=worker, num_workers=workers)
        samples = iter(data)

        def step():
            monkeypatch.setattr(mini_shards, "get_worker_info", lambda: info)
            return next(samples, None)
        first = step()
        return iter_from(first, step)
    return begin


def iter_from(sample, step):
    while sample is not None:
        yield sample
        sample = step()


@pytest.fixture
def shards(tmp_path):
    """`shards(n, each)`: a folder with n samples, `each` in a shard; sample i has cls i."""
    made = {}

    def make(n, each):
        if (n, each) not in made:
            folder = tmp_path / f"{n}-{each}"
            mini_shards.write(({"cls": i} for i in range(n)), folder, each)
            made[n, each] = folder
        return made[n, each]
    return make
