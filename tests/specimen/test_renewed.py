"""The specimen's notebooks and card results belong to their sources."""

import pytest

from book.pipeline import prove, sync
from tests.specimen.conftest import SOURCE
from tests.specimen.renew import sections

RENEW = "run `python -m tests.specimen.renew`"


@pytest.mark.parametrize("source", sections(), ids=lambda path: path.stem)
def test_a_golden_notebook_is_as_sync_would_write_it(source):
    assert sync.stale(source) is None, RENEW


def test_the_results_of_the_cards_are_as_their_proofs_left_them(capsys):
    status = prove.main(["--root", str(SOURCE), "--check"])
    assert status == 0, f"{capsys.readouterr().err}{RENEW}"
