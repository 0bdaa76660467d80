"""Shards: a stream of samples for any number of ranks and workers, which goes on where it stopped.

Read it from top to bottom: shuffling a stream, dealing it out, the dataset, where it is.
mini_shards_tar.py beside it holds the files: how samples become a shard, and a shard samples.

    index ─► positions, shard after shard ─► a piece for each worker of each rank
                                               └─► its order, shuffled ─► samples, read forward

A position is the number of a sample, counted through all shards. Order is settled on positions,
before a sample is read. So all ranks take equally many steps, and to go on where a run stopped,
the order is computed once more, while of the files only the rest is read.

Left out: positions that don't fit in memory; several epochs ahead; files that are not local.

In a clone of the book, `python3 code/mini_shards.py` gives a short tour (--lang zh or --lang en).
"""
import hashlib
import math
import sys
from bisect import bisect_right
from copy import deepcopy
from itertools import accumulate, cycle, groupby, islice, pairwise
from pathlib import Path

import torch
from torch.utils.data import IterableDataset, get_worker_info

from mini_shards_tar import BrokenShard, check, decode, read_index, read_shard, write

__all__ = ["BrokenShard", "Shards", "check", "deal", "shuffle_buffer", "together", "write"]


# --- 1. Shuffling a stream ---------------------------------------------------------------------

def shuffle_buffer(samples, size, generator=None):
    """The samples of an iterable in a random order, while `size` of them are held; 1 keeps order.

    Once the buffer is full, each new sample takes the place of one drawn at random, which is
    yielded. At the end the rest is drawn. So a sample comes at most size - 1 places earlier than
    in the stream, and may come any number of places later.
    """
    held = []
    for sample in samples:
        if len(held) < size:
            held.append(sample)
        else:
            place = draw(size, generator)
            yield held[place]
            held[place] = sample
    while held:
        place = draw(len(held), generator)
        held[place], held[-1] = held[-1], held[place]
        yield held.pop()


def draw(n, generator):
    """One of 0 … n - 1."""
    return int(torch.randint(n, (), generator=generator))


def generator_for(*names):
    """A generator that belongs to these numbers alone: (7, 1) is not (8, 0), as by a sum."""
    digest = hashlib.blake2b(repr(names).encode(), digest_size=8).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest, "little") >> 1)


# --- 2. Dealing it out -------------------------------------------------------------------------

def deal(positions, world, workers, repeat=False):
    """A piece for each worker of each rank: those of rank 0, then those of rank 1, and so on.

    Every rank gets equally many, and every rank's worker w as many as those of the others. If the
    number of ranks doesn't divide the positions, the last ones are left out, fewer than `world`;
    with `repeat`, the first ones come again instead, `world` - 1 at most. Of n positions of a rank,
    worker w gets those from w * n // workers on, one stretch, so that few shards are opened by two
    readers. Returns world * workers lists.
    """
    each = math.ceil(len(positions) / world) if repeat else len(positions) // world
    positions = list(islice(cycle(positions), world * each))
    cuts = [rank * each + worker * each // workers
            for rank in range(world) for worker in range(workers)]
    return [positions[start:stop] for start, stop in pairwise([*cuts, world * each])]


# --- 3. The dataset ----------------------------------------------------------------------------

