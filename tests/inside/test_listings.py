"""A recorded kernel is shown as it is stored, and says that it was never run."""

import pytest

from inside import recorded
from inside.listings import triton_listing

NAMES = ("pointwise", "persistent", "looped")


@pytest.mark.parametrize("name", NAMES)
def test_a_listing_is_a_kernel_with_its_decorator_and_launch_sizes(name):
    listing = triton_listing(name)
    assert listing.code.startswith("@triton_heuristics.")
    assert "@triton.jit" in listing.code
    assert "meta=" not in listing.code
    assert all({"XBLOCK", "num_warps"} <= set(each) for each in listing.configurations)


def test_both_forms_say_in_both_languages_that_nothing_was_run():
    listing = triton_listing("pointwise")
    for shown in (repr(listing), listing._repr_html_()):
        assert "没有运行过" in shown
        assert "never run" in shown
        assert "make-believe device" in shown


def test_html_escapes_the_code():
    assert "xindex &lt; xnumel" in triton_listing("pointwise")._repr_html_()


def test_an_unknown_listing_names_those_there_are():
    with pytest.raises(ValueError, match="take one of pointwise, persistent, looped"):
        triton_listing("matmul")


def test_a_missing_record_names_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(recorded, "RESULTS", tmp_path)
    with pytest.raises(FileNotFoundError, match="ONLY=triton-code RECORD=1"):
        triton_listing("pointwise")
