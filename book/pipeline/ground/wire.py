"""What a web host sends for a file: text with gzip, the rest as it is."""

from __future__ import annotations

import gzip
from pathlib import Path

PACKED = (".woff2", ".png", ".jpg")  # compressed already


def wire_body(file: Path) -> bytes:
    """The body of the answer."""
    body = file.read_bytes()
    return body if file.suffix in PACKED else gzip.compress(body, 6)
