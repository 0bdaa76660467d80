"""Rules for values: what the instructions do that name, build, combine and read things.

A rule is a function of the frame `f`, the instruction `i` and the world `w`. It moves values on the
stack; what a value *does* (an addition, a truth test) it asks of the world. In the real world an
addition adds; in the traced one it writes a node into a graph. So one set of rules serves both.
Source: torch/_dynamo/symbolic_convert.py, CPython's Python/bytecodes.c.
"""
import operator
import sys
import types

from mini_dynamo_bytecode import NULL

# --- 1. Names: locals, cells, globals -------------------------------------------------------------

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


# --- 2. Building values ---------------------------------------------------------------------------

def build(kind):
    return lambda f, i, w: f.push(kind(f.popn(i.arg)))


def build_map(f, i, w):
    flat = f.popn(2 * i.arg)
    f.push(dict(zip(flat[::2], flat[1::2], strict=True)))


def build_const_key_map(f, i, w):
    keys = f.pop()
    f.push(dict(zip(keys, f.popn(i.arg), strict=True)))


def into(method):
    """LIST_APPEND, SET_UPDATE and their kin: a value goes into a container `arg` below the top."""
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


# --- 3. Operators ---------------------------------------------------------------------------------

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


def match_keys(f, i, w):
    mapping, wanted = f.stack[-2:]
    found = all(w.contains(mapping, key) for key in wanted)
    f.push(tuple(w.binary(operator.getitem, mapping, key) for key in wanted) if found else None)
