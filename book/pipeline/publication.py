"""What is known only once the book is published; all of it stands here, empty until then."""

from __future__ import annotations

REPOSITORY = ""  # address that `git clone` takes
