"""A binary file that counts what is read of it."""

import io


class CountedFile(io.FileIO):
    """An unbuffered file; `bytes_read` grows with every read, of the same bytes too."""

    bytes_read = 0

    def read(self, size=-1):
        if size < 0:
            return self.readall()
        found = super().read(size)
        self.bytes_read += len(found)
        return found

    def readinto(self, buffer):
        count = super().readinto(buffer)
        self.bytes_read += count
        return count

    def readall(self):
        found = super().readall()
        self.bytes_read += len(found)
        return found
