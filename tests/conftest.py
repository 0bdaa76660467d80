"""What several suites need."""

import os

import pytest

from book.pipeline.ground.paths import RESULTS
from tests.helpers import depth, floor


def pytest_configure(config):
    """The book is closed to tests of tools and companions; a full run can be recorded."""
    config.pluginmanager.register(floor.Guard())
    worker = hasattr(config, "workerinput")  # of xdist: its reports go to the one that writes
    if os.environ.get("RECORD") and depth.depth() >= depth.FULL and not worker:
        config.pluginmanager.register(depth.Record(RESULTS, config.rootpath))


@pytest.fixture
def counted(record_property):
    """`counted(claim, cases)`: so many random cases were compared."""
    return lambda claim, cases: record_property(depth.COUNTED, (claim, cases))


@pytest.fixture(scope="module")
def one_thread():
    """torch on one thread, so that sums associate the same way each time."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
