"""Sentences of chapter 3 whose numbers no cell prints, as torch behaves there."""

import torch

DEPTH, WIDTH = 45, 256


def test_a_difference_in_forward_grows_almost_threefold_per_layer_of_randn_and_tanh():
    """initialisation.md: which is why its plot of these gradients ends at 20 layers."""
    generator = torch.Generator().manual_seed(0)

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)
    h = normal(WIDTH, WIDTH)
    moved = h * (1 + torch.finfo(h.dtype).eps * normal(WIDTH, WIDTH))
    apart = []
    for _ in range(DEPTH):
        weight = normal(WIDTH, WIDTH)
        h, moved = (torch.tanh(x @ weight.T) for x in (h, moved))
        apart.append((h - moved).square().mean().sqrt().item())
    assert 2.8 < (apart[19] / apart[4]) ** (1 / 15) < 3     # per layer, while it is small
    assert apart[19] < 1e-5                                 # at 20 layers nothing is to be seen
    assert next(k for k, size in enumerate(apart, 1) if size > 0.1) in range(30, 36)
    assert apart[-1] > 1                                    # as far apart as two unrelated rows
