"""What the calls of a function compiled by mini_dynamo go through, noted while it happens.

Nothing is looked up afterwards: the cache, the back end's graph, the changes and the one real
instruction note themselves.
"""

import contextlib
import io
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from unittest.mock import patch

import mini_dynamo
from mini_dynamo_capture import Entry, operations

CAPTURE, GUARDS, GRAPH, CHANGES, REAL = "capture", "guards", "graph", "changes", "real"


class Event(NamedTuple):
    """`what`: the operations of a graph, how many changes, the name of a real instruction."""

    kind: str
    what: str


def life(fn: Callable, arguments: list[tuple]) -> list[list[Event]]:
    """Compile `fn` once and call it with each tuple of arguments: the events of each call."""
    events: list[Event] = []

    def note(kind: str, what: Any = "") -> None:
        events.append(Event(kind, str(what)))

    def backend(module: Any, examples: list) -> Callable:
        names = ", ".join(getattr(node.target, "__name__", node.target)
                          for node in operations(module.graph))

        def run(*values: Any) -> Any:
            note(GRAPH, names)
            return module.forward(*values)
        return run

    compiled = mini_dynamo.compile(fn, backend)
    found = []
    with noting(note), contextlib.redirect_stdout(io.StringIO()):
        for each in arguments:
            compiled(*each)
            found.append(list(events))
            events.clear()
    return found


@contextlib.contextmanager
def noting(note: Callable) -> Iterator[None]:
    """Meanwhile, each part of mini_dynamo tells `note` that it was busy."""
    entry, run, step = mini_dynamo.Session.entry, Entry.run, mini_dynamo.step

    def noted_entry(session: Any, frame: Any) -> Any:
        before = len(session.point(frame.code, frame.at, len(frame.stack)).entries)
        found = entry(session, frame)
        after = len(session.point(frame.code, frame.at, len(frame.stack)).entries)
        if found is not None:
            note(CAPTURE if after > before else GUARDS)
        return found

    def noted_run(self: Any, frame: Any) -> Any:
        done = run(self, frame)
        if self.changes:
            note(CHANGES, len(self.changes))
        return done

    def noted_step(frame: Any, world: Any) -> None:
        note(REAL, frame.instruction.opname)
        step(frame, world)

    with (patch.object(mini_dynamo.Session, "entry", noted_entry),
          patch.object(Entry, "run", noted_run), patch.object(mini_dynamo, "step", noted_step)):
        yield
