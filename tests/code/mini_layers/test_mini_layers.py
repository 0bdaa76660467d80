"""mini_layers against torch.nn.functional: results, gradients, running statistics, the edges."""

import math
import types

import pytest
import torch
from torch.nn import functional

import mini_layers
from book.pipeline.ground.paths import CODE
from oracles.layer_cases import DRAWS, disagreement
from tests.helpers.depth import cases

EACH = cases(150)
SOURCE = (CODE / "mini_layers.py").read_text(encoding="utf-8")

pytestmark = pytest.mark.usefixtures("one_thread")


# ---- random calls --------------------------------------------------------------------------------

@pytest.mark.parametrize("name", DRAWS)
def test_results_gradients_and_writes_are_those_of_torch(name, counted):
    assert [found for seed in range(EACH) if (found := disagreement(mini_layers, name, seed))] == []
    counted(f"random calls of mini_layers, {name}", EACH)


@pytest.mark.parametrize(("name", "old", "new"), [
    ("linear", "x @ weight.t()", "x @ weight.t().flip(-1)"),
    ("embedding", "torch.where(padding, rows.detach(), rows)", "rows"),
    ("embedding", "torch.where(padding, rows.detach(), rows)",
     "torch.where(padding, rows.new_zeros(()), rows)"),
    ("embedding", "ids == padding_row(padding_idx, count)", "ids == padding_idx"),
    ("dropout", "x * (keep / (1 - p))", "x * keep"),
    ("dropout", "        return x * 0  ", "        pass  "),
    ("batch_norm", "(var * n / (n - 1)).to", "var.to"),
    ("batch_norm", "x.var(dims, correction=0)", "x.var(dims, correction=1)"),
    ("batch_norm", "running_mean.lerp_(mean.to(running_mean.dtype), momentum)",
     "running_mean.lerp_(mean.to(running_mean.dtype), 1 - momentum)"),
    ("batch_norm", "torch.rsqrt(var.view(shape) + eps)", "1 / (var.view(shape).sqrt() + eps)"),
    ("batch_norm", "return mean, var", "return mean.detach(), var.detach()"),
    ("layer_norm", "torch.rsqrt(var + eps)", "1 / (var.sqrt() + eps)"),
    ("layer_norm", "(centred * centred).mean(dims", "values.square().mean(dims"),
    ("layer_norm", "range(-len(normalized_shape), 0))\n    values = wide(x)\n    centred",
     "range(-1, 0))\n    values = wide(x)\n    centred"),
    ("rms_norm", "torch.finfo(values.dtype).eps if", "1e-5 if"),
    ("rms_norm", "torch.finfo(values.dtype).eps if", "torch.finfo(x.dtype).eps if"),
    ("conv2d", "(n, c, *out, *kernel), (sn, sc, *between, *within)",
     "(n, c, *out, *kernel), (sn, sc, *between, *between)"),
    ("conv2d", "reach = [d * (k - 1) + 1", "reach = [d * k"),
    ("conv2d", "permute(0, 2, 3, 1, 4, 5)", "permute(0, 2, 3, 1, 5, 4)"),
    ("conv2d", "out.mT.reshape(n, len(weight), out_h, out_w)",
     "out.reshape(n, len(weight), out_h, out_w)"),
    ("softmax", "powers = (values - largest(values, dim)).exp()",
     "powers = values.exp()"),
    ("softmax", "shifted - shifted.exp().sum(dim, keepdim=True).log()",
     "softmax(values, dim).log()"),
    ("cross_entropy", "total / weight[known].where(counts, 0).sum()", "total / counts.sum()"),
    ("cross_entropy", "total / weight[known].where(counts, 0).sum()", "total / counts.numel()"),
    ("cross_entropy", "losses = losses.where(counts, 0)", "losses = losses"),
    ("cross_entropy", "label_smoothing * over_all", "label_smoothing * over_all * classes"),
    ("binary", "torch.logaddexp(logits.new_zeros(()), logits)", "logits.exp().log1p()"),
    ("binary", "torch.logaddexp(logits.new_zeros(()), logits)",
     "(logits.clamp(min=0) + logits.abs().neg().exp().log1p())"),   # its gradient at 0 is wrong
])
def test_a_broken_rule_is_found(name, old, new):
    assert SOURCE.count(old) == 1
    broken = types.ModuleType("broken")
    exec(SOURCE.replace(old, new), vars(broken))
    assert any(disagreement(broken, name, seed) for seed in range(300))


# ---- edges ---------------------------------------------------------------------------------------

