"""What the tests of mini_loader share."""

import gc
import multiprocessing

import pytest


@pytest.fixture
def start_by_fork():
    """Workers start by fork where a test names no method, whatever this Python does by default."""
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method("fork", force=True)
    yield
    multiprocessing.set_start_method(before, force=True)


@pytest.fixture
def no_worker_stays():
    """No worker outlives a test."""
    yield
    gc.collect()
    assert not multiprocessing.active_children()
