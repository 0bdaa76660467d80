"""Modules by the names they had: what only one chapter uses stands in that chapter's room now.

`inside.observe.fusion`, as an older notebook says, is `inside.compile.observe.fusion` today. Once
`inside` is imported, either name gives the same module.
"""

import importlib
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

HERE = Path(__file__).parent
KINDS = ("observe", "pictures")


def today(name: str) -> str | None:
    """The name of the one module that is called so in whichever room; None if there is none."""
    parts = name.split(".")
    kind, module = parts[-2:] if len(parts) > 2 else ("", "")
    if parts[0] != __package__ or kind not in KINDS or not module.isidentifier():
        return None
    found = [HERE / kind / f"{module}.py", *HERE.glob(f"*/{kind}/{module}.py")]
    files = [file for file in found if file.is_file()]
    return _name_of(files[0]) if len(files) == 1 else None


def _name_of(file: Path) -> str:
    return ".".join((__package__, *file.relative_to(HERE).with_suffix("").parts))


class Finder:
    """Finds and loads such a module where no file bears the name any more."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        return ModuleSpec(name, Finder) if today(name) else None

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        """Put today's module in the place of this empty one, as an import may."""
        name = module.__name__
        sys.modules[name] = importlib.import_module(today(name))