class Shards(IterableDataset):
    """The samples of a folder of shards, shared by `world` ranks with any number of workers each.

    In an epoch each sample comes once, in one worker of one rank, except for what `deal` leaves
    out or repeats. Ranks take equally many steps if they have as many workers and the same batch
    size; see `steps`. Shards come in a random order, if `shuffle`, and samples go through a
    shuffle buffer of `buffer`. The order follows from the seed, the epoch and how it is dealt.

    A sample is a dict of its fields, with "__key__", and with "__at__", which `saw` takes.
    `decoded` makes a value of a field's name and its bytes. Raises FileNotFoundError without an
    index, and BrokenShard, in one line. Equal arguments, but for `rank`, belong in all ranks.
    """

    def __init__(self, folder, rank=0, world=1, seed=0, epoch=0, *, buffer=1, shuffle=True,
                 repeat=False, decoded=decode):
        if not 0 <= rank < world or buffer < 1:
            raise ValueError(f"rank {rank} of {world}, buffer {buffer}: a rank is less than the "
                             "number of ranks, a buffer at least 1")
        self.folder, self.rank, self.world, self.seed = Path(folder), rank, world, seed
        self.buffer, self.shuffle, self.repeat, self.decoded = buffer, shuffle, repeat, decoded
        self.index = read_index(folder)
        self.names = [*self.index]
        counts = [told["samples"] for told in self.index.values()]
        self.firsts = [0, *accumulate(counts)]         # position of the first sample of each shard
        self.shared_epoch = torch.tensor(epoch).share_memory_()  # persistent workers see it too
        self.start = self.now = {"epoch": epoch, "stages": [], "ranks": [rank]}

    @property
    def epoch(self):
        return int(self.shared_epoch)

    def set_epoch(self, epoch):
        """The epoch of the next iterator; another one begins at its begin."""
        self.shared_epoch.fill_(epoch)

    def __iter__(self):
        """The samples of this worker of this rank, from where the loaded state says."""
        info = get_worker_info()
        workers, worker = (info.num_workers, info.id) if info else (1, 0)
        self.now = self.begun(workers)
        stages, slot = self.now["stages"], self.rank * workers + worker
        given = stages[-1]["given"]
        piece = self.pieces(stages)[slot]
        order = self.order(piece, len(stages) - 1, slot)
        gone = set(order[:given[slot]])
        read, held = self.read([position for position in piece if position not in gone]), {}
        for count, position in enumerate(order[given[slot]:], given[slot] + 1):
            while position not in held:                # at most `buffer` samples wait here
                number, sample = next(read)
                held[number] = sample
            given[slot] = count
            yield {**held.pop(position), "__at__": (workers, slot, count)}

    def read(self, positions):
        """(position, sample) for each, shard after shard, not by their order within a shard."""
        for shard, group in groupby(positions, lambda position: bisect_right(
                self.firsts, position) - 1):
            first, name = self.firsts[shard], self.names[shard]
            numbers = {position - first for position in group}
            for number, sample in read_shard(self.folder / name, self.index[name], numbers,
                                             self.decoded):
                yield first + number, sample

    def positions(self):
        """All positions, shard after shard, in the order of this epoch's shards."""
        shards = range(len(self.names))
        if self.shuffle:
            generator = generator_for(self.seed, self.epoch)
            shards = torch.randperm(len(shards), generator=generator).tolist()
        return [position for shard in shards
                for position in range(self.firsts[shard], self.firsts[shard + 1])]

    def order(self, piece, stage, slot):
        """The positions of a piece as they come; with a buffer of 1, as they are."""
        generator = generator_for(self.seed, self.epoch, stage, slot)
        return list(shuffle_buffer(piece, self.buffer, generator))

    def steps(self, batch_size, num_workers=0, drop_last=False):
        """How many batches a loader makes of the next iterator, on every rank alike.

        Not `__len__`, from which a loader guesses, without the short batch of each worker.
        """
        workers = max(1, num_workers)
        stages = self.begun(workers)["stages"]
        slots = range(self.rank * workers, (self.rank + 1) * workers)
        pieces, given = self.pieces(stages), stages[-1]["given"]
        left = [len(pieces[slot]) - given[slot] for slot in slots]
        return sum(n // batch_size if drop_last else math.ceil(n / batch_size) for n in left)

    # --- 4. Where it is ------------------------------------------------------------------------
    #
    # A stage is one dealing: {"world": ranks, "workers": of each, "given": samples of each slot},
    # slot = rank * workers + worker. An order is always used from its begin, so one number for
    # each slot says what is gone. With other ranks or workers another stage begins, which deals
    # out what no earlier stage has given.

    def begun(self, workers):
        """Where an iterator begins, with `workers` in each rank: epoch, stages, whose state it is.

        ValueError if it has to deal again and doesn't know what the other ranks have given.
        """
        stages = deepcopy(self.start["stages"]) if self.start["epoch"] == self.epoch else []
        same = stages and (stages[-1]["world"], stages[-1]["workers"]) == (self.world, workers)
        needed = {self.rank} if same else set(range(stages[-1]["world"] if stages else 0))
        if missing := needed - {*self.start["ranks"]}:
            raise ValueError(f"the state says nothing of ranks {sorted(missing)}; load "
                             "together([...]) of the states of all ranks")
        if not same:
            given = [0] * (self.world * workers)
            stages.append({"world": self.world, "workers": workers, "given": given})
        return {"epoch": self.epoch, "stages": stages, "ranks": [self.rank]}

    def pieces(self, stages):
        """The piece of each slot in the last stage, in reading order."""
        left = self.positions()
        for number, stage in enumerate(stages[:-1]):
            pieces = deal(left, stage["world"], stage["workers"], self.repeat)
            gone = {position for slot, count in enumerate(stage["given"]) if count
                    for position in self.order(pieces[slot], number, slot)[:count]}
            left = [position for position in left if position not in gone]
        return deal(left, stages[-1]["world"], stages[-1]["workers"], self.repeat)

    def saw(self, at):
        """Tell the dataset in the main process what has come out of its workers.

        `at` is "__at__" of a batch, or of a sample. Call it for what you have trained on, and
        `state_dict` says where training is; what workers had prefetched will come again. Of a
        worker's samples the last one counts, so they must come in order, and none be left out.
        """
        for workers, slot, count in zip(*(torch.as_tensor(part).flatten().tolist()
                                          for part in at), strict=True):
            begun = self.now is not self.start and self.now["epoch"] == self.epoch
            if not begun or len(self.now["stages"][-1]["given"]) != self.world * workers:
                self.now = self.begun(workers)
            given = self.now["stages"][-1]["given"]
            given[slot] = max(count, given[slot])

    def state_dict(self):
        """Where it is after the last sample given in this process, or told to `saw`.

        Plain numbers, lists and dicts. It tells of this rank; see `together`.
        """
        known = self.now if self.now["epoch"] == self.epoch else {
            "epoch": self.epoch, "stages": [], "ranks": [self.rank]}
        return deepcopy({**known, "rank": self.rank, **self.fixed()})

    def fixed(self):
        """What the order follows from, apart from epoch and stages."""
        return {"samples": self.firsts[-1], "seed": self.seed, "buffer": self.buffer,
                "shuffle": self.shuffle, "repeat": self.repeat}

    def load_state_dict(self, state):
        """The next iterators begin there, until another epoch is set.

        With as many ranks and workers, exactly the samples follow that would have followed. With
        others, each sample of the epoch that had not come, except for what `deal` leaves out or
        repeats; but in another order. ValueError for a state of other data or another order, and
        for what is no state; nothing is loaded then.
        """
        must_be_state(state)
        other = {name: state[name] for name, value in self.fixed().items() if state[name] != value}
        if other:
            raise ValueError(f"{self.folder}: the state is of {other}, this is {self.fixed()}")
        self.start = {name: deepcopy(state[name]) for name in ("epoch", "stages", "ranks")}
        self.now = self.start
        self.set_epoch(state["epoch"])


def must_be_state(state):
    """ValueError in one line for what no `Shards.state_dict` gives: another's state, or damaged."""
    names = ("samples", "seed", "buffer", "shuffle", "repeat", "epoch", "stages", "rank", "ranks")
    missing = [name for name in names if not isinstance(state, dict) or name not in state]
    if missing:
        raise ValueError(f"no state of Shards: {', '.join(missing)} missing")
    try:
        right = int(state["epoch"]) == state["epoch"] and {*state["ranks"]} and all(
            len(stage["given"]) == stage["world"] * stage["workers"] > 0 <= min(stage["given"])
            for stage in state["stages"])
    except (TypeError, ValueError, KeyError):
        right = False
    if not right:
        raise ValueError("a damaged state of Shards: no whole epoch, no ranks, or a stage without "
                         "a count for each worker")


def together(states):
    """The states of all ranks as one, which every rank can load, however many they are then.

    ValueError for no state, for what is none, and for states that don't belong together.
    """
    states = [*states]
    if not states:
        raise ValueError("together: give the states of all ranks, at least one")
    for state in states:
        must_be_state(state)
    whole = deepcopy(max(states, key=lambda state: len(state["stages"])))
    for state in states:
        if any(state[name] != whole[name] for name in state.keys() - {"stages", "rank", "ranks"}):
            raise ValueError(f"states of different data, epochs or orders: {state} and {whole}")
        if state["stages"] and len(state["stages"]) == len(whole["stages"]):
            mine, last = state["stages"][-1], whole["stages"][-1]
            if len(mine["given"]) != len(last["given"]) or mine["world"] != last["world"]:
                raise ValueError(f"states of ranks that were dealt differently: {mine}, {last}")
            last["given"] = [*map(max, mine["given"], last["given"])]
    begun = any(state["ranks"] == [state["rank"]] for state in states)   # not only loaded a state
    whole["ranks"] = sorted({rank for state in states
                             for rank in ([state["rank"]] if begun else state["ranks"])})
    return whole


# --- 5. The tour, in the file mini_shards_tour.py beside this one ------------------------------

if __name__ == "__main__":
    try:
        from mini_shards_tour import main
    except ModuleNotFoundError:                          # a download: the tour is not here
        sys.stderr.write("mini_shards；下一步 · next: python3 check_shards.py\n")
        sys.exit(2)
    sys.exit(main())
