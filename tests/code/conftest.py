"""What the tests of mini_loader and of mini_compile share."""

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


@pytest.fixture(scope="session")
def own_cache(tmp_path_factory):
    """mini_compile keeps its libraries in a folder of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("libraries")
        patch.setenv("MINI_COMPILE_CACHE", str(folder))
        yield folder
