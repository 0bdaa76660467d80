"""Attention of mini_layers against torch: masks, heads, state, and the cache step by step."""

import math
import random
import types

import pytest
import torch
from torch import nn
from torch.nn import functional

import mini_layers_attention as ours
from book.pipeline.ground.paths import CODE
from tests.helpers.depth import cases

EACH = cases(100)
SOURCE = (CODE / "mini_layers_attention.py").read_text(encoding="utf-8")
CLOSE = {torch.float64: 1e-9, torch.float32: 1e-3, torch.bfloat16: 0.05}

pytestmark = pytest.mark.usefixtures("one_thread")


def agree(found, wanted, dtype):
    absolute = CLOSE[dtype] * max(1.0, wanted.abs().max().item() if wanted.numel() else 0.0)
    torch.testing.assert_close(found, wanted, rtol=CLOSE[dtype], atol=absolute)


def random_mask(draw, queries, keys, dtype):
    """None, bool or added numbers; some rows may see nothing."""
    kind = draw.choice(["none", "bool", "added", "blind"])
    if kind == "none":
        return None
    seen = torch.rand(queries, keys, dtype=torch.float64) < 0.6
    if kind == "blind":
        seen[draw.randrange(queries)] = False
    if kind == "added":
        return torch.randn(queries, keys, dtype=dtype).masked_fill(~seen, -math.inf)
    return seen


# ---- scaled dot product --------------------------------------------------------------------------

def check_attention(module, seed):
    """Result and gradients of one random call, the mask's included."""
    draw = random.Random(seed)
    torch.manual_seed(seed)
    dtype = draw.choice(list(CLOSE))
    batch, heads, queries, keys, size, out = (draw.randint(1, 5) for _ in range(6))
    scale = 1 if dtype == torch.bfloat16 else draw.choice([1, 30])
    leaves = [torch.randn(batch, heads, *shape, dtype=dtype) * scale
              for shape in ((queries, size), (keys, size), (keys, out))]
    mask = random_mask(draw, queries, keys, dtype)
    upstream = torch.randn(batch, heads, queries, out, dtype=dtype)
    both = []
    for function, name in ((module.scaled_dot_product_attention, "mask"),
                           (functional.scaled_dot_product_attention, "attn_mask")):
        taken = [leaf.clone().requires_grad_() for leaf in leaves]
        result = function(*taken, **{name: mask})
        result.backward(upstream)
        both.append([result.detach(), *(leaf.grad for leaf in taken)])
    for found, wanted in zip(*both, strict=True):
        agree(found, wanted, dtype)


def test_attention_and_its_gradients_are_those_of_torch(counted):
    for seed in range(EACH):
        check_attention(ours, seed)
    counted("random calls of mini_layers, attention", EACH)


@pytest.mark.parametrize("kind", ["bool", "added"])
def test_a_query_that_may_see_nothing_gives_zeros_and_no_nan_in_the_gradient(kind):
    seen = torch.tensor([[True, False], [False, False]])
    mask = seen if kind == "bool" else torch.zeros(2, 2).masked_fill(~seen, -math.inf)
    for function, name in ((ours.scaled_dot_product_attention, "mask"),
                           (functional.scaled_dot_product_attention, "attn_mask")):
        leaf = torch.randn(1, 2, 4, requires_grad=True)
        out = function(leaf, leaf, leaf, **{name: mask})
        out.sum().backward()
        assert not out[0, 1].any()
        assert leaf.grad.isfinite().all()


def test_a_mask_of_integers_is_refused():
    x, ones = torch.randn(1, 3, 4), torch.ones(3, 3, dtype=torch.int64)
    with pytest.raises(TypeError, match="bool or floating point, not"):
        ours.scaled_dot_product_attention(x, x, x, ones)
    with pytest.raises(TypeError, match="bool or floating point"):
        ours.MultiheadAttention(4, 2)(x, mask=ones, causal=True)


def test_scores_of_1000_do_not_overflow():
    found = ours.softmax_or_zero(torch.tensor([[1000.0, 1000.0, -1000.0]]))
    assert found.tolist() == [[0.5, 0.5, 0.0]]


