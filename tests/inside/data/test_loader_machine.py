"""The pictures of the loader say where each batch is, read from the running iterator."""

import re
import threading
import time
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from torch.utils.data import DataLoader

from inside.data.observe import loader
from inside.data.observe.loader import State, read, read_machine
from inside.data.pictures import loader_machine
from inside.data.pictures.loader_machine import draw_loader_machine, draw_waiting, picture_of
from inside.data.pictures.loader_queues import describe, draw, draw_loader
from loader_data import Gated, Numbers, Stream
from tests.helpers.pictures import (
    SVG,
    assert_every_text_lies_inside,
    assert_narrow_enough_for_a_phone,
    size,
)


def texts(picture):
    return [node.text for node in ET.fromstring(picture.svg).iter(f"{SVG}text")]


@pytest.fixture
def stuck():
    """Batch 0 waits in worker 0; 1 and 3 are in the main process."""
    data = Gated(8, behind={0, 2})
    it = iter(DataLoader(data, num_workers=2))
    deadline = time.monotonic() + 200
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


def rectangles(picture):
    return [[float(rect.get(side)) for side in ("x", "y", "width", "height")]
            for rect in ET.fromstring(picture.svg).iter(f"{SVG}rect")]


@pytest.mark.parametrize("draw_it", [draw_loader, draw_loader_machine])
def test_every_part_stays_inside_the_picture(stuck, draw_it):
    picture = draw_it(stuck)
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)
    width, height = size(picture)
    for x, y, w, h in rectangles(picture):
        assert min(x, y) >= 0
        assert x + w <= width
        assert y + h <= height


@pytest.mark.filterwarnings("ignore:This DataLoader will create 4")
@pytest.mark.parametrize("workers", [0, 4])
def test_an_iterator_that_cannot_be_drawn_is_refused(workers):
    it = iter(DataLoader(Numbers(2), num_workers=workers))
    with pytest.raises(ValueError, match=f"num_workers is {workers}"):
        draw_loader(it)


# ---- the whole machine -------------------------------------------------------------------------

def waiting(**kwargs):
    data = Gated(16, behind={0})
    return draw_waiting(iter(DataLoader(data, 2, num_workers=2, **kwargs)), data.gate)


@pytest.fixture(scope="module")
def whole():
    return waiting()


def test_the_machine_is_drawn_when_nothing_moves_any_more(whole):
    assert whole.text.splitlines() == [
        "SequentialSampler -> BatchSampler: 4 batches sent, at most 2 x 2 not handed over",
        "worker 0: queue [2], making [0], Gated, default_collate",
        "worker 1: queue [], making [], Gated, default_collate",
        "books: 0 worker 0, 1 here, 2 worker 0, 3 here",
        "result queue: 0",
        "shared memory: 32 bytes of 2 batches here",
        "pinning thread: none",
        "early: [1, 3], batch 0 is next",
    ]


def test_what_is_drawn_is_what_is_told(whole):
    shown = texts(whole)
    cells = [t for t in shown if re.fullmatch(r"\d|–", t)]
    assert cells == [*"0123", "2", "0", "–", "–", "1", "3"], "books, two workers, early ones"
    assert {"is here", "worker 1", "idle", "in the making", "2 here, 32 bytes",
            "handles, 0 inside", "batch 0 is next"} <= set(shown)


def test_names_limit_and_order_are_those_of_the_loader():
    text = waiting(sampler=[*range(16)], prefetch_factor=3).text
    assert text.startswith("list -> BatchSampler: 6 batches sent, at most 3 x 2 not handed over")
    assert "worker 0: queue [2, 4], making [0]" in text


def test_the_loop_runs_to_the_end_of_the_epoch():
    data = Gated(6, behind={0})
    it = iter(DataLoader(data, num_workers=2))
    draw_waiting(it, data.gate)
    assert next(it, "the end") == "the end"


def test_boxes_lie_apart(whole):
    """Only cells lie in a part of the machine."""
    cells, parts = [], []
    for place in rectangles(whole):
        (cells if place[2:] == [24, 24] else parts).append(place)
    assert (len(cells), len(parts)) == (4 + 2 + 2, 3 + 2 * 2 + 2 + 3)
    for group in (cells, parts):
        for n, (x, y, w, h) in enumerate(group):
            for x2, y2, w2, h2 in group[:n]:
                assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y


def test_the_pinning_thread_is_dashed_where_there_is_none(stuck):
    machine = replace(read_machine(stuck), state=replace(read(stuck), pins=False))
    assert "stroke-dasharray" in picture_of(machine).svg
    pins = picture_of(replace(machine, state=replace(machine.state, pins=True)))
    assert "stroke-dasharray" not in pins.svg
    assert "pinning thread: one" in pins.text


def test_long_books_make_the_picture_longer(stuck):
    machine = read_machine(stuck)
    state = replace(machine.state, out=(tuple(range(0, 16, 2)), (1,)), early=(3, 5))
    long = picture_of(replace(machine, state=state))
    assert_every_text_lies_inside(long)
    (_, height), (_, usual) = size(long), size(picture_of(machine))
    rows = len(replace(machine, state=state).books())
    assert height - usual == loader_machine.BOOKS + rows * loader_machine.ROW - loader_machine.BELOW


@pytest.mark.filterwarnings("ignore:This DataLoader will create 3")
@pytest.mark.parametrize(("arguments", "words"), [
    ({"num_workers": 3}, "num_workers is 3: 1 or 2 are drawn"),
    ({"num_workers": 1, "batch_size": None}, "batch_size is None: the picture has")])
def test_a_machine_that_cannot_be_drawn_is_refused_in_one_line(arguments, words):
    it = iter(DataLoader(Numbers(2), **arguments))
    with pytest.raises(ValueError, match=rf"^{words}.*$"):
        draw_loader_machine(it)
    gate = threading.Event()
    with pytest.raises(ValueError, match=words):
        draw_waiting(it, gate)
    assert gate.is_set()


def test_a_loader_that_does_not_come_to_rest_is_reported(monkeypatch):
    monkeypatch.setattr(loader, "PATIENCE", 0.2)
    data = Gated(8, behind={0, 1})              # both workers wait
    with pytest.raises(TimeoutError, match=r"still moves after 0\.2 s"):
        draw_waiting(iter(DataLoader(data, num_workers=2)), data.gate)


def test_an_iterable_dataset_is_drawn_too():
    it = iter(DataLoader(Stream(6), 2, num_workers=1))
    picture = draw_loader_machine(it)
    assert picture.text.startswith("_InfiniteConstantSampler -> BatchSampler: 2 batches")
