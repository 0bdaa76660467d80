"""mini_shards goes on where it stopped: exactly there, or with other ranks without loss."""

import itertools
import json
import random

import pytest
import torch
from torch.utils.data import DataLoader

import mini_shards
from mini_loader import DataLoader as MiniLoader
from mini_shards import Shards, together
from oracles.loader_datasets import Killing
from tests.helpers.depth import cases

RESUMES, CHANGES = cases(80), cases(80)


def numbers(samples):
    return [sample["cls"] for sample in samples]


def through_json(state):
    return json.loads(json.dumps(state))


def plan(seed):
    """A random folder, its readers and their arguments."""
    dice = random.Random(seed)
    return dice, (dice.randrange(1, 40), dice.choice((1, 3, 5, 8, 50))), {
        "seed": seed, "epoch": dice.randrange(3), "buffer": dice.choice((1, 2, 5, 30)),
        "shuffle": dice.random() < 0.8, "repeat": dice.random() < 0.3}


def taken(reader, data, worker, workers, count):
    """The first `count` samples of a worker, and the state of its copy of the dataset then."""
    found = []
    for sample in reader(data, worker, workers) if count else []:
        found.append(sample["cls"])
        if len(found) == count:
            break
    return found


# ---- as many ranks and workers -------------------------------------------------------------------

def test_random_stops_go_on_with_the_exact_next_sample(reader, shards, counted):
    for seed in range(RESUMES):
        dice, made, arguments = plan(seed)
        world, workers = dice.randrange(1, 4), dice.randrange(1, 4)
        rank, worker = dice.randrange(world), dice.randrange(workers)

        def new(rank=rank, world=world, made=made, arguments=arguments):
            return Shards(shards(*made), rank, world, **arguments)
        whole = numbers(reader(new(), worker, workers))
        state, found = None, []
        while True:                                      # stopped again and again
            data = new()
            if state is not None:
                data.load_state_dict(through_json(state))
            count = dice.randrange(1, 9)
            found += taken(reader, data, worker, workers, count)
            if data.state_dict() == state:
                break
            state = data.state_dict()
        assert found == whole, f"seed {seed}"
    counted("random stops and resumes of mini_shards", RESUMES)


def test_only_the_rest_is_read(reader, shards, monkeypatch):
    data = Shards(shards(40, 4), buffer=6)
    assert len(taken(reader, data, 0, 1, 29)) == 29
    again, read, opened = Shards(shards(40, 4), buffer=6), [], []
    again.load_state_dict(data.state_dict())
    original = mini_shards.read_shard

    def watched(path, told, wanted, decoded):
        opened.append(path.name)
        for number, sample in original(path, told, wanted, decoded):
            read.append(sample["cls"])
            yield number, sample
    monkeypatch.setattr(mini_shards, "read_shard", watched)
    rest = numbers(reader(again))
    assert sorted(rest) == sorted(read)
    assert len(read) == 11
    assert len(opened) < 10


def test_a_state_says_where_it_is_after_the_last_sample_given(reader, shards):
    data = Shards(shards(10, 3))
    assert data.state_dict()["stages"] == []
    samples = reader(data)
    for count in range(1, 11):
        next(samples)
        assert data.state_dict()["stages"] == [{"world": 1, "workers": 1, "given": [count]}]


def test_the_epoch_of_a_state_is_gone_on_with_and_others_are_whole(reader, shards):
    data = Shards(shards(10, 3), buffer=3, epoch=4)
    first = taken(reader, data, 0, 1, 6)
    again = Shards(shards(10, 3), buffer=3)
    again.load_state_dict(data.state_dict())
    assert again.epoch == 4
    again.set_epoch(4)                                   # as a loop over epochs does
    rest = numbers(reader(again))
    assert sorted(first + rest) == [*range(10)]
    assert numbers(reader(again)) == rest                # an iterator begins where the state says
    again.set_epoch(5)
    assert len(numbers(reader(again))) == 10
    assert again.state_dict()["epoch"] == 5
    finished = Shards(shards(10, 3), buffer=3)
    finished.load_state_dict(again.state_dict())
    assert numbers(reader(finished)) == []
    finished.set_epoch(6)
    assert finished.state_dict()["stages"] == []
    assert len(numbers(reader(finished))) == 10


# ---- other ranks and workers ---------------------------------------------------------------------

def run(reader, shards, made, arguments, world, workers, state, counts):
    """Each worker of each rank gives its count of samples; all of them, and the state of all."""
    found, states = [], []
    for rank in range(world):
        copies = []
        for worker in range(workers):
            data = Shards(shards(*made), rank, world, **arguments)
            if state is not None:
                data.load_state_dict(through_json(state))
            found += taken(reader, data, worker, workers, counts.pop(0))
            copies.append(data.state_dict())
        begun = [copy for copy in copies if len(copy["stages"]) == max(
            len(copy["stages"]) for copy in copies)]
        states.append(together(begun))
    return found, together(states)


