"""What a worker sends arrives: errors of any class, storages of any kind; and how it ended."""

import asyncio
import os
import signal
import sys
import time
import traceback

import pytest
import torch
from torch.utils import data

from loader_data import Acting
from mini_loader import DataLoader
from mini_loader_slots import Slots

pytestmark = [pytest.mark.usefixtures("start_by_fork", "no_worker_stays"),
              pytest.mark.filterwarnings("ignore:This DataLoader will create")]


# ---- errors --------------------------------------------------------------------------------------

class Plain(ValueError):
    pass


class TwoArguments(Exception):
    def __init__(self, path, line):
        super().__init__(path, line)


class Keywords(Exception):
    def __init__(self, *, code):
        super().__init__(f"code {code}")


class Nothing(Exception):
    def __init__(self):
        super().__init__("always the same")


class Forgets(Exception):
    """Takes one argument, and says something else."""

    def __init__(self, code):
        super().__init__("failed")


class Numbered(Exception):
    """Takes a number alone."""

    def __init__(self, code):
        super().__init__(f"code {code:d}")


class WithMessage(Exception):
    """An attribute of the class that torch takes for a parameter of the constructor."""

    message = "a class attribute"


class MessageProperty(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)

    @property
    def message(self):
        return "made up"


class MessageArgument(Exception):
    message = "by default"

    def __init__(self, message):
        super().__init__(message)
        self.message = message


class Silent(Exception):
    def __str__(self):
        return "nothing to see"


