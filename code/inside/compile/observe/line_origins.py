"""Which operator of the graph each line of Inductor's C++ came from.

Lowering turns each operator into loop IR, whose `inner_fn` computes one element and calls the
`inner_fn`s of what it reads. Here each `inner_fn` notes its operator while it runs, the steps that
it makes carry the note, and a line of C++ takes it from the step for which it is written.
"""

import re
from contextlib import ExitStack
from dataclasses import dataclass
from unittest import mock

from torch._inductor import ir
from torch._inductor.graph import GraphLowering
from torch._inductor.utils import IndentedBuffer
from torch._inductor.virtualized import V
from torch.fx.proxy import TracerBase

from inside.compile.observe.inductor import generated

__all__ = ["Line", "line_origins", "plain", "tidy"]


@dataclass(frozen=True)
class Line:
    """A line of C++: `text`, its `depth` in braces, and `operator`, or None for the frame."""

    text: str
    depth: int
    operator: str | None


def line_origins(fn, *args, **options):
    """The lines of the one kernel that Inductor writes for `fn`, as a list of Line.

    `options` are those of `generated`. Lines of braces are left out. Raises ValueError if there
    is more than one kernel, or if a line would come from two operators.
    """
    notes = Notes()
    with ExitStack() as stack:
        for patch in notes.patches():
            stack.enter_context(patch)
        made = generated(fn, *args, **options)
    texts = [text for graph in made for text in graph.kernels.values()]
    if len(texts) != 1:
        raise ValueError(f"line_origins: {len(texts)} kernels; it reads functions with one")
    return [Line(plain(line), depth, notes.of_line(line.strip()))
            for line, depth in nested(texts[0]) if line.strip(" {}")]


def tidy(text):
    """A C++ function as plain lines, indented by loops and branches; no braces, no signature."""
    lines = [(plain(line), depth) for line, depth in nested(text) if line.strip(" {}")]
    start = next(at for at, (line, _) in enumerate(lines) if line.endswith(")")) + 1
    outer = min(depth for _, depth in lines[start:])
    return "\n".join("  " * (depth - outer) + line for line, depth in lines[start:])


def nested(text):
    """Each line with the number of loops and branches that it stands in."""
    depth, opened, last = 0, [], ""
    for line in text.splitlines():
        bare = line.strip()
        if bare.startswith("}"):
            depth -= opened.pop()
        yield line, depth
        if bare.startswith("{"):
            opened.append(opener(last))
            depth += opened[-1]
        last = bare


def opener(line):
    """1 if a block after this line is one of its own: a loop, a branch, a function."""
    return int(line.startswith(("for(", "if(")) or line.endswith(")"))


def plain(line):
    """A line as a person would write it: without casts to int64_t, namespaces and `L`."""
    line = re.sub(r"static_cast<int64_t>\(([^()]*)\)", r"\1", line.strip())
    line = re.sub(r"static_cast<(float)>\(([^()]*)\)", r"\1(\2)", line)
    line = re.sub(r"at::vec::Vectorized<float>", "Vec", line).replace("at::vec::", "")
    return re.sub(r"\b(\d+)L\b", r"\1", line)


class Notes:
    """Who makes a step of the loop IR, and for which step a line is written."""

    def __init__(self):
        self.running, self.lines = [], {}

    def of_line(self, text):
        """The operator of a line; None for a line that belongs to none."""
        found = self.lines.get(text, set())
        if len(found) > 1:
            raise ValueError(f"line_origins: {text!r} comes from {' and '.join(sorted(found))}")
        return next(iter(found), None)

    def patches(self):
        real_node, real_create, real_write = (
            GraphLowering.run_node, TracerBase.create_node, IndentedBuffer.writeline)

        def run_node(graph, node):
            result = real_node(graph, node)
            if node.op == "call_function":
                self.mark(result, node.target.__name__.split(".")[0])
            return result

        def create_node(tracer, *args, **kwargs):
            node = real_create(tracer, *args, **kwargs)
            node.meta["operator"] = self.running[-1] if self.running else step_operator()
            return node

        def writeline(buffer, line):
            if isinstance(line, str) and step_operator():
                self.lines.setdefault(line.strip(), set()).add(step_operator())
            return real_write(buffer, line)

        return [mock.patch.object(GraphLowering, "run_node", run_node),
                mock.patch.object(TracerBase, "create_node", create_node),
                mock.patch.object(IndentedBuffer, "writeline", writeline)]

    def mark(self, result, operator):
        """Let the `inner_fn` of a result say `operator` while it runs."""
        loops = result
        while loops is not None and not isinstance(loops, ir.Loops):
            loops = getattr(loops, "data", None)
        if loops is None or getattr(loops.inner_fn, "marked", False):
            return
        real = loops.inner_fn

        def inner_fn(*index):
            self.running.append(operator)
            try:
                return real(*index)
            finally:
                self.running.pop()

        inner_fn.marked = True
        object.__setattr__(loops, "inner_fn", inner_fn)


def step_operator():
    """The operator noted on the step that is being written as code just now."""
    node = getattr(V.interpreter, "current_node", None)
    return node.meta.get("operator") if node is not None else None
