"""Notebooks from before the chapters had rooms find every module by its old name."""

import sys
from importlib import import_module

import pytest

from inside import earlier_names

# inside/observe and inside/pictures as they were when all chapters shared them.
OBSERVE = """
aot arrivals autograd_graph autograd_machine breaks cache_keys capture_steps compile_machine
compiled cudagraphs dispatch dynamo_life fusion gate guard_cache hook_order indexing inductor
line_origins loader loading loops model_changes module_calls module_machine module_tree names
partition pipeline_back pipeline_stages recompiles registered saved shapes step_costs storages
tensor_machine torch_graph traffic virtual_loader windows written
"""
PICTURES = """
accumulated arrivals attention_share autograd_graph autograd_machine beside break_even breaks
cache_keys capture_steps compile_machine dispatch dynamo_life error_growth fusion gate_gradients
graphviz grids growth guard_cache hook_order indexing layer_sizes line_origins loader_machine
loader_queues loading loops loss_curves losses min_cut model_changes module_machine module_tree
names pixels plot pool_runs recompiles registered size_line storages sum_errors svg symptoms
tensor_machine visible windows write_back
"""
OLD = [f"inside.{kind}.{name}" for kind, names in (("observe", OBSERVE), ("pictures", PICTURES))
       for name in names.split()]


@pytest.fixture
def forgotten(monkeypatch):
    """Forget that a module was imported by this name."""
    def forget(name):
        package, _, last = name.rpartition(".")
        monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.delattr(import_module(package), last, raising=False)
    return forget


@pytest.mark.parametrize("old", OLD)
def test_an_old_name_gives_the_same_module_as_todays(old, forgotten):
    today = earlier_names.today(old)
    if today != old:
        forgotten(old)
    module = import_module(old)
    assert module is import_module(today)
    assert (module.__name__, module.__spec__.name) == (today, today)


@pytest.mark.parametrize("line", [
    "from inside.observe.fusion import fused", "from inside.observe import fusion",
    "import inside.observe.fusion"])
def test_every_form_of_import_finds_it(line, forgotten):
    forgotten("inside.observe.fusion")
    names = {}
    exec(line, names)
    today = import_module("inside.compile.observe.fusion")
    assert names.get("fused", today.fused) is today.fused
    assert names.get("fusion", today) is today
    assert names.get("inside", import_module("inside")).observe.fusion is today


def test_a_tool_that_leaves_its_chapter_is_found_from_there():
    assert import_module("inside.tensors.pictures.svg") is import_module("inside.pictures.svg")


@pytest.mark.parametrize("name", [
    "inside.observe.nothing", "inside.pictures.fused", "inside.observe.fusion.more",
    "inside.observe.f*", "inside.nothing.fusion", "inside.fusion", "observe.fusion",
    "inside.compile.observe.nothing"])
def test_an_unknown_name_is_not_found(name):
    with pytest.raises(ModuleNotFoundError):
        import_module(name)


def test_a_name_in_two_rooms_is_no_earlier_name(tmp_path, monkeypatch):
    monkeypatch.setattr(earlier_names, "HERE", tmp_path)
    found = []
    for room in ("memory", "data"):
        (tmp_path / room / "observe").mkdir(parents=True)
        (tmp_path / room / "observe/blocks.py").write_text("")
        found.append(earlier_names.today("inside.observe.blocks"))
    assert found == ["inside.memory.observe.blocks", None]
