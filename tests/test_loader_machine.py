"""The picture of the loader says where each batch is, read from the running iterator."""

import re
import time
import xml.etree.ElementTree as ET

import pytest
from torch.utils.data import DataLoader

from inside.loader_machine import State, describe, draw, draw_loader, read
from loader_data import Gated, Numbers


def texts(picture):
    return [node.text for node in ET.fromstring(picture.svg).iter() if node.tag.endswith("text")]


@pytest.fixture
def stuck():
    """Batch 0 waits in worker 0; 1 and 3 are in the main process."""
    data = Gated(8, behind={0, 2})
    it = iter(DataLoader(data, num_workers=2))
    deadline = time.monotonic() + 20
    while len(it._task_info[3]) == 1 and time.monotonic() < deadline:
        k, batch = it._get_data()  # what __next__ does with a batch that came early
        it._tasks_outstanding -= 1
        it._task_info[k] += (batch,)
    yield it
    data.gate.set()
    list(it)


def test_a_new_iterator_has_dealt_its_first_batches_in_turn():
    it = iter(DataLoader(Numbers(20), num_workers=2, prefetch_factor=3))
    assert read(it) == State(((0, 2, 4), (1, 3, 5)), (), 6, 0, it._pin_memory)
    next(it)
    assert (read(it).sent, read(it).turn) == (7, 1)


def test_batches_that_came_early_are_drawn_in_the_main_process(stuck):
    picture = draw_loader(stuck)
    assert picture.text.splitlines()[:3] == [
        "sampler: 4 batches sent", "worker 0: [0, 2]", "worker 1: []"]
    assert picture.text.splitlines()[-1] == "early: [1, 3], batch 0 is next"
    shown = texts(picture)
    assert [t for t in shown if re.fullmatch(r"\d|–", t)] == ["0", "2", "–", "1", "3"]
    assert {"idle", "main process: batch 0 is next, early ones kept"} <= set(shown)


def test_the_pinning_thread_is_drawn_where_there_is_one():
    for pins in (False, True):
        state = State(((0,), (1,)), (), 2, 0, pins)
        body, _ = draw(state)
        assert ("pinning thread" in body) == pins == ("pinning thread" in describe(state))


def test_every_part_stays_inside_the_picture(stuck):
    tree = ET.fromstring(draw_loader(stuck).svg)
    width, height = map(float, tree.get("viewBox").split()[2:])
    for node in tree.iter():
        if node.tag.endswith("rect"):
            x, y, w, h = (float(node.get(k)) for k in ("x", "y", "width", "height"))
            assert min(x, y) >= 0
            assert x + w <= width
            assert y + h <= height
        elif node.tag.endswith("text"):
            assert 0 <= float(node.get("x")) <= width
            assert 0 < float(node.get("y")) <= height


@pytest.mark.parametrize("workers", [0, 4])
def test_an_iterator_that_cannot_be_drawn_is_refused(workers, recwarn):
    it = iter(DataLoader(Numbers(2), num_workers=workers))
    with pytest.raises(ValueError, match=f"num_workers is {workers}"):
        draw_loader(it)
