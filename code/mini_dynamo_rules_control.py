"""Rules for control: attributes and calls, where to go next, exceptions and `with`.

Source: torch/_dynamo/symbolic_convert.py, CPython's Python/bytecodes.c.
"""
import operator
import sys

from mini_dynamo_bytecode import NULL


class Returned(Exception):
    """RETURN_VALUE: the frame is done."""

    def __init__(self, value):
        self.value = value


class Yielded(Exception):
    """YIELD_VALUE: a generator's frame rests."""

    def __init__(self, value):
        self.value = value


# --- 1. Attributes and calls ----------------------------------------------------------------------

def load_attr(f, i, w):
    f.push(w.getattr(f.pop(), i.argval))


def load_method(f, i, w):
    f.push(w.getattr(f.pop(), i.argval), NULL)


def load_attr_312(f, i, w):
    (load_method if i.arg & 1 else load_attr)(f, i, w)


def load_super_attr(f, i, w):
    _, cls, this = f.popn(3)
    f.push(w.getattr(w.super(cls, this), i.argval))
    if i.arg & 1:
        f.push(NULL)


def store_attr(f, i, w):
    value, owner = f.popn(2)
    w.setattr(owner, i.argval, value)


def delete_attr(f, i, w):
    w.delattr(f.pop(), i.argval)


def call(f, i, w):
    """Two slots and `arg` arguments; of the slots one may be NULL, on either side."""
    names, f.kw_names = f.kw_names, ()
    call_with(f, w, f.popn(i.arg + 2), names)


def call_kw(f, i, w):
    names = f.pop()
    call_with(f, w, f.popn(i.arg + 2), names)


def call_with(f, w, slots, names):
    function, *args = [value for value in slots[:2] if value is not NULL] + slots[2:]
    split = len(args) - len(names)
    f.push(w.call(function, args[:split], dict(zip(names, args[split:], strict=True)), f))


def call_ex(f, i, w):
    kwargs = f.pop() if i.arg & 1 else {}
    call_unpacked(f, w, kwargs)


def call_ex_314(f, i, w):
    kwargs = f.pop()
    call_unpacked(f, w, {} if kwargs is NULL else kwargs)


def call_unpacked(f, w, kwargs):
    *slots, args = f.popn(3)
    (function,) = [value for value in slots if value is not NULL]
    f.push(w.call(function, list(w.iterate(args)), kwargs, f))


def kw_names(f, i, w):
    f.kw_names = f.code.co_consts[i.arg]


INTRINSIC_1 = {3: "stopiteration", 5: "positive", 6: "list_to_tuple"}


def intrinsic_1(f, i, w):
    kind = INTRINSIC_1.get(i.arg)
    if kind == "positive":
        f.push(w.unary(operator.pos, f.pop()))
    elif kind == "list_to_tuple":
        f.push(tuple(f.pop()))
    elif kind == "stopiteration":
        error = f.pop()
        f.push(stop_in_generator(error) if isinstance(error, StopIteration) else error)
    else:
        raise NotImplementedError(i.argrepr)


def stop_in_generator(error):
    new = RuntimeError("generator raised StopIteration")
    new.__cause__ = error
    return new


# --- 2. Where to go next --------------------------------------------------------------------------

def returns(f, i, w):
    raise Returned(f.pop())


def returns_const(f, i, w):
    raise Returned(i.argval)


def yields(f, i, w):
    raise Yielded(f.pop())


def jump(f, i, w):
    f.jump(i.argval)


def jump_if(wanted):
    def rule(f, i, w):
        if w.truth(f.pop()) is wanted:
            f.jump(i.argval)
    return rule


def jump_if_none(wanted):
    def rule(f, i, w):
        if w.same(f.pop(), None) is wanted:
            f.jump(i.argval)
    return rule


def jump_or_pop(wanted):
    """3.11: `a or b`, `a and b`."""
    def rule(f, i, w):
        if w.truth(f.stack[-1]) is wanted:
            f.jump(i.argval)
        else:
            f.pop()
    return rule


def for_iter(f, i, w):
    """At the end: on 3.11 pop the iterator; since then END_FOR pops it, and a missing value."""
    try:
        f.push(w.next(f.stack[-1]))
    except StopIteration:
        if sys.version_info < (3, 12):
            f.pop()
        else:
            f.push(NULL)
        f.jump(i.argval)


def send(f, i, w):
    """`yield from`: ask the inner iterator; at its end its value takes the place of the answer."""
    answer = f.pop()
    try:
        f.push(w.next(f.stack[-1]) if answer is None else f.stack[-1].send(answer))
    except StopIteration as end:
        if sys.version_info < (3, 12):
            f.pop()
        f.push(end.value)
        f.jump(i.argval)


# --- 3. Exceptions and `with` ---------------------------------------------------------------------

def push_exc_info(f, i, w):
    error = f.pop()
    f.push(f.handling, error)
    f.handling = error


def pop_except(f, i, w):
    f.handling = f.pop()


def check_match(f, i, w):
    kinds = f.pop()
    f.push(w.matches(f.stack[-1], kinds))


def raise_varargs(f, i, w):
    cause = [f.pop()] if i.arg == 2 else []
    if not i.arg:
        raise f.handling or w.active(f)
    raise w.exception(f.pop(), *cause)


def reraise(f, i, w):
    raise f.pop()


def before_with(f, i, w):
    manager = f.pop()
    leave = w.leaver(f, manager)
    f.push(leave, w.enter(f, manager))


def load_special(f, i, w):
    manager = f.pop()
    f.push(w.leaver(f, manager) if i.arg == 1 else w.enterer(f, manager), NULL)


def with_except_start(f, i, w):
    leave = f.stack[-5] if f.stack[-4] is NULL else f.stack[-4]
    error = f.stack[-1]
    f.push(w.call(leave, [type(error), error, error.__traceback__], {}, f))
