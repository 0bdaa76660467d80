"""Functions that call functions: inlined, broken inside, broken twice, recursive."""

from oracles.dynamo_cases import case, neg, pos, t


def double(x):
    return x * 2


def twice_double(x):
    return double(double(x))


def says(x):
    x = x + 1
    print("said")
    return x * 2


def says_deeper(x):
    y = says(x * 3)
    return y - 1


def by_data(x):
    if x.sum() > 0:
        return x + 1
    return x - 1


def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)


def halves(x, n):
    if n == 0:
        return x
    return halves(x * 0.5, n - 1) + n


def counts_down(x, n):
    print(n)
    if n == 0:
        return x
    return counts_down(x + 1, n - 1)


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def appends(log, x):
    log.append(x)
    return x + len(log)


@case()
def three_deep(x):
    return twice_double(x + 1) - double(x)


@case()
def a_break_one_call_down(x):
    y = x + 2
    z = says(y)
    return z + y


@case()
def a_break_two_calls_down(x):
    return says_deeper(x + 1) * 2


@case()
def the_same_break_twice(x):
    x = says(x)
    return says(x)


@case(lambda: pos(3), lambda: neg(3))
def data_decide_one_call_down(x):
    return by_data(x * 2) + 1


@case(lambda: pos(3))
def a_break_in_an_argument(x):
    return double(says(x)) + says(double(x))


@case(lambda: (t(3), 4))
def recursion_of_numbers(x, n):
    return x * factorial(n)


@case(lambda: (t(3), 3))
def recursion_of_tensors(x, n):
    return halves(x, n)


@case(lambda: (t(3), 2))
def recursion_with_breaks(x, n):
    return counts_down(x, n) * 2


@case(lambda: (t(3), 3))
def functions_that_call_each_other(x, n):
    return x + 1 if even(n) else x - 1


@case()
def effects_one_call_down(x):
    log = []
    y = appends(log, x)
    return appends(log, y), log


@case(lambda: ([], t(3)))
def the_list_of_the_caller_one_call_down(log, x):
    y = appends(log, x)
    print(len(log))
    return appends(log, y)


@case()
def a_call_in_a_loop_with_a_break(x):
    for _ in range(2):
        x = says(x)
    return x


@case()
def a_call_in_a_with_block(x):
    def inner(z):
        return [double(z), says(z)]
    return inner(x)[1] + 1


@case()
def a_result_that_nobody_uses(x):
    says(x)
    double(x)
    return x
