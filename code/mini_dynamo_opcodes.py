"""What each instruction does: a table from its name to a rule, for Python 3.11 to 3.14.

A rule is a function of the frame `f`, the instruction `i` and the world `w`. It moves values on the
stack; what a value *does* (an addition, a call, a truth test) it asks of the world. In the real
world an addition adds; in the traced one it writes a node into a graph. So one table serves both.
The tables of 3.11, 3.12 and 3.13 are run by the tests; that of 3.14 was written from CPython's
sources and has not been run here. Source: torch/_dynamo/symbolic_convert.py, CPython's bytecodes.c.
"""
import operator
import sys
import types

from mini_dynamo_bytecode import NULL


class Returned(Exception):
    """RETURN_VALUE: the frame is done."""

    def __init__(self, value):
        self.value = value


class Yielded(Exception):
    """YIELD_VALUE: a generator's frame rests."""

    def __init__(self, value):
        self.value = value


# --- 1. Names: locals, cells, globals ------------------------------------------------------------

def load_fast(f, i, w):
    f.push(w.load_local(f, i.argval))


def load_two(f, i, w):
    for name in i.argval:
        f.push(w.load_local(f, name))


def store_fast(f, i, w):
    f.locals[i.argval] = f.pop()


def store_load(f, i, w):
    f.locals[i.argval[0]] = f.pop()
    f.push(w.load_local(f, i.argval[1]))


def store_two(f, i, w):
    for name in i.argval:
        f.locals[name] = f.pop()


def delete_fast(f, i, w):
    w.load_local(f, i.argval)                      # raises if there is none
    del f.locals[i.argval]


def load_and_clear(f, i, w):
    """A comprehension borrows a name of its frame, and gives it back at the end."""
    f.push(f.locals.pop(i.argval, NULL))


def store_fast_maybe(f, i, w):
    value = f.pop()
    if value is NULL:
        f.locals.pop(i.argval, None)
    else:
        f.locals[i.argval] = value


def make_cell(f, i, w):
    cell = types.CellType()
    if i.argval in f.locals:
        cell.cell_contents = f.locals[i.argval]
    f.locals[i.argval] = w.new_cell(cell)


def load_global(f, i, w):
    """With the lowest bit set, also NULL: below the value until 3.12, above it since."""
    if i.arg & 1 and sys.version_info < (3, 13):
        f.push(NULL)
    f.push(w.load_global(f, i.argval))
    if i.arg & 1 and sys.version_info >= (3, 13):
        f.push(NULL)


def import_name(f, i, w):
    level, names = f.popn(2)
    f.push(w.import_name(f, i.argval, names, level))


# --- 2. Building values --------------------------------------------------------------------------

def build(kind):
    return lambda f, i, w: f.push(kind(f.popn(i.arg)))


def build_map(f, i, w):
    flat = f.popn(2 * i.arg)
    f.push(dict(zip(flat[::2], flat[1::2], strict=True)))


def build_const_key_map(f, i, w):
    keys = f.pop()
    f.push(dict(zip(keys, f.popn(i.arg), strict=True)))


def into(method):
    """LIST_APPEND, SET_UPDATE and their kin: a value goes into the container `arg` below the top."""
    def rule(f, i, w):
        value = f.pop()
        w.put(f.stack[-i.arg], method, value)
    return rule


def map_add(f, i, w):
    key, value = f.popn(2)
    f.stack[-i.arg][key] = value


def dict_merge(f, i, w):
    new, into_ = f.pop(), f.stack[-i.arg]
    w.merge(f, into_, new)


def unpack(f, i, w):
    f.push(*reversed(w.unpack(f.pop(), i.arg)))


def unpack_ex(f, i, w):
    before, after = i.arg & 255, i.arg >> 8
    values = w.unpack(f.pop(), before, after)
    f.push(*reversed([*values[:before], list(values[before:len(values) - after]),
                      *values[len(values) - after:]]))


def slice_of(f, i, w):
    f.push(slice(*f.popn(i.arg)))


def format_value(f, i, w):
    """3.11 and 3.12: the two lowest bits say str, repr or ascii, the third that a spec follows."""
    spec = f.pop() if i.arg & 4 else ""
    f.push(w.format(w.convert(f.pop(), i.arg & 3), spec))


def make_function(f, i, w):
    """3.11 and 3.12: bits for defaults, keyword defaults, annotations, closure; on top the code."""
    code = f.pop()
    parts = {name: f.pop() for bit, name in SLOTS if i.arg & bit}
    f.push(w.make_function(f, code, parts))


SLOTS = ((8, "closure"), (4, "annotations"), (2, "kwdefaults"), (1, "defaults"))


def set_function_attribute(f, i, w):
    function, value = f.pop(), f.pop()
    f.push(w.set_function(function, dict(SLOTS).get(i.arg, "annotate"), value))


# --- 3. Operators --------------------------------------------------------------------------------

BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "@": operator.matmul,
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift,
    ">>": operator.rshift, "[]": operator.getitem, "+=": operator.iadd, "-=": operator.isub,
    "*=": operator.imul, "/=": operator.itruediv, "//=": operator.ifloordiv, "%=": operator.imod,
    "**=": operator.ipow, "@=": operator.imatmul, "&=": operator.iand, "|=": operator.ior,
    "^=": operator.ixor, "<<=": operator.ilshift, ">>=": operator.irshift}
COMPARE = {"<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne,
           ">": operator.gt, ">=": operator.ge}


def binary(f, i, w):
    a, b = f.popn(2)
    f.push(w.binary(BINARY[i.argrepr], a, b))


def compare(f, i, w):
    a, b = f.popn(2)
    value = w.binary(COMPARE[i.argval], a, b)
    f.push(w.truth(value) if i.argrepr.startswith("bool(") else value)


def unary(function):
    return lambda f, i, w: f.push(w.unary(function, f.pop()))


def is_op(f, i, w):
    a, b = f.popn(2)
    f.push(w.same(a, b) != bool(i.arg))


def contains(f, i, w):
    a, b = f.popn(2)
    f.push(w.contains(b, a) != bool(i.arg))


def subscript(f, i, w):
    a, key = f.popn(2)
    f.push(w.binary(operator.getitem, a, key))


def store_subscript(f, i, w):
    value, container, key = f.popn(3)
    w.setitem(container, key, value)


def delete_subscript(f, i, w):
    container, key = f.popn(2)
    w.delitem(container, key)


def binary_slice(f, i, w):
    container, start, stop = f.popn(3)
    f.push(w.binary(operator.getitem, container, slice(start, stop)))


def store_slice(f, i, w):
    value, container, start, stop = f.popn(4)
    w.setitem(container, slice(start, stop), value)


# --- 4. Attributes and calls ---------------------------------------------------------------------

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


# --- 5. Where to go next -------------------------------------------------------------------------

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
    """At the end: on 3.11 pop the iterator; later END_FOR pops it, and the value that is missing."""
    try:
        f.push(w.next(f.stack[-1]))
    except StopIteration:
        if sys.version_info < (3, 12):
            f.pop()
        else:
            f.push(NULL)
        f.jump(i.argval)


# --- 6. Exceptions and `with` --------------------------------------------------------------------

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
        raise f.handling or RuntimeError("No active exception to reraise")
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


# --- 7. The table --------------------------------------------------------------------------------

def nothing(f, i, w):
    pass


COMMON = {
    "NOP": nothing, "RESUME": nothing, "CACHE": nothing, "EXTENDED_ARG": nothing,
    "COPY_FREE_VARS": nothing, "PRECALL": nothing, "MAKE_CELL": make_cell,
    "POP_TOP": lambda f, i, w: f.pop(),
    "PUSH_NULL": lambda f, i, w: f.push(NULL),
    "COPY": lambda f, i, w: f.push(f.stack[-i.arg]),
    "SWAP": lambda f, i, w: f.stack.__setitem__(
        slice(-i.arg, None), [f.stack[-1], *f.stack[-i.arg + 1:-1], f.stack[-i.arg]]),
    "LOAD_CONST": lambda f, i, w: f.push(i.argval),
    "LOAD_FAST": load_fast, "STORE_FAST": store_fast_maybe, "DELETE_FAST": delete_fast,
    "LOAD_CLOSURE": lambda f, i, w: f.push(f.locals[i.argval]),
    "LOAD_DEREF": lambda f, i, w: f.push(w.load_cell(f, i.argval)),
    "STORE_DEREF": lambda f, i, w: w.store_cell(f, i.argval, f.pop()),
    "LOAD_GLOBAL": load_global,
    "STORE_GLOBAL": lambda f, i, w: w.store_global(f, i.argval, f.pop()),
    "IMPORT_NAME": import_name,
    "IMPORT_FROM": lambda f, i, w: f.push(w.getattr(f.stack[-1], i.argval)),
    "BUILD_TUPLE": build(tuple), "BUILD_LIST": build(list), "BUILD_SET": build(set),
    "BUILD_STRING": build("".join), "BUILD_MAP": build_map, "BUILD_SLICE": slice_of,
    "BUILD_CONST_KEY_MAP": build_const_key_map,
    "LIST_APPEND": into("append"), "LIST_EXTEND": into("extend"), "SET_ADD": into("add"),
    "SET_UPDATE": into("update"), "DICT_UPDATE": into("update"), "DICT_MERGE": dict_merge,
    "MAP_ADD": map_add, "UNPACK_SEQUENCE": unpack, "UNPACK_EX": unpack_ex,
    "LIST_TO_TUPLE": lambda f, i, w: f.push(tuple(f.pop())),
    "FORMAT_VALUE": format_value, "MAKE_FUNCTION": make_function,
    "BINARY_OP": binary, "COMPARE_OP": compare, "IS_OP": is_op, "CONTAINS_OP": contains,
    "BINARY_SUBSCR": subscript, "STORE_SUBSCR": store_subscript,
    "DELETE_SUBSCR": delete_subscript,
    "UNARY_NEGATIVE": unary(operator.neg), "UNARY_POSITIVE": unary(operator.pos),
    "UNARY_INVERT": unary(operator.invert),
    "UNARY_NOT": lambda f, i, w: f.push(not w.truth(f.pop())),
    "GET_LEN": lambda f, i, w: f.push(w.call(len, [f.stack[-1]], {}, f)),
    "LOAD_ATTR": load_attr, "LOAD_METHOD": load_method, "STORE_ATTR": store_attr,
    "DELETE_ATTR": delete_attr, "CALL": call, "KW_NAMES": kw_names, "CALL_FUNCTION_EX": call_ex,
    "RETURN_VALUE": returns, "RETURN_GENERATOR": lambda f, i, w: f.push(None),
    "YIELD_VALUE": yields,
    "JUMP_FORWARD": jump, "JUMP_BACKWARD": jump, "JUMP_BACKWARD_NO_INTERRUPT": jump,
    "GET_ITER": lambda f, i, w: f.push(w.iter(f.pop())), "FOR_ITER": for_iter,
    "PUSH_EXC_INFO": push_exc_info, "POP_EXCEPT": pop_except, "CHECK_EXC_MATCH": check_match,
    "RAISE_VARARGS": raise_varargs, "RERAISE": reraise, "BEFORE_WITH": before_with,
    "WITH_EXCEPT_START": with_except_start,
    "LOAD_ASSERTION_ERROR": lambda f, i, w: f.push(AssertionError),
}

