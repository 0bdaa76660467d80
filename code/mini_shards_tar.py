"""One shard, a tar file in the format of webdataset: writing it, reading it, what may be broken.

A sample is a dict of fields, {"txt": "a dog", "cls": 3}. In the tar file each field is a file. Its
name is the key of the sample, a dot, and the name of the field; the files of a sample stand one
after another, and the first dot after the last slash ends the key:

    shard-000000.tar    000000000.cls  000000000.txt  000000001.cls  000000001.txt  …
    shard-000001.tar    …
    index.json          {"shard-000000.tar": {"samples": 1000, "files": 2000, "bytes": …}, …}

The index is ours, and webdataset does not need it: it says what a whole shard is. It is written
last, so a folder that has one was written to its end.
Source: webdataset 1.0.2, tariterators.py:base_plus_ext and group_by_keys, writer.py:TarWriter.
"""
import io
import json
import os
import re
import tarfile
import zlib
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import torch

INDEX = "index.json"
KEY = re.compile(r"(?!__)[^.\0]+")                 # webdataset skips what lies in a folder __…__
FIELD = re.compile(r"[a-z0-9][a-z0-9_.]*")         # and makes the names of fields lower case


class BrokenShard(RuntimeError):
    """A shard is not what was written: one line, with the file and the byte."""


# --- 1. A field as bytes -----------------------------------------------------------------------

def save(value):
    """What torch.save writes; of a tensor, its own elements and not all of its storage."""
    file = io.BytesIO()
    torch.save(value.clone() if isinstance(value, torch.Tensor) else value, file)
    return file.getvalue()


def load(data):
    return torch.load(io.BytesIO(data), weights_only=True)


# The last part of a field's name -> to bytes, from bytes; a small part of webdataset's table.
CODECS = {
    "txt": (str.encode, bytes.decode),
    "cls": (lambda number: str(number).encode(), int),
    "json": (lambda value: json.dumps(value).encode(), json.loads),
    "pth": (save, load),
}


def encode(field, value):
    """The bytes of a field. Bytes stay as they are; TypeError for what has no codec."""
    kind = field.rpartition(".")[2]
    if isinstance(value, bytes):
        return value
    if kind not in CODECS:
        raise TypeError(f"field {field}: a {type(value).__name__} needs a name that ends with one "
                        f"of {', '.join(CODECS)}; or give bytes")
    return CODECS[kind][0](value)


def decode(field, data):
    """The value of a field; bytes if its name says nothing."""
    kind = field.rpartition(".")[2]
    return CODECS[kind][1](data) if kind in CODECS else data


# --- 2. Writing --------------------------------------------------------------------------------

