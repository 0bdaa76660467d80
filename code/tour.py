"""The tour of a companion: each line of code with what it returns, or how it is refused.

A companion's own tour holds its steps, (line of code, note in Chinese, note in English), and the
names that they use. mini_tensor_tour.py is the shortest example.
"""
import argparse


def parser(description):
    """The arguments that every tour takes: `--lang zh` or `--lang en`."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--lang", choices=("zh", "en"), default="en", help="language of the tour")
    return made


def show(code, scope):
    """Run one line; its value or what it assigned, where that can be shown, or the refusal."""
    try:
        if " = " in code:
            exec(code, scope)                                  # our own text, from the steps
            code = code.split(" = ")[0]
        value = eval(code, scope)
    except (RuntimeError, OSError, TypeError, ValueError) as error:
        return "; ".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", [])])
    shown = value is not None and type(value).__repr__ is not object.__repr__
    return repr(value) if shown else ""


def run(description, steps, scope, argv=None):
    """Print the tour in the language asked for; the exit status, 0."""
    lang = parser(description).parse_args(argv).lang
    for code, zh, en in steps:
        note = {"zh": zh, "en": en}[lang]
        print(f">>> {code}" + (f"    # {note}" if note else ""))
        if shown := show(code, scope):
            print(shown)
    return 0
