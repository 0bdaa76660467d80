"""with: the modes of torch, managers of one's own, breaks and exceptions inside."""

import contextlib

import torch

from oracles.dynamo_cases import built, case, t


class Noted:
    def __init__(self, log, swallow=False):
        self.log, self.swallow = log, swallow

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, kind, value, trace):
        self.log.append(kind.__name__ if kind else "exit")
        return self.swallow


@case(lambda: t(3, grad=True))
def without_gradients(x):
    with torch.no_grad():
        y = x * 2
    return y, x * 3


@case(lambda: t(3, grad=True))
def with_gradients_inside_without(x):
    with torch.no_grad():
        a = x * 2
        with torch.enable_grad():
            b = x * 3
    return a, b, torch.is_grad_enabled()


@case(lambda: (t(3, grad=True), True), lambda: (t(3, grad=True), False))
def gradients_by_a_flag(x, flag):
    with torch.set_grad_enabled(flag):
        y = x * 2
        inside = torch.is_grad_enabled()
    return y, inside


@case(lambda: t(3, grad=True))
def break_without_gradients(x):
    with torch.no_grad():
        y = x * 2
        print("inside")
        z = y + x
    return z, x * z


@case(lambda: t(3, grad=True))
def return_from_inside(x):
    with torch.no_grad():
        return x * 2


@case(lambda: t(3, grad=True))
def raised_from_inside(x):
    with torch.no_grad():
        y = x * 2
        raise ValueError(str(y.dim()))


@case(lambda: t(3, grad=True))
def the_mode_stays_changed(x):
    y = x * 2
    torch.set_grad_enabled(False)
    return y, x * 3


@case()
def a_manager_of_ones_own(x):
    log = []
    with Noted(log) as noted:
        x = x + 1
        noted.log.append("inside")
    return x, log


@case()
def a_manager_swallows(x):
    log = []
    with Noted(log, swallow=True):
        x = x + 1
        raise ValueError("swallowed")
    return x, log


@case()
def a_manager_sees_and_lets_go(x):
    log = []
    try:
        with Noted(log):
            raise KeyError("k")
    except KeyError:
        log.append("caught")
    return x + len(log), log


@case()
def a_manager_around_a_break(x):
    log = []
    with Noted(log):
        x = x + 1
        print("broken")
        x = x * 2
    return x, log


@contextlib.contextmanager
def scaled(log, n):
    log.append(n)
    yield n * 2
    log.append(-n)


@case()
def a_manager_from_a_generator(x):
    log = []
    with scaled(log, 2) as n:
        x = x * n
    return x, log


@case()
def a_suppressed_error(x):
    with contextlib.suppress(KeyError):
        {}["a"]
    return x + 1


@case()
def a_null_context(x):
    with contextlib.nullcontext(3) as n:
        return x * n


@case()
def two_managers_at_once(x):
    log = []
    with Noted(log) as a, torch.no_grad():
        x = x + 1
        a.log.append("both")
    return x, log


@built
def no_grad_as_a_decorator():
    @torch.no_grad()
    def frozen(x):
        return x * 2

    def run(x):
        return frozen(x), x * 2
    return run, [lambda: t(3, grad=True)]


@case(lambda: t(2, 2))
def autocast_on_the_cpu(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ x
    return y.dtype, y.float()


@case(lambda: t(3, grad=True))
def inference_mode(x):
    with torch.no_grad():
        y = x + 1
    return y.requires_grad, y
