"""检查补完的随书代码（第 5 章）· Check the companion of chapter 5 that you have completed.

    python3 check_dynamo.py                  every practice file beside this file
    python3 check_dynamo.py FILE …

The exit status is 0 if all checks pass. It needs torch, on which the companion builds.
"""
import dis
import sys
from types import SimpleNamespace

from exercise_harness import Checker, Differs, claim

try:
    import torch
except ImportError:
    torch = None


def same(what, found, wanted):
    """Stop with one line unless what is found is what is wanted."""
    if found != wanted:
        raise Differs(f"{what}: expected {wanted}; found {found}")


# --- mini_dynamo.py: the cache -------------------------------------------------------------------

def scale(x, n):
    return (x * n).sum()


def grows(x, log):
    log.append(x + 1)
    return x * 2


def counts(fast, module):
    seen = module.stats(fast)
    return seen.graphs, seen.recompiles, len(seen.skipped)


def check_session_entry(module):
    x, fast = torch.arange(3.0), module.compile(scale)
    same("scale with n = 2, 3, 2, 3", [fast(x, n).item() for n in (2, 3, 2, 3)], [6, 9, 6, 9])
    same("(graphs, recompiles, skipped) after n = 2, 3, 2, 3", counts(fast, module), (2, 1, 0))
    same("the reasons to compile again", module.stats(fast).recompile_reasons, ["L['n'] == 2"])
    fast(x, 4)
    same("the reasons after n = 4, that of the newest entry last",
         module.stats(fast).recompile_reasons, ["L['n'] == 2", "L['n'] == 3"])
    check_the_first_call(module, x)
    check_the_limit(module, x)
    check_no_tensors(module)


def check_the_first_call(module, x):
    ran = []

    def backend(graph, examples):
        return lambda *values: ran.append(1) or graph(*values)
    fast = module.compile(scale, backend)
    fast(x, 2)
    same("runs of the graph in the first call", len(ran), 1)


def check_the_limit(module, x):
    fast, log = module.compile(grows), []
    for n in range(11):
        claim(f"grows returns x * 2, call {n + 1} of 11", torch.equal(fast(x, log), x * 2))
    same("items in the list after 11 calls", len(log), 11)
    same("(graphs, recompiles, skipped) after 11 calls that each differ", counts(fast, module),
         (8, 7, 1))
    same("why it is skipped", module.stats(fast).skipped[0][1], "recompile limit of 8 reached")
    fast(x, [])
    same("graphs after a call that an old entry would fit", module.stats(fast).graphs, 8)


def check_no_tensors(module):
    def helper(words):
        return len(words) * 2

    def outer(x, words):
        print(end="")
        return x * helper(words)
    fast = module.compile(outer)
    same("a helper without tensors", fast(torch.ones(2), "ab").tolist(), [4.0, 4.0])


# --- mini_dynamo_effects.py: what may contain itself ---------------------------------------------

def check_filled(module):
    def run():
        return SimpleNamespace(made={})
    same("filled(list, …) that gets 1 and 2", module.filled(
        list, lambda made, run: made.extend([1, 2]), "key")(run()), [1, 2])
    same("filled(dict, …) that gets an item", module.filled(
        dict, lambda made, run: made.update(a=1), "key")(run()), {"a": 1})
    knot = module.filled(list, lambda made, run: made.append(run.made["key"]), "key")
    found = knot(run())
    claim("a list that gets itself contains itself",
          len(found) == 1 and found[0] is found)
    claim("two runs make two lists", knot(run()) is not knot(run()))
    older = run()
    older.made["key"] = first = ["first"]
    made = module.filled(list, lambda made, run: None, "key")(older)
    claim("what was made under the key before is still known", older.made["key"] is first)
    same("and a new list is returned all the same", made, [])


# --- mini_dynamo_guards.py -----------------------------------------------------------------------

NAN = float("nan")
HOLD = [(1, 1), ("a", "a"), (0.0, 0.0), (NAN, NAN), (NAN, float("nan")), (None, None),
        ((1, "a"), (1, "a")), (2.5, 2.5)]
