"""f-strings, methods of strings, and what is printed, in its order."""

from oracles.dynamo_cases import case, t


@case(lambda: (t(3), "net"))
def an_f_string(x, name):
    label = f"{name}-{x.shape[0]}:{x.dim():03d} {name!r:>8}"
    return x + len(label), label


@case(lambda: t(2, 3))
def a_shape_in_a_text(x):
    return f"{x.shape} {tuple(x.shape)} {x.dtype}"


@case()
def methods_of_strings(x):
    parts = "a,b,c".split(",")
    return ("-".join(parts), "abc".upper().replace("B", "x"), " a ".strip(), "abc".startswith("a"),
            "abc"[1:], "abc" + "d" * 2, "%s=%d" % ("n", 3), "{} {}".format(1, 2), x)


@case()
def one_print(x):
    y = x + 1
    print("hello")
    return y * 2


@case()
def print_of_many(x):
    print("a", 1, None, [1, 2], sep="|", end="!\n")
    return x + 1


@case()
def print_of_a_tensor(x):
    y = x * 2
    print(y)
    return y + 1


@case()
def print_of_an_f_string(x):
    y = x * 2
    print(f"shape {y.shape}, sum {y.sum()}")
    return y


@case()
def print_at_the_end(x):
    y = x + 1
    print("end")
    return y


@case()
def print_alone(x):
    print("nothing is computed")


@case()
def three_prints(x):
    print(1)
    x = x + 1
    print(2)
    x = x * 2
    print(3)
    return x


@case(lambda: (t(3), True), lambda: (t(3), False))
def print_if_asked(x, verbose):
    x = x + 1
    if verbose:
        print("verbose")
    return x * 2


@case()
def print_in_a_function_inside(x):
    def say(text):
        print("saying", text)
        return len(text)
    n = say("abc")
    return x * n


@case()
def print_with_values_on_the_stack(x):
    return [x + 1, print("in the middle"), x * 2]


@case()
def print_as_an_argument(x):
    def add(a, b, c):
        return a + c
    return add(x + 1, print("b"), x * 3)


@case(lambda: (t(3), "key"))
def text_as_a_key(x, key):
    table = {"key": 2, "other": 3}
    return x * table[key], key.title(), key in table


@case()
def repr_and_str_of_numbers(x):
    return x + 1, str(3) + repr("a") + str(2.5), int("12"), float("1.5"), ascii("é"), chr(97)
