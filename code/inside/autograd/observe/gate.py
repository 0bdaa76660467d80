"""Gradients of a random gate that is open (1) with probability p, averaged over its draws.

The gate costs (keep - target)**2, and the gradient is that of the cost by the gate's logit.
"""

from __future__ import annotations

import torch
from torch import Tensor

POINTS = 20_000  # quantiles of the noise, instead of draws: the averages are the same every time


def gate_gradients(target: float, temperatures: tuple[float, ...] = (1.0, 0.1)) -> dict[str, list]:
    """{name: average gradient at p = 1%, 2%, …, 99%}, "exact" being that of the average cost.

    "straight-through" treats keep as p in backward. "gumbel, tau t" is `F.gumbel_softmax` of two
    classes with `hard=True` and that temperature. Computed in float64 on the CPU.
    """
    p = torch.arange(1, 100, dtype=torch.float64, device="cpu") / 100
    found = {"exact": p * (1 - p) * (1 - 2 * target),
             "straight-through": p * (1 - p) * 2 * (p - target)}
    for tau in temperatures:
        found[f"gumbel, tau {tau:g}"] = torch.stack([gumbel(q, target, tau) for q in p])
    return {name: values.tolist() for name, values in found.items()}


def gumbel(p: Tensor, target: float, tau: float) -> Tensor:
    """Average gradient of the straight-through Gumbel-softmax at one p.

    The difference of two Gumbel variables is logistic, so the gate is open where logit + noise is
    above 0, and the soft gate is a sigmoid (arXiv:1611.00712).
    """
    uniform = (torch.arange(POINTS, dtype=torch.float64, device="cpu") + 0.5) / POINTS
    score = p.logit() + uniform.logit()
    keep, soft = (score > 0).double(), (score / tau).sigmoid()
    return (2 * (keep - target) * soft * (1 - soft) / tau).mean()
