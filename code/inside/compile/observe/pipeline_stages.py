"""What torch.compile makes of a function, stage by stage, each row with the lines it comes from.

A row is [head, text, lines]: the head says what kind of thing it is (an opcode, the op of a node,
the type of a guard), the lines are those of the source, counted from 1, that Dynamo or Python
names for it. A part is {"title", "rows"}; a stage of a function is a list of parts.

What differs from run to run is left out: ids of objects, the hash in a compiled function's name,
the keys of the dispatcher and of the global state, which name devices and thread counts.
"""

import dis
import linecache
import re
import types
from dataclasses import dataclass

import torch
from torch._dynamo import config
from torch._dynamo.convert_frame import register_bytecode_hook
from torch._dynamo.eval_frame import _debug_get_cache_entry_list

from inside.compile.observe.pipeline_back import Lowered, lower, parts_of

FUNCTION = "step"  # the function of an example that is compiled
TOLD = {"LOAD_GLOBAL", "LOAD_FAST", "STORE_FAST", "STORE_SUBSCR", "PRECALL", "CALL",
        "CALL_FUNCTION_EX", "RETURN_VALUE"}  # the opcodes that tell what rewritten code does
LEAF = re.compile(r"\+- ([A-Z_]+): (.*)")
SHORTER = [  # what a guard's text loses
    (r"\s*#.*", ""), (r", type=<class .*", ""), (r"DispatchKeySet\([^)]*\)", "DispatchKeySet(…)"),
    (r"against \{.*\}", "against {…}"), (r"\b\d{7,}\b", "…"),
    (r"__builtins_dict___\d+", "__builtins_dict__"),
]


@dataclass
class Compilation:
    """One run of Dynamo on one frame."""

    call: str
    code: types.CodeType
    rewritten: types.CodeType
    graph: torch.fx.GraphModule | None = None
    guards: str = ""
    back: Lowered | None = None

    @property
    def compiled(self):
        """The names under which the rewritten code calls compiled graphs."""
        return [name for name in self.rewritten.co_names if name.startswith("__compiled_fn")]


# ---------------------------------------------------------------- running the compiler
def compilations(source, calls, **options):
    """Run the calls, expressions that call `step`, one by one; a `Compilation` per run of Dynamo.

    Returns them and the functions that the source defines. Python prints as it runs.
    """
    names, graphs, backs, made = define(source), {}, [], []
    functions = [value for value in names.values() if isinstance(value, types.FunctionType)]

    def keep(module, inputs):
        graphs[len(graphs)] = module
        backs.append(lower(module, inputs, stack_lines))
        return module.forward

    torch.compiler.reset()
    names[FUNCTION] = torch.compile(names[FUNCTION], backend=keep, **options)
    with config.patch(record_runtime_overhead=False):
        for call in calls:
            hook = register_bytecode_hook(
                lambda code, new, call=call: made.append(Compilation(call, code, new)))
            try:
                eval(call, names)
            finally:
                hook.remove()
            read_guards(made)
    found = (one for one in made if one.compiled)
    for one, graph, back in zip(found, graphs.values(), backs, strict=True):
        one.graph, one.back = graph, back
    return made, sorted(functions, key=lambda function: function.__name__ != FUNCTION)


def define(source):
    """The names that the source defines; its lines are counted from 1."""
    file = f"<{FUNCTION}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names = {"torch": torch}
    exec(compile(source, file, "exec"), names)
    return names


def read_guards(made):
    """The guards of what was just compiled; the newest entry of a code object comes first.

    At once, because a guard that fails moves up in the list.
    """
    for one in made:
        if not one.guards:
            one.guards = str(_debug_get_cache_entry_list(one.code)[0].guard_manager)


# ---------------------------------------------------------------- the stages
def stages_of(source, calls, **options):
    """{stage: parts} of `step` in the source, run by Dynamo for each of the calls."""
    made, functions = compilations(source, calls, **options)
    codes = {code.co_name: code for code in
             [*(function.__code__ for function in functions), *(one.code for one in made)]}
    lines = [[str(n), text, [n] if text.strip() else []]
             for n, text in enumerate(source.splitlines(), 1)]
    again = len(made) > len({one.code for one in made})
    title = (lambda one: one.call) if again else (lambda one: one.code.co_name)
    used = names_used([function.__code__ for function in functions])

    titles = [title(one) if len(made) > 1 else "" for one in made]

    def parts(rows):
        return [{"title": one, "rows": rows(each)}
                for one, each in zip(titles, made, strict=True)]

    return {
        "source": [{"title": "", "rows": lines + [[">>>", call, []] for call in calls]}],
        "bytecode": [{"title": name if len(codes) > 1 else "", "rows": bytecode(code)}
                     for name, code in codes.items()],
        "graph": parts(lambda one: nodes(one.graph)),
        "guards": parts(lambda one: guards(one.guards)),
        "rewritten": parts(lambda one: rewritten(one, made, used)),
    } | parts_of(titles, [one.back for one in made])