FAIL = [(1, 2), ("a", "b"), (1, True), (1, 1.0), (0.0, -0.0), (False, 0), (None, 0), (NAN, 0.0),
        ((1, 2), (1, 2.0)), ((1, 0.0), (1, -0.0)), ("1", 1)]


def check_equals(module):
    source = module.Source("L['n']")
    same("the words of the guard", str(module.equals(source, 2)), "L['n'] == 2")
    same("the words of the guard", str(module.equals(source, "a")), "L['n'] == 'a'")
    for wanted, cases in ((True, HOLD), (False, FAIL)):
        for value, now in cases:
            guard = module.equals(source, value)
            same(f"a guard made for {value!r}, checked with {now!r}",
                 bool(guard.check({"L": {"n": now}})), wanted)
    same("a guard whose local is gone", bool(module.equals(source, 1).check({"L": {}})), False)


# --- mini_dynamo_bytecode.py ---------------------------------------------------------------------

def branch(x):
    if x:
        x = x + 1
    return x


def loop(x):
    while x:
        x = x - 1
    return x


def caught(x):
    try:
        return 1 / x
    except ZeroDivisionError:
        return 0


def nested(x):
    total = 0
    for k in range(x):
        try:
            with open(k):  # noqa: PTH123
                total += k
        except OSError:
            total -= k
        finally:
            total += 1
    return total


def long_one(x):
    """Positions of more than one digit: the body is longer than 64 code units."""
    try:
        x = [x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7, x + 8, x + 9, x + 10, x + 11]
        x = [*x, x[0] * 2, x[1] * 3, x[2] * 4, x[3] * 5, x[4] * 6, x[5] * 7, x[6] * 8, x[7] * 9]
    finally:
        x = None
    return x


def check_loops_around(module):
    for function, wanted in ((branch, False), (loop, True)):
        instructions = tuple(dis.get_instructions(function.__code__))
        program = module.Program(function.__code__, instructions, {}, ())
        place = next(k for k, inst in enumerate(instructions) if inst.opname == "BINARY_OP")
        if not wanted:
            same("loops_around the begin of a function without a loop", program.loops_around(0),
                 False)
        same(f"loops_around the arithmetic of {function.__name__}", program.loops_around(place),
             wanted)


def check_exception_table(module):
    for function in (branch, caught, nested, long_one):
        found = [(h.start, h.end, h.target, h.depth, h.lasti)
                 for h in module.exception_table(function.__code__.co_exceptiontable)]
        wanted = [(e.start, e.end, e.target, e.depth, e.lasti)
                  for e in dis.Bytecode(function).exception_entries]
        same(f"the exception table of {function.__name__}, (start, end, target, depth, lasti)",
             found, wanted)
    for h in module.exception_table(caught.__code__.co_exceptiontable):
        claim("lasti is True or False", isinstance(h.lasti, bool))


BELOW_CAPTURE = [
    "mini_dynamo_bytecode.py", "mini_dynamo_functions.py", "mini_dynamo_rules.py",
    "mini_dynamo_rules_control.py", "mini_dynamo_opcodes.py", "mini_dynamo_run.py",
    "mini_dynamo_values.py", "mini_dynamo_guards.py", "mini_dynamo_wrap.py"]

CHECKER = Checker(
    {"mini_dynamo": {"Session.entry": check_session_entry},
     "mini_dynamo_bytecode": {"Program.loops_around": check_loops_around,
                              "exception_table": check_exception_table},
     "mini_dynamo_guards": {"equals": check_equals},
     "mini_dynamo_effects": {"filled": check_filled}},
    imports={"mini_dynamo": ["mini_dynamo_capture.py", *BELOW_CAPTURE,
                             "mini_dynamo_attributes.py", "mini_dynamo_builtins.py",
                             "mini_dynamo_calls.py", "mini_dynamo_trace.py",
                             "mini_dynamo_effects.py", "mini_dynamo_stats.py"],
             "mini_dynamo_effects": BELOW_CAPTURE})

if __name__ == "__main__":
    if torch is None:
        print("要装 torch · this needs torch")
        sys.exit(1)
    sys.exit(CHECKER.main())
