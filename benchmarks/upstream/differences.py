"""Which of PyTorch's tests come out otherwise, and why: a list to read, held by each run.

A test that differs and is not here fails `make upstream`; so does one that is here and agrees, if
it was run. The names are those of PyTorch's source; nothing else of it is here.
"""

from __future__ import annotations

from typing import NamedTuple


class Listed(NamedTuple):
    zh: str
    en: str  # as the table says it
    reason: str
    tests: tuple[str, ...]


DYNAMO: tuple[Listed, ...] = (
    Listed("用 torch.jit.trace 检查编译过的函数", "have torch.jit.trace check a compiled function",
           "Names of generated code differ from run to run; the section and mini_dynamo say so.",
           ("ReproTests.test_jit_trace_errors",)),
    Listed("记下一个对象的地址", "keep the address of an object",
           "id() is another number in each process, and sometimes the same one in two alike.",
           ("MiscTests.test_id_guarded_object",)),
)
COMPILE: tuple[Listed, ...] = ()
