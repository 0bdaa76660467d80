"""What every check of an exercise does: find the reader's files, run the checks, tell the result.

A chapter's `check_*.py` holds the checks alone and imports this module. The reader gets one file:
`python -m book.pipeline.notebooks.faded` puts this text into it, in place of the import.
"""
import importlib.util
import inspect
import sys
from dataclasses import dataclass, field
from pathlib import Path


class Differs(Exception):
    """The reader's code does something else; the message is one line."""


def claim(what, holds):
    """Stop with one line unless what is claimed holds."""
    if not holds:
        raise Differs(f"not so: {what}")


def compared_with(torch):
    """The first line of a check that can do without torch: what it compares with."""
    if torch is None:
        return "对照存好的数（没有装 torch）· compared with stored numbers (torch is not installed)"
    return f"对照 torch · compared with torch {torch.__version__}"


def load(path):
    """The file as a module, which may import the files beside it."""
    sys.path.insert(0, str(path.parent))
    try:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module


def unwritten(path, names, beside):
    """The functions that still have a line to be filled in, or the whole body; or why the file
    cannot be loaded, in a line."""
    try:
        module = load(path)
        return [name for name in names if is_unwritten(module, name)]
    except (Exception, SystemExit) as error:  # whatever the reader's file raises is an answer
        missing = [name for name in beside if not path.with_name(name).is_file()]
        if isinstance(error, ModuleNotFoundError) and f"{error.name}.py" in missing:
            return f"missing beside {path.name}: download {' and '.join(missing)}"
        return f"{type(error).__name__}: {error}"


def is_unwritten(module, name):
    """Whether a line of it, the body or the whole function is missing."""
    function = module
    for part in name.split("."):
        if not hasattr(function, part):
            return True
        function = getattr(function, part)
    text = inspect.getsource(function)
    return "...  # blank" in text or "is yours to write" in text


def outcome(path, check):
    """None if the check passes, else why not, in a line."""
    try:
        check(load(path))
    except (Exception, SystemExit) as error:  # whatever the reader's code raises is an answer
        kind = "" if isinstance(error, Differs) else f"{type(error).__name__}: "
        return " ".join(f"{kind}{error}".split())
    return None


@dataclass
class Checker:
    """The checks of a chapter, as a program.

    `checks`: companion -> function -> check(module), in the order in which they build on one
    another; the lesson's companion first. `needs`: function -> those of its file that it calls.
    `imports`: companion -> what must lie beside it. `run` calls a function; it may do so elsewhere.
    """

    checks: dict
    needs: dict = field(default_factory=dict)
    imports: dict = field(default_factory=dict)
    run: object = staticmethod(lambda function, *arguments: function(*arguments))

    def main(self, first_line=""):
        """Check the files named, or every practice file beside the program; the exit status."""
        here, lesson = Path(__file__).resolve().parent, next(iter(self.checks))
        paths = [Path(name) for name in sys.argv[1:]] or sorted({
            path for name in self.checks for end in ("blanks", "from_tests")
            for path in here.glob(f"{name}*_{end}.py")})
        if not paths:
            print(f"没有要检查的文件 · no file to check: put {lesson}_blanks.py beside this one")
            return 1
        if first_line:
            print(first_line)
        passed = [self.check_file(path) for path in paths]
        print("全部通过 · all passed" if all(passed) else "还有没过的 · not all passed yet")
        return 0 if all(passed) else 1

    def check_file(self, path):
        """Whether every check passes on a file."""
        print(path.name)
        path = path.resolve()
        known = [name for name in self.checks
                 if path.stem == name or path.stem.startswith(f"{name}_")]
        beside = {name for names in self.imports.values() for name in names}
        if path.stem not in self.checks and path.name in beside:
            known = []                               # a download that belongs beside the others
        if not known or path.suffix != ".py" or not path.is_file():
            print(f"  没有这个文件 · no such file: {path}; "
                  f"name a practice file, {next(iter(self.checks))}_*.py")
            return False
        companion = max(known, key=len)
        checks = self.checks[companion]
        blank = self.run(unwritten, path, list(checks), self.imports.get(companion, []))
        if isinstance(blank, str):
            print(f"  读不进来 · cannot be loaded: {blank}")
            return False
        passed = {}
        for name in checks:
            passed[name] = self.report(path, name, checks[name], name in blank, passed)
        return all(passed.values())

    def report(self, path, name, check, blank, passed):
        """Say in both languages how the check of a function went; whether it passed.

        `passed` says how the functions before it went: one that needs another waits for it.
        """
        if blank:
            print(f"  待写 · still to write  {name}")
            return False
        if needed := [other for other in self.needs.get(name, []) if not passed[other]]:
            print(f"  先等 · waits   {name}: needs {', '.join(needed)} first")
            return False
        why = self.run(outcome, path, check)
        print(f"  通过 · passes  {name}" if why is None else f"  没过 · fails   {name}: {why}")
        return why is None