def write(samples, folder, samples_per_shard):
    """Write samples, dicts of fields, as shards with an index, which it returns.

    "__key__", if there, is the key, otherwise the number of the sample is. The same samples make
    the same bytes. A shard gets its name when it is whole and on the disk. Raises FileExistsError
    for a folder that has an index; TypeError and ValueError for a sample that can't be written.
    """
    if samples_per_shard < 1:
        raise ValueError(f"samples_per_shard {samples_per_shard}: a shard has at least one sample")
    folder, index = Path(folder), {}
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / INDEX).exists():
        raise FileExistsError(f"{folder}: has an index, so it is complete; take another folder")
    for shard, numbered in groupby(enumerate(samples), lambda pair: pair[0] // samples_per_shard):
        path = folder / f"shard-{shard:06d}.tar"
        with whole(path) as file:
            counts = write_shard(file, numbered)
        index[path.name] = {**counts, "bytes": path.stat().st_size, "crc32": crc32(path)}
    with whole(folder / INDEX) as file:
        file.write(json.dumps(index, indent=1).encode())
    return index


@contextmanager
def whole(path):
    """A file to write, which has another name until all of it is on the disk.

    A rename is atomic, so whoever looks finds the whole file or none.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_shard(file, numbered):
    """Write (number, sample) pairs; how many samples and files they were."""
    counts, before = {"samples": 0, "files": 0}, None
    with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for number, sample in numbered:
            key = sample.get("__key__", f"{number:09d}")
            fields = sorted(sample.keys() - {"__key__"})
            check_names(number, key, fields)
            if key == before:
                raise ValueError(f"sample {number}: key {key!r} again, and the two would be read "
                                 "as one; give each a key of its own")
            for field in fields:
                add(tar, f"{key}.{field}", encode(field, sample[field]))
            counts["samples"] += 1
            counts["files"] += len(fields)
            before = key
    return counts


def check_names(number, key, fields):
    """ValueError for what would be read under another name, or not at all."""
    if not fields:
        raise ValueError(f"sample {number}: no fields, so nothing of it would be written")
    if not (isinstance(key, str) and KEY.fullmatch(key)):
        raise ValueError(f"sample {number}: key {key!r} has a dot, begins with __ or is no text")
    if wrong := [field for field in fields if not FIELD.fullmatch(field)]:
        raise ValueError(f"sample {number}: field {wrong[0]!r} is not made of a-z, 0-9, _ and dots")


def add(tar, name, data):
    """A file of a tar file, with the time 0 and no owner, so that equal samples are equal bytes."""
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), 0o444
    tar.addfile(member, io.BytesIO(data))


# --- 3. Reading --------------------------------------------------------------------------------

def read_index(folder):
    """Name of a shard -> its samples, bytes and checksum.

    Raises FileNotFoundError where there is none, BrokenShard where it can't be read.
    """
    path = Path(folder) / INDEX
    if not path.exists():
        raise FileNotFoundError(f"{path}: missing; it is written last, so write the shards again")
    try:
        return json.loads(path.read_bytes())
    except ValueError as error:
        raise BrokenShard(f"{path}: {error}; write the shards again") from None


def read_shard(path, told, numbers, decoded=decode):
    """(number, sample) for those `numbers` of a shard, from its begin to its end, each once.

    Of what is not asked for only the headers are read, and after the last number nothing. `told`
    is the shard's entry in the index. `decoded` makes a value of a field's name and its bytes.
    BrokenShard if it is shorter or longer than written, or if what is read has a bad header or a
    value that can't be decoded. Other bytes may have changed: see `check`.
    """
    size, last = path.stat().st_size, max(numbers)
    if size != told["bytes"]:
        raise BrokenShard(f"{path}: ends at byte {size}, but {told['bytes']} bytes were written; "
                          "copy or write it again")
    with path.open("rb") as file, opened(path, file) as tar:
        by_key = groupby(members(path, tar, told["files"]), lambda member: split(member.name)[0])
        for number, (key, files) in enumerate(by_key):
            if number in numbers:
                yield number, sample_of(path, tar, key, files, decoded)
            if number == last:
                return


def members(path, tar, wanted):
    """The files in a tar file. BrokenShard if they are too few: tarfile ends at a bad header as at
    the end, without a word.
    """
    found = 0
    for member in tar:
        yield member
        found += 1
    if found < wanted:
        raise BrokenShard(f"{path}: no header at byte {tar.offset}, where file {found + 1} of "
                          f"{wanted} begins; copy or write it again")


def opened(path, file):
    """A tar file; BrokenShard if its first header is bad."""
    try:
        return tarfile.open(fileobj=file, mode="r:")
    except tarfile.TarError as error:
        raise BrokenShard(f"{path}: no header at byte 0: {error}; copy or write it again") from None


def split(name):
    """A name in a tar file as the key and the name of the field."""
    folder, slash, file = name.rpartition("/")
    key, _, field = file.partition(".")
    return folder + slash + key, field


def sample_of(path, tar, key, files, decoded):
    """One sample; BrokenShard for a field that can't be decoded."""
    sample = {"__key__": key}
    for file in files:
        field = split(file.name)[1]
        try:
            sample[field] = decoded(field, tar.extractfile(file).read())
        except Exception as error:
            why = " ".join(f"{type(error).__name__}: {error}".split())
            raise BrokenShard(f"{path}: {file.name} at byte {file.offset_data} can't be decoded "
                              f"({why}); copy or write it again") from error
    return sample


def crc32(path):
    """The checksum of a file, read a megabyte at a time."""
    checksum = 0
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            checksum = zlib.crc32(piece, checksum)
    return checksum


def check(folder):
    """Read every byte of every shard; BrokenShard for the first that is not what was written."""
    for name, told in read_index(folder).items():
        path = Path(folder) / name
        if (path.stat().st_size, crc32(path)) != (told["bytes"], told["crc32"]):
            raise BrokenShard(f"{path}: not the {told['bytes']} bytes that were written; copy or "
                              "write it again")
