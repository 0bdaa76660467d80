"""What is measured, what is stored and what pages show are the same records."""

from book.pipeline.ground.paths import ROOT
from tests.helpers.benches import disagreements


def test_benches_scripts_results_and_pages_name_the_same_records():
    assert disagreements(ROOT) == []
