"""How arguments arrive: defaults, *args, **kwargs, keyword only, positional only."""

import torch

from oracles.dynamo_cases import Kw, built, case, t


@case(lambda: t(3), lambda: (t(3), 5))
def a_default(x, n=2):
    return x * n


@built
def a_default_that_remembers():
    def run(x, seen=[]):
        seen.append(len(seen))
        return x + len(seen)
    return run, [lambda: t(3), lambda: t(3)], run


def _helper(x, n=2, *more, scale=1, **named):
    for one in more:
        x = x + one
    return x * n * scale + sum(named.values()), sorted(named)


@case()
def calls_of_every_form(x):
    return (_helper(x), _helper(x, 3), _helper(x, 3, 4, 5), _helper(x, scale=2),
            _helper(x, a=1, b=2), _helper(x, *[1, 2], **{"scale": 3, "z": 4}), _helper(n=4, x=x))


@case(lambda: (t(2), t(2), t(2)), lambda: (t(2), t(2)))
def as_many_as_come(*xs):
    return sum(xs[1:], xs[0]), len(xs)


@case(lambda: (t(2), Kw(a=t(2), b=3)))
def named_as_they_come(x, **named):
    for name in sorted(named):
        x = x + named[name]
    named["new"] = x
    return named


@case(lambda: (t(2), Kw(n=3)))
def keyword_only(x, *, n, m=2):
    return x * n * m


@case(lambda: (t(2), 3))
def positional_only(x, n, /, m=1):
    return x * n + m


@case()
def a_wrong_call(x):
    y = x + 1
    return _helper(y, 1, n=2)


@case()
def an_argument_is_missing(x):
    def two(a, b):
        return a + b
    return two(x * 2)


@case(lambda: (t(2), {"n": 3}))
def handed_on(x, options):
    def inner(*args, **kwargs):
        return _helper(*args, **kwargs, scale=2)
    return inner(x, **options)


@case(lambda: (t(2), (1, 2)))
def star_in_the_middle(x, pair):
    return torch.cat([x, *[x * n for n in pair], x]), [*pair, 3], {**{"a": 1}, "b": 2}


@case()
def annotated(x: torch.Tensor, n: int = 3) -> torch.Tensor:
    y: float = 2.5
    return x * n * y


@case(lambda: (t(2), _helper), lambda: (t(2), lambda x: x - 1))
def a_function_as_argument(x, f):
    return f(x + 1)


@case()
def defaults_computed_at_definition(x):
    made = []
    for n in range(3):
        def f(z, n=n):
            return z * n
        made.append(f)
    return [f(x) for f in made]
