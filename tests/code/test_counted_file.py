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
        assert len(file.read(30)) == 30 and file.bytes_read == 30
        assert file.seek(90) == 90 and file.bytes_read == 30
        assert file.readinto(bytearray(50)) == 10 and file.bytes_read == 40
        file.seek(0)
        assert len(file.readall()) == 100 and file.bytes_read == 140
        file.seek(0)
        assert len(file.read()) == 100 and file.bytes_read == 240


def test_gzip_reads_the_compressed_bytes_once_from_front_to_back(path):
    path.write_bytes(gzip.compress(bytes(range(256)) * 1000))
    with CountedFile(path) as raw, gzip.GzipFile(fileobj=raw) as file:
        assert len(file.read()) == 256_000
        assert raw.bytes_read == path.stat().st_size