class Refuses(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class KeyLike(KeyError):
    pass


class Special(Exception):
    """Something else comes out of the constructor."""

    def __new__(cls, *given):
        return super().__new__(cls, *given) if len(given) == 2 else 3


class OwnGroup(ExceptionGroup):
    pass


class OddGroup(ExceptionGroup):
    def __new__(cls, parts):
        return super().__new__(cls, "odd", parts)


class ManyArguments(OSError):
    def __init__(self, a, b, c):
        super().__init__(a, b)


async def fail(error):
    raise error


async def tasks():
    async with asyncio.TaskGroup() as group:
        group.create_task(fail(Plain("first")))
        group.create_task(fail(KeyError("second")))


def group():
    return ExceptionGroup("several", [Plain("first"), ExceptionGroup("inner", [KeyError("deep")])])


def local():
    class Local(Exception):
        pass
    return Local("hidden")


ERRORS = {
    "Plain": lambda: Plain("x"), "two arguments": lambda: TwoArguments("x", 3),
    "keywords": lambda: Keywords(code=3), "nothing": Nothing, "forgets": lambda: Forgets(3),
    "a number": lambda: Numbered(3), "message": lambda: WithMessage("x"),
    "message property": lambda: MessageProperty(1, 2), "message argument": lambda: MessageArgument(
        "x"), "silent": lambda: Silent("x"), "refuses": lambda: Refuses("x"),
    "KeyError": lambda: KeyError("x"),
    "like KeyError": lambda: KeyLike("x"), "special": lambda: Special(1, 2),
    "OSError": lambda: FileNotFoundError(2, "none", "a.jpg"),
    "OSError of many": lambda: ManyArguments(1, 2, 3),
    "Unicode": lambda: UnicodeDecodeError("utf-8", b"x", 0, 1, "odd"), "local": local,
    "group": group, "own group": lambda: OwnGroup("several", [Plain("first")]),
    "odd group": lambda: OddGroup([Plain("first")]), "IndexError": lambda: IndexError(),
    "SyntaxError": lambda: SyntaxError("bad", ("a.py", 1, 2, "text")),
    "out of memory": lambda: torch.OutOfMemoryError("much"), "ImportError": lambda: ImportError(
        "x", name="y"), "RecursionError": lambda: RecursionError("deep")}
CHANGED = {"two arguments", "keywords", "nothing", "a number", "message property", "special",
           "OSError of many", "Unicode", "local"}     # cannot be made again: RuntimeError, in words


class Broken(data.Dataset):
    def __init__(self, name):
        self.name = name

    def __len__(self):
        return 1

    def __getitem__(self, i):
        raise ERRORS[self.name]()


def raised(dataset):
    """The error of an epoch, and all that a traceback of it shows; no frame keeps the workers."""
    try:
        list(DataLoader(dataset, None, num_workers=1, max_restarts=0))
    except Exception as error:
        shown = "".join(traceback.format_exception(error))
        return error.with_traceback(None), shown
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_of_any_class_arrives_with_its_class_and_its_traceback(name):
    thrown = ERRORS[name]()
    error, shown = raised(Broken(name))
    kind = ExceptionGroup if name == "odd group" else type(thrown)
    assert type(error) is (RuntimeError if name in CHANGED else kind)
    assert type(thrown).__name__ in shown
    assert "raise ERRORS[self.name]()" in shown          # the line that raised it
    assert "at index 0 of the dataset" in shown


def kinds(error):
    return (type(error), [kinds(part) for part in getattr(error, "exceptions", ())])


def test_a_group_arrives_with_all_that_is_in_it():
    def caught(act):
        try:
            raise raised(Acting(1, {0: act}))[0]
        except* KeyError as keys:
            first = kinds(keys)
        except* Plain as plains:
            second = kinds(plains)
        return first, second
    assert caught(lambda i: (_ for _ in ()).throw(group())) == (
        (ExceptionGroup, [(ExceptionGroup, [(KeyError, [])])]), (ExceptionGroup, [(Plain, [])]))
    assert caught(lambda i: asyncio.run(tasks())) == (
        (ExceptionGroup, [(KeyError, [])]), (ExceptionGroup, [(Plain, [])]))


# ---- storages ------------------------------------------------------------------------------------

def floats():
    return torch.arange(3.0)


def large():
    return torch.arange(100_000.0)


def tensor_and_storage():
    t = large()
    return [t, t[5:], t.untyped_storage(), t.untyped_storage()]


THINGS = {
    "untyped": lambda: floats().untyped_storage(), "large": lambda: large().untyped_storage(),
    "untyped of bytes": lambda: torch.UntypedStorage(5).fill_(7),
    "empty": lambda: torch.UntypedStorage(0),
    "typed": lambda: floats().storage(), "typed, empty": lambda: torch.zeros(0).storage(),
    "typed, large": lambda: large().storage(), "bfloat16": lambda: floats().bfloat16().storage(),
    "FloatStorage": lambda: torch.FloatStorage([1, 2]), "LongStorage": lambda: torch.LongStorage(
        [1, 2]), "in a dictionary": lambda: {"a": [floats().untyped_storage()]},
    "beside its tensor": tensor_and_storage, "of a view": lambda: large()[7:9].untyped_storage(),
    "a parameter's": lambda: torch.nn.Parameter(floats()).untyped_storage(),
    "sparse": lambda: torch.eye(3).to_sparse(), "nested": lambda: torch.nested.nested_tensor(
        [floats(), floats()[:1]]), "requires a gradient": lambda: floats().requires_grad_(),
    "complex, conjugated": lambda: torch.ones(2, dtype=torch.complex64).conj(),
    "on meta": lambda: torch.ones(2, device="meta"), "Size": lambda: torch.Size([1, 2]),
    "dtype": lambda: torch.float16, "device": lambda: torch.device("cpu")}


class One(data.Dataset):
    def __init__(self, name):
        self.name = name

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return THINGS[self.name]()


def seen(thing):
    """What can be compared."""
    if isinstance(thing, torch.UntypedStorage):
        return "untyped", thing.tolist()
    if isinstance(thing, torch.storage.TypedStorage):
        return "typed", thing.dtype, thing.tolist()
    if isinstance(thing, torch.Tensor):
        if thing.is_meta:
            return tuple(thing.shape), thing.device
        parts = thing.unbind() if thing.is_nested else [thing.to_dense()]
        return thing.layout, thing.requires_grad, [part.tolist() for part in parts]
    if isinstance(thing, dict):
        return {key: seen(value) for key, value in thing.items()}
    return [*map(seen, thing)] if type(thing) is list else thing


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated", "ignore:The PyTorch API of nested")
@pytest.mark.parametrize("transport", [None, Slots], ids=["lent", "copied"])
@pytest.mark.parametrize("name", THINGS)
def test_whatever_holds_numbers_arrives_from_a_worker(name, transport):
    loader = DataLoader(One(name), None, num_workers=1, collate_fn=same)
    if transport:
        loader.transport = transport
    assert [seen(batch) for batch in loader] == [seen(THINGS[name]())] * 2


def same(sample):
    return sample


def test_a_storage_and_a_tensor_in_it_are_one_memory_as_before():
    tensor, part, storage, again = next(iter(DataLoader(One("beside its tensor"), None,
                                                        num_workers=1, collate_fn=same)))
    assert {part.untyped_storage().data_ptr(), storage.data_ptr(), again.data_ptr()} == {
        tensor.data_ptr()}
    tensor[0] = 7
    assert torch.tensor(storage[:4], dtype=torch.uint8).view(torch.float32).item() == 7


# ---- how a worker ended --------------------------------------------------------------------------

def closes_and_lingers(i):
    """No pipe is open any more, and the process is in no hurry."""
    os.closerange(3, 256)
    time.sleep(30)


def killed(by):
    def act(i):
        os.kill(os.getpid(), by)
        time.sleep(30)
    return act


@pytest.mark.parametrize(("act", "said", "unsaid"), [
    (closes_and_lingers, "killed here", "SIGKILL"),
    (killed(signal.SIGKILL), "killed by SIGKILL", "here"),
    (killed(signal.SIGTERM), "killed by SIGTERM", "here"),
    (lambda i: os._exit(3), "exit code 3", "kill"),
    (lambda i: sys.exit(4), "exit code 4", "kill")],
    ids=["lingers", "KILL", "TERM", "exit", "raise"])
def test_the_loader_does_not_report_its_own_kill_as_another_s(act, said, unsaid):
    error, _ = raised(Acting(1, {0: act}))
    assert type(error) is RuntimeError
    assert "worker 0 died" in str(error)
    assert said in str(error)
    assert unsaid not in str(error)
