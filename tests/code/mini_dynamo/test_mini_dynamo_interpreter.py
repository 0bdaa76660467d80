"""The interpreter of mini_dynamo in the real world: it does what Python does, errors included."""

import dis

import pytest

import mini_dynamo_bytecode
import mini_dynamo_opcodes
from mini_dynamo_functions import frame_of
from mini_dynamo_run import Real, run


def test_the_interpreter_runs_python_in_the_real_world():
    def f(a, b=2, *c, k=3, **d):
        total, seen = 0, []
        for i in range(a):
            try:
                total += i // (i - 1)
            except ZeroDivisionError as error:
                seen.append(str(error))
        return total, seen, [x * k for x in c], f"{b!r:>4}", sorted(d), (lambda: total)()
    args, kwargs = (4, 5, 6, 7), {"k": 8, "z": 1}
    world = Real(lambda function, args, kwargs: function(*args, **kwargs))
    assert run(frame_of(f, args, kwargs), world) == f(*args, **kwargs)


def test_the_exception_table_is_read_as_dis_reads_it():
    def f(x):
        try:
            with x as y:
                return y
        except (ValueError, TypeError):
            return None
        finally:
            x.close()
    expected = [(e.start, e.end, e.target, e.depth, e.lasti) for e in dis.Bytecode(
        f).exception_entries]
    found = mini_dynamo_bytecode.exception_table(f.__code__.co_exceptiontable)
    assert [(h.start, h.end, h.target, h.depth, h.lasti) for h in found] == expected


def test_each_python_has_a_table_without_the_names_of_another():
    assert "PRECALL" in mini_dynamo_opcodes.table((3, 11))
    assert "POP_JUMP_IF_TRUE" not in mini_dynamo_opcodes.table((3, 11))
    assert "CALL_KW" in mini_dynamo_opcodes.table((3, 13))
    assert "LOAD_SPECIAL" in mini_dynamo_opcodes.table((3, 14))


@pytest.mark.parametrize("args", [(), (1, 2, 3, 4), (1,), (1, 2)])
@pytest.mark.parametrize("kwargs", [{}, {"a": 1}, {"z": 1}, {"k": 2}])
def test_wrong_arguments_raise_what_python_raises(args, kwargs):
    def f(a, b, /, c=1, *, k):
        return a, b, c, k

    def outcome(call):
        try:
            return call()
        except TypeError as error:
            return str(error)
    world = Real(lambda function, args, kwargs: function(*args, **kwargs))
    assert outcome(lambda: run(frame_of(f, args, kwargs), world)) == outcome(
        lambda: f(*args, **kwargs))
