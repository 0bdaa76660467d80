"""What becomes of a captured graph: joint graph, forward and backward, fused loops, C++.

The second half of `pipeline_stages`, with the same rows: [head, text, lines of the source].
AOTAutograd and Inductor do the work and no C++ compiler is called, as in `inductor.py`. The code is
the one without vector instructions; indices lose their casts, and blocks their braces.
"""
import re
from contextlib import ExitStack
from dataclasses import dataclass, field
from unittest import mock

import torch
import torch._inductor.compile_fx as compile_fx
from torch._functorch import config as autograd_config
from torch._inductor.graph import GraphLowering

from inside.compile.observe import inductor

LEFT_OUT = re.compile(r"\s*([{}]+\s*$|#|args\.clear)")


@dataclass
class Lowered:
    """What AOTAutograd and Inductor made of one graph of Dynamo; rows for each stage."""

    joint: list = field(default_factory=list)
    graphs: dict[str, list] = field(default_factory=dict)    # "forward" or "backward": nodes
    loops: dict[str, list] = field(default_factory=dict)
    code: dict[str, list] = field(default_factory=dict)


def lower(module, inputs, lines_of_node):
    """Take a captured graph to the text of its C++; `lines_of_node` tells a node's source lines."""
    made, names = Lowered(), []

    def joint(graph):
        if any(node.name.startswith("tangents") for node in graph.nodes):
            made.joint = rows_of(graph, lines_of_node)

    def inner(graph, given, **options):
        names.append("backward" if options.get("is_backward") else "forward")
        made.graphs[names[-1]] = rows_of(graph.graph, lines_of_node)
        return compile_fx.compile_fx_inner(graph, given, **options)

    def keep(graph, source):
        units = graph.scheduler.nodes
        made.loops[names[-1]] = [unit(node, lines_of_node) for node in units]
        made.code[names[-1]] = code_rows(source, units, lines_of_node)

    with ExitStack() as stack:
        options = {"cpp.threads": 1, "joint_custom_pre_pass": joint}
        for patch in [*inductor.patches([], False, options),
                      autograd_config.patch(force_non_lazy_backward_lowering=True)]:
            stack.enter_context(patch)
        stack.enter_context(mock.patch.object(
            GraphLowering, "_compile_to_module_lines", inductor.watching(keep)))
        compile_fx.compile_fx(module, inputs, inner_compile=inner)
    return made


def parts_of(titles, made):
    """{stage: parts} of the Lowered ones; `joint` only where a gradient is asked for."""
    joint = [{"title": title, "rows": one.joint}
             for title, one in zip(titles, made, strict=True) if one.joint]
    stages = {stage: [{"title": named(title, way, one), "rows": rows}
                      for title, one in zip(titles, made, strict=True)
                      for way, rows in getattr(one, stage).items()]
              for stage in ("graphs", "loops", "code")}
    return ({"joint": joint} if joint else {}) | stages


def named(title, way, made):
    """The title of a part; forward and backward are told apart where there are both."""
    return ", ".join(filter(None, [title, way if len(made.graphs) > 1 else ""]))


def rows_of(graph, lines_of_node):
    """A row for each node of an ATen graph."""
    return [[node.op, spell(node), lines_of_node(node)] for node in graph.nodes]


def spell(node):
    """A node of an ATen graph as code, without `torch.ops.`"""
    if node.op == "output":
        return f"return {flat(node.args[0])}"
    if node.op in ("placeholder", "get_attr"):
        return f"{node.name}: {kind(node.meta.get('val'))}"
    words = [flat(one) for one in node.args] + [f"{k}={flat(v)}" for k, v in node.kwargs.items()]
    target = re.sub(r"^_operator\.", "operator.", str(node.target).replace("torch.ops.", ""))
    return f"{node.name} = {target}({', '.join(words)})"


def flat(value):
    """An argument as text; nodes by their names."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(flat, value))}]"
    return str(value).replace("torch.", "")


def kind(value):
    if isinstance(value, torch.Tensor):
        return f"{value.dtype}{list(value.shape)}".replace("torch.", "")
    return type(value).__name__


def unit(node, lines_of_node):
    """A row for one unit of Inductor's schedule: loops, or the call of a ready-made kernel."""
    loop, = inductor.units([node])
    return [loop.kind, ", ".join(loop.operators), lines_of_units([node], lines_of_node)]


def lines_of_units(units, lines_of_node):
    origins = [origin for node in units for one in node.get_nodes() if one.node is not None
               for origin in one.node.origins]
    return sorted({line for origin in origins for line in lines_of_node(origin)})


def code_rows(source, units, lines_of_node):
    """The generated function and the lines of `call`; all of a function comes from its loops."""
    functions = inductor.kernels(source)
    if len(functions) > 1:
        raise ValueError(f"{len(functions)} C++ functions; their lines can be told apart for one")
    loops = [node for node in units if inductor.units([node])[0].kind == "loops"]
    lines = lines_of_units(loops, lines_of_node)
    rows = [["C++", text, lines] for name, body in functions.items()
            for text in short(body.replace("kernel(", f"{name}("))]
    return rows + [["call", text, []] for text in short(inductor.call(source))]


def short(text):
    """The lines of some code without braces and casts of indices, indented by two per level."""
    text = re.sub(r"static_cast<int64_t>\(([^()]*)\)", r"\1", text)
    text = re.sub(r"\b(\d+)L\b", r"\1", text)
    text = re.sub(r",\n +", ", ", text).replace('extern "C"  void  ', "void ")
    lines = [line for line in text.splitlines() if line.strip() and not LEFT_OUT.match(line)]
    depths = sorted({len(line) - len(line.lstrip()) for line in lines})
    return ["  " * depths.index(len(line) - len(line.lstrip())) + line.strip() for line in lines]
