"""mini_layers against torch where arguments are odd: empty, broadcastable, out of range, mixed.

Each function is called with arguments drawn from lists of odd ones, and torch's with the same.
Either both refuse, or both give the same result and gradients.
"""

import random
import warnings
from collections import Counter

import pytest
import torch
from torch.nn import functional

import mini_layers
import mini_layers_attention as attention
from oracles.layer_cases import plain_kernels
from tests.helpers.depth import cases

EACH = cases(600)
HALF, SINGLE, DOUBLE, WHOLE = torch.float16, torch.float32, torch.float64, torch.int64
DTYPES = [DOUBLE] * 12 + [SINGLE, HALF, WHOLE]
CLOSE = {DOUBLE: 1e-9, SINGLE: 1e-3, HALF: 0.05}

pytestmark = pytest.mark.usefixtures("one_thread")

ATTENTION = "scaled_dot_product_attention"


class Draw:
    def __init__(self, seed):
        self.random, self.numbers = random.Random(seed), torch.Generator().manual_seed(seed)
        self.dtype = self.random.choice([DOUBLE] * 4 + [SINGLE, HALF])

    def one(self, *choices):
        return self.random.choice(choices)

    def rare(self, usual, *odd, chance=0.15):
        return self.random.choice(odd) if self.random.random() < chance else usual

    def tensor(self, *shape):
        """Of the draw's dtype, at times another; its sizes at times 1, 0, another or one more."""
        shape = [self.rare(n, 1, 0, n + 1, chance=0.06) for n in shape]
        if self.random.random() < 0.06:
            shape = self.one(shape[1:], [1, *shape], [2, *shape], [*shape, 1], [])
        dtype = self.rare(self.dtype, *DTYPES, chance=0.08)
        values = torch.randn(shape, generator=self.numbers, dtype=DOUBLE)
        return (values * 3).round().long() if dtype == WHOLE else values.to(dtype)

    def maybe(self, tensor):
        return self.one(None, tensor)


def linear(draw):
    size, out = draw.one(0, 1, 2, 3), draw.one(0, 1, 2, 3)
    shape = draw.one([2], [], [0], [2, 3])
    return [draw.tensor(*shape, size), draw.tensor(out, size), draw.maybe(draw.tensor(out))], {}


def embedding(draw):
    rows = draw.one(0, 1, 3)
    ids = torch.tensor([draw.rare(draw.random.randrange(max(rows, 1)), -1, rows, chance=0.05)
                        for _ in range(4)])
    ids = draw.one(ids, ids[0], ids[:0], ids.view(2, 2), ids.int())
    if draw.random.random() < 0.1:
        ids = draw.one(ids.double(), ids.bool(), ids.short())
    return [ids, draw.tensor(rows, 2)], {
        "padding_idx": draw.one(None, 0, rows - 1, rows, -rows, -rows - 1, 5, -5)}


def dropout(draw):
    return [draw.tensor(*draw.one([3], [], [0], [2, 3]))], {
        "p": draw.one(0, 0.0, 0.3, 1, 1.0, 1.1, -0.1, 2, float("nan")),
        "training": draw.one(True, False)}


def batch_norm(draw):
    channels = draw.one(1, 2, 3)
    x = draw.tensor(draw.one(0, 1, 2, 4), channels, *draw.one([], [2], [0], [2, 2]))
    several = [draw.maybe(draw.tensor(channels)) for _ in range(4)]
    if several[1] is not None:
        several[1] = several[1].abs() + 1
    return [x, *several], {"training": draw.one(True, False), "momentum": draw.one(0.1, 0.0, 1.0),
                           "eps": draw.one(1e-5, 0.1, 0.0, -0.1)}


def norm_shape(draw):
    shape = draw.one([3], [2, 3], [1], [0], [2, 0])
    return shape, draw.rare(shape, [], [1], [4], [1, *shape], shape[1:], [2, 2], chance=0.2)


def layer_norm(draw):
    shape, said = norm_shape(draw)
    return [draw.tensor(*draw.one([], [2], [0], [2, 2]), *shape), said,
            draw.maybe(draw.tensor(*shape)), draw.maybe(draw.tensor(*shape))], {
                "eps": draw.one(1e-5, 0.1)}


