"""What Dynamo makes of a function: graphs, guards, breaks, recompilations, bytecode.

    from inside.compile.observe.compiled import watch
    seen = watch(f)             # torch.compile(f, backend="eager"), with a recorder
    seen(x)
    seen.graphs()               # the graphs that the back end received, as lines
    seen.guards()               # the guards of the newest cache entry of f

The records are read from torch itself (`torch._dynamo.utils.get_compilation_metrics`,
`torch._dynamo.eval_frame._debug_get_cache_entry_list`) and cut to what is the same on every
machine: no addresses, files, device names or running numbers.
"""

from __future__ import annotations

import dis
import re
from collections.abc import Callable
from types import CodeType
from typing import Any, NamedTuple

import torch
from torch._dynamo.eval_frame import _debug_get_cache_entry_list
from torch._dynamo.symbolic_convert import InstructionTranslator
from torch._dynamo.utils import get_compilation_metrics

AMBIENT = ("GLOBAL_STATE", "TORCH_FUNCTION_MODE_STACK", "DEFAULT_DEVICE", "LAMBDA_GUARD")
GUARD = re.compile(r"^[| ]*\+- ([A-Z_]+): (.*)$")
SOURCE = re.compile(r"\b[LG]\['\w+'\](?:\.\w+|\[[^]]*\])*")


class Guard(NamedTuple):
    """One guard: its kind as torch calls it (`TENSOR_MATCH`), what it reads, and its code."""

    kind: str
    source: str
    code: str


def normal(text: str) -> str:
    """A text of torch without addresses, devices, places in files and running numbers."""
    text = re.sub(r"\s+# .*$", "", text.strip(), flags=re.M)        # where the guard was made
    text = re.sub(r"(?<=, )\d{6,}(?=[,)])|0x[0-9a-f]+|(?<=== )\d{9,}", "…", text)
    text = re.sub(r"\b(cuda|rehearsal|cpu)(:\d+)?\b", "DEVICE", text)
    text = re.sub(r"DispatchKeySet\([^)]*\)", "DispatchKeySet(…)", text)
    text = re.sub(r"device=(\d+|None)", "device=…", text)
    return re.sub(r"(__builtins_dict__|__compiled_fn|__resume_at_\d+)_*\d[\w]*", r"\1", text)


class Watched:
    """A compiled callable that records what its back end received; call it like the original."""

    def __init__(self, fn: Callable | torch.nn.Module, backend: str = "eager", **options: Any):
        torch._dynamo.reset()
        self.fn = fn
        self.modules: list[torch.fx.GraphModule] = []
        self.codes: list[CodeType] = []  # compiled code objects, in order; [0] is fn's own
        self._before = get_compilation_metrics()[-1:]  # what comes after it is ours
        compiler = torch._dynamo.lookup_backend(backend)

        def record(module: torch.fx.GraphModule, inputs: list) -> Callable:
            self.modules.append(module)
            code = InstructionTranslator.current_tx().f_code
            if code not in self.codes:
                self.codes.append(code)
            return compiler(module, inputs)

        self.compiled = torch.compile(fn, backend=record, **options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.compiled(*args, **kwargs)

    def graphs(self) -> list[list[str]]:
        """For each graph, the lines of its `forward` without the deletion of names."""
        return [body(module) for module in self.modules]

    def operations(self) -> list[list[str]]:
        """For each graph, the names of what it calls, in order."""
        return [[node.target if isinstance(node.target, str) else node.target.__name__
                 for node in module.graph.nodes if node.op.startswith("call")]
                for module in self.modules]

    def frames(self) -> list[str]:
        """The names of the frames compiled so far, resume functions included."""
        return [re.sub(r"_at_\d+$", "", each.co_name or "") for each in self._metrics()]

    def breaks(self) -> list[str]:
        """One line for each reason why a graph ended early, in the order of compilation."""
        return [reason.split("\n")[0] for each in self._metrics()
                for reason in sorted(each.restart_reasons or ())]

    def recompiles(self) -> list[str]:
        """For each compilation after the first of a code object, the guard that failed."""
        return [normal(re.sub(r"^\d+/\d+: ", "", each.recompile_reason.split("\n")[0]))
                for each in self._metrics() if each.recompile_reason]

    def entries(self, frame: int = 0) -> list[Any]:
        """The cache entries of a compiled code object, newest first; frame 1 may be a resume."""
        return _debug_get_cache_entry_list(self.codes[frame])

    def guards(self, entry: int = 0, frame: int = 0, ambient: bool = False) -> list[Guard]:
        """The guards of a cache entry (0 is the newest); `ambient` adds those of global state."""
        lines = str(self.entries(frame)[entry].guard_manager).split("\n")
        found = [guard(match[1], match[2]) for match in map(GUARD.match, lines) if match]
        return [each for each in found if "'_dynamo_" not in each.code
                and (ambient or each.kind not in AMBIENT)]

    def bytecode(self, entry: int | None = None, frame: int = 0) -> list[str]:
        """Instructions as `NAME argument`: of the code object, or of a cache entry's new code."""
        code = self.codes[frame] if entry is None else self.entries(frame)[entry].code
        return [normal(f"{each.opname} {each.argrepr}".strip())
                for each in dis.get_instructions(code)]

    def _metrics(self) -> list[Any]:
        kept = get_compilation_metrics()  # torch keeps the newest 64 or so
        after = (at for at, each in enumerate(kept) if self._before and each is self._before[0])
        return kept[next(after, -1) + 1:]


def watch(fn: Callable | torch.nn.Module, backend: str = "eager", **options: Any) -> Watched:
    """`torch.compile(fn, backend=backend, **options)` from an empty cache, with a record."""
    return Watched(fn, backend, **options)


def body(module: torch.fx.GraphModule) -> list[str]:
    """The lines of a graph's `forward` after the signature, names not deleted."""
    lines = [re.sub(r";?\s*(\w+ = )+None$", "", line.strip()) for line in module.code.split("\n")]
    start = next(at for at, line in enumerate(lines) if line.startswith("def forward"))
    return [line for line in lines[start + 1:] if line]


def guard(kind: str, code: str) -> Guard:
    """A guard from a line of torch's guard tree."""
    text = re.sub(r" \(HINT: .*\)$", "", normal(code))
    text = re.sub(r", type=<.*$", "", text) if kind == "ID_MATCH" else text  # its words vary
    source = SOURCE.search(text)
    return Guard(kind, source[0] if source else "", text)
