"""Which cells of a notebook show which measured results: by name, or by what they come from.

A value that is read from a result hands it on: to what is computed of it, to a function that uses
it, to what a companion makes of it. A cell that only binds such a name, or asserts something of it,
shows nothing yet.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

from book.pipeline.notebooks import depends

SHOWS_NOTHING = (ast.Assert, ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.ClassDef, ast.Import,
                 ast.ImportFrom)


def cells(sources: Sequence[str]) -> list[set[Path]]:
    """Of each cell, in the order in which they run, the files of results that it shows."""
    held: dict[str, set[Path]] = {}
    return [_cell(source, sources, held) for source in sources]


def _cell(source: str, sources: Sequence[str], held: dict[str, set[Path]]) -> set[Path]:
    """What one cell shows; what the names that it binds come from is added to `held`."""
    shown: set[Path] = set()
    for statement in depends.tree(source).body:
        files = _files(statement, sources, held)
        held |= dict.fromkeys(_bound(statement), files)
        if not isinstance(statement, SHOWS_NOTHING):
            shown |= files
    return shown


def _files(statement: ast.stmt, sources: Sequence[str], held: dict[str, set[Path]]) -> set[Path]:
    """The results that a statement reads itself, takes from a companion or from a name."""
    text = ast.unparse(statement)
    if isinstance(statement, ast.ImportFrom):
        return depends.by_companions(depends.files([text]))
    taken = (held.get(name, ()) for name in _read(statement))
    return depends.results([text], before=sources).union(*taken)


def _read(statement: ast.stmt) -> set[str]:
    """The names that a statement takes from outside: not those of its loops and functions."""
    nodes = [*ast.walk(statement)]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    own = {node.arg for node in nodes if isinstance(node, ast.arg)}
    own |= {node.id for node in names if isinstance(node.ctx, ast.Store)} - _bound(statement)
    return {node.id for node in names if isinstance(node.ctx, ast.Load)} - own


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a cell has after an assignment, a definition or an import."""
    match statement:
        case ast.ImportFrom():
            return {alias.asname or alias.name for alias in statement.names}
        case ast.FunctionDef() | ast.ClassDef():
            return {statement.name}
        case ast.Assign() | ast.AnnAssign():
            targets = getattr(statement, "targets", None) or [statement.target]
            return {node.id for target in targets for node in ast.walk(target)
                    if isinstance(node, ast.Name)}
    return set()
