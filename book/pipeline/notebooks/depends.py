"""Which files of `code/` a program imports and which measured results it shows: what it computed
is stale when one of them changes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from book.pipeline.ground.digests import of_file
from book.pipeline.ground.paths import CODE, RESULTS

MAIN = ("__name__ == '__main__'", "'__main__' == __name__")  # as `ast.unparse` writes them
MAGIC = re.compile(r"^([ \t]*)[%!].*", re.M)


class Uses(NamedTuple):
    """What a piece of Python names: modules, with the packages around them, and results."""

    modules: frozenset[str]
    spellings: frozenset[str]  # how its imports let it call `recorded` of `inside.recorded`
    calls: frozenset[tuple[str, str | None]]  # (function, result); None: a name only computed


def files(programs: Iterable[str], bases: Sequence[Path] = (CODE,)) -> set[Path]:
    """Files below `code/` that the programs import, directly or through one another.

    With other `bases`, modules are looked for there.
    """
    todo = [uses(program).modules for program in programs]
    found: set[Path] = set()
    while todo:
        names = todo.pop()
        for base in bases:
            for file in {_find(name, base) for name in names} - found - {None}:
                found.add(file)
                todo.append(uses_of(file, base).modules)
    return found


def needs_code(programs: Iterable[str]) -> bool:
    """Whether the programs import any file below `code/`."""
    return any(_find(name) for program in programs for name in uses(program).modules)


def results(programs: Iterable[str], before: Iterable[str] = ()) -> set[Path]:
    """Files that the programs show by `inside.recorded`; all, where a name is only computed.

    The programs run one after another, as the cells of a notebook do: one imports, another calls.
    Of what ran `before` them, the imports count and the calls do not. A function named `recorded`
    that they define themselves, or take from elsewhere, is not meant.
    """
    used = [uses(program) for program in programs]
    spelled = frozenset().union(*(found.spellings for found in [*used, *map(uses, before)]))
    names = {name for found in used for function, name in found.calls if function in spelled}
    return {file for name in names
            for file in RESULTS.glob("*.json" if name is None else f"{name}.json")}


def digests(programs: Iterable[str]) -> dict[str, str]:
    """Path -> sha256 of each of these files; those of `code/` are named from there."""
    programs = list(programs)
    code = files(programs)
    shown = results(programs) | by_companions(code)
    named = {**{file.relative_to(CODE).as_posix(): file for file in sorted(code)},
             **{f"results/{file.name}": file for file in sorted(shown)}}
    return {name: of_file(file) for name, file in named.items()}


def by_companions(code: Iterable[Path]) -> set[Path]:
    """Files of results that these files of `code/` show."""
    return set().union(*(results([file.read_text(encoding="utf-8")]) for file in code))


def uses_of(file: Path, base: Path = CODE) -> Uses:
    """What a file of `code/`, or below another `base`, uses when it is imported."""
    package = file.parent.relative_to(base).parts
    return uses(file.read_text(encoding="utf-8"), package, imported=True)


@cache
def uses(source: str, package: tuple[str, ...] = (), imported: bool = False) -> Uses:
    """What a program uses, wherever it stands; `package` is the folder below `code/` it lies in.

    Where the program is `imported`, what stands under `if __name__ == "__main__"` does not run.
    """
    modules: set[str] = set()
    spellings: set[str] = set()
    calls: set[tuple[str, str | None]] = set()
    for node in _nodes(tree(source), imported):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
            spellings |= {f"{alias.asname or alias.name}.recorded" for alias in node.names
                          if alias.name == "inside.recorded"}
        elif isinstance(node, ast.ImportFrom):
            base = package[:len(package) + 1 - node.level] if node.level else ()
            parts = [*base, *(node.module or "").split(".")]
            modules |= {".".join(filter(None, [*parts, alias.name])) for alias in node.names}
            spellings |= _taken(node)
        elif isinstance(node, ast.Call):
            calls.add(_call(node))
    return Uses(frozenset(part for name in modules
                          for part in accumulate(name.split("."), "{}.{}".format)),
                frozenset(spellings), frozenset(calls))


def _nodes(program: ast.Module, imported: bool) -> Iterator[ast.AST]:
    todo: list[ast.AST] = [program]
    while todo:
        node = todo.pop()
        if imported and isinstance(node, ast.If) and ast.unparse(node.test) in MAIN:
            todo += node.orelse
            continue
        yield node
        todo += ast.iter_child_nodes(node)


def _taken(node: ast.ImportFrom) -> set[str]:
    """How `recorded` is called after `from inside.recorded import recorded`, or the like."""
    taken = set()
    for alias in node.names:
        name = alias.asname or alias.name
        if node.module in ("inside.recorded", "recorded") and alias.name == "recorded":
            taken.add(name)
        elif node.module in ("inside", None) and alias.name == "recorded":
            taken.add(f"{name}.recorded")
    return taken


def _call(call: ast.Call) -> tuple[str, str | None]:
    """Which function is called, and its first argument where that is a literal text."""
    first = call.args[0] if call.args else None
    literal = isinstance(first, ast.Constant) and isinstance(first.value, str)
    return ast.unparse(call.func), first.value if literal else None


def tree(source: str) -> ast.Module:
    """The syntax tree, magics left out; an empty one where even that is no Python."""
    for text in (source, MAGIC.sub(r"\1pass", source)):
        try:
            return ast.parse(text)
        except SyntaxError:
            continue  # running the program will say what is wrong and where
    return ast.Module([], [])


def _find(module: str, base: Path) -> Path | None:
    stem = base.joinpath(*module.split("."))
    for file in (stem.with_suffix(".py"), stem / "__init__.py"):
        if file.is_file():
            return file
    return None
