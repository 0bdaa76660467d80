"""Runs the code cells of a notebook without Jupyter, in a process that does nothing else.

Knows nothing of stored outputs, tags or files of the book. Every run has a folder of its own:

    job.json       what to run: {cells: [source], cwd, packages: names that may be absent here}
    out, err       all that the process and its children print
    results.jsonl  a line for each cell that came to its end: {outputs, missing}

`outputs` are as in a notebook's file. `missing` says which absent package kept the cell from
running: it imports the package, or uses a name that such a cell would have set.

    python -m book.pipeline.notebooks.kernel FOLDER
"""

from __future__ import annotations

import ast
import builtins
import codeop
import io
import json
import linecache
import os
import resource
import symtable
import sys
import tokenize
from pathlib import Path
from typing import Any

from book.pipeline.proofs import trial

METHODS = {"_repr_html_": "text/html", "_repr_svg_": "image/svg+xml",
           "_repr_markdown_": "text/markdown", "_repr_latex_": "text/latex"}
LAID_OUT = ("builtins", "collections", "datetime", "re", "types")  # IPython prints these its way
AS_REPR = (str, bytes, int, float, complex)  # … and these like repr()

try:
    from IPython.lib.pretty import pretty
except ImportError:
    pretty = None


class Kernel:
    """A notebook being run: the names of its cells, what they display, what they lack.

    `display` is a builtin, as in Jupyter; `from IPython.display import …` needs IPython.
    """

    def __init__(self, folder: Path, packages: list[str]) -> None:
        self.space = trial.main_module({})
        self.compile = codeop.Compile()  # keeps `from __future__ import …` for later cells
        self.packages = set(packages)
        self.outputs: list[dict[str, Any]] = []
        self.results: list[Any] = []  # Jupyter's `Out` keeps results alive as well
        self.lost: dict[str, tuple[int, str]] = {}  # name -> cell that did not set it, package
        self.streams = {"stdout": (folder / "out").open("rb"),
                        "stderr": (folder / "err").open("rb")}
        builtins.display = self.display

    def run(self, number: int, source: str) -> dict[str, Any]:
        """Run one cell: {outputs, missing}."""
        self.outputs = []
        error = self._execute(f"<cell {number}>", source)
        trial.flush()
        for name, file in self.streams.items():
            if text := file.read().decode("utf-8", "replace"):
                self.outputs.append({"output_type": "stream", "name": name, "text": text})
        self.lost = {name: cell for name, cell in self.lost.items() if name not in self.space}
        package, missing = self._missing(error)
        if package:
            self._lose(number, source, package)
        elif error:
            self.outputs.append({"output_type": "error", "ename": type(error).__name__,
                                 "evalue": str(error)})
        return {"outputs": self.outputs, "missing": missing}

    def display(self, *values: Any) -> None:
        """What cells call to show something before their end."""
        for value in values:
            self.outputs.append({"output_type": "display_data", **bundle(value)})

    def _execute(self, name: str, source: str) -> BaseException | None:
        """Run a cell, show the value of its last line and its plots; what it raised, or None."""
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        try:
            body = ast.parse(source, name).body
            shows = body and isinstance(body[-1], ast.Expr) and not ends_in_semicolon(source)
            last = body.pop() if shows else None
            exec(self.compile(ast.Module(body, []), name, "exec"), self.space)
            if last:
                code = self.compile(ast.Expression(last.value), name, "eval")
                self._show(eval(code, self.space))
            self._show_plots()
        except BaseException as error:  # SystemExit too: a notebook has no business leaving
            return error
        return None

    def _show(self, value: Any) -> None:
        if value is not None:
            self.results.append(value)
            self.outputs.append({"output_type": "execute_result", **bundle(value)})

    def _show_plots(self) -> None:
        """Jupyter shows and closes the figures that are open when a cell ends."""
        if pyplot := sys.modules.get("matplotlib.pyplot"):
            self.display(*map(pyplot.figure, pyplot.get_fignums()))
            pyplot.close("all")

    def _missing(self, error: BaseException | None) -> tuple[str, str]:
        """(package, sentence) if an absent package is all that was wrong, else two empty texts."""
        name = getattr(error, "name", None) or ""
        if isinstance(error, ModuleNotFoundError) and name.lower() in self.packages:
            return name, f"needs {name}, which is not installed"
        if type(error) is NameError and name in self.lost:
            cell, package = self.lost[name]
            return package, f"needs `{name}` of cell {cell}, which needs {package}"
        return "", ""

    def _lose(self, number: int, source: str, package: str) -> None:
        """Unset the names that the cell sets: a later cell must not go on with older values."""
        for symbol in symtable.symtable(source, f"<cell {number}>", "exec").get_symbols():
            if symbol.is_assigned() or symbol.is_imported():
                self.space.pop(symbol.get_name(), None)
                self.lost[symbol.get_name()] = number, package


def ends_in_semicolon(source: str) -> bool:
    """Whether a cell asks not to show the value of its last line; a comment may follow."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    words = [t.string for t in tokens if t.type != tokenize.COMMENT and t.string.strip()]
    return words[-1] == ";"


def bundle(value: Any) -> dict[str, Any]:
    """{data} of a displayed value: its texts by MIME type.

    Without IPython, `laid_out` names the type of a value that IPython prints in its own way.
    """
    made = {}
    if hasattr(type(value), "_repr_mimebundle_"):
        made = value._repr_mimebundle_(include=None, exclude=None)
        made = made[0] if isinstance(made, tuple) else made
    for method, mime in METHODS.items():
        if mime not in made and hasattr(type(value), method):
            made[mime] = getattr(value, method)()
    shown = {"data": {mime: text for mime, text in made.items() if isinstance(text, str)}}
    if "text/plain" not in made:
        shown["data"]["text/plain"] = pretty(value) if pretty else repr(value)
        if not pretty and type(value).__module__ in LAID_OUT and not isinstance(value, AS_REPR):
            shown["laid_out"] = type(value).__name__
    return shown


def main(folder: Path) -> None:
    """Run the job of the folder and end this process."""
    job, owner = json.loads((folder / "job.json").read_text(encoding="utf-8")), os.getpid()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash is reported, not dumped
    trial.redirect(folder)
    os.chdir(job["cwd"])
    sys.path[0] = ""  # a notebook can import what lies beside it, and not the pipeline
    kernel = Kernel(folder, job["packages"])
    for number, source in enumerate(job["cells"], 1):
        result = kernel.run(number, source)
        if os.getpid() != owner:  # a process that the cell forked and that came out of it
            os._exit(1)
        with (folder / "results.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")
    os._exit(0)  # no exit handlers: what cells registered must not delay or fail the end


if __name__ == "__main__":
    main(Path(sys.argv[1]))