@pytest.mark.parametrize("queries", range(1, 6))
def test_the_last_query_stands_at_the_last_key(queries):
    mask = ours.causal_mask(queries, 5)
    assert mask.tolist() == [[key <= 5 - queries + row for key in range(5)]
                             for row in range(queries)]
    assert torch.equal(mask, ours.causal_mask(5, 5)[5 - queries:])
    q, k = torch.randn(1, queries, 4), torch.randn(1, 5, 4)
    theirs = functional.scaled_dot_product_attention(q, k, k, is_causal=True)
    mine = ours.scaled_dot_product_attention(q, k, k, mask)
    assert torch.allclose(mine, theirs) == (queries == 5)     # torch counts rows from key 0


# ---- heads, state, block -------------------------------------------------------------------------

def of_torch(draw, dtype, **options):
    heads = draw.randint(1, 3)
    width = heads * draw.randint(1, 4)
    return (heads, width), nn.TransformerEncoderLayer(
        width, heads, draw.randint(1, 6), dropout=0.0, batch_first=True, dtype=dtype, **options)


def check_block(module, seed):
    """A block with torch's state: result, gradients of input and of each parameter by name."""
    draw = random.Random(seed)
    torch.manual_seed(seed)
    dtype = draw.choice([torch.float64, torch.float32])
    first = draw.random() < 0.5
    (heads, width), theirs = of_torch(draw, dtype, norm_first=first)
    for parameter in theirs.parameters():                 # norms and biases begin as ones and zeros
        nn.init.normal_(parameter)
    mine = module.TransformerEncoderLayer(width, heads, theirs.linear1.out_features, 0.0, first)
    mine = mine.to(dtype)
    mine.load_state_dict(theirs.state_dict())
    length = draw.randint(1, 5)
    x = torch.randn(draw.randint(1, 3), length, width, dtype=dtype)
    causal = draw.random() < 0.5
    hidden = ~torch.ones(length, length, dtype=torch.bool).tril() if causal else None
    upstream = torch.randn_like(x)
    both = []
    for block, options in ((mine, {"causal": causal}), (theirs, {"src_mask": hidden})):
        leaf = x.clone().requires_grad_()
        out = block(leaf, **options)
        out.backward(upstream)
        both.append({"out": out.detach(), "x": leaf.grad} | {
            name: parameter.grad for name, parameter in block.named_parameters()})
    assert list(both[0]) == list(both[1])
    for name, wanted in both[1].items():
        agree(both[0][name], wanted, dtype)


def test_a_block_with_the_state_of_torch_does_the_same(counted):
    for seed in range(EACH):
        check_block(ours, seed)
    counted("random blocks of mini_layers", EACH)


@pytest.mark.parametrize("first", [True, False])
def test_dropout_in_a_block_falls_where_torch_lets_it_fall(first):
    theirs = nn.TransformerEncoderLayer(12, 3, 7, dropout=0.5, batch_first=True, norm_first=first)
    mine = ours.TransformerEncoderLayer(12, 3, 7, 0.5, first)
    mine.load_state_dict(theirs.state_dict())
    x, found = torch.randn(1, 4, 12), []            # of one text, both draw in the same order
    for block in (mine, theirs):
        torch.manual_seed(0)
        found.append(block(x))
    torch.testing.assert_close(*found)
    assert not torch.allclose(found[0], mine.eval()(x))


def test_a_state_goes_back_into_torch():
    theirs = nn.TransformerEncoderLayer(12, 3, 7, batch_first=True)
    theirs.load_state_dict(ours.TransformerEncoderLayer(12, 3, 7).state_dict())
    nn.MultiheadAttention(12, 3).load_state_dict(ours.MultiheadAttention(12, 3).state_dict())


def test_parameters_begin_in_the_ranges_of_torch():
    torch.manual_seed(0)
    mine = ours.TransformerEncoderLayer(64, 4, 256).state_dict()
    theirs = nn.TransformerEncoderLayer(64, 4, 256).state_dict()
    for name, value in theirs.items():
        assert abs(mine[name].abs().max() - value.abs().max()) <= 0.2 * value.abs().max(), name
        assert abs(mine[name].mean() - value.mean()) <= 0.05, name


