"""What several suites need."""

import pytest


@pytest.fixture(scope="module")
def one_thread():
    """torch on one thread, so that sums associate the same way each time."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