def rms_norm(draw):
    shape, said = norm_shape(draw)
    return [draw.tensor(*draw.one([], [2], [0], [2, 2]), *shape), said,
            draw.maybe(draw.tensor(*shape))], {"eps": draw.one(None, 0.1)}


def conv2d(draw):
    channels, out, size = draw.one(1, 2), draw.one(1, 2, 3), draw.one(1, 3, 5)
    kernel = draw.one((1, 1), (2, 2), (3, 1))
    numbers = {name: draw.rare(usual, *odd) for name, usual, odd in (
        ("stride", draw.one(1, 2, (1, 2)), (0, -1, (1, 0), (1, 2, 3), (2,), 1.5, ())),
        ("padding", draw.one(0, 1, (0, 1)), (-1, (1, -1), (1, 2, 3), (1,), 0.5)),
        ("dilation", draw.one(1, 2, (2, 1)), (0, -1, (1, 0), (1, 1, 1), (2,))))}
    return [draw.tensor(draw.one(0, 1, 2), channels, size, size + 1),
            draw.tensor(out, channels, *kernel), draw.maybe(draw.tensor(out))], numbers


def softmax(draw):
    shape = draw.one([3], [2, 3], [0], [2, 0], [0, 2], [], [1])
    return [draw.tensor(*shape), draw.one(0, 1, -1, -2, 2, -3)], {}


log_softmax = softmax


def cross_entropy(draw):
    classes, more = draw.one(1, 3), draw.one([], [2], [0], [2, 2])
    shape = draw.one([2, classes, *more], [0, classes, *more], [classes], [2, 0], [2, classes])
    logits = draw.tensor(*shape)
    target = torch.randint(classes, shape[:1] + shape[2:] if len(shape) > 1 else [],
                           generator=draw.numbers)
    if target.numel() and draw.random.random() < 0.3:
        target.view(-1)[0] = draw.one(-100, classes, -1, 7)
    if draw.random.random() < 0.2:
        target = draw.one(target.unsqueeze(0), target.double(), target.int(), target.bool(),
                          torch.randint(classes, shape, generator=draw.numbers),
                          target.unsqueeze(-1))
    return [logits, target], {
        "weight": draw.one(None, None, draw.tensor(classes).abs()),
        "ignore_index": draw.one(-100, 0, 7),
        "reduction": draw.rare(draw.one("mean", "sum", "none"), "avg", None, "batchmean"),
        "label_smoothing": draw.one(0.0, 0.1, 1.0, 1.5, -0.1, 0)}


def binary_cross_entropy_with_logits(draw):
    shape = draw.one([3], [2, 3], [0], [], [1])
    target = draw.tensor(*shape)
    return [draw.tensor(*shape), target if target.dtype == WHOLE else target.sigmoid()], {}


def scaled_dot_product_attention(draw):
    front = draw.one([2, 3], [1, 2], [2], [], [2, 1, 2])
    queries, keys, size, out = (draw.one(0, 1, 2, 3) for _ in range(4))
    mask = draw.one(None, draw.tensor(queries, keys), draw.tensor(queries, keys) > 0,
                    draw.tensor(*front, queries, keys) > 0, draw.tensor(*front, queries, keys),
                    draw.tensor(1, keys) > 0)
    return [draw.tensor(*front, queries, size), draw.tensor(*front, keys, size),
            draw.tensor(*front, keys, out), mask], {
                "dropout_p": draw.rare(0.0, 1.0, 1.1, -0.1, chance=0.1)}


DRAWS = {draw.__name__: draw for draw in (
    linear, embedding, dropout, batch_norm, layer_norm, rms_norm, conv2d, cross_entropy,
    binary_cross_entropy_with_logits, scaled_dot_product_attention)} | {
        "softmax": softmax, "log_softmax": softmax}