def test_dropout_of_the_weights_draws_as_torch_does():
    theirs = nn.MultiheadAttention(8, 2, 0.4, batch_first=True)
    mine = ours.MultiheadAttention(8, 2, dropout=0.4)
    mine.load_state_dict(theirs.state_dict())
    x = torch.randn(2, 5, 8)
    torch.manual_seed(3)
    wanted = theirs(x, x, x, need_weights=False)[0]
    torch.manual_seed(3)
    torch.testing.assert_close(mine(x), wanted)


def test_a_block_drops_in_training_alone():
    block, x = ours.TransformerEncoderLayer(8, 2, 16, 0.4), torch.randn(2, 5, 8)
    assert not torch.allclose(block(x), block(x))
    block.eval()
    assert torch.equal(block(x), block(x))


def test_the_two_bool_masks_of_torch_mean_opposite_things():
    """In scaled_dot_product_attention True is seen, in MultiheadAttention it is hidden."""
    theirs = nn.MultiheadAttention(8, 2, batch_first=True)
    mine = ours.MultiheadAttention(8, 2)
    mine.load_state_dict(theirs.state_dict())
    x, seen = torch.randn(2, 4, 8), ours.causal_mask(4, 4)
    wanted = theirs(x, x, x, attn_mask=~seen, need_weights=False)[0]
    torch.testing.assert_close(mine(x, mask=seen), wanted)
    torch.testing.assert_close(mine(x, causal=True), wanted)
    padding = torch.tensor([[True, True, True, False], [True, True, False, False]])
    wanted = theirs(x, x, x, key_padding_mask=~padding, need_weights=False)[0]
    torch.testing.assert_close(mine(x, mask=padding[:, None, None, :]), wanted)


def test_grouped_heads_are_those_of_torch():
    attention = ours.MultiheadAttention(24, 6, 2)
    assert attention.in_proj_weight.shape == (24 + 2 * 8, 24)
    x = torch.randn(2, 5, 24)
    q, k, v = attention.split(x @ attention.in_proj_weight.mT + attention.in_proj_bias)
    assert (q.shape, k.shape, v.shape) == ((2, 6, 5, 4), (2, 2, 5, 4), (2, 2, 5, 4))
    wanted = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    wanted = attention.out_proj(wanted.transpose(1, 2).reshape(2, 5, 24))
    torch.testing.assert_close(attention(x, causal=True), wanted)


@pytest.mark.parametrize("heads", [(5, None), (4, 3), (0, None), (-2, None), (4, 0), (4, -1)])
def test_heads_that_do_not_divide_are_refused(heads):
    with pytest.raises(ValueError, match="divide"):
        ours.MultiheadAttention(8, *heads)


# ---- the cache -----------------------------------------------------------------------------------

@torch.no_grad()
def check_cache(module, seed):
    """The full causal pass, and the same positions in chunks of random length with a cache."""
    draw = random.Random(seed)
    torch.manual_seed(seed)
    kv_heads = draw.randint(1, 3)
    heads, size = kv_heads * draw.randint(1, 3), draw.randint(1, 4)
    batch, length = draw.randint(1, 3), draw.randint(1, 9)
    attention = module.MultiheadAttention(heads * size, heads, kv_heads).double()
    block = module.TransformerEncoderLayer(heads * size, heads, 5, norm_first=draw.random() < 0.5)
    block.self_attn = attention
    block.double().eval()
    x = torch.randn(batch, length, heads * size, dtype=torch.float64)
    cache = module.KVCache(batch, kv_heads, length + draw.randint(0, 2), size,
                           dtype=torch.float64)
    done, parts = 0, []
    while done < length:
        step = 1 if draw.random() < 0.5 else draw.randint(1, length - done)
        parts.append(block(x[:, done:done + step], causal=True, cache=cache))
        done += step
    torch.testing.assert_close(torch.cat(parts, 1), block(x, causal=True))
    assert cache.length == length


def test_decoding_with_a_cache_equals_the_full_causal_pass(counted):
    for seed in range(EACH):
        check_cache(ours, seed)
    counted("random decodings of mini_layers", EACH)