def test_random_changes_of_ranks_lose_and_repeat_nothing(reader, shards, counted):
    left_out = 0
    for seed in range(CHANGES):
        dice, made, arguments = plan(seed)
        arguments["repeat"] = False
        given, state = [], None
        for _ in range(dice.randrange(1, 4)):            # up to three worlds, one after another
            world, workers = dice.randrange(1, 4), dice.randrange(1, 4)
            counts = [dice.randrange(6) for _ in range(world * workers)]
            found, state = run(reader, shards, made, arguments, world, workers, state, counts)
            given += found
        world, workers = dice.randrange(1, 4), dice.randrange(1, 4)
        found, _ = run(reader, shards, made, arguments, world, workers, state,
                       [1000] * (world * workers))
        given += found
        what = f"seed {seed}"
        assert len({*given}) == len(given), what
        assert made[0] - len(given) < world, what
        left_out += made[0] - len(given)
    assert left_out
    counted("random changes of ranks of mini_shards", CHANGES)


def test_with_repeats_none_is_lost_by_a_change_of_ranks(reader, shards):
    for seed in range(20):
        dice, made, arguments = plan(seed)
        arguments["repeat"] = True
        counts = [dice.randrange(6) for _ in range(4)]
        given, state = run(reader, shards, made, arguments, 2, 2, None, counts)
        rest, _ = run(reader, shards, made, arguments, 3, 1, state, [1000] * 3)
        assert {*given, *rest} == {*range(made[0])}
        assert len(rest) % 3 == 0


def test_ranks_take_equal_steps_after_a_change(reader, shards):
    given, state = run(reader, shards, (30, 4), {"buffer": 3}, 2, 1, None, [5, 5])
    sizes = []
    for rank in range(3):
        data = Shards(shards(30, 4), rank, 3, buffer=3)
        data.load_state_dict(state)
        sizes.append(len(numbers(reader(data))))
        assert data.steps(2) == 3
    assert sizes == [6, 6, 6]
    assert len(given) == 10


def test_the_state_of_one_rank_is_not_enough_for_other_ranks(reader, shards):
    data = Shards(shards(10, 3), 0, 2)
    taken(reader, data, 0, 1, 2)
    state = data.state_dict()
    for rank, world, workers, missing in ((0, 1, 1, [1]), (1, 2, 1, [1]), (0, 2, 2, [1])):
        other = Shards(shards(10, 3), rank, world)
        other.load_state_dict(state)
        with pytest.raises(ValueError, match=rf"says nothing of ranks \[{missing[0]}\]; load"):
            next(reader(other, 0, workers))


def test_states_that_do_not_belong_together_are_refused(reader, shards):
    one, two = Shards(shards(10, 3), 0, 2), Shards(shards(10, 3), 1, 2, epoch=1)
    with pytest.raises(ValueError, match="different data, epochs or orders"):
        together([one.state_dict(), two.state_dict()])
    two = Shards(shards(10, 3), 1, 2)
    taken(reader, one, 0, 1, 2)
    taken(reader, two, 0, 3, 1)
    with pytest.raises(ValueError, match="dealt differently"):
        together([one.state_dict(), two.state_dict()])
    for other in (Shards(shards(12, 3)), Shards(shards(10, 3), seed=1),
                  Shards(shards(10, 3), buffer=2)):
        with pytest.raises(ValueError, match="the state is of"):
            other.load_state_dict(one.state_dict())


@pytest.mark.parametrize(("change", "words"), [
    (lambda state: None, "no state of Shards: samples, seed"),
    (lambda state: {"n": 8, "seed": 0, "epoch": 0, "gone": 2}, "no state of Shards: samples"),
    (lambda state: {"weight": "of a model\n"}, "no state of Shards: samples"),
    (lambda state: state.pop("ranks") and state, "Shards: ranks missing"),
    (lambda state: state | {"epoch": "4"}, "damaged state of Shards"),
    (lambda state: state | {"epoch": "four"}, "damaged state of Shards"),
    (lambda state: state | {"ranks": None}, "damaged state of Shards"),
    (lambda state: state | {"ranks": []}, "damaged state of Shards"),
    (lambda state: state | {"stages": [{"world": 1}]}, "damaged state of Shards"),
    (lambda state: state | {"stages": 7}, "damaged state of Shards"),
    (lambda state: state | {"stages": [7]}, "damaged state of Shards"),
    (lambda state: state | {"stages": [{"world": 1, "workers": 2, "given": [3]}]}, "damaged"),
    (lambda state: state | {"stages": [{"world": 1, "workers": 1, "given": [-3]}]}, "damaged"),
    (lambda state: state | {"stages": [{"world": 1, "workers": 1, "given": [None]}]}, "damaged"),
    (lambda state: state | {"stages": [{"world": 0, "workers": 1, "given": []}]}, "damaged"),
])
def test_a_foreign_or_damaged_state_is_refused_in_one_line(reader, shards, change, words):
    data = Shards(shards(10, 3))
    taken(reader, data, 0, 1, 2)
    state, fresh = change(data.state_dict()), Shards(shards(10, 3))
    before = fresh.state_dict()
    for load in (fresh.load_state_dict, lambda state: together([data.state_dict(), state])):
        with pytest.raises(ValueError, match=words) as found:
            load(state)
        assert "\n" not in str(found.value)
    assert fresh.state_dict() == before


