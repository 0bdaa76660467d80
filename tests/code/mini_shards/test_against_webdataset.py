"""webdataset 1.0.2 itself: its files and ours are one format; what it does that we don't.

The section on shards says these things of it. Where it changes, a test fails here.
"""

import tarfile
from pathlib import Path

import pytest
import torch
import webdataset as wds
from torch.utils.data import DataLoader

from mini_shards import Shards, write
from mini_shards_tar import read_shard

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def ranked(monkeypatch):
    """`ranked(rank, world)` sets what torchrun sets."""
    def begin(rank, world):
        monkeypatch.setenv("RANK", str(rank))
        monkeypatch.setenv("WORLD_SIZE", str(world))
    monkeypatch.delenv("RANK", raising=False)
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    return begin


@pytest.fixture
def urls(shards):
    """Ten shards with ten samples each."""
    return [str(path) for path in sorted(shards(100, 10).glob("*.tar"))]


def shards_of(data):
    """The shards that samples come from, each once, in order."""
    return list(dict.fromkeys(int(sample["cls"]) // 10 for sample in data))


def loaded(data, workers, **more):
    return DataLoader(data, batch_size=None, num_workers=workers, multiprocessing_context="fork",
                      **more)


# ---- one format ----------------------------------------------------------------------------------

SAMPLES = [{"__key__": f"{n:05d}", "txt": f"text {n}", "cls": n, "json": {"n": [n, None]},
            "pth": torch.arange(n), "jpg": bytes([n])} for n in range(5)]


def same(found, wanted):
    return all(torch.equal(found[name], value) if name == "pth" else found[name] == value
               for name, value in wanted.items())


def test_it_reads_what_we_write(tmp_path):
    write(SAMPLES, tmp_path, 5)
    found = list(wds.WebDataset(str(tmp_path / "shard-000000.tar"), shardshuffle=False)
                 .decode())
    assert len(found) == 5
    assert all(map(same, found, SAMPLES))


def test_we_read_what_it_writes(tmp_path):
    with wds.ShardWriter(str(tmp_path / "%06d.tar"), maxcount=5, verbose=0) as writer:
        for sample in SAMPLES:
            writer.write(sample)
    path = tmp_path / "000000.tar"
    told = {"bytes": path.stat().st_size, "files": 25}
    found = [sample for _, sample in read_shard(path, told, set(range(5)))]
    assert len(found) == 5
    assert all(map(same, found, SAMPLES))


# ---- dividing ------------------------------------------------------------------------------------

def test_it_divides_shards_among_workers_and_each_sample_comes_once(urls, ranked):
    data = wds.WebDataset(urls, shardshuffle=False).decode()
    assert sorted(sample["cls"] for sample in loaded(data, 4)) == list(range(100))


def test_it_refuses_several_ranks_until_it_is_told_how_to_divide(urls, ranked):
    ranked(0, 2)
    with pytest.raises(ValueError, match="explicit nodesplitter"):
        list(wds.WebDataset(urls, shardshuffle=False))


def test_every_nth_shard_goes_to_a_rank_and_of_these_to_a_worker(urls, ranked):
    ranked(1, 3)                                                  # shards 1, 4, 7
    data = wds.WebDataset(urls, shardshuffle=False, nodesplitter=wds.split_by_node).decode()
    assert shards_of(data) == [1, 4, 7]
    assert sorted(sample["cls"] for sample in loaded(data, 2)) == [
        10 * shard + n for shard in (1, 4, 7) for n in range(10)]


def test_a_worker_without_a_shard_raises_unless_told_not_to(urls, ranked):
    with pytest.raises(ValueError, match="fewer shards than workers"):
        list(loaded(wds.WebDataset(urls[:2], shardshuffle=False), 3))
    quiet = wds.WebDataset(urls[:2], shardshuffle=False, empty_check=False)
    assert len(list(loaded(quiet, 3))) == 20


def test_ranks_may_get_unequally_many_shards_and_so_steps(urls, ranked):
    steps = []
    for rank in range(3):
        ranked(rank, 3)
        data = wds.WebDataset(urls, shardshuffle=False, nodesplitter=wds.split_by_node)
        steps.append(len(list(DataLoader(data, 5, collate_fn=len))))
    assert steps == [8, 6, 6]


def test_resampled_shards_have_no_end_so_an_epoch_is_a_number_of_steps(urls, ranked):
    data = wds.WebDataset(urls, resampled=True).with_epoch(123)
    assert len(list(data)) == 123
    assert len(list(loaded(data, 2))) == 2 * 123                  # each worker counts for itself


def test_its_writer_takes_an_extra_header_because_times_have_fractions(tmp_path):
    def taken(**options):
        with wds.ShardWriter(f"{tmp_path}/%06d.tar", verbose=0, **options) as writer:
            for number in range(2):
                writer.write({"__key__": f"{number}", "cls": number})
        with tarfile.open(tmp_path / "000000.tar") as tar:
            first, second = tar.getmembers()
        return second.offset - first.offset
    assert taken(mtime=1.5) == 2048
    assert taken(mtime=1) == 1024


# ---- order ---------------------------------------------------------------------------------------

def epochs(data, count=3):
    return [shards_of(data) for _ in range(count)]


def test_its_shards_come_in_one_order_in_every_epoch(urls, ranked):
    data = wds.WebDataset(urls, shardshuffle=100)
    for reader in (data, loaded(data, 1), loaded(data, 1, persistent_workers=True)):
        first, *others = epochs(reader)
        assert sorted(first) == list(range(10))
        assert others == [first, first]


def test_detshuffle_counts_epochs_but_new_workers_begin_again(urls, ranked):
    data = wds.WebDataset(urls, shardshuffle=100, detshuffle=True, seed=3)
    new = epochs(loaded(data, 1))
    kept = epochs(loaded(data, 1, persistent_workers=True))
    assert new[0] == new[1] == new[2] == kept[0]
    assert kept[0] != kept[1] != kept[2] != kept[0]
    assert len({tuple(order) for order in epochs(data)}) == 3


def test_a_rank_has_the_same_shards_in_each_epoch_and_ours_has_others(shards, urls, ranked):
    ranked(1, 2)
    theirs = wds.WebDataset(urls, shardshuffle=100, nodesplitter=wds.split_by_node)
    assert [set(order) for order in epochs(theirs)] == [{1, 3, 5, 7, 9}] * 3
    ours, seen = Shards(shards(100, 10), 1, 2), []
    for epoch in range(3):
        ours.set_epoch(epoch)
        seen.append(frozenset(shards_of(ours)))
    assert len(set(seen)) > 1


def test_its_buffer_of_1000_begins_with_100_and_takes_two_for_one():
    read = []
    order = wds.filters._shuffle(iter(read.append(n) or n for n in range(5000)), seed=0)
    next(order)
    assert len(read) == 100
    for _ in range(450):
        next(order)
    assert len(read) == 100 + 2 * 450
    for _ in range(1550):
        next(order)
    assert len(read) - 2001 == 999                               # what it holds once it is full


# ---- what is broken ------------------------------------------------------------------------------

@pytest.mark.parametrize("more", [0, 100])
def test_a_shard_cut_between_files_ends_early_without_an_error(urls, ranked, more):
    data, member = cut(urls[0])
    Path(urls[0]).write_bytes(data[:member.offset + more])       # at a header, or inside it
    assert len(list(wds.WebDataset(urls, shardshuffle=False))) == 95
    with tarfile.open(urls[0]) as tar:
        assert len(tar.getnames()) == 5


def test_a_shard_cut_inside_a_file_raises(urls, ranked):
    data, member = cut(urls[0])
    Path(urls[0]).write_bytes(data[:member.offset_data])
    with pytest.raises(tarfile.ReadError, match="unexpected end of data"):
        list(wds.WebDataset(urls, shardshuffle=False))


def cut(path):
    """The bytes of a shard, and its sixth file."""
    with tarfile.open(path) as tar:
        return Path(path).read_bytes(), tar.getmembers()[5]


def test_its_writer_uses_the_last_name_from_the_first_byte(tmp_path):
    with wds.ShardWriter(str(tmp_path / "%06d.tar"), verbose=0) as writer:
        writer.write(SAMPLES[0])
        assert [path.name for path in tmp_path.iterdir()] == ["000000.tar"]


def test_it_has_no_state_to_resume_from(urls):
    assert not hasattr(wds.WebDataset(urls, shardshuffle=False), "state_dict")


def test_its_local_cache_asks_for_each_shard_once(urls, tmp_path, ranked):
    log, cache = tmp_path / "log", tmp_path / "cache"
    cache.mkdir()
    remote = [f"pipe:echo x >> {log}; cat {url}" for url in urls[:3]]
    for _ in range(2):
        data = wds.WebDataset(remote, shardshuffle=False, cache_dir=str(cache), cache_size=10**9)
        assert len(list(data)) == 30
    assert len(log.read_text().split()) == 3
    assert len(list(cache.iterdir())) == 3