OF_311 = {
    "JUMP_IF_TRUE_OR_POP": jump_or_pop(True), "JUMP_IF_FALSE_OR_POP": jump_or_pop(False),
    **{f"POP_JUMP_{way}_IF_{what}": rule for way in ("FORWARD", "BACKWARD") for what, rule in (
        ("TRUE", jump_if(True)), ("FALSE", jump_if(False)),
        ("NONE", jump_if_none(True)), ("NOT_NONE", jump_if_none(False)))},
}
SINCE_312 = {
    "POP_JUMP_IF_TRUE": jump_if(True), "POP_JUMP_IF_FALSE": jump_if(False),
    "POP_JUMP_IF_NONE": jump_if_none(True), "POP_JUMP_IF_NOT_NONE": jump_if_none(False),
    "RETURN_CONST": returns_const, "LOAD_FAST_CHECK": load_fast,
    "LOAD_FAST_AND_CLEAR": load_and_clear, "LOAD_ATTR": load_attr_312,
    "LOAD_SUPER_ATTR": load_super_attr, "END_FOR": lambda f, i, w: f.popn(2),
    "BINARY_SLICE": binary_slice, "STORE_SLICE": store_slice, "CALL_INTRINSIC_1": intrinsic_1,
}
# The instruction has a rule, but not with this argument (3, 5, 6: see INTRINSIC_1).
NOT = {("CALL_INTRINSIC_1", arg) for arg in range(16) if arg not in INTRINSIC_1}
SINCE_313 = {
    "TO_BOOL": lambda f, i, w: f.push(w.truth(f.pop())),
    "CONVERT_VALUE": lambda f, i, w: f.push(w.convert(f.pop(), i.arg)),
    "FORMAT_SIMPLE": lambda f, i, w: f.push(w.format(f.pop(), "")),
    "FORMAT_WITH_SPEC": lambda f, i, w: f.push(w.format(*f.popn(2))),
    "MAKE_FUNCTION": lambda f, i, w: f.push(w.make_function(f, f.pop(), {})),
    "SET_FUNCTION_ATTRIBUTE": set_function_attribute, "CALL_KW": call_kw,
    "LOAD_FAST_LOAD_FAST": load_two, "STORE_FAST_LOAD_FAST": store_load,
    "STORE_FAST_STORE_FAST": store_two, "END_FOR": lambda f, i, w: f.pop(),
}
SINCE_314 = {
    "LOAD_FAST_BORROW": load_fast, "LOAD_FAST_BORROW_LOAD_FAST_BORROW": load_two,
    "LOAD_SMALL_INT": lambda f, i, w: f.push(i.arg),
    "LOAD_COMMON_CONSTANT": lambda f, i, w: f.push(
        (AssertionError, NotImplementedError, tuple, all, any)[i.arg]),
    "LOAD_SPECIAL": load_special, "POP_ITER": lambda f, i, w: f.pop(), "NOT_TAKEN": nothing,
    "CALL_FUNCTION_EX": call_ex_314,
}


def table(version=None):
    """The rules of a Python, by instruction name."""
    version = version or sys.version_info[:2]
    rules = {"NOT": NOT, **COMMON, **(OF_311 if version == (3, 11) else SINCE_312)}
    for since, more in (((3, 13), SINCE_313), ((3, 14), SINCE_314)):
        if version >= since:
            rules.update(more)
    return rules


RULES = table()
