"""The module inspector: what a model holds, and one forward pass call by call.

`ModuleInspector` is an anywidget around `book/web/module-inspector/`, the same module that the
page loads without a kernel. It shows a real model, read and run by torch, or a model typed as
text, for which the page computes the shapes itself; in a live notebook torch builds and runs what
is typed there. Without JavaScript two tables stand in the widget's place.

What the element reads is JSON in its attribute `model`:

    rows    the tree from the top down. A module is {depth, path, name, type, kind, letter, again,
            mode, hooks}, with kind "module" or "unregistered"; a tensor is {depth, path, name,
            kind, shape, bytes, letter}, with kind "parameter", "frozen", "buffer",
            "non-persistent" or "unregistered". `lists` says where it is found: p parameters(),
            b buffers(), t what `to` moves, s state_dict(); a tensor met before is only in s
    ties    {letter, what, paths}: one module, one tensor or one storage at several places
    sums    {p, b, t, s}: how many there are, and the bytes of their storages, each once
    calls   in order of entry: {path, type, depth, received, returned, values}
"""

from dataclasses import asdict

import anywidget
import torch
from traitlets import Dict, TraitError, observe, validate

from inside.bilingual import spans
from inside.modules.observe.module_calls import CallError, record_calls
from inside.modules.observe.module_tree import (
    BUFFER,
    NON_PERSISTENT,
    PARAMETER,
    UNREGISTERED,
    read_module,
    storage_bytes,
    ties,
    totals,
)
from inside.widgets.fallback import attribute, table
from inside.widgets.typed_model import TypedModelError, build, input_for
from inside.widgets.web_module import WEB, joined_module

ESM = WEB / "module-inspector" / "index.js"
LISTS = {PARAMETER: "pts", BUFFER: "bts", NON_PERSISTENT: "bt", UNREGISTERED: ""}


# ---------------------------------------------------------------- what the element reads
def inspect(model, *inputs, values=0):
    """The dict that the element shows; without inputs there are no calls.

    Raises `CallError` where the model does not run on the inputs.
    """
    tree = read_module(model)
    listed = totals(model)
    moved = [*model.parameters(), *model.buffers()]
    calls = record_calls(model, *inputs, values=values) if inputs else []
    return {
        "rows": rows_of(tree, 0, True, set()),
        "ties": [asdict(tie) | {"paths": list(tie.paths)} for tie in ties(tree)],
        "sums": {"p": list(listed["parameters"]), "b": list(listed["buffers"]),
                 "t": [len(moved), storage_bytes(moved)], "s": list(listed["state_dict"])},
        "calls": [asdict(call) for call in calls],
    }


def rows_of(branch, depth, parent_training, met):
    """The rows of a branch; `met` are the tensors of the rows before."""
    mode = "" if branch.training == parent_training else "train" if branch.training else "eval"
    rows = [{
        "depth": depth, "path": branch.path, "name": branch.name, "type": branch.type,
        "kind": "module" if branch.registered else UNREGISTERED, "letter": branch.letter,
        "again": branch.again, "mode": mode, "hooks": [list(hook) for hook in branch.hooks],
        "lists": "s" if branch.again and branch.registered and saves(branch.module) else "",
    }]
    for held in branch.tensors:
        lists = LISTS[held.kind]
        if id(held.tensor) in met:
            lists = lists.replace("p", "").replace("b", "").replace("t", "")
        met.add(id(held.tensor))
        frozen = held.kind == PARAMETER and not held.requires_grad
        rows.append({
            "depth": depth + 1, "path": held.path, "name": held.name,
            "kind": "frozen" if frozen else held.kind, "shape": held.spelled,
            "bytes": held.nbytes, "letter": held.letter, "lists": lists})
    for below in branch.modules:
        rows += rows_of(below, depth + 1, branch.training, met)
    return rows


def saves(module):
    """Whether `state_dict` has entries for the module."""
    return totals(module)["state_dict"][0] > 0