def test_the_states_of_no_rank_are_refused_and_an_iterator_of_states_will_do(shards):
    with pytest.raises(ValueError, match="give the states of all ranks, at least one"):
        together([])
    states = [Shards(shards(10, 3), rank, 2).state_dict() for rank in range(2)]
    assert together(iter(states)) == together(states)


def test_without_a_buffer_a_piece_comes_in_reading_order(shards):
    data, piece = Shards(shards(10, 3), seed=3, epoch=2), [4, 9, 0, 7, 1]
    assert data.order(piece, 0, 1) == piece
    assert Shards(shards(10, 3), buffer=4).order(piece, 0, 1) != piece


# ---- in a loader ---------------------------------------------------------------------------------

@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("batches", [1, 3, 4])
def test_what_was_prefetched_and_not_seen_comes_again(shards, workers, batches):
    def loader(data):
        how = {"multiprocessing_context": "fork", "prefetch_factor": 3} if workers else {}
        return DataLoader(data, 3, num_workers=workers, **how)
    whole = [batch["cls"].tolist() for batch in loader(Shards(shards(26, 4), buffer=5))]
    data, seen = Shards(shards(26, 4), buffer=5), []
    for batch in loader(data):
        seen.append(batch["cls"].tolist())
        data.saw(batch["__at__"])
        if len(seen) == batches:
            break
    again = Shards(shards(26, 4), buffer=5)
    again.load_state_dict(data.state_dict())
    rest = []
    for batch in loader(again):
        rest.append(batch["cls"].tolist())
        again.saw(batch["__at__"])
    assert sorted(itertools.chain(*seen, *rest)) == [*range(26)]
    if not workers:
        assert seen + rest == whole                      # workers take turns from the first again
    assert again.steps(3, workers) == len(rest)
    state = again.state_dict()["stages"][-1]["given"]
    assert state == ([13, 13] if workers else [26])


def test_saw_after_loading_tells_of_this_rank_alone(reader, shards):
    states = []
    for rank in range(2):
        data = Shards(shards(20, 4), rank, 2)
        for sample, _ in zip(reader(data), range(3), strict=False):
            data.saw(sample["__at__"])
        states.append(data.state_dict())
    again = Shards(shards(20, 4), 0, 2)
    again.load_state_dict(together(states))
    assert again.state_dict()["ranks"] == [0, 1]
    again.saw((1, 0, 5))
    assert again.state_dict()["ranks"] == [0]
    assert again.start["stages"][-1]["given"][0] < 5     # an iterator still begins there
    again.saw((1, 0, 4))                                 # told again of an earlier one
    assert again.state_dict()["stages"][-1]["given"][0] == 5


class KillingShards(Shards):
    """Shards whose worker dies once, at a sample."""

    def __init__(self, act, *arguments, **options):
        super().__init__(*arguments, **options)
        self.act = act

    def __iter__(self):
        for sample in super().__iter__():
            self.act(sample["cls"])
            yield sample


@pytest.mark.parametrize("at", [0, 7, 19])
def test_a_killed_worker_of_mini_loader_loses_no_sample(shards, at, tmp_path):
    def given(act):
        loader = MiniLoader(KillingShards(act, shards(20, 3), buffer=4), 2, num_workers=2,
                            multiprocessing_context="fork")
        return [batch["cls"].tolist() for batch in loader], loader.statistics.restarts
    calm, rough = given(lambda number: None), given(Killing(at, tmp_path / "deaths"))
    assert (rough[0], calm[1], rough[1]) == (calm[0], 0, 1)
    assert sorted(itertools.chain(*calm[0])) == [*range(20)]


def test_a_state_is_plain_and_survives_torch_save(reader, shards, tmp_path):
    data = Shards(shards(10, 3))
    taken(reader, data, 0, 1, 4)
    torch.save(data.state_dict(), tmp_path / "state")
    assert torch.load(tmp_path / "state", weights_only=True) == data.state_dict()
