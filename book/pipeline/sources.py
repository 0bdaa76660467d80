"""References into the source of PyTorch: a target becomes the address of a line, or an error.

Three kinds of target, written as Markdown links `[label](torch:TARGET)` and in `sources:` of cards:

    torch.nn.Module.__setattr__                            a Python name
    torch/include/c10/core/TensorImpl.h:storage_offset     a header of the installed torch : symbol
    aten/src/ATen/native/native_functions.yaml:view        a list of operators : operator
    aten/src/ATen/TensorUtils.cpp:computeStride_impl       a file that only the repository has,
                                                           recorded in tagged_sources.json

    python -m book.pipeline.sources [FILES]     check every reference

Lines of the repository are recorded and rechecked by `book.pipeline.references.tagged`.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import yaml

from book.pipeline.ground.paths import CHAPTERS, CODE, ROOT, relative
from book.pipeline.references import SourceError, symbols, tagged
from book.pipeline.text.marked_yaml import Loader

REPOSITORY = "https://github.com/pytorch/pytorch/blob"

# Where the wheel keeps files of the repository: (folder below site-packages, path in repository).
WHEEL = (
    ("torch/include/ATen/", "aten/src/ATen/"),
    ("torch/include/c10/", "c10/"),
    ("torch/include/torch/", "torch/"),
    ("torchgen/packaged/ATen/", "aten/src/ATen/"),
    ("torchgen/packaged/autograd/", "tools/autograd/"),
)
# The wheel's build wraps most headers in `#if … #else #error #endif`: one line more than the
# repository has (tools/wrap_headers.py of PyTorch).
GUARD = "#if !defined(TORCH_STABLE_ONLY) && !defined(TORCH_TARGET_VERSION)\n"

OPERATORS = "aten/src/ATen/native/native_functions.yaml"

# Files that nobody wrote: most exist only after a build, a few are kept in the repository.
GENERATED_PATH = re.compile(
    r"ATen/ops/|/generated/|_generated|generated_|ATen/\w*Functions(_inl)?\.h|ATen/Config\.h|"
    r"ATen/cuda/CUDAConfig\.h|cmake_macros\.h|\bversion\.(h|py)$|\.pyi$|"
    r"ATen/(RegistrationDeclarations|VmapGeneratedPlumbing|Operators|MethodOperators)\.h|"
    r"ATen/core/(TensorBody|aten_interned_strings|enum_tag)\.h|/core/enum_tag\.h"
)
GENERATED_HEAD = re.compile(r"@" r"generated|automatically generated|auto-?generated", re.I)

# Whatever is code is taken first, so that a link inside code stays text.
MARKDOWN = re.compile(
    r"(?P<fence>^(?P<f>`{3,}|~{3,})[^\n]*\n.*?(?:^(?P=f)[`~]*[ \t]*$|\Z))|"
    r"(?<!!)\[(?P<label>(?:`+[^`\n]*`+|[^\[\]`])*)\]\(torch:(?P<target>[^()\s]*)\)|"
    r"(?P<code>(?P<c>`+)(?!`).*?(?<!`)(?P=c)(?!`))",
    re.M | re.S,
)
# a file of torch with a symbol, as docstrings of code/ name it
IN_CODE = re.compile(r"\b(?:torch/include|torch/csrc|aten/src|tools/autograd)/[\w/.]+:[\w:.]+")


# ---- one target --------------------------------------------------------------------------------

@cache
def resolve(target: str) -> str:
    """Address of the line(s) that a target means, at the commit the installed torch is built from.

    Raises SourceError. Nothing of torch is imported unless a Python name is not found.
    """
    if "/" not in target:
        return _python(target)
    path, _, symbol = target.partition(":")
    if not symbol:
        raise SourceError(f"{target}: no symbol; write {path}:SYMBOL")
    if path.endswith(".py"):
        dotted = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        raise SourceError(f"{target}: Python has a name of its own; write {dotted}.{symbol}")
    if installed := _installed(path):
        return _file(target, *installed, symbol)
    return _tagged(target)


def _python(target: str) -> str:
    place = packages().find(target)
    if place is None:
        raise SourceError(f"{target}: {_why_missing(target)}")
    path, line = place
    wheel = path.relative_to(_site()).as_posix()
    _refuse_generated(target, wheel, path)
    return _address(wheel, line)


def _file(target: str, file: Path, path: str, symbol: str) -> str:
    """A file of the wheel that is not Python; `path` is its name in the repository."""
    _refuse_generated(target, path, file)
    text = file.read_text(encoding="utf-8").removeprefix(GUARD)
    is_yaml = file.suffix == ".yaml"
    line = (symbols.yaml_line if is_yaml else symbols.cpp_line)(text, symbol)
    if line is None:
        names = (symbols.yaml_names if is_yaml else symbols.cpp_names)(text)
        raise SourceError(f"{target}: {path} neither defines nor declares `{symbol}`"
                          f"{symbols.near(symbol, names)}{_elsewhere(file, symbol)}")
    return _address(path, line)


def _tagged(target: str) -> str:
    entry = tagged.recorded(target, _version())
    path = target.partition(":")[0]
    return f"{REPOSITORY}/{entry['tag']}/{path}#L{entry['first']}-L{entry['last']}"


def _elsewhere(file: Path, symbol: str) -> str:
    """Headers of the same folder that have the symbol, since declarations move between files."""
    beside = [other for other in sorted(file.parent.glob(f"*{file.suffix}")) if other != file]
    found = [other.name for other in beside if file.suffix != ".yaml"
             and symbols.cpp_line(other.read_text(encoding="utf-8"), symbol)]
    return f"; look in {', '.join(found[:3])}" if found else ""


def _address(path: str, line: int) -> str:
    return f"{REPOSITORY}/{_commit()}/{path}#L{line}"


def _installed(path: str) -> tuple[Path, str] | None:
    """(file, path in the repository) of what the wheel ships; None for other files."""
    for wheel, repository in WHEEL:
        if path.startswith(wheel):
            return _existing(path), repository + path.removeprefix(wheel)
        file = _site() / wheel / path.removeprefix(repository)
        if path.startswith(repository) and file.is_file():
            if wheel.startswith("torch/include/"):
                raise SourceError(f"{path}: the installed torch has this header; write "
                                  f"{wheel}{path.removeprefix(repository)}")
            return file, path
    if path.startswith("torch/include/"):
        raise SourceError(f"{path}: a library of others, not kept in PyTorch's repository; refer "
                          f"to its own site")
    return None


def _existing(path: str) -> Path:
    file = _site() / path
    if not file.is_file():
        beside = [p.name for p in file.parent.glob("*")] if file.parent.is_dir() else []
        raise SourceError(f"{path}: not in torch {_version()}{symbols.near(file.name, beside)}")
    return file


def _refuse_generated(target: str, path: str, file: Path) -> None:
    with file.open(encoding="utf-8") as lines:
        head = "".join(islice(lines, 10))
    if GENERATED_PATH.search(path) or GENERATED_HEAD.search(head):
        raise SourceError(f"{target}: in a generated file; refer to what it is made from: "
                          f"{OPERATORS}, tools/autograd/derivatives.yaml or a template in "
                          f"tools/autograd/templates/")


def _why_missing(target: str) -> str:
    """Imports torch, to tell what is written in C++ from what does not exist."""
    if target.partition(".")[0] not in ("torch", "torchgen"):
        return "not a name of torch; write torch.… or a path in its repository"
    parent, _, name = target.rpartition(".")
    at_run_time = dir(_value(parent))
    if name not in at_run_time:
        names = [full.rpartition(".")[2] for full in packages().names(target)]
        return f"torch {_version()} has no such name{symbols.near(name, [*names, *at_run_time])}"
    return ("written in C++ or made at run time, so no Python line defines it; refer to a header "
            f"torch/include/…:SYMBOL, a .cpp, or {OPERATORS}:{name}")


def _value(dotted: str) -> object:
    """What a name is bound to at run time; None where it is not."""
    module, names = packages().split(dotted)
    try:
        value = importlib.import_module(module)
        for name in names:
            value = getattr(value, name)
    except (ImportError, AttributeError):
        return None
    return value


# ---- the installed torch -----------------------------------------------------------------------

@cache
def _site() -> Path:
    spec = importlib.util.find_spec("torch")
    if spec is None:
        raise SourceError("torch is not installed here; run `make book` first")
    return Path(spec.submodule_search_locations[0]).parent


@cache
def packages() -> symbols.Packages:
    return symbols.Packages(_site())


@cache
def _version_file() -> str:
    return (_site() / "torch/version.py").read_text(encoding="utf-8")


def _commit() -> str:
    return re.search(r"^git_version = '(\w+)'", _version_file(), re.M)[1]


def _version() -> str:
    """2.13.0, without what stands after a plus sign."""
    return re.search(r"^__version__ = '([^'+]+)", _version_file(), re.M)[1]


# ---- references in texts -----------------------------------------------------------------------

def resolve_links(markdown: str) -> str:
    """The text with the target of each torch: link replaced by its address. Raises SourceError."""
    def address(match: re.Match) -> str:
        if match["target"] is None:
            return match[0]
        return f"[{match['label']}]({resolve(match['target'])})"
    return MARKDOWN.sub(address, markdown)


def check_all(files: Iterable[Path]) -> list[str]:
    """`FILE:LINE: …` for each reference of Markdown and card files that does not resolve."""
    gc.disable()  # the trees of torch's modules are kept, and every collection would walk them
    try:
        return [finding for file in files for finding in _check(Path(file))]
    finally:
        gc.enable()


def all_files() -> list[Path]:
    return [*sorted(CHAPTERS.glob("*/*.md")), *sorted(CHAPTERS.glob("*/cards/*.yaml")),
            *sorted((ROOT / "book").glob("*.md")), *sorted(CODE.rglob("*.py"))]


def _check(file: Path) -> Iterator[str]:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        matches = [(m[0].rstrip("."), m.start()) for m in IN_CODE.finditer(text)]
    else:
        matches = _card_sources(text) if file.suffix == ".yaml" else []
        matches += [(m["target"], m.start()) for m in _link_matches(text)]
    for target, offset in sorted(matches, key=lambda pair: pair[1]):
        try:
            resolve(target)
        except SourceError as error:
            yield f"{relative(file)}:{text.count(chr(10), 0, offset) + 1}: {error}"


def _link_matches(text: str) -> list[re.Match]:
    return [match for match in MARKDOWN.finditer(text) if match["target"] is not None]


def _card_sources(text: str) -> list[tuple[str, int]]:
    """(target, offset) of the items of every `sources:` list of a file of cards."""
    def walk(node: yaml.Node, key: str = "") -> Iterator[yaml.Node]:
        if isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                yield from walk(value, name.value)
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                yield from walk(item, key)
        elif key == "sources":
            yield node
    root = yaml.compose(text, Loader=Loader)
    return [(node.value, node.start_mark.index) for node in (walk(root) if root else ())]


# ---- command -----------------------------------------------------------------------------------

def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="check references into PyTorch's source")
    parser.add_argument("files", nargs="*", type=Path, help="texts and cards (default: all)")
    options = parser.parse_args(arguments)
    try:
        findings = check_all(options.files or all_files())
    except SourceError as error:  # there is no torch to look into
        findings = [str(error)]
    print(*findings, sep="\n", end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
