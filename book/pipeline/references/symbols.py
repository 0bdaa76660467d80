"""On which line a name is defined: Python by its syntax tree, C++ and YAML by their text.

Nothing is imported or executed, so a reference can be checked where torch cannot even load.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def near(name: str, names: Iterable[str]) -> str:
    """What to say of the names that look most like one that was not found: ` (near: a, b)`."""
    found = [n for n in difflib.get_close_matches(name, sorted(set(names)), 4, 0.75) if n != name]
    return f" (near: {', '.join(found[:3])})" if found else ""


# ---- Python ------------------------------------------------------------------------------------

class Packages:
    """Python packages below one folder (`site-packages`), read as syntax trees."""

    def __init__(self, root: Path):
        self.root = root
        self.module = cache(self._module)
        self._bound: dict[int, dict[str, list[ast.stmt]]] = {}

    def _module(self, name: str) -> tuple[Path, ast.Module] | None:
        stem = self.root.joinpath(*name.split("."))
        for path in (stem / "__init__.py", stem.parent / f"{stem.name}.py"):
            if path.is_file():
                return path, ast.parse(path.read_text(encoding="utf-8"))
        return None

    def split(self, dotted: str) -> tuple[str, list[str]]:
        """The longest prefix that is a module, and the names left."""
        parts = dotted.split(".")
        for cut in range(len(parts), 0, -1):
            if self.module(".".join(parts[:cut])):
                return ".".join(parts[:cut]), parts[cut:]
        return "", parts

    def find(self, dotted: str) -> tuple[Path, int] | None:
        """File and line of the definition behind a dotted name.

        Re-exports, base classes and plain aliases (`a = b.c`) are followed. Of several definitions
        the last counts, since that one is left at run time; `@overload`, `if TYPE_CHECKING` and
        property setters do not count. None when Python source defines no such name.
        """
        package, *names = dotted.split(".")
        return self._in_module(package, tuple(names), frozenset())

    def names(self, dotted: str) -> list[str]:
        """Full names of what is bound beside a name that was not found, for suggestions."""
        module, names = self.split(dotted)
        if not module:
            return []
        scope, body = module, self.module(module)[1].body
        for name in names[:-1]:
            classes = [n for n in self._bindings(body, name) if isinstance(n, ast.ClassDef)]
            if not classes:
                break
            scope, body = f"{scope}.{name}", classes[-1].body
        return [f"{scope}.{name}" for node in _statements(body) for name in _bound(node)]

    def _bindings(self, body: list[ast.stmt], name: str) -> list[ast.stmt]:
        """The statements of a body that bind a name; `module` keeps all bodies, hence the ids."""
        if id(body) not in self._bound:
            table = self._bound[id(body)] = {}
            for node in _statements(body):
                for bound in _bound(node):
                    table.setdefault(bound, []).append(node)
        return self._bound[id(body)].get(name, [])

    def _in_module(self, module: str, names: tuple[str, ...], seen: frozenset):
        if (module, names) in seen or not self.module(module):
            return None
        path, tree = self.module(module)
        if not names:
            return path, 1
        seen |= {(module, names)}
        if place := self._in_body(module, tree.body, names, seen):
            return place
        if self.module(f"{module}.{names[0]}"):
            return self._in_module(f"{module}.{names[0]}", names[1:], seen)
        for node in _statements(tree.body):
            is_star = isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
            if is_star and (place := self._in_module(self._source(module, node), names, seen)):
                return place
        return None

    def _in_body(self, module: str, body: list, names: tuple[str, ...], seen: frozenset):
        if (id(body), names) in seen:
            return None
        seen |= {(id(body), names)}
        for node in reversed(self._bindings(body, names[0])):
            if place := self._behind(module, body, node, names, seen):
                return place
        return None

    def _behind(self, module: str, body: list, node: ast.stmt, names: tuple, seen: frozenset):
        """The place of names[0].names[1]… where `node` binds names[0]."""
        if isinstance(node, ast.ImportFrom):
            origin = next(a.name for a in node.names if (a.asname or a.name) == names[0])
            return self._in_module(self._source(module, node), (origin, *names[1:]), seen)
        if alias := _alias(node):
            chain = (*alias, *names[1:])
            if place := (self._in_body(module, body, chain, seen)
                         or self._in_module(module, chain, seen)):
                return place
        if len(names) == 1:
            return self.module(module)[0], node.lineno
        if isinstance(node, ast.ClassDef):
            return self._in_class(module, node, names[1:], seen)
        return None

    def _in_class(self, module: str, node: ast.ClassDef, names: tuple[str, ...], seen: frozenset):
        if place := self._in_body(module, node.body, names, seen):
            return place
        if line := _instance_attribute(node, names[0]):
            return self.module(module)[0], line
        for base in node.bases:
            parts = ast.unparse(base).partition("[")[0].split(".")
            if "_C" in parts:  # written in C++: whether it has the name cannot be read here
                return None
            if place := self._in_module(module, (*parts, *names), seen):
                return place
        return None

    def _source(self, module: str, node: ast.ImportFrom) -> str:
        """The absolute name of the module that `from … import` reads."""
        if not node.level:
            return node.module
        package = module.split(".")
        if self.module(module)[0].name != "__init__.py":
            package.pop()
        package = package[:len(package) - node.level + 1]
        return ".".join(package + ([node.module] if node.module else []))


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a body and of the `if`, `try` and `with` blocks in it."""
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from _statements(node.orelse)
            continue
        yield node
        if not isinstance(node, DEFINITIONS):
            for field in ("body", "handlers", "orelse", "finalbody"):
                yield from _statements(getattr(node, field, []))