def left_out(name, args, options):
    """Whether two outcomes may differ: what a docstring names, and where torch does not look."""
    x, tensors = args[0], [arg for arg in args if isinstance(arg, torch.Tensor)]
    dtypes = {t.dtype for t in tensors}
    return any((
        # of an empty batch torch does not look at the other arguments, nor at a dtype of integers
        name in ("linear", "batch_norm", "conv2d", "cross_entropy", ATTENTION)
        and not all(t.numel() for t in tensors),
        dtypes == {WHOLE} and not x.numel(),
        # masks that torch indexes by two dimensions; a probability it does not look at
        name == ATTENTION and (options["dropout_p"] < 0 or (
            args[3] is not None and args[3].dtype == torch.bool and args[3].dim() < 2)),
        name == "linear" and args[2] is not None and args[2].dim() == 2,    # a bias of two dims
        name == "cross_entropy" and options["weight"] is not None and options["weight"].dim() == 2,
        name == "cross_entropy" and args[1].is_floating_point(),            # probabilities
        name == "cross_entropy" and 0 in x.shape[:1 if x.dim() == 1 else 2][-1:],   # no classes
        name == "binary_cross_entropy_with_logits" and len(dtypes) > 1))


def call(function, args, options, seed):
    """("refused", type) or ("result", …) with the gradients of all that can have one."""
    taken = [arg.clone().requires_grad_() if isinstance(arg, torch.Tensor)
             and arg.is_floating_point() else arg for arg in args]
    torch.manual_seed(seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = function(*taken, **options)
            if result.requires_grad and result.numel():
                weight = torch.arange(1.0, result.numel() + 1, dtype=DOUBLE).sin()
                result.backward(weight.view(result.shape).to(result.dtype))
    except Exception as error:
        return ("refused", type(error), error)
    return ("result", result.detach(), *(
        torch.zeros_like(arg) if arg.grad is None else arg.grad
        for arg in taken if isinstance(arg, torch.Tensor) and arg.requires_grad))


def differs(name, seed):
    """None, or in words how ours and torch's differ for this seed; and whether both refused."""
    args, options = DRAWS[name](Draw(seed))
    module = attention if name == ATTENTION else mini_layers
    loose = left_out(name, args, options)
    functions = getattr(module, name), getattr(functional, name)
    if name == "batch_norm":                       # the statistics are written, not differentiated
        fixed = args[1:3]
        functions = [lambda x, w, b, f=f, **o: f(x, *(t if t is None else t.clone() for t in fixed),
                                                 w, b, **o) for f in functions]
        args = [args[0], *args[3:]]
    # of fewer or more values than keys, torch's kernel for the CPU reads and writes past their end
    beyond = name == ATTENTION and args[1].shape[-2:-1] != args[2].shape[-2:-1]
    with plain_kernels():
        found, wanted = (("refused",) if beyond and function is functions[1] else
                         call(function, args, options, seed) for function in functions)
    shapes = [tuple(a.shape) if isinstance(a, torch.Tensor) else a for a in args]
    what = f"{name} {seed}: {shapes} " \
           f"{[a.dtype for a in args if isinstance(a, torch.Tensor)]} {options}"
    fronts = {t.shape[:-2] for t in args[:3]} if name == ATTENTION else ()
    nothing = (name == "conv2d" and 0 in args[1].shape) or (
        name == "cross_entropy" and 0 in args[0].shape[1:2])              # no channels, no classes
    if loose and ("refused" in (found[0], wanted[0]) or len(fronts) > 1 or nothing):
        return None, "left out"
    if found[0] != wanted[0]:
        return f"{what}: ours {found[:2]}, torch {wanted[:2]}", (
            "ours refuses" if found[0] == "refused" else "torch refuses")
    if found[0] == "refused":
        return None, "both refuse"
    for ours, theirs in zip(found[1:], wanted[1:], strict=True):
        close = CLOSE[min((a.dtype for a in args if isinstance(a, torch.Tensor)
                           and a.dtype in CLOSE), key=lambda d: d.itemsize, default=DOUBLE)]
        if ours.dtype != theirs.dtype or ours.shape != theirs.shape or not torch.allclose(
                ours, theirs, close, close, equal_nan=True):
            return f"{what}: {ours}, torch {theirs}", "result"
    return None, "both give"


@pytest.mark.parametrize("name", DRAWS)
def test_odd_arguments_are_refused_where_torch_refuses_and_computed_where_it_computes(
        name, counted):
    seen, wrong = Counter(), []
    for seed in range(EACH):
        found, how = differs(name, seed)
        seen[how] += 1
        if found:
            wrong.append(found)
    assert not wrong, f"{len(wrong)} of {EACH}: {seen}\n" + "\n".join(wrong[:12])
    assert seen["both refuse"] >= EACH / 100
    assert seen["both give"] >= EACH / 10
    counted(f"odd arguments of mini_layers, {name}", EACH)


# ---- what is made of these functions -------------------------------------------------------------

@pytest.mark.parametrize("shape", [(1, 3, 2, 4), (2, 1, 2, 4), (2, 3, 2, 1), (2, 3, 2, 5),
                                   (3, 2, 4), (2, 3, 2), (2, 3, 2, 4, 1), (2, 3, 0, 1),
                                   (1, 1, 1, 1), ()])
def test_keys_of_another_shape_are_not_broadcast_into_the_cache(shape):
    cache = attention.KVCache(2, 3, 5, 4)
    with pytest.raises(ValueError, match="for a cache of"):
        cache.append(torch.ones(shape), torch.ones(shape))
    assert cache.length == 0
    assert not cache.keys.any()
    assert cache.append(torch.ones(2, 3, 0, 4), torch.ones(2, 3, 0, 4))[0].shape == (2, 3, 0, 4)


@pytest.mark.parametrize("attend", [attention.scaled_dot_product_attention,
                                    functional.scaled_dot_product_attention])
def test_attention_refuses_a_single_row_and_a_mask_of_another_dtype(attend):
    keys = torch.ones(2, 3)
    for query, key, value in ((keys[0], keys, keys), (keys, keys[0], keys), (keys, keys, keys[0])):
        with pytest.raises(RuntimeError):
            attend(query, key, value)
    for dtype, other in ((SINGLE, HALF), (SINGLE, DOUBLE), (DOUBLE, HALF), (HALF, torch.bfloat16)):
        with pytest.raises(RuntimeError, match="mask"):
            attend(*[keys.to(dtype)] * 3, torch.zeros(2, 2, dtype=other))
    assert attend(*[keys.double()] * 3, torch.zeros(2, 2)).tolist() == keys.tolist()


def test_a_mask_of_numbers_goes_with_causal():
    theirs = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    mine = attention.MultiheadAttention(8, 2)
    mine.load_state_dict(theirs.state_dict())
    x, bias, seen = torch.randn(2, 4, 8), torch.randn(4, 4), attention.causal_mask(4, 4)
    wanted = theirs(x, x, x, attn_mask=bias.masked_fill(~seen, -torch.inf), need_weights=False)[0]
    torch.testing.assert_close(mine(x, mask=bias, causal=True), wanted)


@pytest.mark.parametrize("shape", [(8,), (6, 8), (2, 3, 7), (2, 3, 1), (2, 2, 3, 8), ()])
def test_attention_is_refused_an_input_of_another_shape(shape):
    with pytest.raises(RuntimeError, match="is wanted"):
        attention.MultiheadAttention(8, 2)(torch.randn(shape))


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_a_probability_is_refused_when_a_layer_is_made(p):
    for make in (lambda: attention.MultiheadAttention(8, 2, dropout=p),
                 lambda: attention.TransformerEncoderLayer(8, 2, dropout=p)):
        with pytest.raises(ValueError, match="between 0 and 1"):
            make()


@pytest.mark.parametrize("steps", [((0, 1), (1, 1)), ((1, 1), (0, 1)), ((-1, 1), (1, 1)),
                                   ((1, 1), (1, -2))])
def test_windows_stand_still_for_nobody(steps):
    with pytest.raises(RuntimeError, match="have to be positive"):
        mini_layers.windows(torch.ones(1, 1, 4, 4), (2, 2), *steps)
