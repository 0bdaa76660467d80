"""Streams of mini_shards: each sample once over all ranks and workers, in equal steps."""

import itertools
import random
import subprocess
import sys

import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset

import mini_shards
import mini_shards_tour
from book.pipeline.ground.paths import CODE
from mini_shards import Shards, deal, shuffle_buffer
from tests.helpers.depth import cases

BUFFERS, DEALS, EPOCHS = cases(400), cases(400), cases(60)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def joined(lists):
    return [*itertools.chain(*lists)]


# ---- the shuffle buffer --------------------------------------------------------------------------

def by_hand(samples, size, drawn):
    """What a shuffle buffer does, told as positions: read ahead, draw, read one more."""
    waiting, held, found = list(samples), [], []
    while waiting or held:
        while waiting and len(held) < size:
            held.append(waiting.pop(0))
        if not waiting:                                  # the rest: the last one fills the gap
            place = drawn(len(held))
            held[place], held[-1] = held[-1], held[place]
            found.append(held.pop())
        else:
            place = drawn(size)
            found.append(held[place])
            held[place] = waiting.pop(0)
    return found


def test_random_streams_come_as_from_a_buffer_by_hand(counted):
    for seed in range(BUFFERS):
        dice = random.Random(seed)
        n, size = dice.randrange(40), dice.randrange(1, 12)
        draws = generator(seed)
        found = [*shuffle_buffer(iter(range(n)), size, generator(seed))]
        assert found == by_hand(range(n), size, lambda n, draws=draws: int(
            torch.randint(n, (), generator=draws))), f"seed {seed}"
        assert sorted(found) == [*range(n)]
        assert all(place >= sample - size + 1 for place, sample in enumerate(found))
        assert size > 1 or found == [*range(n)]
    counted("random streams of mini_shards' shuffle buffer", BUFFERS)


def test_a_buffer_holds_no_more_than_its_size():
    read = []
    samples = shuffle_buffer((read.append(i) or i for i in range(100)), 10, generator())
    for given, _ in enumerate(samples):
        assert len(read) - given <= 11                   # ten held, and the one that comes in
    assert len(read) == 100


def test_a_buffer_as_large_as_the_stream_draws_every_order_equally():
    draws, counts = generator(), {}
    for _ in range(6_000):
        order = tuple(shuffle_buffer("abc", 3, draws))
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6
    assert all(abs(count - 1000) < 130 for count in counts.values())     # 4.5 standard deviations


def test_a_small_buffer_hardly_mixes_what_is_sorted():
    found = [*shuffle_buffer([0] * 1000 + [1] * 1000, 100, generator())]
    assert found[:901] == [0] * 901                      # a 1 comes at most 99 places early


# ---- dealing -------------------------------------------------------------------------------------

def test_random_deals_give_each_position_once_and_each_rank_equally_many(counted):
    for seed in range(DEALS):
        dice = random.Random(seed)
        n, world, workers = dice.randrange(40), dice.randrange(1, 7), dice.randrange(1, 5)
        for repeat in (False, True):
            pieces = deal(list(range(n)), world, workers, repeat)
            assert len(pieces) == world * workers
            dealt = [position for piece in pieces for position in piece]
            missing = n % world if not repeat else -n % world
            assert dealt[:n] == [*range(n)][:len(dealt)]
            assert len(dealt) == (n - missing if not repeat else n + missing * bool(n))
            assert missing < world
            sizes = [[len(pieces[rank * workers + worker]) for worker in range(workers)]
                     for rank in range(world)]
            assert all(size == sizes[0] for size in sizes)
            assert max(sizes[0]) - min(sizes[0]) <= 1
            ranks = [joined(pieces[rank * workers:][:workers]) for rank in range(world)]
            assert all(len({*piece}) == len(piece) for piece in ranks)   # never twice in one rank
    counted("random deals of mini_shards", DEALS)


# ---- an epoch ------------------------------------------------------------------------------------

def epoch(reader, folder, world, workers, **arguments):
    """The samples of each slot, all ranks' workers one after another."""
    slots = []
    for rank in range(world):
        data = Shards(folder, rank, world, **arguments)
        slots += [[sample["cls"] for sample in reader(data, worker, workers)]
                  for worker in range(workers)]
    return slots


class Undealt(IterableDataset):
    """As one writes it first: every worker of every rank reads the folder."""

    def __init__(self, folder):
        self.data = Shards(folder)

    def __iter__(self):
        for name, told in self.data.index.items():
            for _, sample in mini_shards.read_shard(
                    self.data.folder / name, told, set(range(told["samples"]))):
                yield sample["cls"]


def test_without_dealing_each_worker_gives_every_sample(shards):
    loader = DataLoader(Undealt(shards(6, 4)), None, num_workers=2, multiprocessing_context="fork")
    assert sorted(map(int, loader)) == sorted([*range(6)] * 2)


def test_random_epochs_give_each_sample_once_in_equal_steps(reader, shards, counted):
    seen = set()
    for seed in range(EPOCHS):
        dice = random.Random(seed)
        n, each = dice.randrange(40), dice.choice((1, 3, 5, 8, 50))
        world, workers = dice.randrange(1, 5), dice.randrange(1, 4)
        arguments = {"seed": seed, "epoch": dice.randrange(3), "repeat": dice.random() < 0.5,
                     "buffer": dice.choice((1, 2, 5, 30)), "shuffle": dice.random() < 0.8}
        slots = epoch(reader, shards(n, each), world, workers, **arguments)
        given = joined(slots)
        what = f"seed {seed}: {n} by {each}, {world} x {workers}, {arguments}"
        if arguments["repeat"]:
            assert {*given} == {*range(n)}, what
            assert len(given) == (n + -n % world if n else 0), what
        else:
            assert len({*given}) == len(given) == n - n % world, what
        per_rank = [[len(slot) for slot in slots[rank * workers:][:workers]]
                    for rank in range(world)]
        assert all(sizes == per_rank[0] for sizes in per_rank), what
        seen |= {("repeat", arguments["repeat"]), ("left out", n % world > 0), ("empty", n == 0),
                 ("fewer samples than readers", n < world * workers)}
    assert len(seen) == 8
    counted("random epochs of mini_shards", EPOCHS)


