"""Faded forms of a companion: the reader writes again what the list of a chapter takes out.

    python -m book.pipeline.notebooks.faded chapters/02-autograd/exercises.yaml FOLDER

An `exercises.yaml` names the companion (one file, or a list of files, the lesson first), the
program that checks what the reader wrote, and functions, each found by its name in one of the
files, with its form:

    worked    left whole, to be read first
    blanks    the lines that begin with one of `lines` are cut to `...  # blank`
    tests     the body is cut; name, signature and docstring stay

`needs_torch: true` says that the check does not run without torch.

Each file in which a form cuts makes one file for the reader. The cut file imports the others
whole, so what is written in one is checked on its own; what it does not import, it does not need.
"""

from __future__ import annotations

import ast
import difflib
import io
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from book.pipeline.ground.paths import CODE, relative
from book.pipeline.notebooks import depends
from book.pipeline.notebooks.blanks import COUNT, blank

CUT = {"blanks": "blanks", "tests": "from_tests"}  # forms that make a file -> end of its name
HARNESS = CODE / "exercise_harness.py"  # what the checks of all chapters share
IMPORT = re.compile(rf"^from {HARNESS.stem} import .*\n\n?", re.M)
Function = ast.FunctionDef | ast.AsyncFunctionDef


class FadeError(Exception):
    """A list or a cut that cannot be made: one line, what, where, how to mend."""


@dataclass(frozen=True)
class Exercise:
    """A function of the companion, `Scalar.tanh`, and how much of it the reader is given."""

    name: str
    form: str
    lines: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Exercises:
    """What an `exercises.yaml` holds."""

    companions: list[Path]
    check: Path
    functions: list[Exercise]
    homes: dict[str, Path]  # name of a function -> the companion it is in
    needs_torch: bool = False  # whether the check cannot do without it

    def of(self, form: str, companion: Path | None = None) -> list[Exercise]:
        """The exercises of a form, in all companions or in one."""
        return [exercise for exercise in self.functions if exercise.form == form
                and companion in (None, self.homes[exercise.name])]

    def cut(self, form: str) -> list[Path]:
        """The companions in which a form has exercises, in the order of the list."""
        return [companion for companion in self.companions if self.of(form, companion)]

    def solutions(self) -> list[Path]:
        """The companions that hold what a reader is to write."""
        return [companion for companion in self.companions
                if any(self.of(form, companion) for form in CUT)]

    def imports(self, companion: Path) -> list[Path]:
        """The other companions that one needs beside it, also through another."""
        found: set[Path] = set()
        todo = [companion]
        while todo:
            modules = depends.uses_of(todo.pop()).modules
            new = {other for other in self.companions if other.stem in modules} - found
            found |= new
            todo += new
        return [other for other in self.companions if other in found - {companion}]

    def file(self, form: str, companion: Path) -> str:
        """Name of the file a form is done in; a worked function is read where others are cut."""
        made = [cut for cut in (form, *CUT) if cut in CUT and self.of(cut, companion)]
        return f"{companion.stem}_{CUT[made[0]]}.py" if made else companion.name


# ---- the list ----------------------------------------------------------------------------------

def read(path: Path) -> Exercises:
    """The exercises of a chapter; FadeError in one line where the file does not say what."""
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
        functions = [Exercise(**entry) for entry in value.pop("functions")]
        named = value.pop("companion")
        companions = [CODE / name for name in ([named] if isinstance(named, str) else named)]
        check = path.with_name(value.pop("check"))
        needs_torch = bool(value.pop("needs_torch", False))
    except (yaml.YAMLError, AttributeError, KeyError, TypeError) as error:
        raise FadeError(f"{relative(path)}: {' '.join(str(error).split())}; write companion, "
                        f"check and functions, each with name, form and lines") from None
    for file in (*companions, check):
        if not file.is_file():
            raise FadeError(f"{relative(path)}: no file {relative(file)}; name one that exists")
    try:
        homes = _homes(companions, functions)
    except FadeError as error:
        raise FadeError(f"{relative(path)}: {error}") from None
    return Exercises(companions, check, functions, homes, needs_torch)


def _homes(companions: list[Path], functions: list[Exercise]) -> dict[str, Path]:
    """Function -> the companion it is in; FadeError where none or several have it."""
    inside = {companion: _functions(ast.parse(companion.read_text(encoding="utf-8")).body)
              for companion in companions}
    homes = {}
    for name in (exercise.name for exercise in functions):
        found = [companion for companion in companions if name in inside[companion]]
        if not found:
            raise _unknown(name, [known for names in inside.values() for known in names])
        if len(found) > 1:
            raise FadeError(f"'{name}' is in {' and '.join(file.name for file in found)}; "
                            "choose a function that only one companion has")
        homes[name] = found[0]
    return homes


