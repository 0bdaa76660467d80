"""Which files of `code/` a program imports and which measured results it shows: what it computed
is stale when one of them changes."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable
from functools import cache
from itertools import accumulate
from pathlib import Path

from book.pipeline.paths import CODE, RESULTS

MAGIC = re.compile(r"^([ \t]*)[%!].*", re.M)


def files(programs: Iterable[str]) -> set[Path]:
    """Files below `code/` that the programs import, directly or through one another."""
    todo = [_modules(program, CODE) for program in programs]
    found: set[Path] = set()
    while todo:
        for file in {_find(name) for name in todo.pop()} - found - {None}:
            found.add(file)
            todo.append(_modules(file.read_text(encoding="utf-8"), file.parent))
    return found


def results(programs: Iterable[str]) -> set[Path]:
    """Files that the programs show by `inside.recorded`; all, where a name is only computed."""
    found: set[Path] = set()
    for program in programs:
        for name in _recorded(program):
            found |= set(RESULTS.glob("*.json" if name is None else f"{name}.json"))
    return found


def digests(programs: Iterable[str]) -> dict[str, str]:
    """Path -> sha256 of each of these files; those of `code/` are named from there."""
    programs = list(programs)
    code = files(programs)
    shown = results([*programs, *(file.read_text(encoding="utf-8") for file in code)])
    named = {**{file.relative_to(CODE).as_posix(): file for file in sorted(code)},
             **{f"results/{file.name}": file for file in sorted(shown)}}
    return {name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in named.items()}


def _recorded(source: str) -> set[str | None]:
    """What a piece of Python gives to `recorded`: names of results, None for what is no literal."""
    calls = (node for node in ast.walk(_tree(source)) if isinstance(node, ast.Call)
             and getattr(node.func, "id", getattr(node.func, "attr", None)) == "recorded")
    first = (call.args[0] if call.args else None for call in calls)
    return {arg.value if isinstance(arg, ast.Constant) and isinstance(arg.value, str) else None
            for arg in first}


@cache  # the same files of code/ stand behind many notebooks
def _modules(source: str, package: Path) -> set[str]:
    """Dotted names of the modules a piece of Python imports, and of the packages around them."""
    names: set[str] = set()
    for node in ast.walk(_tree(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            folder = [package, *package.parents][node.level - 1] if node.level else CODE
            base = [*folder.relative_to(CODE).parts, *(node.module or "").split(".")]
            names |= {".".join(filter(None, [*base, alias.name])) for alias in node.names}
    return {part for name in names for part in accumulate(name.split("."), "{}.{}".format)}


def _tree(source: str) -> ast.Module:
    """The syntax tree, magics left out; an empty one where even that is no Python."""
    for text in (source, MAGIC.sub(r"\1pass", source)):
        try:
            return ast.parse(text)
        except SyntaxError:
            continue  # running the program will say what is wrong and where
    return ast.Module([], [])


def _find(module: str) -> Path | None:
    stem = CODE.joinpath(*module.split("."))
    for file in (stem.with_suffix(".py"), stem / "__init__.py"):
        if file.is_file():
            return file
    return None
