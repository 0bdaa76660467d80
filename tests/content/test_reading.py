"""The book's sections pass the reading gate; those that are older than it become fewer."""

import yaml

from book.pipeline.ground.paths import ROOT
from book.pipeline.reading import check

# When the gate was made; a section that is not among these has no excuse.
AT_FIRST = {
    "01-tensors": {"dtype-device-layout", "inside-an-operator", "mini-tensor",
                   "operators-of-your-own", "order-in-memory", "storage-and-strides",
                   "views-and-copies"},
    "02-autograd": {"controlling-gradients", "extending-and-inspecting", "scalar-to-c",
                    "the-graph", "the-real-engine"},
    "04-data": {"a-loader-that-survives", "build-your-own-loader", "inside-a-worker",
                "inside-the-loader"},
}


def test_no_new_section_is_too_long():
    assert [str(problem) for problem in check.problems()] == []


def test_the_list_of_old_sections_only_shrinks():
    listed = yaml.safe_load((ROOT / check.LIST).read_text("utf-8")) or []
    known = {f"chapters/{chapter}/{name}" for chapter, names in AT_FIRST.items() for name in names}
    assert len(listed) == len(set(listed))
    assert set(listed) <= known
