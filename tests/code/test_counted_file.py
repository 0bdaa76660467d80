"""A counted file adds up what is read of it, in each of the ways that a reader has."""

import gzip

import pytest

from counted_file import CountedFile


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(100))
    return path


def test_each_way_of_reading_counts_once(path):
    with CountedFile(path) as file:
        found = [(len(file.read(30)), file.bytes_read)]
        found.append((file.seek(90), file.bytes_read))
        found.append((file.readinto(bytearray(50)), file.bytes_read))
        file.seek(0)
        found.append((len(file.readall()), file.bytes_read))
        file.seek(0)
        found.append((len(file.read()), file.bytes_read))
    assert found == [(30, 30), (90, 30), (10, 40), (100, 140), (100, 240)]


def test_gzip_reads_the_compressed_bytes_once_from_front_to_back(path):
    path.write_bytes(gzip.compress(bytes(range(256)) * 1000))
    with CountedFile(path) as raw, gzip.GzipFile(fileobj=raw) as file:
        assert len(file.read()) == 256_000
        assert raw.bytes_read == path.stat().st_size
