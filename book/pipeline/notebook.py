"""A section's source (`.md`) as a notebook, with ids and digests that depend on content only."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections import Counter
from itertools import accumulate
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from book.pipeline.paths import CODE, ROOT

# The first code cell of every notebook. It finds `inside` from any folder of the repository and
# leaves an installed `inside` alone.
SETUP = (
    "import pathlib, sys; sys.path[:0] = [str(d / 'code') for d in pathlib.Path.cwd().parents "
    "if (d / 'code/inside').is_dir()]"
)

# The Python with which `make sync` makes the outputs of cells tagged `pinned-torch`.
PINNED_PYTHON = (3, 11)

# Written for every notebook; what a kernel says of itself names the patch version of its Python.
LANGUAGE = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python",
            "pygments_lexer": "ipython3"}

MAGIC = re.compile(r"^([ \t]*)[%!].*", re.M)

# Set alike while cells are executed for the golden file and while nbval compares them.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "SOURCE_DATE_EPOCH": "0",  # matplotlib writes it as the date of an SVG
    "MATPLOTLIBRC": str(Path(__file__).with_name("matplotlibrc")),
}


def read_source(path: Path) -> NotebookNode:
    """The source as a notebook without outputs; cell ids depend on type, source, occurrence."""
    import jupytext  # here, because the site is built without it

    notebook = jupytext.read(path)
    notebook.metadata = NotebookNode(kernelspec=notebook.metadata["kernelspec"])
    notebook.metadata["language_info"] = NotebookNode(LANGUAGE)
    notebook.nbformat_minor = 5
    seen: Counter[str] = Counter()
    for cell in notebook.cells:
        content = f"{cell.cell_type}:{cell.source}"
        seen[content] += 1
        cell["id"] = hashlib.sha1(f"{content}:{seen[content]}".encode()).hexdigest()[:8]
    return notebook


def digest(value: object) -> str:
    """sha256 of a JSON-able value, in a canonical form."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def source_digest(path: Path) -> str:
    """Changes with any change of the source file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def program_digest(notebook: NotebookNode) -> str:
    """Changes when the outputs may change: code cells, companions they import, the pinned torch."""
    cells = [(c.source, c.metadata.get("tags", [])) for c in code_cells(notebook)]
    files = sorted(companion_files(notebook))
    contents = [(str(f.relative_to(CODE)), f.read_text(encoding="utf-8")) for f in files]
    return digest([cells, contents, pinned_torch()])


def golden_digest(notebook: NotebookNode) -> str:
    """Changes with any edit of the generated notebook, its stored outputs included."""
    metadata = {key: value for key, value in notebook.metadata.items() if key != "book"}
    return digest([[dict(cell) for cell in notebook.cells], metadata])


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def output_text(cell: NotebookNode) -> str:
    """What a cell printed or returned, as plain text."""
    parts = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            parts.append(output.text)
        elif output.output_type == "error":
            parts.append(f"{output.ename}: {output.evalue}")
        else:
            parts.append(output.data.get("text/plain", ""))
    return "\n".join(parts)


def pinned_torch() -> str:
    """The version of torch named in requirements.txt: the one stored outputs were made with."""
    pin = re.search(r"^torch==(\S+)", (ROOT / "requirements.txt").read_text(), re.M)
    if pin is None:
        raise ValueError("requirements.txt: torch has no exact version; write torch==X.Y.Z")
    return pin[1]


def companion_files(notebook: NotebookNode) -> set[Path]:
    """Files below `code/` that the notebook imports, directly or through one another."""
    todo = [_modules(cell.source, CODE) for cell in code_cells(notebook)]
    found: set[Path] = set()
    while todo:
        for file in {_find(name) for name in todo.pop()} - found - {None}:
            found.add(file)
            todo.append(_modules(file.read_text(encoding="utf-8"), file.parent))
    return found


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
            continue  # running the cell will say what is wrong and where
    return ast.Module([], [])


def _find(module: str) -> Path | None:
    stem = CODE.joinpath(*module.split("."))
    for file in (stem.with_suffix(".py"), stem / "__init__.py"):
        if file.is_file():
            return file
    return None


def write_text(notebook: NotebookNode) -> str:
    """The notebook as the text of its file."""
    return nbformat.writes(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
