"""Is this folder a checkout of PyTorch, which one, and which of its tests are run?"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

DYNAMO = tuple(f"test/dynamo/test_{name}.py" for name in (
    "misc", "functions", "repros", "modules", "ctx_manager", "exceptions", "unspec", "subgraphs",
    "autograd_function", "python_autograd", "hooks", "modes", "global", "input_attr_tracking",
    "model_output", "base_output", "recompiles", "reconstruct", "skip_non_tensor", "nops", "sdpa",
    "interop", "view", "decorators", "compile", "optimizers", "aot_autograd"))
INDUCTOR = "test/inductor/test_torchinductor.py"
OPINFO = "opinfo"  # no file: the samples are in the installed torch
NN = "test/test_nn.py"
FILES = {  # of each part, by the path in the checkout
    "dynamo": DYNAMO,
    "compile": (INDUCTOR, OPINFO),
    "module": (NN, "test/nn/test_module_hooks.py", "test/nn/test_load_state_dict.py"),
    "layers": (NN, *(f"test/nn/test_{name}.py" for name in (
        "dropout", "embedding", "convolution", "multihead_attention"))),
    "index": ("test/test_indexing.py", "test/test_scatter_gather_ops.py")}
PARTS = tuple(FILES)
NEEDED = {part: files[0] for part, files in FILES.items()} | {"dynamo": "test/dynamo"}


class NoCheckout(Exception):
    """Why the tests cannot be read, in one line."""


class Checkout(NamedTuple):
    root: Path
    version: str

    def files(self, only: str) -> list[str]:
        """What is run, by its path in the checkout."""
        return [name for name in FILES[only] if name == OPINFO or (self.root / name).is_file()]


def find(path: str, wanted: tuple[str, ...] = PARTS) -> Checkout:
    """The checkout at a path. Raises NoCheckout."""
    root = Path(path).expanduser()
    if not path:
        raise NoCheckout("say where PyTorch's source is: make upstream CHECKOUT=path/to/pytorch")
    if not root.is_dir():
        raise NoCheckout(f"CHECKOUT={path} is no folder")
    for needed in ("version.txt", *(NEEDED[one] for one in wanted)):
        if not (root / needed).exists():
            raise NoCheckout(f"CHECKOUT={path} is no checkout of PyTorch: it has no {needed}")
    return Checkout(root.resolve(), (root / "version.txt").read_text("utf-8").strip())
