"""What each stage of torch.compile makes of one function, in a form that versions share.

The back end here is AOTAutograd with recorders in the place of Inductor: its graphs run as they
are. Opcodes have one name for all versions of Python from 3.11 on, and what differs between
versions, such as the number of guards, is not kept.
"""

import dis
import inspect
import re
import textwrap
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.eval_frame import _debug_get_cache_entry_list
from torch._functorch.aot_autograd import make_boxed_func
from torch.utils import _device

ONE_NAME = {  # opcodes that only some versions have, and what they are called here
    "LOAD_METHOD": "LOAD_ATTR", "LOAD_SMALL_INT": "LOAD_CONST", "LOAD_FAST_BORROW": "LOAD_FAST",
    "LOAD_FAST_CHECK": "LOAD_FAST",
}
UNNAMED = {"RESUME", "PRECALL", "PUSH_NULL", "CACHE", "NOT_TAKEN"}  # that some versions lack
TENSOR = re.compile(r"check_tensor\((L\['\w+'\]), Tensor, .*?torch\.(\w+), device=\w+, "
                    r"(requires_grad=\w+), (size=\[.*?\])")


@dataclass
class Machine:
    """A function as each stage has it; lists of lines as text."""

    source: list[str]
    bytecode: dict[str, list[str]]  # line of the source, without indentation: its instructions
    graph: list[str] = field(default_factory=list)
    guards: list[str] = field(default_factory=list)  # those of tensors, in the order of their names
    forward: list[str] = field(default_factory=list)
    backward: list[str] = field(default_factory=list)
    saved: list[str] = field(default_factory=list)  # what the forward graph keeps for the backward
    compiled: int = 0  # how often Dynamo ran
    entries: int = 0  # how many entries the code of the function has in its cache


def machine(function, *calls):
    """Compile `function`, call it with each tuple of arguments, and read all stages.

    What it returns has to be a scalar that needs a gradient. Whatever a call raises is raised.
    """
    lines = textwrap.dedent(inspect.getsource(function)).splitlines()
    made = Machine(lines, instructions(function.__code__, lines))
    torch.compiler.reset()
    compiled = torch.compile(function, backend=recorder(made))
    with no_default_device():
        for inputs in calls:
            compiled(*inputs).backward()
    entries = _debug_get_cache_entry_list(function.__code__)
    made.entries = len(entries)
    found = TENSOR.findall(str(entries[0].guard_manager))
    made.guards = sorted(f"{name}: {', '.join(rest)}" for name, *rest in found)
    return made


@contextmanager
def no_default_device():
    """A default device is a mode before every call of torch, and Dynamo captures it as well: the
    product is then `l_x_.mul(l_w_)` in its graph."""
    before = _device.CURRENT_DEVICE
    torch.set_default_device(None)
    try:
        yield
    finally:
        torch.set_default_device(before)


def recorder(made):
    """A back end that notes its graph and those that AOTAutograd makes of it, and runs them."""
    def keep(name):
        def compiler(module, _):
            setattr(made, name, aten_lines(module))
            if name == "forward":
                made.saved = [str(one) for one in module.graph.output_node().args[0][1:]]
            return make_boxed_func(module.forward)
        return compiler

    def backend(module, inputs):
        made.compiled += 1
        made.graph = code_lines(module)
        return aot_autograd(fw_compiler=keep("forward"), bw_compiler=keep("backward"))(
            module, inputs)

    return backend


def instructions(code, lines):
    """{line: ["LOAD_FAST x", …]}, an instruction that loads two names as two."""
    found = {}
    for one in dis.get_instructions(code):
        line = one.positions.lineno
        if line and one.opname not in UNNAMED and line > code.co_firstlineno:
            found.setdefault(lines[line - code.co_firstlineno].strip(), []).extend(spelled(one))
    return found


def spelled(instruction):
    """One instruction or, for those that do the work of two, both."""
    name, value = instruction.opname.replace("_BORROW", ""), instruction.argval
    if isinstance(value, tuple) and name.count("_FAST") == 2:
        first, second = name.split("_FAST_")
        return [f"{first}_FAST {value[0]}", f"{second} {value[1]}"]
    name = ONE_NAME.get(name, name)
    if name == "BINARY_OP":
        return [f"{name} {instruction.argrepr}"]
    return [f"{name} {value}" if name.startswith(("LOAD_", "STORE_")) else name]


def code_lines(module):
    """The lines of a graph's code, from the first operation to what it returns."""
    lines = [re.sub(r";  (\w+ = )+None$", "", line.strip()) for line in module.code.splitlines()]
    start = next(n for n, line in enumerate(lines) if line.startswith("def forward")) + 1
    return [line.replace(";  ", "; ") for line in lines[start:]
            if line and not re.fullmatch(r"\w+ = \w+", line)]


def aten_lines(module):
    """The same, an operator each line, without the names of overloads."""
    overload = re.compile(r"torch\.ops\.aten\.(\w+)\.\w+")
    return [overload.sub(r"aten.\1", line) for line in code_lines(module)]