def bytecode(code):
    """A row per instruction; what a resume function jumps over at its start is left out."""
    rows, skipped, until = [], 0, 0
    resumes = code.co_name.startswith("torch_dynamo_resume")
    for one in dis.get_instructions(code):
        if one.offset < until:
            skipped += 1
            continue
        if skipped:
            rows, skipped = [*rows, left_out(skipped)], 0
        rows.append([one.opname, one.argrepr, line_of(one)])
        if resumes and one.opname == "JUMP_FORWARD":
            until = one.argval
    return rows


def line_of(instruction):
    line = instruction.positions.lineno
    return [line] if line else []


def left_out(count):
    return ["⋯", f"× {count}", []]


def nodes(graph):
    """A row per node of an FX graph: its op, its line of the graph's code, and the stack's."""
    return [[node.op, spell(node, graph.code), stack_lines(node)] for node in graph.graph.nodes]


def spell(node, code):
    if node.op == "output":
        return f"return {node.args[0]}"
    if node.op != "placeholder":
        line = rf"^    ((?:.*;  )?{node.name} = .*?)(?:;  .* = None)?$"
        return re.search(line, code, re.M)[1].replace(";  ", "; ")
    example = node.meta.get("example_value")
    tensor = isinstance(example, torch.Tensor)
    kind = f"{example.dtype}{list(example.shape)}" if tensor else "SymInt"
    return f"{node.name}: {kind}".replace("torch.", "")


def stack_lines(node):
    found = re.findall(rf'File "<{FUNCTION}>", line (\d+)', node.meta.get("stack_trace") or "")
    return sorted({int(line) for line in found})


def guards(printed):
    """A row per leaf of the printed tree; alike neighbours become one."""
    rows = []
    for head, said in LEAF.findall(printed):
        lines = [int(line) for line in re.findall(rf"# <{FUNCTION}>:(\d+) in", said)]
        rows.append([head, shorter(said), lines])
    return merged(rows)


def shorter(said):
    for pattern, words in SHORTER:
        said = re.sub(pattern, words, said)
    return said.strip()


def merged(rows):
    """Rows that differ only in a name that begins with _dynamo_ become one, with their count."""
    groups = {}
    for head, text, lines in rows:
        key = re.sub(r"'_dynamo_\w+'", "'_dynamo_…'", text)
        groups.setdefault((head, key), []).append([head, text, lines])
    return [group[0] if len(group) == 1 else [head, f"{key}  × {len(group)}", group[0][2]]
            for (head, key), group in groups.items()]


def names_used(codes):
    """{name: the lines on which the function's own bytecode uses it}."""
    found = {}
    for code in codes:
        for one in dis.get_instructions(code):
            if isinstance(one.argval, str):
                found.setdefault(one.argval, set()).update(line_of(one))
    return found


def rewritten(compilation, made, used):
    """The instructions of the new bytecode that name or call something, the others counted."""
    graph_of = {name: one for one in made for name in one.compiled}
    rows, run = [], []
    for one in dis.get_instructions(compilation.rewritten):
        if not tells(one):
            run.append([one.opname, one.argrepr, []])
            continue
        rows += run if len(run) < 2 else [left_out(len(run))]
        rows.append([one.opname, stable(one.argrepr, graph_of),
                     came_from(one, graph_of, made, used)])
        run = []
    return rows


def tells(instruction):
    """Whether an instruction of rewritten code names or calls something; tmp_… only move values."""
    spoken = instruction.opname == "LOAD_CONST" and isinstance(instruction.argval, str)
    return spoken or (instruction.opname in TOLD and not instruction.argrepr.startswith("tmp_"))


def stable(argument, compiled):
    """A global's name without its hash; compiled graphs are counted from 1."""
    for place, name in enumerate(compiled, 1):
        argument = argument.replace(name, f"__compiled_fn_{place}")
    argument = re.sub(r"(__builtins_dict__)_\d+", r"\1", argument)
    return re.sub(r"(__resume_at_\d+)_\d+", r"\1", argument)


def came_from(instruction, graph_of, made, used):
    """The lines of what an instruction names: a graph's, a resume function's, a variable's."""
    name = instruction.argval if isinstance(instruction.argval, str) else ""
    rest = [one for one in made if one.code.co_name.startswith("torch_dynamo_resume")]
    if name in graph_of:
        return lines_of(graph_of[name].graph)
    if name.startswith("__resume_at"):
        return sorted({line for one in rest for line in lines_of(one.graph)})
    return sorted(used.get(name, ())) if instruction.opname != "STORE_FAST" else []


def lines_of(graph):
    return sorted({line for node in graph.graph.nodes for line in stack_lines(node)})
