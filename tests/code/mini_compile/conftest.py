"""What the tests of mini_compile share."""

import pytest


@pytest.fixture(scope="session")
def own_cache(tmp_path_factory):
    """mini_compile keeps its libraries in a folder of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("libraries")
        patch.setenv("MINI_COMPILE_CACHE", str(folder))
        yield folder
