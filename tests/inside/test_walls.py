"""The walls of `inside`: observing, drawing and the widgets' notebook side stay apart.

`observe` reads torch and draws nothing; `pictures` draw what it has read, with the pens of
`pictures.svg` and `pictures.beside`; a picture may hold a whole other picture, by its `draw_…`,
but not its pens. A chapter has both kinds in a room of its own, `inside.compile` for one, and no
room opens into another chapter's: what two chapters use stands in `inside.observe` or
`inside.pictures`, which know no chapter.
"""

import ast
import re
from graphlib import CycleError, TopologicalSorter

import pytest

from book.pipeline.ground.paths import CODE

MARKUP = re.compile(r"</?(?:svg|path|rect|text|circle|g|table|span|div)\b")


def name_of(file):
    parts = file.relative_to(CODE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules():
    """{module: its syntax tree} for all of `inside`."""
    return {name_of(file): ast.parse(file.read_text(encoding="utf-8"))
            for file in sorted((CODE / "inside").rglob("*.py"))}


MODULES = modules()
PENS = ("inside.pictures.svg", "inside.pictures.beside")


def imports(tree, known=MODULES):
    """[(module of `inside`, name taken from it or None)], also those within functions."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "inside imports by full names"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.append((whole, None) if whole in known else (node.module, alias.name))
    return [(module, name) for module, name in found if module.split(".")[0] == "inside"]


def place(module):
    """(chapter or None, kind): ("compile", "observe") for `inside.compile.observe.aot`."""
    chapter, kind, *_ = [*module.split(".")[1:], "", ""]
    return (chapter, kind) if kind in ("observe", "pictures") else (None, chapter)


def kind_of(module):
    return place(module)[1]


def is_allowed(module, target, name):
    """Whether `module` may take `name` (None: all) from the module `target`."""
    (own, kind), (chapter, taken) = place(module), place(target)
    if target == "inside.bilingual":
        return kind in ("widgets", "recorded", "listings")
    if chapter not in (None, own) and kind != "widgets":
        return False
    match kind:
        case "observe":
            return taken == "observe"
        case "pictures" if module == "inside.pictures.svg":
            return False
        case "pictures":
            return taken == "observe" or target in PENS or (
                taken == "pictures" and (name or "").startswith("draw_"))
        case "widgets":
            return taken in ("observe", "widgets", "recorded")
        case "listings":
            return target == "inside.recorded"
    # inside itself, its results and its languages stand alone
    return (module, target) == ("inside", "inside.earlier_names")


def trespasses(module, tree):
    return [taken for taken in imports(tree) if not is_allowed(module, *taken)]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_takes_only_what_its_room_may(module):
    assert trespasses(module, MODULES[module]) == []


@pytest.mark.parametrize("module", [m for m in MODULES if kind_of(m) == "observe"])
def test_what_observes_writes_no_markup(module):
    texts = [node.value for node in ast.walk(MODULES[module])
             if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert [text for text in texts if MARKUP.search(text)] == []


def circle(graph):
    """A circle of imports, if there is one."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_import_leads_back():
    assert circle({module: {target for target, _ in imports(tree)}
                   for module, tree in MODULES.items()}) == []


@pytest.mark.parametrize(("module", "line", "taken"), [
    ("inside.observe.new", "from inside.pictures import svg", "inside.pictures.svg"),
    ("inside.observe.new", "def f():\n    import inside.widgets.fallback",
     "inside.widgets.fallback"),
    ("inside.compile.observe.new", "from inside.compile.pictures import breaks",
     "inside.compile.pictures.breaks"),
    ("inside.data.pictures.new", "from inside.data.pictures.loader_machine import part",
     "inside.data.pictures.loader_machine"),
    ("inside.tensors.pictures.new", "from inside.tensors.pictures import storages",
     "inside.tensors.pictures.storages"),
    ("inside.pictures.svg", "from inside.observe.saved import storage_key",
     "inside.observe.saved"),
    ("inside.widgets.new", "from inside.pictures.svg import text", "inside.pictures.svg"),
    ("inside.widgets.new", "from inside.compile.pictures.loops import draw_loops",
     "inside.compile.pictures.loops"),
    # what is allowed within a room is not so from another chapter's, nor from the shared ones
    ("inside.compile.observe.new", "from inside.modules.observe import names",
     "inside.modules.observe.names"),
    ("inside.compile.pictures.new", "from inside.modules.observe.names import names",
     "inside.modules.observe.names"),
    ("inside.compile.pictures.new", "from inside.tensors.pictures.grids import draw_grids",
     "inside.tensors.pictures.grids"),
    ("inside.observe.new", "from inside.compile.observe import aot", "inside.compile.observe.aot"),
    ("inside.pictures.new", "from inside.compile.pictures.loops import draw_loops",
     "inside.compile.pictures.loops"),
    ("inside.compile.observe.new", "from inside.modules import observe", "inside.modules"),
])
def test_a_planted_trespass_is_found(module, line, taken):
    assert [target for target, _ in trespasses(module, ast.parse(line))] == [taken]


def test_a_planted_circle_is_found():
    assert len(circle({"a": {"b"}, "b": {"c"}, "c": {"a"}})) == 4
