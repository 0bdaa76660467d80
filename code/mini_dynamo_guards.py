"""Sources and guards: where a value came from, and what must still hold before a graph runs again.

A source is a Python expression over the state of a frame: L its locals, G its globals, S its stack.
A guard is a source, a check and words. Source: torch/_dynamo/guards.py, source.py.
"""
import types

import torch

PLAIN_KEYS = (str, int, float, bool, type(None))


class Source:
    """Where a value was found, as an expression such as L['self'].layers[0]."""

    def __init__(self, text):
        self.text = text
        self._code = compile(text, "<source>", "eval")

    def fetch(self, state):
        return eval(self._code, state)

    def attr(self, name):
        return Source(f"{self.text}.{name}")

    def item(self, key):
        return Source(f"{self.text}[{key!r}]")

    def of(self, pattern):
        """A source by a pattern, such as 'type({})'."""
        return Source(pattern.format(self.text))

    def __repr__(self):
        return self.text


class Guard:
    """`fetch` what the source says, `test` it; `words` for the reader."""

    def __init__(self, source, words, test, why=None):
        self.source, self.words, self.test, self.why = source, words, test, why

    def check(self, state):
        try:
            return self.test(self.source.fetch(state) if self.source else state)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            return False                              # what was there is not there any more

    def reason(self, state):
        """In words, what failed."""
        try:
            value = self.source.fetch(state) if self.source else None
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            return f"{self.source} is gone"
        return self.why(value) if self.why else self.words

    def __repr__(self):
        return self.words


# --- The kinds ------------------------------------------------------------------------------------

def equals(source, value):
    """CONSTANT_MATCH: same type, same value. By repr, because 0.0 == -0.0 and nan != nan."""
    kind, text = type(value), repr(value)
    return Guard(source, f"{source} == {text}",
                 lambda now: type(now) is kind and (now is value or repr(now) == text))


def identical(source, value):
    """ID_MATCH: this very object."""
    return Guard(source, f"{source} is {title(value)}", lambda now: now is value)


def same_code(source, function):
    """CLOSURE_MATCH: a function with this code; what it closes over is guarded where it is read."""
    code = function.__code__
    return Guard(source, f"{source}.__code__ is {function.__qualname__}'s",
                 lambda now: type(now) is type(function) and now.__code__ is code)


def typed(source, value):
    """TYPE_MATCH."""
    kind = type(value)
    return Guard(source, f"type({source}) is {kind.__qualname__}", lambda now: type(now) is kind)


def length(source, value):
    """SEQUENCE_LENGTH, with the type."""
    kind, count = type(value), len(value)
    return Guard(source, f"len({source}) == {count} and it is a {kind.__name__}",
                 lambda now: type(now) is kind and len(now) == count)


def keys(source, value):
    """DICT_KEYS_MATCH, in order, with the type."""
    kind, wanted = type(value), list(value)
    return Guard(source, f"list({source}) == {wanted}",
                 lambda now: type(now) is kind and list(now) == wanted
                 and all(type(a) is type(b) and repr(a) == repr(b)
                         for a, b in zip(now, wanted, strict=True)))


def absent(source, name):
    """NOT_PRESENT: the object has no such attribute of its own."""
    return Guard(source, f"not hasattr({source}, {name!r})",
                 lambda now: name not in getattr(now, "__dict__", ()))


def lacks(source, name):
    """An attribute that is found nowhere, neither on the object nor on its class."""
    return Guard(source, f"{source} has no {name!r}", lambda now: not hasattr(now, name) if getattr(
        type(now), "__getattr__", None) in (None, torch.nn.Module.__getattr__) else False)


def missing(source, name):
    """A name that the globals do not hold, so that the builtin is meant; or an unbound local."""
    return Guard(source, f"{name!r} not in {source}", lambda now: name not in now)


def nearest(source, name, after, place):
    """Between two classes of this order, none says anything about the name."""
    return Guard(source, f"{name!r} is that of {source}[{place}]",
                 lambda now: not any(name in vars(kind) for kind in now[after:place]))


def aliases(source, other):
    """DUPLICATE_INPUT: two places, one object."""
    def test(state):
        return source.fetch(state) is other.fetch(state)
    return Guard(None, f"{source} is {other}", test)


