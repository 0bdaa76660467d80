"""Workloads of "When does it pay?" (chapter 5): what the benchmark times and the section counts.

A workload says what `torch.compile` is given and how one call of it is run, so that the benchmark
can run the same call in eager mode and compiled. Everything is float32 and drawn with seed 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

ELEMENTS, ROWS, WIDTH, SIDE = 2**21, 2048, 1024, 1024
LIBRARY = ("mm", "addmm", "bmm", "_scaled_dot_product")  # operators that call a library's kernel


class Workload(NamedTuple):
    """`prepare(device)` returns (fn, run): what to compile, and what calls it for tensors."""

    zh: str
    en: str
    prepare: Callable[[str], tuple[Callable[..., Any], Callable[[Callable], list[Tensor]]]]


# ---------------------------------------------------------------- what is compiled
def chain(x: Tensor) -> Tensor:
    """Ten pointwise operations on x (N,)."""
    return torch.sigmoid(x * 1.1 + 0.3) * x + torch.exp(-x * x) * 0.5 - x


def norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """LayerNorm over the last dimension of x (rows, width), then GELU."""
    return functional.gelu(functional.layer_norm(x, x.shape[-1:], weight, bias))


def matmul(a: Tensor, b: Tensor) -> Tensor:
    """One matrix product of (N, N) and (N, N)."""
    return a @ b


def add_one(x: Tensor) -> Tensor:
    """One operation on x (4,)."""
    return x + 1


def branches(x: Tensor) -> Tensor:
    """A loop whose branch depends on the values of x (N,)."""
    for _ in range(8):
        x = x * 0.5 if x.sum() > 1 else x + 1
    return x


class Block(nn.Module):
    """A transformer block before the output: attention and an MLP, each with its LayerNorm."""

    def __init__(self, width: int = 256, heads: int = 4):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Linear(4 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        """x (batch, length, width), as the result."""
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.first(x)).chunk(3, -1))
        mixed = functional.scaled_dot_product_attention(q, k, v).transpose(1, 2)
        x = x + self.out(mixed.reshape(batch, length, width))
        return x + self.mlp(self.second(x))


# ---------------------------------------------------------------- how it is called
def plain(fn: Callable[..., Tensor], *shapes: tuple[int, ...]) -> Callable[[str], Any]:
    """A workload without gradients: `fn` of random tensors."""
    def prepare(device: str) -> Any:
        args = draw(device, *shapes)

        def run(fn: Callable[..., Tensor]) -> list[Tensor]:
            with torch.no_grad():
                return [fn(*args)]
        return fn, run
    return prepare


def draw(device: str, *shapes: tuple[int, ...]) -> list[Tensor]:
    """Random tensors, drawn on the CPU with seed 0."""
    torch.manual_seed(0)
    return [torch.randn(shape).to(device) for shape in shapes]


def block(device: str) -> Any:
    """Inference of one block, input (4, 128, 256)."""
    [x] = draw(device, (4, 128, 256))
    model = Block().to(device)

    def run(fn: Callable[..., Tensor]) -> list[Tensor]:
        with torch.no_grad():
            return [fn(x)]
    return model, run


def mlp(device: str) -> Any:
    """Forward and backward of an MLP, input (256, 256); compares the loss and all gradients."""
    x, target = draw(device, (256, 256), (256, 256))
    model = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.LayerNorm(512),
                          nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 256)).to(device)

    def loss(x: Tensor, target: Tensor) -> Tensor:
        return functional.mse_loss(model(x), target)

    def run(fn: Callable[..., Tensor]) -> list[Tensor]:
        model.zero_grad()
        found = fn(x, target)
        found.backward()
        return [found.detach(), *(weight.grad for weight in model.parameters())]
    return loss, run


def adam(device: str) -> Any:
    """One step of Adam on 12 parameters (64, 64); each call continues, the first is compared."""
    weights = [nn.Parameter(one) for one in draw(device, *[(64, 64)] * 12)]
    for weight in weights:
        weight.grad = weight.detach() * 0.1
    optimizer = torch.optim.Adam(weights, lr=torch.tensor(1e-3, device=device),
                                 capturable=device != "cpu")  # there, state stays on the device

    def run(fn: Callable[[], None]) -> list[Tensor]:
        fn()
        return [weight.detach() for weight in weights]
    return optimizer.step, run


WORKLOADS = {
    "chain": Workload("逐元素运算链，200 万个元素", "pointwise chain, 2 million elements",
                      plain(chain, (ELEMENTS,))),
    "norm": Workload("LayerNorm + GELU，2048 × 1024", "LayerNorm + GELU, 2048 × 1024",
                     plain(norm, (ROWS, WIDTH), (WIDTH,), (WIDTH,))),
    "mlp": Workload("MLP 的前向加反向", "MLP, forward and backward", mlp),
    "block": Workload("Transformer 块，推理", "transformer block, inference", block),
    "adam": Workload("Adam 更新 12 个参数", "a step of Adam, 12 parameters", adam),
    "matmul": Workload("一次矩阵乘，1024 × 1024", "one matmul, 1024 × 1024",
                       plain(matmul, (SIDE, SIDE), (SIDE, SIDE))),
    "branch": Workload("带数据相关分支的循环", "a loop with a data-dependent branch",
                       plain(branches, (1000,))),
    "tiny": Workload("一次加法，4 个元素", "one addition, 4 elements", plain(add_one, (4,))),
}
