"""References into PyTorch's source lead to the line that defines the name, or say what is gone."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import subprocess
from pathlib import Path

import pytest
import torch

from book.pipeline import sources
from book.pipeline.references import symbols, tagged
from book.pipeline.sources import SourceError

SITE = Path(torch.__file__).parents[1]
BLOB = f"https://github.com/pytorch/pytorch/blob/{torch.version.git_version}/"
GUARD = "#if !defined(TORCH_STABLE_ONLY) && !defined(TORCH_TARGET_VERSION)"


def place(target: str) -> tuple[str, int]:
    """Path in the repository and line of a target that resolves."""
    url = sources.resolve(target)
    assert url.startswith(BLOB)
    path, _, line = url.removeprefix(BLOB).partition("#L")
    return path, int(line)


# ---- Python names ------------------------------------------------------------------------------

@pytest.mark.parametrize("name", [
    "torch.compile",
    "torch.einsum",
    "torch.no_grad",  # re-exported twice
    "torch.nn.Module.__setattr__",
    "torch.nn.Linear.__setattr__",  # inherited
    "torch.nn.Module.__call__",  # an alias of another method
    "torch.nn.Parameter",
    "torch.nn.functional.softmax",
    "torch.Tensor.backward",
    "torch.Tensor.__torch_function__",
    "torch.storage._StorageBase.nbytes",
    "torch.storage.TypedStorage.untyped",
    "torch.autograd.gradcheck",  # a function with the name of its module
    "torch.autograd.graph.saved_tensors_hooks",
    "torch.autograd.Function.apply",
    "torch.utils.data.DataLoader.__iter__",
    "torch.utils.data.get_worker_info",  # `a = b.c`
    "torch.utils.checkpoint.checkpoint",
    "torch.amp.GradScaler.step",
    "torch.optim.Adam.step",
    "torch.fx.GraphModule.recompile",
    "torch.library.custom_op",
    "torch.export.export",
])
def test_python_name_leads_to_the_line_inspect_finds(name):
    module, names = sources.packages().split(name)
    if names:
        value = importlib.import_module(module)
    else:
        module, _, last = name.rpartition(".")
        value, names = importlib.import_module(module), [last]
    for part in names:
        value = inspect.getattr_static(value, part)
    value = inspect.unwrap(getattr(value, "__func__", value))
    lines, start = inspect.getsourcelines(value)
    offset = next(i for i, line in enumerate(lines) if re.match(r"\s*(async )?(def|class) ", line))
    path = Path(inspect.getsourcefile(value)).relative_to(SITE).as_posix()
    assert place(name) == (path, start + offset)


@pytest.mark.parametrize(("name", "code"), [
    ("torch.nn.functional.max_pool2d", "max_pool2d = boolean_dispatch("),
    ("torch.nn.Module._parameters", "_parameters: dict"),
    ("torch.utils.data.DataLoader.prefetch_factor", "prefetch_factor"),
    ("torch.Tensor.__rsub__", "def __rsub__"),
])
def test_assigned_name_leads_to_its_assignment(name, code):
    path, line = place(name)
    assert code in (SITE / path).read_text().splitlines()[line - 1]


def test_property_leads_to_its_getter():
    path, line = place("torch.nn.utils.parametrize.ParametrizationList.right_inverse")
    assert "def right_inverse" in (SITE / path).read_text().splitlines()[line - 1]


def test_of_several_definitions_the_one_left_at_run_time_is_meant(tmp_path):
    (tmp_path / "p").mkdir()
    (tmp_path / "p/__init__.py").write_text("from .m import *\nfrom p.m import g as h\n")
    (tmp_path / "p/m.py").write_text(
        "from typing import TYPE_CHECKING, overload\n"
        "@overload\n"
        "def f(x: int): ...\n"
        "def f(x): pass\n"          # 4
        "if TYPE_CHECKING:\n"
        "    def f(x): pass\n"
        "try:\n"
        "    def g(): pass\n"       # 8
        "except ImportError:\n"
        "    pass\n"
        "class A:\n"
        "    @property\n"
        "    def v(self): pass\n"   # 13
        "    @v.setter\n"
        "    def v(self, x): self.w = x\n"
        "class B(A): pass\n"
        "k = j\n"
        "j = k\n"
    )
    packages = symbols.Packages(tmp_path)
    found = {name: packages.find(name) for name in
             ("p.f", "p.h", "p.A.v", "p.B.v", "p.B.w", "p.m", "p.k", "p.B.x", "p.q", "q.f")}
    lines = {name: found[name] and (found[name][0].name, found[name][1]) for name in found}
    assert lines == {"p.f": ("m.py", 4), "p.h": ("m.py", 8), "p.A.v": ("m.py", 13),
                     "p.B.v": ("m.py", 13), "p.B.w": ("m.py", 15), "p.m": ("m.py", 1),
                     "p.k": ("m.py", 18), "p.B.x": None, "p.q": None, "q.f": None}


# ---- files of the wheel ------------------------------------------------------------------------

@pytest.mark.parametrize(("target", "path", "code"), [
    ("torch/include/c10/core/TensorImpl.h:TensorImpl", "c10/core/TensorImpl.h",
     "struct C10_API TensorImpl : public"),
    ("torch/include/c10/core/TensorImpl.h:storage_offset_", "c10/core/TensorImpl.h",
     "int64_t storage_offset_ = 0;"),
    ("torch/include/c10/core/TensorImpl.h:VariableVersion::bump", "c10/core/TensorImpl.h",
     "void bump() {"),
    ("torch/include/ATen/TensorUtils.h:computeStride", "aten/src/ATen/TensorUtils.h",
     "computeStride("),
    ("torch/include/torch/csrc/autograd/engine.h:Engine", "torch/csrc/autograd/engine.h",
     "struct TORCH_API Engine {"),
    ("torch/include/torch/csrc/api/include/torch/nn/module.h:Module",
     "torch/csrc/api/include/torch/nn/module.h", "class TORCH_API Module"),
    ("aten/src/ATen/native/native_functions.yaml:view",
     "aten/src/ATen/native/native_functions.yaml", "- func: view(Tensor(a) self"),
    ("aten/src/ATen/native/native_functions.yaml:view.dtype",
     "aten/src/ATen/native/native_functions.yaml", "- func: view.dtype("),
    ("tools/autograd/derivatives.yaml:mul.Tensor", "tools/autograd/derivatives.yaml",
     "- name: mul.Tensor("),
])
def test_file_of_the_wheel_leads_to_its_line_in_the_repository(target, path, code):
    found, line = place(target)
    wheel = {"torch": target.partition(":")[0],
             "aten": "torchgen/packaged/ATen/native/native_functions.yaml",
             "tools": "torchgen/packaged/autograd/derivatives.yaml"}[target.split("/")[0]]
    lines = (SITE / wheel).read_text().splitlines()
    if lines[0] == GUARD:
        lines = lines[1:]
    assert found == path
    assert code in lines[line - 1]


def test_line_that_the_wheel_puts_before_a_header_is_not_counted():
    header = SITE / "torch/include/c10/core/TensorImpl.h"
    lines = header.read_text().splitlines()
    in_wheel = next(i for i, text in enumerate(lines, 1) if "C10_API TensorImpl :" in text)
    assert lines[0] == GUARD
    assert place("torch/include/c10/core/TensorImpl.h:TensorImpl")[1] == in_wheel - 1


CPP = """\
// class Late is announced here; void run() too
struct Late;
#define LIMIT 3
namespace engine {
using Stack = std::vector<int>;
enum class Mode : uint8_t {
  Eager = 0,
  Lazy,
};
void run(int depth = (1 + 2));
inline int twice(int x) { return 2 * x; }
struct API Late final : public Base<int>, other::Base {
  explicit Late(int n) : n_(n) { log("void size()"); }
  int64_t size() const;
  const int* n_ = nullptr;
  bool flag : 1;
  int use() { return twice(size()) + n_ * flag; }
  void operator()(int x) {}
};
int64_t Late::size() const {
  run();
  return n_;
}
void run(int depth) {
  twice(depth);
}
}
struct Early { int64_t size() const { return 0; } };
"""


@pytest.mark.parametrize(("symbol", "line"), [
    ("LIMIT", 3), ("engine", 4), ("Stack", 5), ("Mode", 6), ("Mode::Lazy", 8), ("Eager", 7),
    ("twice", 11), ("Late", 12), ("Late::Late", 13), ("n_", 15), ("flag", 16), ("use", 17),
    ("Late::operator()", 18), ("Late::size", 20), ("run", 24), ("Early::size", 28),
    ("engine::run", 24), ("Base", None), ("log", None), ("depth", None), ("Early::run", None),
    ("Absent::size", None), ("siz", None),
])
def test_cpp_definition_goes_before_declaration_and_uses_do_not_count(symbol, line):
    assert symbols.cpp_line(CPP, symbol) == line


# ---- what is refused ---------------------------------------------------------------------------

@pytest.mark.parametrize(("target", "what"), [
    ("torch.Tensor.as_strided", r"in C\+\+ or made at run time.*native_functions.yaml:as_strided"),
    ("torch.UntypedStorage.nbytes", r"in C\+\+"),  # its first base is, and goes before the second
    ("torch.Tensor.strid", "has no such name .near: stride"),
    ("torch.nn.Modul", "has no such name .near: .*Module"),
    ("numpy.array", "not a name of torch"),
    ("torch.version.git_version", "in a generated file"),
    ("torch/_tensor.py:Tensor.storage", "write torch._tensor.Tensor.storage"),
    ("torch/include/c10/core/TensorImpl.h", "no symbol"),
    ("torch/include/c10/core/TensorImpl.h:compute_contigous", "near: compute_contiguous"),
    ("torch/include/c10/core/TensorImp.h:TensorImpl", r"not in torch 2\S+ .near: TensorImpl.h"),
    ("torch/include/torch/csrc/autograd/edge.h:Node", r"look in \w+\.h"),
    ("torch/include/ATen/ops/add.h:add", "in a generated file"),
    ("torch/include/ATen/core/TensorBody.h:Tensor", "in a generated file"),
    ("torch/include/ATen/Functions.h:add", "in a generated file"),
    ("torch/include/ATen/CPUFunctions.h:add", "in a generated file"),
    ("torch/include/torch/csrc/autograd/generated/Functions.h:MulBackward0", "in a generated file"),
    ("torch/include/ATen/native/transformers/cuda/mem_eff_attention/kernels/cutlassB.h:x",
     "in a generated file"),
    ("torch._inductor.fx_passes.serialized_patterns.mm_pattern", "in a generated file"),
    ("torch/include/fmt/core.h:format", "a library of others"),
    ("torch/csrc/autograd/engine.h:Engine", "write torch/include/torch/csrc/autograd/engine.h"),
    ("aten/src/ATen/native/native_functions.yaml:viw", "near: view"),
    ("aten/src/ATen/native/Nothing.cpp:nothing", "neither in the installed torch nor recorded"),
])
def test_target_that_leads_nowhere_is_refused_in_one_line(target, what):
    with pytest.raises(SourceError, match=what) as caught:
        sources.resolve(target)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(target.partition(":")[0])


def test_every_header_marked_as_generated_is_refused():
    include = SITE / "torch/include"
    marked = [file for folder in ("ATen", "torch/csrc") for file in include.glob(f"{folder}/*.h")
              if "@" "generated" in file.read_text(errors="replace")[:500]]
    assert len(marked) > 5
    for file in marked:
        with pytest.raises(SourceError, match="generated"):
            sources.resolve(f"{file.relative_to(SITE).as_posix()}:anything")


# ---- references in texts -----------------------------------------------------------------------

TEXT = """\
See [`Module`](torch:torch.nn.Module) and [a plain one](https://example.org).

`[x](torch:not.this)` and ``[`y`](torch:nor.this)``

```python
[z](torch:nor.that)
```
Last [`compile` here](torch:torch.compile).
"""


def test_resolving_a_text_changes_nothing_but_its_references():
    expected = TEXT.replace("torch:torch.nn.Module", sources.resolve("torch.nn.Module"))
    expected = expected.replace("torch:torch.compile", sources.resolve("torch.compile"))
    assert sources.resolve_links(TEXT) == expected
    assert sources.resolve_links(expected) == expected


def test_text_with_a_dead_reference_does_not_resolve():
    with pytest.raises(SourceError, match=r"torch\.nn\.Modul:"):
        sources.resolve_links("[x](torch:torch.nn.Modul)")


def test_dead_references_are_reported_with_file_and_line(tmp_path, capsys):
    text, cards = tmp_path / "section.md", tmp_path / "cards.yaml"
    text.write_text("fine [a](torch:torch.nn.Module)\n\nbad [b](torch:torch.gone)\n")
    cards.write_text("cards:\n- id: a\n  sources:\n  - torch.nn.Module\n  - torch.lost\n"
                     "  answer: {en: 'see [c](torch:torch.away)'}\n")
    assert sources.main([str(text), str(cards)]) == 1
    first, second, third = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{text}:3: torch.gone: ")
    assert second.startswith(f"{cards}:5: torch.lost: ")
    assert third.startswith(f"{cards}:6: torch.away: ")


# ---- lines recorded at a tag -------------------------------------------------------------------

TARGET = "aten/src/ATen/Some.cpp:walk"
TAG = "v" + torch.__version__.partition("+")[0]
BODY = ["// one", "int walk() {", "  return 1;", "}", "// end"]


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A clone of two tags: the pinned one, and v9.9.9, where a line was put in front."""
    records = tmp_path / "tagged_sources.json"
    records.write_text("{}\n")
    monkeypatch.setattr(tagged, "TAGGED", records)
    sources.resolve.cache_clear()
    folder = tmp_path / "clone"
    file = folder / TARGET.partition(":")[0]
    file.parent.mkdir(parents=True)

    def git(*arguments):
        subprocess.run(["git", "-C", folder, "-c", "user.name=t", "-c", "user.email=t@t",
                        *arguments], check=True, capture_output=True)
    git("init")
    for tag, lines in ((TAG, BODY), ("v9.9.9", ["// new", *BODY]),
                       ("v9.9.10", [line.replace("1", "2") for line in BODY])):
        file.write_text("\n".join(lines) + "\n")
        git("add", "-A")
        git("commit", "-m", tag)
        git("tag", tag)
    yield folder
    sources.resolve.cache_clear()


def record(checkout, lines="2-4", target=TARGET, tag=TAG):
    return tagged.main(["--add", target, "--tag", tag, "--checkout", str(checkout),
                        "--lines", lines])


def test_recorded_lines_resolve_to_their_tag(checkout):
    assert record(checkout) == 0
    path = TARGET.partition(":")[0]
    assert sources.resolve(TARGET) == (
        f"https://github.com/pytorch/pytorch/blob/{TAG}/{path}#L2-L4")
    entry = json.loads(tagged.TAGGED.read_text())[TARGET]
    assert entry.keys() == {"tag", "first", "last", "sha256", "date"}


@pytest.mark.parametrize(("arguments", "what"), [
    ({"lines": "3-4"}, "do not contain `walk`"),
    ({"lines": "2-40"}, "has 5 lines"),
    ({"lines": "4"}, "write two numbers"),
    ({"tag": "v0.0.1"}, "fetch the tag"),
    ({"target": "aten/src/ATen/Other.cpp:walk"}, "Other.cpp: not in"),
])
def test_lines_that_cannot_be_meant_are_not_recorded(checkout, capsys, arguments, what):
    assert record(checkout, **arguments) == 1
    assert what in capsys.readouterr().out
    assert json.loads(tagged.TAGGED.read_text()) == {}


def test_recheck_is_silent_while_the_lines_are_the_same(checkout, capsys):
    record(checkout)
    assert tagged.main(["--recheck", str(checkout)]) == 0
    assert capsys.readouterr().out == ""


def test_recheck_sees_a_record_that_was_changed(checkout, capsys):
    record(checkout)
    tagged.TAGGED.write_text(tagged.TAGGED.read_text().replace('"last": 4', '"last": 3'))
    assert tagged.main(["--recheck", str(checkout)]) == 1
    assert f"{TARGET}: its lines changed at {TAG}" in capsys.readouterr().out


@pytest.mark.parametrize(("tag", "what"), [
    ("v9.9.9", "the same lines are 3-5 at v9.9.9"),
    ("v9.9.10", "its lines changed at v9.9.10"),
    ("v0.0.1", "fetch the tag"),
])
def test_recheck_at_another_tag_says_where_the_lines_are(checkout, capsys, tag, what):
    record(checkout)
    assert tagged.main(["--recheck", str(checkout), "--tag", tag]) == 1
    assert what in capsys.readouterr().out


def test_lines_recorded_at_another_version_of_torch_do_not_resolve(checkout):
    record(checkout, lines="3-5", tag="v9.9.9")
    with pytest.raises(SourceError, match=r"recorded at v9\.9\.9, and torch is"):
        sources.resolve(TARGET)
