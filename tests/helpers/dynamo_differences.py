"""Where mini_dynamo makes other graphs or breaks than torch.compile, and why.

Each entry: cases, and in plain words what differs and the reason. A case that differs and is not
listed fails the test, and so does a listed one that does not differ any more.
"""

from typing import NamedTuple


class Listed(NamedTuple):
    what: str
    reason: str
    cases: tuple[str, ...]


LISTED: tuple[Listed, ...] = ()


def reasons():
    """{case: its entry}."""
    return {case: one for one in LISTED for case in one.cases}
