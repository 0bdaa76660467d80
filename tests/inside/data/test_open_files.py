"""The picture of open files finds out which handles share a position."""

import io
import os

import pytest

from inside.data.pictures.open_files import draw_open_files, open_files, position
from tests.helpers.pictures import assert_every_text_lies_inside, assert_narrow_enough_for_a_phone


@pytest.fixture
def handles(tmp_path):
    path = tmp_path / "records.bin"
    path.write_bytes(bytes(80))
    first = io.FileIO(path)
    files = first, io.FileIO(os.dup(first.fileno())), io.FileIO(path)
    yield files
    for file in files:
        file.close()


def test_a_copied_handle_shares_and_a_second_open_does_not(handles):
    assert open_files(handles) == [0, 0, 2]


@pytest.mark.parametrize(("first", "third"), [(0, 0), (8, 9), (0, 79)])
def test_looking_moves_nothing(handles, first, third):
    handles[0].seek(first)
    handles[2].seek(third)
    open_files(handles)
    assert [position(file) for file in handles] == [first, first, third]


def test_picture(handles):
    handles[0].seek(40)
    picture = draw_open_files({"forked": handles[:2], "opened twice": handles[1:]}, size=8)
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)
    assert "forked: worker 1 has open file 0, next record 5" in picture.text
    assert "opened twice: worker 1 has open file 1, next record 0" in picture.text
