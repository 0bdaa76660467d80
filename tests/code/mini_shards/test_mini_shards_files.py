"""The files of mini_shards: webdataset's format, whole or not there, and one line if broken."""

import json
import re
import tarfile

import pytest
import torch

import mini_shards_tar
from mini_shards import BrokenShard, Shards, check, write
from mini_shards_tar import INDEX, decode, encode, read_index, split

SAMPLES = [
    {"txt": "一只狗", "cls": 3, "json": {"a": [1, None]}, "pth": torch.arange(6).view(2, 3)},
    {"__key__": "dir/b", "left.pth": {"x": torch.ones(2)}, "jpg": b"\xff\xd8raw"},
    {"cls": -1},
    {"txt": "", "bin": b""},
]


def read(folder, **arguments):
    """All samples, without what says where they stood."""
    return [{name: value for name, value in sample.items() if name != "__at__"}
            for sample in Shards(folder, shuffle=False, **arguments)]


# ---- the format ----------------------------------------------------------------------------------

# As webdataset 1.0.2, tariterators.py, splits a name; neighbours with one key are a sample.
NAME = re.compile(r"((?:.*/|)[^.]+)[.]([^/]*)")


def grouped(path):
    """The samples of a shard by webdataset's rules: key and fields of neighbours with one key."""
    samples = []
    with tarfile.open(path, "r|") as tar:
        for member in tar:
            key, field = NAME.fullmatch(member.name).groups()
            if not samples or samples[-1]["__key__"] != key:
                samples.append({"__key__": key})
            assert field == field.lower()
            assert field not in samples[-1]
            samples[-1][field] = tar.extractfile(member).read()
    return samples


def test_a_shard_is_read_alike_by_the_rules_of_webdataset(tmp_path):
    write(SAMPLES, tmp_path, 3)
    theirs = [sample for path in sorted(tmp_path.glob("*.tar")) for sample in grouped(path)]
    assert theirs == read(tmp_path, decoded=lambda field, data: data)
    assert [sample["__key__"] for sample in theirs] == [
        "000000000", "dir/b", "000000002", "000000003"]


def test_values_come_back_as_they_were(tmp_path):
    write(SAMPLES, tmp_path, 3)
    found = read(tmp_path)
    assert len(found) == len(SAMPLES)
    for sample, wanted in zip(found, SAMPLES, strict=True):
        assert sample.keys() == wanted.keys() | {"__key__"}
    assert torch.equal(found[0].pop("pth"), SAMPLES[0]["pth"])
    assert torch.equal(found[1].pop("left.pth")["x"], torch.ones(2))
    assert found[0] == {"__key__": "000000000", "txt": "一只狗", "cls": 3, "json": {"a": [1, None]}}
    assert found[1] == {"__key__": "dir/b", "jpg": b"\xff\xd8raw"}
    assert found[3] == {"__key__": "000000003", "txt": "", "bin": b""}


def test_a_view_is_saved_without_its_storage():
    row = torch.zeros(1000, 1000)[0]
    assert 4_000 < len(encode("pth", row)) < 10_000
    assert torch.equal(decode("pth", encode("pth", row)), row)


def test_no_code_is_run_by_reading(tmp_path):
    class Evil:
        def __reduce__(self):
            return print, ("run",)
    write([{"pth": Evil()}], tmp_path, 1)
    with pytest.raises(BrokenShard, match="weights_only"):
        read(tmp_path)


def test_equal_samples_make_equal_bytes(tmp_path):
    one, two = (write(iter(SAMPLES), tmp_path / name, 2) for name in "ab")
    assert one == two == json.loads((tmp_path / "a" / INDEX).read_bytes())
    for name in one:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize(("n", "each", "counts"), [
    (0, 3, []), (1, 3, [1]), (6, 3, [3, 3]), (7, 3, [3, 3, 1])])
def test_the_index_says_what_is_in_each_shard(tmp_path, n, each, counts):
    index = write(({"cls": i, "txt": "x"} for i in range(n)), tmp_path, each)
    assert [*index] == [f"shard-{number:06d}.tar" for number in range(len(counts))]
    assert [told["samples"] for told in index.values()] == counts
    assert [told["files"] for told in index.values()] == [2 * count for count in counts]
    for name, told in index.items():
        assert len(grouped(tmp_path / name)) == told["samples"]
        assert (tmp_path / name).stat().st_size == told["bytes"]
    check(tmp_path)


