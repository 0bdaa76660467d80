"""Asks one Python what mini_dynamo's table of instructions knows of its bytecode; needs no torch.

    pythonX.Y tests/helpers/dynamo_probe.py code/

Prints a JSON object: the version; the instructions without a rule; code objects of the standard
library whose exception table is read otherwise than `dis` reads it; and programs that come out
otherwise when they are interpreted, instruction by instruction, than when Python runs them.
"""

import dis
import importlib
import json
import sys
import types

MODULES = """
argparse ast calendar collections configparser contextlib copy csv dataclasses datetime decimal
difflib enum fractions functools heapq inspect json.decoder logging optparse pickle pprint random re
shlex statistics string tarfile textwrap tokenize typing unittest.case uuid zipfile
"""


class Note:
    def __init__(self, log, swallow):
        self.log, self.swallow = log, swallow

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, kind, value, trace):
        self.log.append(kind and kind.__name__)
        return self.swallow


def loops(n):
    total = 0
    for i in range(n):
        if i == 2:
            continue
        if i > 5:
            break
        total += i
    else:
        total = -total
    while total > 3:
        total -= 2
    return total, [i * j for i in range(n) for j in range(i) if j % 2], {i: i for i in range(n)}


def errors(n):
    log = []
    for kind in (ValueError, KeyError, TypeError):
        try:
            try:
                if n:
                    raise kind(n)
                log.append("calm")
            except KeyError as error:
                log.append(error.args)
                raise RuntimeError("again") from error
            finally:
                log.append("finally")
        except (ValueError, RuntimeError) as error:
            log.append((type(error).__name__, type(error.__cause__).__name__,
                        type(error.__context__).__name__))
        except TypeError:
            return log
    return log


def blocks(n):
    log = []
    with Note(log, True) as a, Note(log, False):
        a.log.append(n)
        if n:
            raise ValueError(n)
        return log
    return log, "after"


def closures(n):
    count = 0

    def more(k=2, *rest, scale=1, **named):
        nonlocal count
        count += k * scale + sum(rest) + len(named)
        return lambda z: z + count + n
    f = more()
    more(1, 2, 3, scale=2, a=1, **{"b": 2})
    return f(1), more(*[4])(n), count


def shapes(n):
    a, (b, *c), d = 1, [n, 3, 4], {**{"x": n}, "y": 2}
    a, b = b, a
    xs = [a, *c, b]
    xs[1:2] = [9, 8]
    del xs[0]
    xs[0] += 5
    return xs, d, f"{n!r:>4}|{a:02d}", 0 < n < 3, n in xs, not n, -n, ~n, xs[::-1], {1, *c}, (*c,)


def matches(n):
    for thing in (n, [n, 2], {"k": n, "z": 1}, "text", Note([], n), (1, 2, 3)):
        match thing:
            case 0 | 1:
                yield "small"
            case [a, 2]:
                yield a
            case {"k": k, **rest}:
                yield k, rest
            case Note(swallow=s):
                yield "note", s
            case [1, *rest]:
                yield rest
            case _:
                yield type(thing).__name__


def generators(n):
    def both():
        got = yield n
        yield from [got, n]
        return 5

    def outer():
        result = yield from both()
        yield result
    g = outer()
    return next(g), g.send(7), list(g), list(matches(n)), [w := n, w + 1]


def made(n):
    class Local(Note):
        k = n

        def __init__(self):
            super().__init__([], n)

        @property
        def double(self):
            return self.k * 2
    one = Local()
    one.k += 1
    return one.double, one.log, Local.k, isinstance(one, Note), sorted([3, n], key=lambda v: -v)


def wrong(n):
    if n == 0:
        n = unbound        # noqa: F821
    if n == 1:
        n, n = [1, 2, 3]
    if n == 2:
        closures(n, 1, 2)
    assert n == 9, f"not {n}"


PROGRAMS = loops, errors, blocks, closures, shapes, generators, made, wrong


def outcome(call):
    try:
        return repr(call())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def codes(code):
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from codes(one)


def library():
    """All code objects of some modules of the standard library."""
    for name in MODULES.split():
        module = importlib.import_module(name)
        yield from codes(module.__loader__.get_code(name))


def main(folder):
    sys.path.insert(0, folder)
    import mini_dynamo_bytecode as bytecode
    import mini_dynamo_functions as functions
    import mini_dynamo_opcodes as opcodes
    import mini_dynamo_run as running

    def interpreted(fn, *args, **kwargs):
        if not isinstance(fn, types.FunctionType) or bytecode.why_not(fn.__code__, opcodes.RULES):
            return fn(*args, **kwargs)
        calls.append(fn.__name__)
        return running.run(functions.frame_of(fn, args, kwargs), world)

    calls = []
    world = running.Real(lambda fn, args, kwargs: interpreted(fn, *args, **kwargs))
    everything = list(library())
    used = {i.opname for code in everything for i in dis.get_instructions(code)}
    possible = {name for name, number in dis.opmap.items()
                if number < 256 and not name.startswith("INSTRUMENTED_")}
    tables = [code.co_qualname for code in everything if [
        (h.start, h.end, h.target, h.depth, h.lasti)
        for h in bytecode.exception_table(code.co_exceptiontable)] != [
        tuple(row)[:5] for row in dis._parse_exception_table(code)]]
    print(json.dumps({
        "version": sys.version.split()[0], "code objects": len(everything),
        "no rule, used by the library": sorted(used - set(opcodes.RULES)),
        "no rule": sorted(possible - set(opcodes.RULES)), "tables": tables,
        "rules": sorted(set(opcodes.RULES) - {"NOT"}),
        "programs": [[fn.__name__, n, expected, got] for fn in PROGRAMS for n in (0, 1, 2, 4)
                     if (expected := outcome(lambda fn=fn, n=n: fn(n)))
                     != (got := outcome(lambda fn=fn, n=n: interpreted(fn, n)))],
        "interpreted": len(calls)}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1])