def test_the_order_follows_from_seed_and_epoch(reader, shards):
    folder = shards(30, 4)

    def order(**arguments):
        return epoch(reader, folder, 1, 2, buffer=5, **arguments)
    assert order(seed=1, epoch=2) == order(seed=1, epoch=2)
    orders = [order(seed=seed, epoch=number) for seed in (0, 1, 2) for number in (0, 1, 2)]
    assert all(one != two for i, one in enumerate(orders) for two in orders[:i])


def test_no_two_seeds_epochs_or_workers_share_their_draws(reader, shards):
    folder = shards(40, 2)
    orders = [epoch(reader, folder, 1, 1, seed=seed, epoch=number)
              for seed, number in itertools.product((0, 1, 2), repeat=2)]
    assert all(one != two for one, two in itertools.combinations(orders, 2))
    one, two = epoch(reader, shards(40, 20), 2, 1, buffer=20, shuffle=False)
    assert [n + 20 for n in one] != two


def test_without_shuffling_samples_come_as_written(reader, shards):
    assert epoch(reader, shards(10, 4), 2, 1, shuffle=False) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


def test_each_epoch_leaves_out_others(reader, shards):
    folder, data = shards(10, 2), [Shards(shards(10, 2), rank, 3, buffer=3) for rank in range(3)]
    left_out = []
    for number in range(20):
        given = []
        for one in data:
            one.set_epoch(number)
            given += [sample["cls"] for sample in reader(one)]
        left_out += {*range(10)} - {*given}
    assert len(left_out) == 20
    assert len({*left_out}) == 5                         # the last one of a shard, of any shard
    assert folder.exists()


def test_no_more_samples_are_held_than_the_buffer_has(reader, shards, monkeypatch):
    folder, held = shards(60, 7), []
    read = mini_shards.read_shard

    def watched(*arguments):
        for number, sample in read(*arguments):
            held.append(number)
            yield number, sample
    monkeypatch.setattr(mini_shards, "read_shard", watched)
    for given, _ in enumerate(reader(Shards(folder, buffer=9)), 1):
        assert len(held) - given < 9
    assert len(held) == 60


def test_a_shard_is_opened_by_two_readers_only_where_their_pieces_meet(reader, shards, monkeypatch):
    folder, opened = shards(60, 6), []
    read = mini_shards.read_shard
    monkeypatch.setattr(mini_shards, "read_shard", lambda path, *arguments:
                        opened.append(path.name) or read(path, *arguments))
    epoch(reader, folder, 2, 2)
    assert len({*opened}) == 10
    assert len(opened) <= 10 + 3


@pytest.mark.parametrize(("rank", "world", "buffer"), [(2, 2, 1), (-1, 2, 1), (0, 1, 0)])
def test_a_rank_that_is_not_there_is_refused(shards, rank, world, buffer):
    with pytest.raises(ValueError, match=f"rank {rank} of {world}, buffer {buffer}"):
        Shards(shards(3, 2), rank, world, buffer=buffer)


# ---- in a loader ---------------------------------------------------------------------------------

def batches(data, size, workers, **arguments):
    if workers:
        arguments["multiprocessing_context"] = "fork"
    return DataLoader(data, size, num_workers=workers, **arguments)


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("drop_last", [False, True])
def test_steps_are_as_many_as_the_loader_makes(shards, workers, drop_last):
    for rank in range(2):
        data = Shards(shards(23, 5), rank, 2, buffer=4)
        loader = batches(data, 4, workers, drop_last=drop_last)
        got = [batch["cls"].tolist() for batch in loader]
        assert len(got) == data.steps(4, workers, drop_last)
        if not drop_last:
            assert len({*joined(got)}) == 11


def test_persistent_workers_see_a_new_epoch(shards):
    data = Shards(shards(40, 4), buffer=6)
    loader = batches(data, None, 2, persistent_workers=True)
    found = []
    for number in (0, 1, 1):
        data.set_epoch(number)
        found.append([sample["cls"] for sample in loader])
    assert sorted(found[0]) == sorted(found[1]) == [*range(40)]
    assert found[0] != found[1] == found[2]


@pytest.mark.slow
def test_spawned_workers_read_the_same(shards):
    data = Shards(shards(20, 4), buffer=6)
    here, there = ([sample["cls"] for sample in DataLoader(
        data, None, num_workers=2, multiprocessing_context=how)] for how in ("fork", "spawn"))
    assert here == there


# ---- the tour ------------------------------------------------------------------------------------

@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_tour_runs_in_either_language(lang):
    done = subprocess.run([sys.executable, CODE / "mini_shards.py", "--lang", lang],
                          capture_output=True, text=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(code in done.stdout for code, *_ in mini_shards_tour.STEPS)
    assert ("缓冲" in done.stdout) == (lang == "zh")
    assert done.stdout.count("ValueError: ") == done.stdout.count("BrokenShard: ") == 1
    assert "\nTrue\n" in done.stdout
