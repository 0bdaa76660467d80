"""What the workers of a loader read is counted in the main process."""

import pytest
from torch.utils.data import DataLoader

from counted_data import Counted

METHODS = ["fork", *(pytest.param(method, marks=pytest.mark.slow)
                     for method in ("spawn", "forkserver"))]


@pytest.mark.parametrize("method", METHODS)
def test_what_workers_read_is_counted_in_the_main_process(method):
    counted = Counted(6)
    loader = DataLoader(counted, 2, num_workers=2, multiprocessing_context=method)
    assert [batch.tolist() for batch in loader] == [[0, 1], [2, 3], [4, 5]]
    assert (counted.requests, counted.read) == (3, 6)
    assert counted[5] == 5
    assert (counted.requests, counted.read) == (4, 7)
