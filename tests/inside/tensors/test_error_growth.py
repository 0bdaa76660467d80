"""The picture of errors over means: exact results stay visible, both languages are there."""

import torch

from inside.pictures.plot import draw_curves
from inside.tensors.pictures.error_growth import draw_error_growth


def test_axes_are_named_in_both_languages():
    picture = draw_error_growth({"squares": [1e-6, 1e-2, 10.0]}).svg
    for words in ("均值是 10 的几次方", "power of ten of the mean", "相对误差", "relative error"):
        assert words in picture


def test_an_exact_result_is_drawn_at_the_lower_end_and_leaves_no_gap():
    errors = {"two_pass": [0.0, 1e-3, 0.0]}
    drawn = draw_error_growth(errors)
    floor = draw_curves({"two_pass": [1e-8, 1e-3, 1e-8]}, ("均值是 10 的几次方",
                        "power of ten of the mean"), ("相对误差", "relative error"),
                        start=0, log=True)
    assert drawn.svg == floor.svg
    assert errors == {"two_pass": [0.0, 1e-3, 0.0]}


def two_pass(xs):
    mean = sum(xs) / len(xs)
    return sum((x - mean) * (x - mean) for x in xs) / len(xs)


def welford(xs):
    mean = m2 = 0.0
    for n, x in enumerate(xs, start=1):
        before = x - mean
        mean += before / n
        m2 += before * (x - mean)
    return m2 / len(xs)


def test_var_takes_two_passes_over_a_whole_tensor_and_welford_along_a_dimension():
    """Bit for bit, as far as the order of a sum leaves it equal."""
    generator, cpu = torch.Generator().manual_seed(0), torch.device("cpu")
    draws = [torch.randn(7, generator=generator, dtype=torch.float64, device=cpu) + 1000
             for _ in range(100)]
    draws = [x for x in draws if two_pass(x.tolist()) != welford(x.tolist())]
    whole = [x.var(correction=0).item() for x in draws]
    rows = [torch.stack([x, x]).var(1, correction=0)[0].item() for x in draws]
    passes, once = ([f(x.tolist()) for x in draws] for f in (two_pass, welford))
    assert len(draws) > 90
    assert rows == once
    assert sum(a == b for a, b in zip(whole, passes, strict=True)) > len(draws) / 2
    assert sum(a == b for a, b in zip(whole, once, strict=True)) < len(draws) / 10
