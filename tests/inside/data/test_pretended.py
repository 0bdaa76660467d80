"""A pretended run takes the times that it was told, and torch decides all the rest."""

import multiprocessing
import random

import pytest

from inside.data.observe import virtual_loader
from inside.data.observe.pretended import Pretended
from inside.data.pictures.waits import draw_waits
from tests.helpers.pictures import assert_every_text_lies_inside, assert_narrow_enough_for_a_phone


def epoch(loader, step=0):
    """[(batch, ms when it was returned)]"""
    found = []
    for batch in loader:
        found.append((batch, loader.machine.now))
        loader.spend(step)
    return found


@pytest.mark.parametrize("seed", range(40))
def test_even_batches_come_when_they_come_on_the_virtual_clock(seed):
    rng = random.Random(seed)
    settings = {"num_workers": rng.choice([0, 1, 2, 3, 6]), "prefetch_factor": rng.randint(1, 4),
                "batches": rng.randint(1, 24), "in_order": rng.random() < 0.5}
    fetch, step = rng.randint(1, 99), rng.randint(0, 99)
    loader = Pretended(sample=fetch, batch_size=1, cores=6, **settings)
    rows = virtual_loader.run({**settings, "fetch": fetch, "step": step, "slow": "none",
                               "which": 0, "factor": 1})
    assert epoch(loader, step) == [(row["batch"], row["given"]) for row in rows]


def test_workers_that_compute_share_the_cores_and_those_that_wait_do_not():
    times = {cpu: epoch(Pretended(sample=10, batch_size=2, num_workers=8, cores=4, cpu=cpu))[0][1]
             for cpu in (1, 0.5, 0)}
    assert times == {1: 40, 0.5: 20, 0: 20}
    assert Pretended(sample=10, num_workers=2, cores=4).crowding == 1


def test_slow_samples_collating_and_transfer_are_added_where_they_belong():
    loader = Pretended(sample=10, batch_size=2, collate=3, slow={1: 5}, batches=2)
    assert epoch(loader) == [(0, 63), (1, 86)]
    with_worker = Pretended(sample=10, batch_size=2, num_workers=1, transfer=7, batches=1)
    assert epoch(with_worker) == [(0, 27)]
    assert epoch(Pretended(sample=10, batch_size=2, transfer=7, batches=1)) == [(0, 20)]


def test_the_clock_goes_on_over_epochs_and_starts_no_process():
    loader = Pretended(sample=1, batch_size=2, num_workers=3, batches=3)
    epoch(loader)
    once = loader.clock()
    epoch(loader)
    assert loader.clock() == 2 * once > 0
    assert not multiprocessing.active_children()


def test_the_gpu_does_one_thing_after_the_other_and_finish_waits_for_it():
    loader = Pretended(sample=1)
    launch = loader.launch(10, host=1)
    launch(None)
    launch(None)
    assert loader.machine.now == 2
    loader.finish()
    assert loader.machine.now == 21
    loader.finish()
    assert loader.machine.now == 21


def test_a_setting_that_there_is_not_is_named():
    with pytest.raises(TypeError, match="'prefetch'"):
        Pretended(sample=1, prefetch=4)


def test_only_computing_counts_as_cpu_time():
    loader = Pretended(sample=10, cpu=0.25, collate=2)
    loader[0], loader.collate_fn([])
    assert (loader.clock(), loader.cpu_clock()) == (0.012, 0.0045)


def test_the_picture_shows_each_runs_waits_in_milliseconds():
    picture = draw_waits({"two": [0.0, 0.5, 0.0]})
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)
    assert "two: 0 at 1, 5e+02 at 2, 0 at 3" in picture.text
