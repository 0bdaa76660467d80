"""How an error gets from a worker of mini_loader to you: as its class and its traceback in words.

The exception itself may not survive pickling, and its frames never do. So what is raised again is
made anew, whatever its constructor thinks of that.
"""
import pickle
import sys
import traceback
from dataclasses import dataclass


class Words(str):
    """A text that is shown as it is, even by KeyError, which shows the repr of its argument."""

    __slots__ = ()

    def __repr__(self):
        return str(self)


@dataclass
class Failure:
    """An exception for another process; `parts` are those of an ExceptionGroup."""

    kind: type
    text: str
    parts: tuple = ()

    @classmethod
    def of(cls, error, where):
        told = "".join(traceback.format_exception(error))
        parts = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
        text = f"Caught {type(error).__name__} {where}.\nOriginal {told}"
        return cls(sendable(type(error)), text, tuple(cls.of(part, where) for part in parts))

    def reraise(self):
        raise self.exception()

    def exception(self):
        """An exception of `kind`, or if none can be made of a text, a plain one; it tells all."""
        general = ExceptionGroup if self.parts else RuntimeError
        given = [part.exception() for part in self.parts]
        arguments = (Words(self.text), *([given] if given else []))
        error = attempt(self.kind, *arguments)
        if not isinstance(error, self.kind):
            return general(*arguments)
        if self.text not in (attempt(str, error) or ""):       # it has something else to say
            error.add_note(self.text)
        return error


def attempt(function, *arguments):
    """What it returns, or None if it raises."""
    try:
        return function(*arguments)
    except Exception:
        return None


def sendable(kind):
    """The class, if another process can have it, or RuntimeError. So does StopIteration become,
    which out of `next` would end the epoch without a word."""
    try:
        pickle.dumps(kind)
    except Exception:
        return RuntimeError
    return RuntimeError if issubclass(kind, StopIteration) else kind


def wrapped(where):
    """The exception being handled."""
    return Failure.of(sys.exception(), where)
