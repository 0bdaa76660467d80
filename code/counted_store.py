"""A folder as object storage shows it: nothing stays open there, and each request is counted.

The notebooks of chapter 4 count requests and bytes on it. A clock would measure the machine.
"""

import io
from pathlib import Path


class Store:
    """The files of a folder as objects; `requests` and `bytes` say what has been asked for.

    Its clock is computed: each request waits for `latency` s, and bytes come at `bandwidth` B/s.
    """

    def __init__(self, folder, latency=0.01, bandwidth=1e9):
        self.folder, self.latency, self.bandwidth = Path(folder), latency, bandwidth
        self.requests = self.bytes = 0

    @property
    def names(self):
        """The names of all objects but the index of shards, sorted."""
        return sorted(path.name for path in self.folder.iterdir() if path.suffix != ".json")

    @property
    def seconds(self):
        """What one reader that makes one request after another has waited."""
        return self.requests * self.latency + self.bytes / self.bandwidth

    def get(self, name, start=0, size=None):
        """`size` bytes of an object from `start` on, or all that follow: one request."""
        with (self.folder / name).open("rb") as file:
            file.seek(start)
            data = file.read(-1 if size is None else size)
        self.requests += 1
        self.bytes += len(data)
        return data

    def open(self, name):
        """A file to read; each read is a request, for the bytes that it asks for."""
        return Ranges(self, name)

    def stream(self, name):
        """A file to read once, forward: one request for the whole object."""
        return io.BytesIO(self.get(name))


class Ranges(io.RawIOBase):
    """A file in a store, without a buffer: it can seek, because a request may ask for a range."""

    def __init__(self, store, name):
        self.store, self.name, self.at = store, name, 0
        self.size = (store.folder / name).stat().st_size

    def readable(self):
        return True

    def seekable(self):
        return True

    def seek(self, offset, whence=io.SEEK_SET):
        self.at = {io.SEEK_SET: 0, io.SEEK_CUR: self.at, io.SEEK_END: self.size}[whence] + offset
        return self.at

    def readinto(self, buffer):
        data = self.store.get(self.name, self.at, len(buffer))
        buffer[:len(data)] = data
        self.at += len(data)
        return len(data)
