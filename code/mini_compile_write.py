"""One group becomes one C++ function: the text.

    Writer(group, "loop_0", stored).kernel().source

Values are named as mini_compile_values says; x_acc is the accumulator of a reduction.
Source: torch/_inductor/codegen/cpp.py (CppKernel, LoopNest).
"""
import torch

from mini_compile_dtypes import CPP, HALVES, convert, variable
from mini_compile_groups import is_name, reduces
from mini_compile_operators import reduction_of
from mini_compile_values import Values

__all__ = ["Writer"]


class Writer(Values):
    """Writes the function of a group."""

    def __init__(self, group, name, stored):
        super().__init__(group, name, stored)
        self.lines, self.depth = [], 1

    # --- 1. Lines ---------------------------------------------------------------------------------

    def line(self, text):
        self.lines.append("  " * self.depth + text)

    def compute(self, node):
        kind = variable(node.meta["val"].dtype)
        self.line(f"const {kind} {node.name} = {self.expression(node)};")
        self.store(node)

    def store(self, node):
        if node in self.stored:
            kind = CPP[node.meta["val"].dtype][0]
            text = f"to_{kind}({node.name})" if kind in ("bfloat16", "half") else node.name
            self.line(f"out_{node.name}[{self.index(node, self.role(node, node))}] = {text};")
        elif node in self.waiting:
            self.line(f"row_{node.name}[{self.in_row()}] = {node.name};")

    def begin(self, node):
        rule, _, dtype = reduction_of(node)
        kind = accumulator(dtype, rule)
        self.line(f"{kind} {node.name}_acc = {rule.start.format(type=kind)};")

    def gather(self, node):
        rule, _, dtype = reduction_of(node)
        value = self.operand(node.args[0], node, dtype)
        acc = f"{node.name}_acc"
        self.line(f"{acc} = {rule.step.format(acc=acc, value=value)};")

    def finish(self, node):
        rule, _, dtype = reduction_of(node)
        text = f"{node.name}_acc"
        if rule.divides:
            count = " * ".join(f"n{at}" for at in range(self.space.rows, len(self.space.sizes)))
            text = f"{text} / ({count or 1})"
        if dtype in HALVES:
            text = convert(f"(float)({text})", torch.float32, dtype)
        self.line(f"const {variable(dtype)} {node.name} = {text};")
        self.store(node)

    # --- 2. The function --------------------------------------------------------------------------

    def kernel(self):
        """The Kernel with its source."""
        rows, self.waiting = self.space.rows, self.kept()
        if rows:
            self.line("#pragma omp parallel num_threads(threads)")
            self.open("{")
        for node in self.waiting:
            length = " * ".join(f"n{at}" for at in range(rows, len(self.space.sizes))) or "1"
            self.line(f"Row<{variable(node.meta['val'].dtype)}> row_{node.name}({length});")
        if rows:
            self.line("#pragma omp for" + (f" collapse({rows})" if rows > 1 else ""))
            self.loops(range(rows))
        self.body()
        while self.depth > 1:
            self.close()
        self.result.source = "\n".join([*self.head(), *self.lines, "}", ""])
        return self.result

    def open(self, text):
        self.line(text)
        self.depth += 1

    def close(self):
        self.depth -= 1
        self.line("}")

    def loops(self, which):
        for at in which:
            self.open(f"for (int64_t i{at} = 0; i{at} < n{at}; i{at}++) {{")

    def kept(self):
        """Nodes that a later sweep reads and that are not stored."""
        at = self.sweeps.at
        return {node: None for node in self.made if not self.row[node] and node not in self.stored
                and any(at[user] > at[node] for user in self.users(node))}

    def users(self, node):
        """Members that read a node, also by another name for it."""
        for user in node.users:
            if user in self.members:
                yield from self.users(user) if is_name(user) else (user,)

    def body(self):
        self.row_values(-1)
        for sweep in range(self.sweeps.count):
            self.sweep(sweep)
            self.row_values(sweep)

    def row_values(self, sweep):
        """What has one value for a row, once the sweep is over."""
        self.now = sweep
        for node in self.made:
            if self.row[node] and self.sweeps.at[node] == sweep:
                self.finish(node) if reduces(node) else self.compute(node)

    def sweep(self, sweep):
        nodes = [node for node in self.made if self.sweeps.at[node] == sweep
                 and (not self.row[node] or reduces(node))]
        if not nodes:
            return
        self.now, depth = sweep, self.depth
        gathered = [node for node in nodes if reduces(node)]
        for node in gathered:
            self.begin(node)
        self.headers("".join(
            f" reduction({reduction_of(node)[0].kind}:{node.name}_acc)" for node in gathered))
        for node in nodes:
            self.gather(node) if reduces(node) else self.compute(node)
        while self.depth > depth:
            self.close()

    def headers(self, clauses):
        """The loops over a row. Without rows, the threads share these loops."""
        which = range(self.space.rows, len(self.space.sizes))
        if not which:
            return
        alone = self.space.rows == 0
        if alone and len(which) == 1:
            self.line(f"#pragma omp parallel for simd num_threads(threads){clauses}")
        elif alone:
            self.line(f"#pragma omp parallel for num_threads(threads){clauses}")
        self.loops(which[:-1])
        if not (alone and len(which) == 1):
            self.line(f"#pragma omp simd{clauses}")
        self.loops(which[-1:])

    def head(self):
        made = self.result
        names = ", ".join(node.name for node in self.made)
        given = [f"const {CPP[node.meta['val'].dtype][0]} *__restrict in_{node.name}"
                 for node in made.inputs]
        given += [f"{CPP[node.meta['val'].dtype][0]} *__restrict out_{node.name}"
                  for node in made.outputs]
        given += [f"int64_t n{at}" for at in range(made.loops)]
        given += [f"int64_t s{at}" for at in range(len(made.numbers) - made.loops)]
        return [f"// {names}", f'extern "C" void {made.name}(' + ",\n    ".join(
            [*given, "int threads"]) + ") {"]


def accumulator(dtype, rule):
    """Sums of floats are kept in double, and rounded once."""
    if rule.kind == "+" and dtype.is_floating_point:
        return "double"
    return variable(dtype)