# ---------------------------------------------------------------- the tables without JavaScript
KINDS = {
    "module": ("模块", "module"), PARAMETER: ("参数", "parameter"),
    "frozen": ("参数（冻结）", "parameter (frozen)"), BUFFER: ("buffer", "buffer"),
    NON_PERSISTENT: ("buffer（不保存）", "buffer (not saved)"),
    UNREGISTERED: ("没有注册", "not registered"),
}
HELD = (spans("这个模型持有什么", "What the model holds"),
        [spans("名字", "name"), spans("是什么", "kind"), spans("形状", "shape"),
         spans("字节", "bytes"), spans("共用", "shared")])
CALLED = (spans("一次前向，按调用的顺序", "One forward pass, in the order of the calls"),
          [spans("模块", "module"), spans("谁调用它", "called by"), spans("收到", "received"),
           spans("返回", "returned")])


def held_rows(model):
    """A row of texts per module and tensor."""
    return [[f"{row['path'] or row['type']}" if "shape" in row else
             f"{row['path']}: {row['type']}".removeprefix(": "),
             spans(*KINDS[row["kind"]]), row.get("shape", ""), str(row.get("bytes", "")),
             row["letter"]] for row in model["rows"]]


def called_rows(model):
    """A row of texts per call, with the caller's name."""
    rows, around = [], []
    for call in model["calls"]:
        del around[call["depth"]:]
        name = call["path"] or call["type"]
        rows.append([name, around[-1] if around else "–", call["received"], call["returned"]])
        around.append(name)
    return rows


def fallback(model, typed):
    """The custom element with its tables inside, for pages without JavaScript."""
    tables = [table(*HELD, held_rows(model))]
    if model["calls"]:
        tables.append(table(*CALLED, called_rows(model)))
    inner = "\n".join(tables)
    more = f" typed='{attribute(typed)}'" if typed else ""
    return (f"<module-inspector model='{attribute(model)}'{more}>\n{inner}\n"
            "</module-inspector>")


# ---------------------------------------------------------------- the widget
class TypedError(ValueError, TraitError):
    """What is typed cannot be built or run; as a TraitError it rolls the change back."""


class ModuleInspector(anywidget.AnyWidget):
    """The inspector of `model`, an `nn.Module`, run once on `inputs` without gradients.

    `model` may also be text, such as "Sequential(Linear(4, 8), ReLU())", with the shape of its
    input as the one input. With `values`, so many elements of each output are shown. Buffers and
    random state are left as they were. `typed` is {"text", "shape"} where the model is typed, else
    {}; `module` is the model shown. Raises `TypeError` for what is no module and `ValueError` where
    the model cannot be built or run.
    """

    _esm = joined_module(ESM)
    model = Dict().tag(sync=True)
    typed = Dict().tag(sync=True)

    def __init__(self, model, *inputs, values=0):
        self._values = values
        if isinstance(model, str):
            self._start = {"text": model, "shape": list(*inputs)}
            self._given = made(self._start, values)
        else:
            self._start, self._given = {}, (model, inspect(model, *inputs, values=values))
        self.module, shown = self._made = self._given
        super().__init__(model=shown, typed=self._start)

    @validate("typed")
    def _accept(self, proposal):
        """Build and run what is typed; torch's refusal is raised, and nothing changes."""
        typed = proposal["value"]
        self._made = self._given if typed == self._start else made(typed, self._values)
        return typed

    @observe("typed")
    def _follow(self, change):
        self.module, self.model = self._made

    def __repr__(self):
        held, calls = len(self.model["rows"]), len(self.model["calls"])
        return f"ModuleInspector({type(self.module).__name__}: {held} rows, {calls} calls)"

    def _repr_mimebundle_(self, **kwargs):
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return {**data, "text/html": fallback(self.model, self.typed)}, metadata


def made(typed, values=0):
    """(module, what the element shows) of what is typed; raises `TypedError` in one line."""
    try:
        with torch.random.fork_rng(devices=[]):
            module = build(typed["text"])
        shape = tuple(typed["shape"])
        return module, inspect(module, input_for(module, shape), values=values)
    except (TypedModelError, CallError) as error:
        raise TypedError(str(error)) from error


