"""Names from outside: closures that are read and written, globals that are read and written."""

import torch

from oracles.dynamo_cases import built, case, t

FACTOR = 3
TOTAL = 0
TABLE = {}
LOG = []
LAST = None


@case(FACTOR=3)
def a_global_is_read(x):
    return x * FACTOR


@case(lambda: t(3), lambda: t(3), TOTAL=0)
def a_global_is_counted(x):
    global TOTAL
    TOTAL += 1
    return x + TOTAL


@case(lambda: t(3), lambda: t(3), LAST=None)
def a_global_keeps_a_tensor(x):
    global LAST
    before = LAST
    LAST = x * 2
    return x if before is None else x + before


@built
def globals_in_a_dict_and_a_list():
    TABLE.clear()
    LOG.clear()

    def run(x):
        TABLE["x"] = x + 1
        LOG.append(x.shape[0])
        return TABLE["x"] * len(LOG)
    return run, [lambda: t(3), lambda: t(3)], (TABLE, LOG)


@case(lambda: t(3), TOTAL=5)
def a_global_is_written_before_a_break(x):
    global TOTAL
    TOTAL = TOTAL * 2
    x = x + TOTAL
    print("total", TOTAL)
    TOTAL += 1
    return x


@case(lambda: t(3), TOTAL=0)
def a_global_is_deleted_and_set(x):
    global TOTAL
    del TOTAL
    try:
        x = x + TOTAL
    except NameError as error:
        TOTAL = str(error)
    return x


@built
def a_closure_is_read():
    weight = torch.tensor([2.0, 3.0, 4.0])
    n = 5

    def run(x):
        return x * weight + n
    return run, [lambda: t(3)], weight


@built
def a_closure_is_written():
    count, kept = 0, []

    def run(x):
        nonlocal count
        count += 1
        kept.append(count)
        return x + count
    return run, [lambda: t(3)] * 3, (run, kept)


@built
def a_closure_keeps_a_tensor():
    state = None

    def run(x):
        nonlocal state
        state = x if state is None else state + x
        return state * 2
    return run, [lambda: t(3)] * 3


@built
def two_functions_share_a_cell():
    n = 0

    def more():
        nonlocal n
        n += 1
        return n

    def run(x):
        more()
        x = x + n
        more()
        return x * n
    return run, [lambda: t(3)] * 2, more


@case()
def a_function_inside_reads(x):
    y = x + 1

    def inner(z):
        return z * y
    return inner(x) + inner(y)


@case()
def a_function_inside_writes(x):
    n = 1

    def inner():
        nonlocal n, x
        n *= 5
        x = x + n
    inner()
    inner()
    return x, n


@case()
def a_function_is_handed_out(x):
    y = x * 2

    def add(z):
        return z + y
    return add


@case()
def a_function_is_handed_out_and_called(x):
    def make(n):
        return lambda z: z * n
    double, triple = make(2), make(3)
    return double(x), triple(x), double is triple


@case()
def lambdas_that_share_a_variable(x):
    made = [lambda z: z + i for i in range(3)]
    return [f(x) for f in made]


@built
def the_closure_changes_between_calls():
    scale = 1

    def run(x):
        return x * scale

    def harder():
        nonlocal scale
        scale = 4
        return t(3)
    return run, [lambda: t(3), harder, lambda: t(3)]


@case(lambda: t(3), FACTOR=3)
def a_global_from_a_function_inside(x):
    def inner(z):
        global FACTOR
        FACTOR += 1
        return z * FACTOR
    return inner(inner(x))


@built
def a_break_between_writes_of_a_closure():
    n = 1

    def run(x):
        nonlocal n
        n += 1
        x = x * n
        print(n)
        n += 1
        return x * n
    return run, [lambda: t(2), lambda: t(2)], run
