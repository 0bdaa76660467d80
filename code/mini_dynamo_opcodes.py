"""The table of instructions: name -> rule, for Python 3.11 to 3.14.

What differs between versions is stated once, by the version in which it came. The tables of 3.11,
3.12 and 3.13 are run by the tests. That of 3.14 was written from CPython's sources, and nobody has
run it: take it as a reading of the sources, not as tested code.
Source: torch/_dynamo/symbolic_convert.py (dispatch_table), CPython's Lib/opcode.py.
"""
import builtins
import operator
import sys
from collections.abc import Mapping, Sequence

import mini_dynamo_rules as r
import mini_dynamo_rules_control as c
from mini_dynamo_bytecode import NULL


def nothing(f, i, w):
    pass


COMMON = {
    "NOP": nothing, "RESUME": nothing, "CACHE": nothing, "EXTENDED_ARG": nothing,
    "COPY_FREE_VARS": nothing, "PRECALL": nothing, "MAKE_CELL": r.make_cell,
    "POP_TOP": lambda f, i, w: f.pop(),
    "PUSH_NULL": lambda f, i, w: f.push(NULL),
    "COPY": lambda f, i, w: f.push(f.stack[-i.arg]),
    "SWAP": lambda f, i, w: f.stack.__setitem__(
        slice(-i.arg, None), [f.stack[-1], *f.stack[-i.arg + 1:-1], f.stack[-i.arg]]),
    "LOAD_CONST": lambda f, i, w: f.push(i.argval),
    "LOAD_FAST": r.load_fast, "STORE_FAST": r.store_fast_maybe, "DELETE_FAST": r.delete_fast,
    "LOAD_CLOSURE": lambda f, i, w: f.push(f.locals[i.argval]),
    "LOAD_DEREF": lambda f, i, w: f.push(w.load_cell(f, i.argval)),
    "STORE_DEREF": lambda f, i, w: w.store_cell(f, i.argval, f.pop()),
    "LOAD_GLOBAL": r.load_global,
    "STORE_GLOBAL": lambda f, i, w: w.store_global(f, i.argval, f.pop()),
    "IMPORT_NAME": r.import_name,
    "IMPORT_FROM": lambda f, i, w: f.push(w.getattr(f.stack[-1], i.argval)),
    "BUILD_TUPLE": r.build(tuple), "BUILD_LIST": r.build(list), "BUILD_SET": r.build(set),
    "BUILD_STRING": r.build("".join), "BUILD_MAP": r.build_map, "BUILD_SLICE": r.slice_of,
    "BUILD_CONST_KEY_MAP": r.build_const_key_map,
    "LIST_APPEND": r.into("append"), "LIST_EXTEND": r.into("extend"), "SET_ADD": r.into("add"),
    "SET_UPDATE": r.into("update"), "DICT_UPDATE": r.into("update"), "DICT_MERGE": r.dict_merge,
    "MAP_ADD": r.map_add, "UNPACK_SEQUENCE": r.unpack, "UNPACK_EX": r.unpack_ex,
    "LIST_TO_TUPLE": lambda f, i, w: f.push(tuple(f.pop())),
    "FORMAT_VALUE": r.format_value, "MAKE_FUNCTION": r.make_function,
    "BINARY_OP": r.binary, "COMPARE_OP": r.compare, "IS_OP": r.is_op, "CONTAINS_OP": r.contains,
    "BINARY_SUBSCR": r.subscript, "STORE_SUBSCR": r.store_subscript,
    "DELETE_SUBSCR": r.delete_subscript,
    "UNARY_NEGATIVE": r.unary(operator.neg), "UNARY_POSITIVE": r.unary(operator.pos),
    "UNARY_INVERT": r.unary(operator.invert),
    "UNARY_NOT": lambda f, i, w: f.push(not w.truth(f.pop())),
    "GET_LEN": lambda f, i, w: f.push(w.call(len, [f.stack[-1]], {}, f)),
    "LOAD_ATTR": c.load_attr, "LOAD_METHOD": c.load_method, "STORE_ATTR": c.store_attr,
    "DELETE_ATTR": c.delete_attr, "CALL": c.call, "KW_NAMES": c.kw_names,
    "CALL_FUNCTION_EX": c.call_ex,
    "RETURN_VALUE": c.returns, "RETURN_GENERATOR": lambda f, i, w: f.push(None),
    "YIELD_VALUE": c.yields,
    "JUMP_FORWARD": c.jump, "JUMP_BACKWARD": c.jump, "JUMP_BACKWARD_NO_INTERRUPT": c.jump,
    "GET_ITER": lambda f, i, w: f.push(w.iter(f.pop())), "FOR_ITER": c.for_iter,
    "PUSH_EXC_INFO": c.push_exc_info, "POP_EXCEPT": c.pop_except, "CHECK_EXC_MATCH": c.check_match,
    "RAISE_VARARGS": c.raise_varargs, "RERAISE": c.reraise, "BEFORE_WITH": c.before_with,
    "WITH_EXCEPT_START": c.with_except_start,
    "MATCH_SEQUENCE": lambda f, i, w: f.push(isinstance(f.stack[-1], Sequence)
                                             and not isinstance(f.stack[-1], (str, bytes))),
    "MATCH_MAPPING": lambda f, i, w: f.push(isinstance(f.stack[-1], Mapping)),
    "MATCH_KEYS": r.match_keys, "GET_YIELD_FROM_ITER": lambda f, i, w: f.push(w.iter(f.pop())),
    "SEND": c.send, "LOAD_BUILD_CLASS": lambda f, i, w: f.push(builtins.__build_class__),
    "DELETE_DEREF": lambda f, i, w: w.delete_cell(f, i.argval),
    "DELETE_GLOBAL": lambda f, i, w: w.delete_global(f, i.argval),
    "LOAD_ASSERTION_ERROR": lambda f, i, w: f.push(AssertionError),
}

