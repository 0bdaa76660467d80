"""Import this first where Jupyter may be absent: it lets other modules of the pipeline load.

`notebook` and `card_rules` import nbformat and jsonschema at their top. A run on a GPU machine
writes no notebook and leaves the schema of cards to `make check`, so it needs neither: where one
is not installed, a module that holds just the names they import stands in for it.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Mapping
from typing import Any


class NoSchema:
    """In place of jsonschema's validator: finds nothing."""

    def __init__(self, schema: object) -> None:
        pass

    def iter_errors(self, document: object) -> tuple[()]:
        return ()


STAND_INS: dict[str, dict[str, Any]] = {
    "nbformat": {"NotebookNode": dict},
    "jsonschema": {"Draft202012Validator": NoSchema, "ValidationError": Exception},
}


def absent(stand_ins: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Put a stand-in where a module cannot be imported; the names of these modules."""
    names = []
    for name, contents in stand_ins.items():
        try:
            importlib.import_module(name)
        except ImportError:
            module = types.ModuleType(name)
            module.__dict__.update(contents)
            sys.modules[name] = module
            names.append(name)
    return names


ABSENT = absent(STAND_INS)
