"""What the tests of the companions share."""

from unittest import mock

import pytest


@pytest.fixture(scope="session", autouse=True)
def unmeasured_guards():
    """Torch times the guards of each graph for its log, after a flush of the CPU's caches: some
    50 ms a graph, a third of what small graphs take to compile."""
    with mock.patch("torch._dynamo.guards.profile_guard_manager", return_value=0.0):
        yield