OF_311 = {
    "JUMP_IF_TRUE_OR_POP": c.jump_or_pop(True), "JUMP_IF_FALSE_OR_POP": c.jump_or_pop(False),
    **{f"POP_JUMP_{way}_IF_{what}": rule for way in ("FORWARD", "BACKWARD") for what, rule in (
        ("TRUE", c.jump_if(True)), ("FALSE", c.jump_if(False)),
        ("NONE", c.jump_if_none(True)), ("NOT_NONE", c.jump_if_none(False)))},
}
SINCE_312 = {
    "POP_JUMP_IF_TRUE": c.jump_if(True), "POP_JUMP_IF_FALSE": c.jump_if(False),
    "POP_JUMP_IF_NONE": c.jump_if_none(True), "POP_JUMP_IF_NOT_NONE": c.jump_if_none(False),
    "RETURN_CONST": c.returns_const, "LOAD_FAST_CHECK": r.load_fast,
    "LOAD_FAST_AND_CLEAR": r.load_and_clear, "LOAD_ATTR": c.load_attr_312,
    "LOAD_SUPER_ATTR": c.load_super_attr, "END_FOR": lambda f, i, w: f.popn(2),
    "END_SEND": lambda f, i, w: f.stack.pop(-2),
    "BINARY_SLICE": r.binary_slice, "STORE_SLICE": r.store_slice, "CALL_INTRINSIC_1": c.intrinsic_1,
}
# The instruction has a rule, but not with this argument (3, 5, 6: see INTRINSIC_1).
NOT = {("CALL_INTRINSIC_1", arg) for arg in range(16) if arg not in c.INTRINSIC_1}
SINCE_313 = {
    "TO_BOOL": lambda f, i, w: f.push(w.truth(f.pop())),
    "CONVERT_VALUE": lambda f, i, w: f.push(w.convert(f.pop(), i.arg)),
    "FORMAT_SIMPLE": lambda f, i, w: f.push(w.format(f.pop(), "")),
    "FORMAT_WITH_SPEC": lambda f, i, w: f.push(w.format(*f.popn(2))),
    "MAKE_FUNCTION": lambda f, i, w: f.push(w.make_function(f, f.pop(), {})),
    "SET_FUNCTION_ATTRIBUTE": r.set_function_attribute, "CALL_KW": c.call_kw,
    "LOAD_FAST_LOAD_FAST": r.load_two, "STORE_FAST_LOAD_FAST": r.store_load,
    "STORE_FAST_STORE_FAST": r.store_two, "END_FOR": lambda f, i, w: f.pop(),
}
SINCE_314 = {
    "LOAD_FAST_BORROW": r.load_fast, "LOAD_FAST_BORROW_LOAD_FAST_BORROW": r.load_two,
    "LOAD_SMALL_INT": lambda f, i, w: f.push(i.arg),
    "LOAD_COMMON_CONSTANT": lambda f, i, w: f.push(
        (AssertionError, NotImplementedError, tuple, all, any)[i.arg]),
    "LOAD_SPECIAL": c.load_special, "POP_ITER": lambda f, i, w: f.pop(), "NOT_TAKEN": nothing,
    "CALL_FUNCTION_EX": c.call_ex_314,
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