def test_a_full_cache_is_refused_and_left_as_it_was():
    cache = ours.KVCache(1, 1, 2, 4)
    cache.append(torch.ones(1, 1, 2, 4), torch.ones(1, 1, 2, 4))
    with pytest.raises(ValueError, match="3 positions, but the cache has room for 2"):
        cache.append(torch.zeros(1, 1, 1, 4), torch.zeros(1, 1, 1, 4))
    assert cache.length == 2
    assert cache.keys.all()


@pytest.mark.parametrize(("key", "value"), [((1, 3, 2, 4), (1, 3, 2, 4)), ((2, 1, 2, 4),) * 2,
                                            ((2, 3, 2, 4), (2, 3, 1, 4))])
def test_keys_and_values_that_would_broadcast_into_the_cache_are_refused(key, value):
    cache = ours.KVCache(2, 3, 5, 4)
    with pytest.raises(ValueError, match=r"for a cache of \(2, 3, 5, 4\)"):
        cache.append(torch.ones(key), torch.ones(value))
    assert cache.length == 0
    assert not cache.keys.any()


def test_the_cache_holds_no_graph():
    attention, cache = ours.MultiheadAttention(4, 2), ours.KVCache(1, 2, 3, 2)
    attention(torch.randn(1, 2, 4), causal=True, cache=cache)
    assert not cache.keys.requires_grad
    assert not cache.values.requires_grad


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_bytes_of_a_cache_are_those_of_its_tensors(dtype):
    caches = [ours.KVCache(3, 2, 10, 4, dtype=dtype) for _ in range(5)]
    held = sum(t.untyped_storage().nbytes() for c in caches for t in (c.keys, c.values))
    assert ours.cache_bytes(5, 3, 2, 10, 4, dtype.itemsize) == held


# ---- broken rules --------------------------------------------------------------------------------

@pytest.mark.parametrize(("check", "old", "new"), [
    (check_attention, "math.sqrt(size) if size", "size if size"),
    (check_attention, "masked_fill(~mask, -math.inf)", "masked_fill(mask, -math.inf)"),
    (check_attention, "masked_fill(~mask, -math.inf)", "masked_fill(~mask, -1e4)"),
    (check_attention, "top.where(top > -math.inf, 0)", "top"),
    (check_attention, "total.where(total > 0, 1)", "total"),
    (check_attention, "(scores - top.where(top > -math.inf, 0)).exp()", "values.exp()"),
    (check_block, "transpose(1, 2).flatten(2)", "flatten(2).view(x.shape)"),
    (check_block, "(-1, self.head_dim)).transpose(1, 2)",
     "(self.head_dim, -1)).permute(0, 3, 1, 2)"),
    (check_block, "return x + self.feed_forward(self.norm2(x))",
     "return self.norm2(x + self.feed_forward(x))"),
    (check_block, "x = self.norm1(x + attend(x))", "x = self.norm1(attend(x))"),
    (check_cache, "torch.arange(keys - queries, keys, device=device)",
     "torch.arange(queries, device=device)"),
    (check_block, "<= position.unsqueeze(1)", "< position.unsqueeze(1)"),
    (check_cache, "self.keys[:, :, self.length:end] = key", "self.keys[:, :, :key.shape[2]] = key"),
    (check_cache, "        self.length = end\n", ""),
    (check_cache, "return self.keys[:, :, :end], self.values[:, :, :end]",
     "return self.keys, self.values"),
    (check_attention, "wide(query) @ wide(key).mT", "query @ key.mT"),
    (check_cache, "t.repeat_interleave(groups, 1)", "t.repeat(1, groups + seed, 1, 1)"),
])
def test_a_broken_rule_is_found(check, old, new):
    assert SOURCE.count(old) == 1
    broken = types.ModuleType("broken")
    exec(SOURCE.replace(old, new), vars(broken))

    def fails(seed):
        try:
            check(broken, seed)
        except (AssertionError, RuntimeError, ValueError, NameError):
            return True
        return False
    assert any(fails(seed) for seed in range(100))
