"""What happens in each call of a compiled function, noted while it happens.

Nothing here is looked up: a back end and the graph that it returns note themselves, Dynamo tells
when a capture begins, and an attribute that the function sets is looked at before and after.
"""

import torch
from torch._dynamo import callback

STEPS = ("capture", "back end", "graph", "effect")  # in the order of a first call


class State:
    """An object whose attribute the function sets."""

    last: str | None = None


def calls(arguments):
    """A tuple of steps for `torch.compile` itself, and one for each call with a tensor."""
    happened, state = [], State()

    def effect():
        if state.last is not None and "effect" not in happened:
            happened.append("effect")

    def backend(module, inputs):
        happened.append("back end")

        def run(*values):
            effect()  # would it come before the graph?
            happened.append("graph")
            return module.forward(*values)
        return run

    def step(x):
        y = x + 1
        state.last = "a batch"
        return y * 2

    def began(_):
        happened.append("capture")

    torch._dynamo.reset()
    callback.on_compile_start(began)
    try:
        compiled = torch.compile(step, backend=backend)
        found = [tuple(happened)]
        for x in arguments:
            happened.clear()
            state.last = None
            compiled(x)
            effect()
            found.append(tuple(happened))
    finally:
        callback.callback_handler.remove_start_callback(began)
    return found
