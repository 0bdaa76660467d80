"""Rules that look right and are not, planted into mini_dynamo: the corpus finds each."""

import operator

import pytest

import mini_dynamo_bytecode
import mini_dynamo_capture
import mini_dynamo_effects
import mini_dynamo_guards as guards
import mini_dynamo_opcodes
import mini_dynamo_trace
import mini_dynamo_values
import mini_dynamo_wrap
from oracles import dynamo_agree
from oracles.dynamo_cases import CASES

pytestmark = pytest.mark.usefixtures("one_thread")
HOLDS = lambda *anything: guards.Guard(None, repr(anything), lambda state: True)


def only_values(source, value):
    """0.0 is -0.0, and 1 is True."""
    return guards.Guard(source, f"{source} == {value!r}", lambda now: now == value)


def keys_in_any_order(source, value):
    wanted = set(value)
    return guards.Guard(source, f"{source} {wanted}", lambda now: set(now) == wanted)


def swapped(f, i, w):
    b, a = f.popn(2)
    f.push(w.binary(BINARY[i.argrepr], a, b))


BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
          "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "@": operator.matmul}


def none_is_true(f, i, w):
    if f.pop() is not None:
        f.jump(i.argval)


def names_stay(f, i, w):
    call_with = mini_dynamo_opcodes.c.call_with
    call_with(f, w, f.popn(i.arg + 2), f.kw_names)


def stack_is_not_cut(self, position, error):
    found = self.program.handler(self.program.instructions[position].offset)
    if found is None:
        return False
    self.push(error)
    self.jump(found.target)
    return True


def all_but_the_last(self, changes=mini_dynamo_effects.Recipes.changes):
    return changes(self)[:-1]


def backwards(self, changes=mini_dynamo_effects.Recipes.changes):
    return changes(self)[::-1]


def no_cell(self, f, name, value):
    self.cells[id(f.locals[name])] = [f.locals[name], value, False]


def out_of_place(self, other):
    return self.world.record("call_function", operator.add, (self, other), {})


def a_copy_for_each_name(self, value, source, wrap=mini_dynamo_wrap.Wrapping.wrap):
    self.known = {key: row for key, row in self.known.items()
                  if isinstance(row[1], mini_dynamo_values.Traced)}
    return wrap(self, value, source)


def left_as_it_was(self, frame, run=mini_dynamo_capture.Entry.run):
    self.deleted = []
    return run(self, frame)


def stack_upside_down(self, frame, run=mini_dynamo_capture.Entry.run):
    found = run(self, frame)
    if not found[0]:
        frame.stack.reverse()
    return found


# What is planted, and the kind of programs that finds it.
WRONG = {
    "a constant is not guarded": ("many calls", guards, "equals", HOLDS),
    "a constant is guarded by == alone": ("corners", guards, "equals", only_values),
    "a function's code is not guarded": ("many calls", guards, "same_code", HOLDS),
    "a type is not guarded": ("classes", guards, "typed", HOLDS),
    "the length of a list is not guarded": ("arguments", guards, "length", HOLDS),
    "keys are guarded in any order": ("containers", guards, "keys", keys_in_any_order),
    "a missing attribute is not guarded": ("changes between calls", guards, "absent", HOLDS),
    "a missing global is not guarded": ("changes between calls", guards, "missing", HOLDS),
    "that two were one is not guarded": ("in place and views", guards, "aliases", HOLDS),
    "that two were two is not guarded": ("far corners", guards, "distinct", HOLDS),
    "operands are swapped": ("straight lines", mini_dynamo_opcodes.RULES, "BINARY_OP", swapped),
    "names of keywords stay for the next call": (
        "straight lines", mini_dynamo_opcodes.RULES, "CALL", names_stay),
    "a handler leaves the stack as it is": (
        "exceptions", mini_dynamo_bytecode.Frame, "goto_handler", stack_is_not_cut),
    "the last change is forgotten": (
        "containers", mini_dynamo_effects.Recipes, "changes", all_but_the_last),
    "a nonlocal is not written back": (
        "closures and globals", mini_dynamo_trace.Tracer, "store_cell", no_cell),
    "+= makes a new tensor": (
        "in place and views", mini_dynamo_values.Traced, "__iadd__", out_of_place),
    "one object under two names becomes two": (
        "containers", mini_dynamo_wrap.Wrapping, "wrap", a_copy_for_each_name),
    "each use of a result makes it anew": (
        "classes", mini_dynamo_effects, "once", lambda key, recipe: recipe),
    "a deleted name is there after a break": (
        "far corners", mini_dynamo_capture.Entry, "run", left_as_it_was),
    "the stack comes back upside down": (
        "texts and prints", mini_dynamo_capture.Entry, "run", stack_upside_down),
}
SWITCHED_OFF = {
    "shape": ("many calls", guards.PROPERTIES, ("shape", "stride")),
    "dtype": ("conditions on python", guards.PROPERTIES, ("dtype",)),
    "stride": ("many calls", guards.PROPERTIES, ("stride",)),
    "requires_grad": ("gradients", guards.PROPERTIES, ("requires_grad",)),
    "grad mode": ("many calls", guards.SWITCHES, ("grad_mode",)),
    "default dtype": ("many calls", guards.SWITCHES, ("default_dtype",)),
}


def first_found(kind):
    """The first program of a kind that does not do what it does in Python."""
    for case in (one for one in CASES if one.kind == kind):
        try:
            found = dynamo_agree.unlike_python(case)
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        if found:
            return f"{case}{found}"
    return None


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rule_is_found(monkeypatch, name):
    kind, where, what, wrong = WRONG[name]
    plant = monkeypatch.setitem if isinstance(where, dict) else monkeypatch.setattr
    plant(where, what, wrong)
    assert first_found(kind)


@pytest.mark.parametrize("name", SWITCHED_OFF)
def test_a_guard_that_is_left_out_is_found(monkeypatch, name):
    kind, table, keys = SWITCHED_OFF[name]
    for key in keys:
        monkeypatch.delitem(table, key)
    assert first_found(kind)


@pytest.mark.parametrize("kind", sorted({row[0] for row in (*WRONG.values(),
                                                            *SWITCHED_OFF.values())}))
def test_nothing_is_found_where_nothing_was_planted(kind):
    assert first_found(kind) is None
