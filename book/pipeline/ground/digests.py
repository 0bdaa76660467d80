"""sha256 as this book writes it: of texts, files and JSON values."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


def of(content: str | bytes) -> str:
    """Of a text, in UTF-8, or of bytes."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def of_file(path: Path) -> str:
    return of(path.read_bytes())


def of_value(value: Any, indent: int | None = None) -> str:
    """Of a JSON value in its canonical spelling; stored digests fix `indent`."""
    return of(canonical(value, indent))


def canonical(value: Any, indent: int | None = None) -> str:
    """The one spelling of a JSON value."""
    return json.dumps(value, ensure_ascii=False, indent=indent, sort_keys=True)


def option_key(english: str) -> str:
    """The name of a wrong option in stored answers, by its English text."""
    return f"d-{of(english)[:8]}"


def versioned(address: str, content: str | bytes) -> str:
    """An address that changes with its content, so that no browser keeps an old edition."""
    return f"{address}?v={of(content)[:8]}"