@pytest.mark.parametrize(("name", "parts"), [
    ("a.txt", ("a", "txt")), ("a.left.png", ("a", "left.png")), ("d.e/a.b.c", ("d.e/a", "b.c")),
    ("d/a.b", ("d/a", "b"))])
def test_the_first_dot_of_the_file_ends_the_key(name, parts):
    assert split(name) == NAME.fullmatch(name).groups() == parts


@pytest.mark.parametrize(("sample", "says"), [
    ({"__key__": "a.b", "cls": 1}, "sample 1: key 'a.b' has a dot"),
    ({"__key__": "__a__/b", "cls": 1}, "begins with __"),
    ({"__key__": "", "cls": 1}, "key ''"),
    ({"__key__": 7, "cls": 1}, "sample 1: key 7 .* is no text"),
    ({"__key__": "a\0b", "cls": 1}, "sample 1: key"),
    ({"CLS": 1}, "sample 1: field 'CLS'"),
    ({"a/b": b""}, "field 'a/b'"),
    ({"_a": b""}, "field '_a'"),
    ({}, "sample 1: no fields"),
    ({"__key__": "000000000", "cls": 1}, "key '000000000' again"),
    ({"__key__": "a" * 300, "cls": 1}, "name is too long"),
])
def test_what_would_be_read_under_another_name_is_refused(tmp_path, sample, says):
    with pytest.raises(ValueError, match=says):
        write([{"cls": 0}, sample], tmp_path, 5)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("size", [0, -1])
def test_a_shard_of_no_samples_is_refused(tmp_path, size):
    with pytest.raises(ValueError, match=f"samples_per_shard {size}: a shard has at least one"):
        write([{"cls": 0}], tmp_path, size)


def test_what_has_no_codec_is_refused(tmp_path):
    with pytest.raises(TypeError, match="field jpg: a list needs a name that ends with one of txt"):
        write([{"jpg": [1]}], tmp_path, 5)


# ---- whole or not there --------------------------------------------------------------------------

def test_a_shard_has_its_name_only_when_it_is_whole(tmp_path):
    seen = []

    def samples():
        for i in range(7):
            seen.append(sorted(path.name for path in tmp_path.iterdir()))
            yield {"cls": i}
    write(samples(), tmp_path, 3)
    first, part = "shard-000000.tar", "shard-000001.tar.part"
    assert seen[1] == [f"{first}.part"]
    assert seen[4] == [first, part]
    assert all(INDEX not in names for names in seen)
    assert not [*tmp_path.glob("*.part")]


def test_what_stops_amid_writing_leaves_no_index(tmp_path):
    def samples():
        yield from ({"cls": i} for i in range(5))
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        write(samples(), tmp_path, 3)
    assert [path.name for path in tmp_path.iterdir()] == ["shard-000000.tar"]
    with pytest.raises(FileNotFoundError, match=r"index\.json: missing; it is written last"):
        Shards(tmp_path)
    write(({"cls": i} for i in range(5)), tmp_path, 3)           # and can be done again
    assert [sample["cls"] for sample in read(tmp_path)] == [0, 1, 2, 3, 4]


def test_a_complete_folder_is_not_written_again(tmp_path):
    write([{"cls": 1}], tmp_path, 1)
    with pytest.raises(FileExistsError, match="complete"):
        write([{"cls": 2}], tmp_path, 1)
    assert read(tmp_path)[0]["cls"] == 1


@pytest.mark.parametrize("text", ["", "{", "[1,"])
def test_an_index_that_cannot_be_read_is_a_broken_shard_in_one_line(tmp_path, text):
    write([{"cls": 1}], tmp_path, 1)
    (tmp_path / INDEX).write_text(text)
    with pytest.raises(BrokenShard, match=r"index\.json: .*; write the shards again$"):
        Shards(tmp_path)


# ---- broken --------------------------------------------------------------------------------------

