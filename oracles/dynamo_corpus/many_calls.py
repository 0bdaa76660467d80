"""The same function again: what must be compiled anew, and what may not."""

import torch

from oracles.dynamo_cases import Kw, built, case, t


@case(*[lambda: t(3)] * 4)
def nothing_changes(x):
    return x * 2


@case(lambda: t(3), lambda: t(4), lambda: t(3))
def the_size_changes(x):
    return x.sum() * x.shape[0]


@case(lambda: t(3), lambda: t(3, dtype=torch.float64), lambda: t(3, dtype=torch.int32))
def the_dtype_changes(x):
    return x * 2


@case(lambda: t(4), lambda: t(2, 2), lambda: t(1, 4))
def the_dimensions_change(x):
    return x + 1


@case(lambda: (t(3), 1), lambda: (t(3), 2), lambda: (t(3), 1))
def a_number_changes(x, n):
    return x * n


@case(lambda: (t(3), 0.5), lambda: (t(3), 0.25))
def a_float_changes(x, n):
    return x * n


@case(lambda: (t(3), "a"), lambda: (t(3), "b"))
def a_text_changes(x, name):
    return x + len(name), name


@case(lambda: t(3), lambda: t(3, grad=True))
def gradients_begin(x):
    return x * 2


@case(lambda: (t(3), [1, 2]), lambda: (t(3), [1, 3]), lambda: (t(3), [1]))
def a_list_changes(x, xs):
    for n in xs:
        x = x * n
    return x


@case(lambda: (t(3), {"a": 1}), lambda: (t(3), {"a": 2}), lambda: (t(3), {"b": 1}))
def a_dict_changes(x, d):
    return x + d.get("a", 10)


@built
def the_mode_changes():
    def off():
        torch.set_grad_enabled(False)
        return t(3, grad=True)

    def on():
        torch.set_grad_enabled(True)
        return t(3, grad=True)
    return (lambda x: x * 2), [on, off, on]


@built
def an_attribute_changes():
    class Settings:
        scale = 1
    settings = Settings()

    def with_scale(n):
        def make():
            settings.scale = n
            return t(3)
        return make
    return (lambda x: x * settings.scale), [with_scale(1), with_scale(2), with_scale(1)], settings


@built
def a_function_is_replaced():
    table = {"f": lambda x: x + 1}

    def other():
        table["f"] = lambda x: x * 10
        return t(3)
    return (lambda x: table["f"](x)), [lambda: t(3), other], table


@case(*[(lambda n: lambda: (t(3), n))(n) for n in range(12)])
def more_numbers_than_the_limit(x, n):
    return x + n


@case(lambda: (t(3), t(3)), lambda: (lambda x: (x, x))(t(3)), lambda: (t(3), t(3)))
def aliasing_begins_and_ends(a, b):
    a.add_(1)
    return a * b


@case(lambda: (t(3), None), lambda: (t(3), t(3)), lambda: (t(3), 2))
def the_type_changes(x, y):
    return x if y is None else x + y


@case(lambda: (t(3), Kw(n=1)), lambda: (t(3), 1), lambda: t(3))
def the_form_of_the_call_changes(x, n=1):
    return x * n


@built
def the_default_dtype_changes():
    def double():
        torch.set_default_dtype(torch.float64)
        return t(3)
    return (lambda x: torch.ones(3) * 2), [lambda: t(3), double]


@case(lambda: t(3), lambda: t(3), lambda: t(4))
def a_break_again(x):
    x = x + 1
    print("again")
    return x * 2


@case(lambda: t(3), lambda: 3.0, lambda: t(3))
def a_tensor_or_a_number(x):
    return x * 2 + 1


@case(lambda: t(3), lambda: t(3)[::1], lambda: t(6)[::2])
def strides_change(x):
    return x + 1, x.stride()


@built
def the_mode_is_asked_and_changes():
    def off():
        torch.set_grad_enabled(False)
        return t(3)
    return (lambda x: x * 2 if torch.is_grad_enabled() else x * 3), [lambda: t(3), off]


@built
def the_default_dtype_is_asked_and_changes():
    def double():
        torch.set_default_dtype(torch.float64)
        return t(3)
    return (lambda x: (x + 1, torch.ones(3).dtype)), [lambda: t(3), double]