def files(path: Path) -> dict[str, str]:
    """What a reader downloads, file name -> text: companions, check, a file for each cut."""
    exercises = read(path)
    made = {file.name: file.read_text(encoding="utf-8")
            for file in exercises.companions}
    made[exercises.check.name] = with_harness(exercises.check.read_text(encoding="utf-8"))
    try:
        for form in CUT:
            for companion in exercises.cut(form):
                text = made[companion.name]
                for exercise in exercises.of(form, companion):
                    text = fade(text, exercise.name, form, exercise.lines)
                made[exercises.file(form, companion)] = text
        for exercise in exercises.functions:
            if exercise.form not in CUT:        # nothing to write, but the form must be known
                fade(made[exercises.homes[exercise.name].name], exercise.name, exercise.form)
    except FadeError as error:
        raise FadeError(f"{relative(path)}: {error}") from None
    return made


def with_harness(check: str) -> str:
    """A check in one file: the text of the harness before its last lines, in place of the import.

    What is checked stays on top, for a reader who has only the tests to go by.
    """
    harness = HARNESS.read_text(encoding="utf-8").split('"""', 2)[2].strip()
    checks, imported = IMPORT.subn("", check)
    top, program, last = checks.partition("CHECKER = ")
    if imported != 1 or not program:
        raise FadeError(f"a check imports {HARNESS.stem} once and ends with CHECKER = Checker(...)")
    if twice := _defined(top) & _defined(harness):
        raise FadeError(f"{HARNESS.name} also defines {', '.join(sorted(twice))}; rename it")
    title = f"# --- the program, from {HARNESS.name} ".ljust(95, "-")
    return f"{top}{title}\n\n{harness}\n\n\n{program}{last}"


def _defined(source: str) -> set[str]:
    """The functions and classes at the top of a program."""
    return {node.name for node in ast.parse(source).body
            if isinstance(node, (*Function.__args__, ast.ClassDef))}


# ---- the cut -----------------------------------------------------------------------------------

def fade(source: str, name: str, form: str, lines: Sequence[str] = ()) -> str:
    """`source` with the function `name` (`zero_grad`, `Scalar.tanh`) in one of the forms.

    What is not cut stays byte for byte. FadeError if there is no such function, form or line, or
    if what is left would be no Python.
    """
    function = _find(ast.parse(source), name)
    text = list(io.StringIO(source, newline=""))  # lines as `ast` counts them, with their ends
    if form == "blanks":
        _blank(text, function, name, lines)
    elif form == "tests":
        _cut(text, function, name)
    elif form != "worked":
        raise FadeError(f"'{name}': no form '{form}'; write worked, blanks or tests")
    try:
        ast.parse("".join(text))
    except SyntaxError:
        raise FadeError(f"'{name}': what is left is no Python; blank whole statements") from None
    return "".join(text)


def _functions(body: list[ast.stmt], prefix: str = "") -> dict[str, Function]:
    found: dict[str, Function] = {}
    for node in body:
        if isinstance(node, Function):
            found[prefix + node.name] = node
        elif isinstance(node, ast.ClassDef):
            found |= _functions(node.body, f"{prefix}{node.name}.")
    return found


def _find(tree: ast.Module, name: str) -> Function:
    functions = _functions(tree.body)
    if name not in functions:
        raise _unknown(name, list(functions))
    return functions[name]


def _unknown(name: str, functions: list[str]) -> FadeError:
    near = difflib.get_close_matches(name, functions, n=3) or functions[:3]
    return FadeError(f"no function '{name}' in the companion; near to it: {', '.join(near)}")


def _body(function: Function, name: str) -> range:
    """Indices of the lines of the body, docstring and the comments before it left out."""
    documented = ast.get_docstring(function) is not None
    statements = function.body[documented:]
    if not statements:
        raise FadeError(f"'{name}' has no body to cut; leave it out")
    first = function.body[0].end_lineno if documented else statements[0].lineno - 1
    if statements[0].lineno <= (first if documented else function.lineno):
        raise FadeError(f"'{name}' stands on one line; give its body lines of its own")
    return range(first, function.end_lineno)


def _blank(text: list[str], function: Function, name: str, lines: Sequence[str]) -> None:
    if len(lines) not in COUNT:
        raise FadeError(f"'{name}': {len(lines)} lines; name {COUNT[0]} to {COUNT[-1]}")
    body = _body(function, name)
    for start in lines:
        places = [i for i in body if text[i].strip().startswith(start)]
        if len(places) != 1:
            raise FadeError(f"'{name}': {len(places)} lines begin with {start!r}; "
                            f"name each by a beginning of its own")
        text[places[0]] = blank(text[places[0]].rstrip("\r\n")) + _end(text[places[0]])


def _cut(text: list[str], function: Function, name: str) -> None:
    body = _body(function, name)
    first = text[function.body[-1].lineno - 1]
    indentation = first[:len(first) - len(first.lstrip())]
    last = text[body[-1]]
    text[body.start:body.stop] = [
        f'{indentation}raise NotImplementedError("{name} is yours to write"){_end(last)}']


def _end(line: str) -> str:
    return line[len(line.rstrip("\r\n")):]


def main() -> int:
    if len(sys.argv) != 3:
        sys.exit("faded: name an exercises.yaml and the folder to write to")
    try:
        made = files(Path(sys.argv[1]).resolve())
    except (FadeError, OSError) as error:
        sys.exit(str(error))
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")
        print(folder / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
