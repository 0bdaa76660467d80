"""Raised, caught, raised again, from another; by Python and by torch; cleaned up after."""

import torch

from oracles.dynamo_cases import case, neg, pos, t


class Refused(Exception):
    def __init__(self, text, code=3):
        super().__init__(text)
        self.code = code


@case()
def raised(x):
    y = x + 1
    raise ValueError(f"wrong shape {tuple(y.shape)}")


@case(lambda: (t(3), 1), lambda: (t(3), -1))
def raised_under_a_condition(x, n):
    if n < 0:
        raise ValueError("negative", n)
    return x * n


@case()
def one_of_our_own(x):
    raise Refused("no", code=7)


@case()
def caught(x):
    try:
        raise KeyError("k")
    except KeyError as error:
        x = x + len(error.args)
    return x


@case()
def caught_from_a_call(x):
    def refuse(z):
        raise Refused("inner")
    try:
        y = x + 1
        refuse(y)
    except Refused as error:
        return y * error.code, str(error)


@case()
def caught_by_a_base_class(x):
    try:
        {}["missing"]
    except LookupError:
        return x + 1
    return x


@case()
def the_right_one_of_many(x):
    found = []
    for kind in (ValueError, TypeError, KeyError):
        try:
            raise kind("a")
        except ValueError:
            found.append("value")
        except (TypeError, AttributeError):
            found.append("type")
        except Exception:
            found.append("else")
    return x, found


@case(lambda: (t(3), 0), lambda: (t(3), 2))
def with_else_and_finally(x, n):
    log = []
    try:
        y = 6 // n
    except ZeroDivisionError:
        log.append("zero")
        y = 1
    else:
        log.append("fine")
    finally:
        log.append("finally")
    return x * y, log


@case()
def finally_and_return(x):
    log = []

    def inner(z):
        try:
            return z + 1
        finally:
            log.append("left")
    return inner(x), log


@case()
def raised_again(x):
    try:
        raise ValueError("first")
    except ValueError:
        x = x + 1
        raise


@case()
def raised_from_another(x):
    try:
        [][1]
    except IndexError as error:
        raise RuntimeError("second") from error


@case(lambda: ([t(2)],))
def effects_before_the_raise(xs):
    xs.append(xs[0] + 1)
    raise ValueError("after the append")


@case(lambda: (t(3), t(4)))
def torch_refuses_shapes(a, b):
    c = a * 2
    return c + b


@case(lambda: (t(3), t(4)))
def torch_refuses_and_it_is_caught(a, b):
    try:
        return a + b
    except RuntimeError:
        return a


@case(lambda: t(3))
def an_attribute_is_missing(x):
    return x.no_such_attribute


@case(lambda: t(3))
def an_index_is_too_large(x):
    return x[5]


@case(lambda: pos(3), lambda: neg(3))
def raised_by_data(x):
    if x.sum() < 0:
        raise ValueError("negative sum")
    return x.sqrt()


@case(lambda: [t(3)])
def an_index_of_a_list(xs):
    return xs[3] + 1


@case()
def a_name_that_is_unbound(x):
    if x.dim() == 7:
        y = x
    return y + 1


@case()
def print_inside_try(x):
    try:
        x = x + 1
        print("trying")
        x = x * 2
    except ValueError:
        x = x - 1
    return x


@case()
def print_inside_except(x):
    try:
        raise ValueError("v")
    except ValueError as error:
        print("caught", error)
        x = x + 1
    return x * 2


@case()
def exceptions_nested(x):
    try:
        try:
            raise ValueError("a")
        except ValueError:
            raise TypeError("b")
    except TypeError as error:
        return x + 1, type(error.__context__).__name__


@case()
def an_assertion_on_python(x):
    assert x.dim() == 2, f"two dimensions, not {x.dim()}"
    return x


@case()
def stop_iteration_of_next(x):
    it = iter([])
    try:
        next(it)
    except StopIteration:
        x = x + 1
    return x


@case(lambda: pos(3))
def item_inside_try(x):
    try:
        n = x.sum().item()
    except RuntimeError:
        n = 0
    return x * n


@case()
def a_warning_like_value(x):
    error = ValueError("kept, not raised")
    return x + 1, error


@case()
def unpacked_wrongly(x):
    a, b = [1, 2, 3]
    return x + a


@case()
def torch_is_called_wrongly(x):
    return torch.cat(x + 1, dim="a")