def test_logits_of_1000_give_a_finite_loss_and_gradient():
    logits = torch.tensor([[1000.0, 0.0], [0.0, 1000.0]], requires_grad=True)
    loss = mini_layers.cross_entropy(logits, torch.tensor([0, 0]))
    loss.backward()
    assert loss.item() == 500.0
    assert logits.grad.tolist() == [[0.0, 0.0], [-0.5, 0.5]]
    both = mini_layers.binary_cross_entropy_with_logits(torch.tensor([1000.0, -1000.0]),
                                                        torch.tensor([0.0, 0.0]))
    assert both.item() == 500.0


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_a_class_of_minus_infinity_is_no_obstacle_unless_labels_are_smoothed(smoothing):
    for function in (mini_layers.cross_entropy, functional.cross_entropy):
        logits = torch.tensor([[1.0, -math.inf, 2.0]], requires_grad=True)
        loss = function(logits, torch.tensor([2]), label_smoothing=smoothing)
        loss.backward()
        assert loss.isfinite() != bool(smoothing)
        assert bool(logits.grad.isfinite().all()) or not loss.isfinite()


def test_if_all_targets_are_ignored_the_mean_is_nan_and_the_gradient_zero():
    for function in (mini_layers.cross_entropy, functional.cross_entropy):
        logits = torch.ones(3, 4, requires_grad=True)
        loss = function(logits, torch.full((3,), -100))
        loss.backward()
        assert loss.isnan()
        assert not logits.grad.any()
        assert function(logits, torch.full((3,), -100), reduction="sum") == 0


def test_a_row_of_minus_infinity_is_nan_in_softmax():
    row = torch.full((2,), -math.inf)
    assert mini_layers.softmax(row, 0).isnan().all()
    assert functional.softmax(row, 0).isnan().all()


@pytest.mark.parametrize("x", [torch.zeros(1, 3), torch.zeros(1, 3, 1)], ids=["2-D", "3-D"])
def test_one_value_per_channel_is_refused_in_training_alone(x):
    for function in (mini_layers.batch_norm, functional.batch_norm):
        running = torch.zeros(3), torch.ones(3)
        with pytest.raises(ValueError, match="value"):
            function(x, *running, training=True)
        assert function(x, *running, training=False).shape == x.shape


def test_the_running_statistics_carry_no_graph():
    mean, var = torch.zeros(3), torch.ones(3)
    mini_layers.batch_norm(torch.randn(4, 3, requires_grad=True), mean, var, training=True)
    assert not mean.requires_grad
    assert not var.requires_grad


@pytest.mark.parametrize(("name", "arguments", "options"), [
    ("batch_norm", [torch.ones(2, 4), torch.zeros(1), torch.ones(1)], {}),
    ("batch_norm", [torch.ones(2, 4), torch.zeros(4), torch.ones(5)], {}),
    ("batch_norm", [torch.ones(2, 4), torch.zeros(4), torch.ones(4), torch.ones(1)], {}),
    ("batch_norm", [torch.ones(2, 4), torch.zeros(4), torch.ones(4), None, torch.ones(3)], {}),
    ("layer_norm", [torch.ones(2, 3), (2,)], {}),
    ("layer_norm", [torch.ones(2, 3), (1, 3)], {}),
    ("layer_norm", [torch.ones(2, 3), ()], {}),
    ("layer_norm", [torch.ones(2, 3), (3,), torch.ones(1)], {}),
    ("rms_norm", [torch.ones(2, 3), (2,)], {}),
    ("rms_norm", [torch.ones(2, 3), (3,), torch.ones(1)], {}),
    ("conv2d", [torch.ones(1, 2, 3, 3), torch.ones(4, 1, 2, 2)], {}),
    ("conv2d", [torch.ones(1, 2, 3, 3), torch.ones(4, 2, 2, 2), torch.ones(1)], {}),
    ("cross_entropy", [torch.ones(4, 3), torch.tensor([0, 1])], {}),
    ("cross_entropy", [torch.ones(4, 3, 2), torch.zeros(4, 1, dtype=torch.int64)], {}),
    ("cross_entropy", [torch.ones(2, 3), torch.tensor([0, 1])], {"weight": torch.ones(2)}),
    ("cross_entropy", [torch.ones(2, 3), torch.tensor([0, 1])], {"reduction": "avg"}),
    ("binary_cross_entropy_with_logits", [torch.ones(3, 1), torch.ones(3)], {}),
])
def test_shapes_that_would_broadcast_to_another_result_are_refused(name, arguments, options):
    kinds = []
    for module in (mini_layers, functional):
        with pytest.raises((ValueError, RuntimeError)) as refused:
            getattr(module, name)(*arguments, **options)
        kinds.append(refused.type)
    assert kinds[0] is kinds[1]


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
def test_linear_and_conv2d_of_integers_are_exact(dtype):
    draw = torch.Generator().manual_seed(0)
    x, kernel, bias, weight = (torch.randint(9, shape, generator=draw).to(dtype) for shape in (
        (2, 3, 5, 6), (4, 3, 2, 2), (4,), (4, 6)))
    steps = {"stride": 2, "padding": 1, "dilation": 2 if dtype == torch.int64 else 1}  # torch's
    for found, wanted in (
            (mini_layers.linear(x, weight, bias), functional.linear(x, weight, bias)),
            (mini_layers.conv2d(x, kernel, bias, **steps),
             functional.conv2d(x, kernel, bias, **steps))):
        assert found.dtype == dtype
        assert found.equal(wanted)
    for module in (mini_layers, functional):
        with pytest.raises((TypeError, NotImplementedError)):
            module.conv2d(x.bool(), kernel.bool())


