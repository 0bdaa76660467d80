"""The picture of a tar file shows each block where it lies in the file."""

import pytest

from inside.data.pictures.tar_blocks import draw_tar_blocks
from mini_shards import write
from tests.helpers.pictures import assert_every_text_lies_inside, assert_narrow_enough_for_a_phone


@pytest.fixture
def shard(tmp_path):
    write(({"txt": "x" * size, "cls": n} for n, size in enumerate((700, 0, 512))), tmp_path, 3)
    return tmp_path / "shard-000000.tar"


def test_each_file_is_a_header_and_whole_blocks(shard):
    assert draw_tar_blocks(shard).text.splitlines() == [
        "byte 0: header of 000000000.cls, then 1 bytes, and 511 to fill",
        "byte 1024: header of 000000000.txt, then 700 bytes, and 324 to fill",
        "byte 2560: header of 000000001.cls, then 1 bytes, and 511 to fill",
        "byte 3584: header of 000000001.txt, then 0 bytes, and 0 to fill",
        "byte 4096: header of 000000002.cls, then 1 bytes, and 511 to fill",
        "byte 5120: header of 000000002.txt, then 512 bytes, and 0 to fill",
        "6 files, then 4096 bytes of zeros to byte 10240"]


@pytest.mark.parametrize("samples", [1, 3])
def test_picture(shard, samples):
    picture = draw_tar_blocks(shard, samples)
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)
    assert picture.svg.count(".cls") == samples
