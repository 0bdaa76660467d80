"""The store counts what object storage would be asked for, and computes the time of one reader."""

import tarfile

import pytest

from counted_store import Store


@pytest.fixture
def store(tmp_path):
    (tmp_path / "a").write_bytes(bytes(range(100)))
    (tmp_path / "b").write_bytes(b"b" * 50)
    (tmp_path / "index.json").write_bytes(b"{}")
    return Store(tmp_path, latency=0.5, bandwidth=100)


def test_a_request_is_counted_with_the_bytes_it_brings(store):
    assert store.names == ["a", "b"]
    assert store.get("a") == bytes(range(100))
    assert store.get("a", 10, 3) == bytes([10, 11, 12])
    assert store.get("a", 98, 10) == bytes([98, 99])             # no more than there is
    assert (store.requests, store.bytes) == (3, 105)


def test_time_is_the_latency_of_each_request_and_the_bytes(store):
    store.get("a")
    assert store.seconds == 0.5 + 1
    store.get("b")
    assert store.seconds == 1 + 1.5


def test_a_stream_is_one_request_however_it_is_read(store):
    stream = store.stream("a")
    assert [stream.read(1) for _ in range(3)] == [b"\0", b"\1", b"\2"]
    assert (store.requests, store.bytes) == (1, 100)


def test_each_read_of_an_opened_object_is_a_request_for_its_bytes(store):
    file = store.open("a")
    assert store.requests == 0
    file.seek(20)
    assert file.read(4) == bytes([20, 21, 22, 23])
    assert file.tell() == 24
    file.seek(-1, 2)
    assert file.read(4) == b"c"
    assert file.read(4) == b""
    assert (store.requests, store.bytes) == (3, 5)


def test_tarfile_reads_an_opened_object(store):
    with tarfile.open(store.folder / "c.tar", "w") as tar:
        tar.add(store.folder / "a", "a")
        tar.add(store.folder / "b", "b")
    with tarfile.open(fileobj=store.open("c.tar"), mode="r:") as tar:
        assert tar.getnames() == ["a", "b"]
        assert tar.extractfile("b").read() == b"b" * 50
    assert store.requests > 4