def test_a_convolution_of_no_images_and_its_memory():
    kernel = torch.ones(4, 2, 3, 3)
    assert mini_layers.conv2d(torch.ones(0, 2, 5, 5), kernel).shape == (0, 4, 3, 3)
    assert mini_layers.conv2d(torch.ones(2, 2, 5, 5), kernel).is_contiguous()


@pytest.mark.parametrize(("images", "graph"), [(2, True), (0, False)])
def test_a_view_of_no_images_has_a_gradient_without_a_graph(images, graph):
    x = torch.randn(images, 2, 4, 4, requires_grad=True)
    for view in (mini_layers.windows(x, (2, 2)), x.as_strided((images, 2), (32, 1))):
        incoming = torch.ones_like(view, requires_grad=True)
        gradient, = torch.autograd.grad(view, x, incoming, create_graph=True)
        assert gradient.requires_grad is graph
    view = x.unfold(2, 2, 1).unfold(3, 2, 1)                        # the same windows
    gradient, = torch.autograd.grad(view, x, torch.ones_like(view, requires_grad=True),
                                    create_graph=True)
    assert gradient.requires_grad


def test_an_empty_batch_leaves_the_running_statistics_alone():
    for function in (mini_layers.batch_norm, functional.batch_norm):
        mean, var = torch.full((3,), 2.0), torch.full((3,), 5.0)
        assert function(torch.zeros(0, 3), mean, var, training=True).shape == (0, 3)
        assert (mean.tolist(), var.tolist()) == ([2.0] * 3, [5.0] * 3)


def test_what_the_norms_make_of_no_variance():
    x = torch.full((4, 3), 7.0)
    assert not mini_layers.layer_norm(x, (3,)).any()
    assert not mini_layers.batch_norm(x, None, None, training=True).any()
    torch.testing.assert_close(mini_layers.rms_norm(x, (3,)), torch.ones(4, 3))


def test_half_precision_is_squared_in_float32():
    x = torch.full((4,), 300.0, dtype=torch.float16)
    assert (x * x).isinf().all()
    found = mini_layers.rms_norm(x, (4,))
    assert found.dtype == torch.float16
    assert found.tolist() == functional.rms_norm(x, (4,)).tolist() == [1.0] * 4


def test_the_row_of_padding_gets_no_gradient_but_keeps_its_value():
    weight = torch.arange(6.0).view(3, 2).requires_grad_()
    out = mini_layers.embedding(torch.tensor([0, 2, 0]), weight, padding_idx=0)
    out.sum().backward()
    assert out.tolist() == [[0, 1], [4, 5], [0, 1]]
    assert weight.grad.tolist() == [[0, 0], [0, 0], [1, 1]]


@pytest.mark.parametrize("id", [-1, 3])
def test_an_id_out_of_range_is_refused(id):
    for function in (mini_layers.embedding, functional.embedding):
        with pytest.raises((IndexError, RuntimeError)):
            function(torch.tensor([id]), torch.zeros(3, 2))


def test_dropout_keeps_the_mean():
    x = torch.ones(100_000)
    for p in (0.1, 0.5, 0.9):
        assert abs(mini_layers.dropout(x, p).mean().item() - 1) < 0.03
    assert mini_layers.dropout(x, 0.5, training=False) is x


def test_windows_are_a_view():
    x = torch.arange(-7, 2 * 3 * 5 * 6.0)[7:].view(2, 3, 5, 6)      # it starts amid its storage
    view = mini_layers.windows(x, (3, 2), (2, 1), (1, 2))
    assert view.data_ptr() == x.data_ptr()
    assert view.shape == (2, 3, 2, 4, 3, 2)
    expected = functional.unfold(x, (3, 2), stride=(2, 1), dilation=(1, 2))
    assert torch.equal(view.permute(0, 1, 4, 5, 2, 3).reshape(expected.shape), expected)


def test_a_kernel_larger_than_the_input_is_refused():
    for function in (mini_layers.conv2d, functional.conv2d):
        with pytest.raises(RuntimeError, match=r"(?i)kernel"):
            function(torch.zeros(1, 1, 2, 2), torch.zeros(1, 1, 3, 3))