@pytest.fixture
def broken(tmp_path):
    """A folder with one shard of four samples of two fields, and its path."""
    write(({"txt": f"number {i}", "pth": torch.tensor(i)} for i in range(4)), tmp_path, 9)
    return tmp_path, tmp_path / "shard-000000.tar"


def raised(folder):
    """What reading raises, which must be one line with the file and a byte, and how far it came."""
    found = []
    with pytest.raises(BrokenShard, match=r"shard-000000\.tar: .*at byte \d+") as caught:
        found.extend(sample["txt"] for sample in Shards(folder, shuffle=False))
    assert "\n" not in str(caught.value)
    return str(caught.value), found


def headers(path):
    with tarfile.open(path) as tar:
        return [(member.offset, member.offset_data, member.size) for member in tar]


def test_tarfile_alone_ends_at_a_bad_header_without_a_word(broken):
    _, path = broken
    change(path, headers(path)[3][0] + 10)
    with tarfile.open(path) as tar:
        assert len(tar.getnames()) == 3


def change(path, byte):
    data = bytearray(path.read_bytes())
    data[byte] ^= 0x55
    path.write_bytes(data)


def test_a_bad_header_is_an_error_and_no_sample_is_given_in_part(broken):
    folder, path = broken
    whole = path.read_bytes()
    for number, (offset, _, _) in enumerate(headers(path)):
        for byte in (0, 10, 130, 150, 156, 300):
            path.write_bytes(whole)
            change(path, offset + byte)
            why, found = raised(folder)
            assert f"no header at byte {offset}" in why, (number, byte)
            assert found == before(number)


def before(number):
    """The samples before a bad header of file `number`, of two a sample.

    That a sample is whole is known from the next header, so the last one is not given.
    """
    return [f"number {i}" for i in range((number - 1) // 2)]


def test_zeros_in_place_of_the_rest_are_an_error(broken):
    folder, path = broken
    whole = path.read_bytes()
    for number, (offset, _, _) in enumerate(headers(path)):
        path.write_bytes(whole[:offset] + bytes(len(whole) - offset))
        why, found = raised(folder)
        assert f"no header at byte {offset}" in why
        assert found == before(number)


def test_a_shard_that_was_cut_anywhere_is_an_error(broken):
    folder, path = broken
    whole = path.read_bytes()
    for size in [0, 1, 511, 512, 513, 5_000, len(whole) - 1, *range(0, len(whole), 1_024)]:
        path.write_bytes(whole[:size])
        assert raised(folder) == (f"{path}: ends at byte {size}, but {len(whole)} bytes were "
                                  "written; copy or write it again", [])


@pytest.mark.filterwarnings("ignore")
def test_a_value_that_cannot_be_decoded_is_an_error(broken):
    folder, path = broken
    offset = headers(path)[2][1]                                 # pth comes before txt
    change(path, offset)
    why, found = raised(folder)
    assert f"000000001.pth at byte {offset} can't be decoded" in why
    assert found == ["number 0"]


def test_every_changed_byte_is_found_by_check(broken):
    folder, path = broken
    whole = path.read_bytes()
    check(folder)
    for byte in range(0, len(whole), 97):
        path.write_bytes(whole)
        change(path, byte)
        with pytest.raises(BrokenShard, match=r"shard-000000\.tar: not the \d+ bytes"):
            check(folder)
    path.write_bytes(whole)
    check(folder)


def test_skipped_samples_are_not_read(broken, monkeypatch):
    folder, path = broken
    asked = []
    monkeypatch.setattr(mini_shards_tar, "sample_of", lambda path, tar, key, files, decoded:
                        asked.append(key) or {"__key__": key})
    told = read_index(folder)[path.name]
    found = [number for number, _ in mini_shards_tar.read_shard(path, told, {1, 2})]
    assert (found, asked) == ([1, 2], ["000000001", "000000002"])


def test_what_comes_after_the_last_sample_asked_for_is_not_looked_at(broken):
    folder, path = broken
    told = read_index(folder)[path.name]
    change(path, headers(path)[5][0])                            # the second file of sample 2
    found = [number for number, _ in mini_shards_tar.read_shard(path, told, {0, 1})]
    assert found == [0, 1]
    with pytest.raises(BrokenShard):
        list(mini_shards_tar.read_shard(path, told, {0, 2}))