def distinct(sources):
    """NO_TENSOR_ALIASING: so many places, so many objects."""
    def test(state):
        return len({id(source.fetch(state)) for source in sources}) == len(sources)
    return Guard(None, f"no two of {', '.join(map(repr, sources))} are one object", test)


def overlap(sources, state):
    """STORAGE_OVERLAPPING: which of the tensors overlap in memory, and by how many bytes."""
    wanted = overlaps([source.fetch(state) for source in sources])
    return Guard(None, f"{', '.join(map(repr, sources))} overlap as they did: {wanted or 'never'}",
                 lambda now: overlaps([source.fetch(now) for source in sources]) == wanted)


def overlaps(tensors):
    """{(place, other place): distance of their first bytes} of those that share some bytes."""
    spans = [span(tensor) for tensor in tensors]
    return {(i, j): b[0] - a[0] for j, b in enumerate(spans) for i, a in enumerate(spans[:j])
            if a[0] < b[1] and b[0] < a[1]}


def span(tensor):
    """The first byte and the one behind the last, by address; of nothing if it has no numbers."""
    if tensor.layout is not torch.strided or not tensor.numel():
        return 0, 0
    last = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.data_ptr(), tensor.data_ptr() + (last + 1) * tensor.element_size()


PROPERTIES = {
    "dtype": lambda t: t.dtype, "device": lambda t: t.device, "shape": lambda t: tuple(t.shape),
    "stride": lambda t: t.stride() if t.layout is torch.strided else None,
    "requires_grad": lambda t: t.requires_grad, "layout": lambda t: t.layout,
    "is_conj": lambda t: t.is_conj(), "is_neg": lambda t: t.is_neg(),
    "is_inference": lambda t: t.is_inference()}


def tensor(source, value):
    """TENSOR_MATCH: the type and what a graph may have used of it; never its numbers."""
    kind = type(value)
    wanted = {name: get(value) for name, get in PROPERTIES.items()}

    def why(now):
        if type(now) is not kind:
            return f"{source} is a {type(now).__name__}, expected {kind.__name__}"
        name, want, got = next((name, want, got) for name, want in wanted.items()
                               if (got := PROPERTIES[name](now)) != want)
        return f"tensor {source} {name} mismatch: expected {want}, got {got}"
    words = (f"{source} is a {kind.__name__} {str(value.dtype)[6:]} {list(value.shape)} "
             f"stride={value.stride() if value.layout is torch.strided else None} "
             f"{value.device} requires_grad={value.requires_grad}")
    return Guard(source, words, lambda now: type(now) is kind and all(
        PROPERTIES[name](now) == want for name, want in wanted.items()), why)


def ambient():
    """GLOBAL_STATE: switches that change what an operation does, without being anybody's argument.

    Source: torch/csrc/dynamo/guards.cpp (GlobalStateGuard).
    """
    for name, get in SWITCHES.items():
        yield switch(name, get, get())


def switch(name, get, value):
    return Guard(None, f"{name} == {value}", lambda state: get() == value,
                 lambda _: f"GLOBAL_STATE changed: {name}, expected {value}, got {get()}")


def default_device():
    """What set_default_device and `with torch.device(...)` have put on the stack of modes."""
    return [str(torch._C._get_function_stack_at(k).device)
            if hasattr(torch._C._get_function_stack_at(k), "device")
            else id(torch._C._get_function_stack_at(k))
            for k in range(torch._C._len_torch_function_stack())]


SWITCHES = {
    "grad_mode": torch.is_grad_enabled, "inference_mode": torch.is_inference_mode_enabled,
    "default_dtype": torch.get_default_dtype, "default_device": default_device,
    "autocast": lambda: (torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"),
                         torch.is_autocast_enabled("cuda")),
    "deterministic": torch.are_deterministic_algorithms_enabled,
}


def title(value):
    """A name for an object that is the same on every machine."""
    if isinstance(value, types.ModuleType):           # not by getattr: it may have its own
        return vars(value).get("__name__")
    return getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or (
        f"this {type(value).__name__}")