def _bound(node: ast.stmt) -> list[str]:
    """The names that a statement binds."""
    if isinstance(node, DEFINITIONS):
        hidden = any(re.search(r"\boverload$|\.setter$|\.deleter$", ast.unparse(decorator))
                     for decorator in node.decorator_list)
        return [] if hidden else [node.name]
    if isinstance(node, ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    leaves = [leaf for target in targets for leaf in getattr(target, "elts", [target])]
    return [leaf.id for leaf in leaves if isinstance(leaf, ast.Name)]


def _alias(node: ast.stmt) -> list[str] | None:
    """["b", "c"] for a statement `a = b.c`."""
    value = getattr(node, "value", None)
    return ast.unparse(value).split(".") if isinstance(value, ast.Name | ast.Attribute) else None


def _instance_attribute(node: ast.ClassDef, name: str) -> int | None:
    """The first line of the class that assigns `self.name`."""
    lines = [leaf.lineno for leaf in ast.walk(node)
             if isinstance(leaf, ast.Attribute) and isinstance(leaf.ctx, ast.Store)
             and leaf.attr == name and getattr(leaf.value, "id", None) == "self"]
    return min(lines, default=None)


# ---- C++ ---------------------------------------------------------------------------------------

NOISE = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'""", re.S)
BODY = r"\b(?P<at>{})\b(?:\s+final)?\s*(?::[^:;{{}}][^;{{}}]*)?\{{"
TYPE = r"\b(?:class|struct|union|enum(?:\s+(?:class|struct))?)\b[^;{{}}()<>=:]*?" + BODY
NAMESPACE = r"\bnamespace\b[^;{{}}()<>=]*?" + BODY
# Ways to introduce a name, best first; {} is the name.
FORMS = (
    r"^[ \t]*#[ \t]*define[ \t]+(?P<at>{})\b",
    TYPE,
    r"\busing\s+(?P<at>{})\s*=|\btypedef\b[^;{{}}]*?\b(?P<at2>{})\s*;",
)
VARIABLE = (r"^[ \t]*[\w:<>, \t*&]*?(?:[\w>][ \t]+[*&]*|[\w>][*&]+[ \t]*)(?P<at>{})\s*"
            r"(?:;|=(?!=)|\{{|\[|:\s*\d)")
ENUMERATOR = r"^[ \t]*(?P<at>{})\s*(?:=[^=;,]*)?(?:,|\}}|$)"
NO_TYPE = {"return", "else", "new", "throw", "case", "goto", "delete", "and", "or", "not",
           "co_return", "co_await", "co_yield", "using", "typename", "operator",
           "struct", "class", "union", "enum", "friend"}  # `struct Node;` announces, not declares


def cpp_line(text: str, symbol: str) -> int | None:
    """Line that defines `symbol` in C++ text, or else declares it; uses and comments are ignored.

    Order: macro, type with a body, alias, function with a body, function without, variable or
    member, enumerator, namespace; of several equals the first. `A::b` is what is written so, or
    else `b` inside the braces of `A`.
    """
    code = _code(text)
    at = _offset(code, symbol)
    return None if at is None else code.count("\n", 0, at) + 1


@cache
def _code(text: str) -> str:
    """The text with blanks for its comments and strings."""
    return NOISE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def cpp_names(text: str) -> list[str]:
    """Identifiers of C++ text outside comments and strings."""
    return sorted(set(re.findall(r"[A-Za-z_]\w+", NOISE.sub(" ", text))))


def _offset(code: str, symbol: str) -> int | None:
    at = _introduction(code, symbol)
    if at is not None or "::" not in symbol:
        return at
    scope, rest = symbol.split("::", 1)
    for form in (TYPE, NAMESPACE):
        for body in re.finditer(form.format(re.escape(scope)), code):
            inner = _offset(code[body.end():_closing(code, body.end() - 1)], rest)
            if inner is not None:
                return body.end() + inner
    return None


def _introduction(code: str, name: str) -> int | None:
    """Offset of the name where the code introduces it, in the best form there is."""
    for form in FORMS:
        if match := re.search(form.format(*[re.escape(name)] * form.count("{}")), code, re.M):
            return max(match.span(group)[0] for group in match.groupdict())
    functions = list(_functions(code, name))
    if functions:
        return max(functions, key=lambda pair: pair[1])[0]
    for form in (VARIABLE, ENUMERATOR, NAMESPACE):
        for match in re.finditer(form.format(re.escape(name)), code, re.M):
            if not NO_TYPE & set(re.findall(r"\w+", match[0])):
                return match.start("at")
    return None


def _functions(code: str, name: str) -> Iterator[tuple[int, bool]]:
    """(offset, has a body) of each function declarator with this name."""
    for match in re.finditer(rf"(?<![\w:.])(?:[\w<>]+::)*(?P<at>{re.escape(name)})\s*\(", code):
        rest = code[_closing(code, match.end() - 1) + 1:]
        tail = re.match(r"[^;{}()=]*(?:\([^()]*\)[^;{}()=]*)*", rest)
        end = rest[tail.end():tail.end() + 1]
        before = code[:match.start()].rstrip()
        typed = re.search(r"[\w>&*]$", before) and not _follows(before, NO_TYPE)
        statement = re.search(r"(?:[;{}]|^|public:|private:|protected:)$", before)  # constructor
        if (typed and end in (";", "{", "=")) or (statement and end == "{"):
            yield match.start("at"), end == "{"


def _follows(before: str, words: set[str]) -> bool:
    last = re.search(r"(\w+)\s*$", before)
    return bool(last) and last[1] in words


def _closing(code: str, at: int) -> int:
    """Offset of the bracket that closes the one at `at` (the end of the code if none does)."""
    depth = 0
    for match in re.compile(r"[({]|[)}]").finditer(code, at):
        depth += 1 if match[0] in "({" else -1
        if depth == 0:
            return match.start()
    return len(code)


# ---- YAML lists of operators -------------------------------------------------------------------

ENTRY = r"^- (?:func|name|tag): (?P<name>{})(?=\(|\s|$)"


def yaml_line(text: str, name: str) -> int | None:
    """Line of the entry `- func: NAME(`, `- name: NAME(` or `- tag: NAME`."""
    match = re.search(ENTRY.format(re.escape(name)), text, re.M)
    return text.count("\n", 0, match.start()) + 1 if match else None


def yaml_names(text: str) -> list[str]:
    return [match["name"] for match in re.finditer(ENTRY.format(r"[\w.]+"), text, re.M)]
