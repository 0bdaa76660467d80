"""What a check of written files finds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One thing to mend; as text it is one line with file, place and remedy."""

    file: str
    line: int
    text: str
    card: str = ""

    def __str__(self) -> str:
        who = f"card '{self.card}': " if self.card else ""
        return f"{self.file}:{self.line}: {who}{self.text}"
