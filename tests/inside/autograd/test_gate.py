"""Gradients of a random gate: the averages are those of real draws, and the picture names them."""

import re

import pytest
import torch
from torch.nn import functional as F

from inside.autograd.observe.gate import gate_gradients
from inside.autograd.pictures.gate_gradients import draw_gate_gradients

TARGET, COUNT = 0.6, 200_000


def averaged(surrogate, percent):
    """Average gradient by the logit over many draws of autograd itself."""
    torch.manual_seed(0)
    logit = torch.tensor(percent / 100, dtype=torch.float64).logit().requires_grad_()
    return torch.autograd.grad(surrogate(logit.expand(COUNT)).mean(), logit)[0].item()


def through(logits):
    p = logits.sigmoid()
    return (p + (torch.bernoulli(p) - p).detach() - TARGET) ** 2


def gumbel(tau):
    def surrogate(logits):
        pair = torch.stack([logits, torch.zeros_like(logits)], dim=1)
        return (F.gumbel_softmax(pair, tau=tau, hard=True)[:, 0] - TARGET) ** 2
    return surrogate


def score(logits):
    draws = torch.distributions.Bernoulli(logits=logits)
    keep = draws.sample()
    return (keep - TARGET) ** 2 * draws.log_prob(keep)


@pytest.mark.parametrize("percent", [10, 50, 90])
@pytest.mark.parametrize(("name", "surrogate"), [
    ("exact", score), ("straight-through", through),
    ("gumbel, tau 1", gumbel(1.0)), ("gumbel, tau 0.1", gumbel(0.1))])
def test_averages_are_those_of_real_draws(percent, name, surrogate):
    expected = gate_gradients(TARGET)[name][percent - 1]
    assert averaged(surrogate, percent) == pytest.approx(expected, abs=0.003)


def test_gumbel_draws_each_class_with_its_softmax_probability():
    torch.manual_seed(0)
    logits = torch.tensor([2.0, 0.0, -1.0]).expand(COUNT, 3)
    drawn = F.gumbel_softmax(logits, tau=0.5, hard=True).mean(0)
    assert drawn.tolist() == pytest.approx(logits[0].softmax(0).tolist(), abs=0.005)


def test_a_colder_gumbel_is_closer_to_the_exact_gradient():
    found = gate_gradients(TARGET, (1.0, 0.1, 0.02))
    exact = found["exact"][89]
    errors = [abs(found[f"gumbel, tau {tau:g}"][89] - exact) for tau in (1.0, 0.1, 0.02)]
    assert errors == sorted(errors, reverse=True)


def test_a_colder_gumbel_is_noisier():
    def deviation(tau):
        torch.manual_seed(0)
        logits = torch.full((COUNT,), 0.9, dtype=torch.float64).logit().requires_grad_()
        return torch.autograd.grad(gumbel(tau)(logits).sum(), logits)[0].std().item()
    assert deviation(1.0) < deviation(0.1) < deviation(0.02)


def test_picture_names_axes_and_curves_in_both_languages():
    picture = draw_gate_gradients(gate_gradients(TARGET)).svg
    for words in ("精确", "straight-through", "gumbel, tau 0.1", "平均梯度 × 100",
                  "average gradient × 100",
                  "门打开的概率（%）", "probability that the gate is open (%)"):
        assert words in picture


def test_levels_on_the_axis_are_told_apart():
    svg = draw_gate_gradients(gate_gradients(TARGET)).svg
    levels = re.findall(r'text-anchor="end"[^>]*>([^<]+)<', svg)
    assert len(levels) > 3
    assert len(set(levels)) == len(levels)
