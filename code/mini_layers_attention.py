"""Attention from memory: scaled dot product, masks, heads, a key-value cache, a transformer block.

The part of mini_layers.py that needs parameters. Modules have torch's names, so that a state_dict
of nn.MultiheadAttention or nn.TransformerEncoderLayer (batch_first=True) loads, and the other way
round. Masks are those of scaled_dot_product_attention: True means "may be seen". It needs torch.
"""
import math

import torch
from torch import nn

from mini_layers import dropout, largest, layer_norm, linear, wide
from mini_layers_checks import (
    check_kinds,
    check_mask,
    check_probability,
    check_rows,
    check_shapes,
)

__all__ = [
    "KVCache",
    "LayerNorm",
    "Linear",
    "MultiheadAttention",
    "TransformerEncoderLayer",
    "cache_bytes",
    "causal_mask",
    "scaled_dot_product_attention",
    "softmax_or_zero",
]


# --- 1. Scaled dot product ---------------------------------------------------------------------

def softmax_or_zero(scores):
    """softmax over the last dimension; a row of nothing but -inf gives zeros instead of nan.

    Its largest score is -inf, and -inf - (-inf) is nan. With 0 taken off instead, all powers are
    0, and so is their sum, by which nothing may be divided.
    """
    top = largest(scores, -1)
    powers = (scores - top.where(top > -math.inf, 0)).exp()
    total = powers.sum(-1, keepdim=True)
    return powers / total.where(total > 0, 1)


def causal_mask(queries, keys, device=None):
    """(queries, keys) bool, True where the key is not later than the query.

    The queries are the last of the keys' positions: row i stands at keys - queries + i. With a
    cache there are more keys than queries; a mask that counted rows from 0 would hide all the
    past but its beginning.
    """
    position = torch.arange(keys - queries, keys, device=device)
    return torch.arange(keys, device=device) <= position.unsqueeze(1)


def both_masks(mask, seen):
    """What both let through; `seen` is bool, `mask` of either kind."""
    return mask.masked_fill(~seen, -math.inf) if mask.is_floating_point() else mask & seen


def scaled_dot_product_attention(query, key, value, mask=None, dropout_p=0.0):
    """query (..., L, D), key (..., S, D), value (..., S, V) -> (..., L, V).

    mask (..., L, S), broadcast: bool, True where the key may be seen, or a number to add to the
    score. Divided by the root of D, a score of D independent products has variance 1 again. A
    query that may see nothing gets zeros. TypeError, RuntimeError as the checks. Unlike torch, it
    takes any mask that broadcasts, and refuses a dropout_p below 0 and a value for no key.
    Source: torch.nn.functional.scaled_dot_product_attention.
    """
    check_kinds(query, key, value)
    check_rows(query, key, value)
    size = query.shape[-1]
    scores = wide(query) @ wide(key).mT / (math.sqrt(size) if size else -math.inf)
    if mask is not None:
        check_mask(mask, scores, query.dtype)
        bool_mask = mask.dtype == torch.bool
        scores = scores.masked_fill(~mask, -math.inf) if bool_mask else scores + mask
    out = dropout(softmax_or_zero(scores), dropout_p) @ wide(value)
    return out.to(query.dtype)


# --- 2. Heads and the cache --------------------------------------------------------------------

class KVCache:
    """Keys and values of the positions seen so far, for one attention layer, without gradients.

    `keys`, `values`: (N, kv_heads, room, D), allocated once; `length` positions are in use.
    """

    def __init__(self, batch, kv_heads, room, head_dim, **kind):
        self.keys = torch.zeros(batch, kv_heads, room, head_dim, **kind)
        self.values = torch.zeros_like(self.keys)
        self.length = 0

    def append(self, key, value):
        """Write key, value (N, kv_heads, L, D) behind the others; views of all so far.

        ValueError, and nothing is written, if they do not fit. What fails later does not take the
        new positions out again.
        """
        batch, heads, _, size = self.keys.shape
        if key.shape != value.shape or key.shape != (batch, heads, *key.shape[2:3], size):
            raise ValueError(f"key {tuple(key.shape)} and value {tuple(value.shape)} for a cache "
                             f"of {tuple(self.keys.shape)}")
        end = self.length + key.shape[2]
        if end > self.keys.shape[2]:
            raise ValueError(f"{end} positions, but the cache has room for {self.keys.shape[2]}")
        self.keys[:, :, self.length:end] = key.detach()
        self.values[:, :, self.length:end] = value.detach()
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]


def cache_bytes(layers, batch, kv_heads, positions, head_dim, itemsize):
    """Bytes of the keys and the values (hence 2) of all layers."""
    return 2 * layers * batch * kv_heads * positions * head_dim * itemsize


class Linear(nn.Module):
    """`weight` (out, in) and `bias` (out,), drawn from ±1/sqrt(in) as nn.Linear draws them."""

    def __init__(self, in_features, out_features):
        super().__init__()
        bound = in_features ** -0.5
        self.weight = nn.Parameter(torch.empty(out_features, in_features).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(out_features).uniform_(-bound, bound))

    def forward(self, x):
        return linear(x, self.weight, self.bias)


class MultiheadAttention(nn.Module):
    """Self-attention in heads, with the state of nn.MultiheadAttention if all heads have keys.

    `num_kv_heads` < `num_heads` is grouped-query attention: several query heads share one head of
    keys and values, and the cache shrinks by that factor. `dropout` acts on the weights.
    """

    def __init__(self, embed_dim, num_heads, num_kv_heads=None, dropout=0.0):
        super().__init__()
        check_probability(dropout)
        kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        if min(num_heads, kv_heads) < 1 or embed_dim % num_heads or num_heads % kv_heads:
            raise ValueError(f"{embed_dim} features, {num_heads} heads, {num_kv_heads} heads of "
                             "keys: each must divide the one before")
        self.num_heads, self.num_kv_heads = num_heads, kv_heads
        self.head_dim, self.dropout = embed_dim // num_heads, dropout
        rows = (num_heads + 2 * self.num_kv_heads) * self.head_dim
        bound = math.sqrt(6 / (rows + embed_dim))                 # xavier_uniform_
        self.in_proj_weight = nn.Parameter(torch.empty(rows, embed_dim).uniform_(-bound, bound))
        self.in_proj_bias = nn.Parameter(torch.zeros(rows))
        self.out_proj = Linear(embed_dim, embed_dim)
        nn.init.zeros_(self.out_proj.bias)

    def forward(self, x, mask=None, causal=False, cache=None):
        """x (N, L, E) -> (N, L, E); mask (..., L, S) as above, S counting the cached positions.

        With a cache, x holds the positions that follow those in it, and its keys and values are
        appended. Use it without gradients.
        """
        check_shapes((*x.shape[:2], self.out_proj.weight.shape[0]), x)
        query, key, value = self.split(linear(x, self.in_proj_weight, self.in_proj_bias))
        if cache is not None:
            key, value = cache.append(key, value)
        if causal:
            seen = causal_mask(query.shape[2], key.shape[2], x.device)
            mask = seen if mask is None else both_masks(mask, seen)
        groups = self.num_heads // self.num_kv_heads              # query heads per head of keys
        key, value = (t.repeat_interleave(groups, 1) if groups > 1 else t for t in (key, value))
        p = self.dropout if self.training else 0.0
        out = scaled_dot_product_attention(query, key, value, mask, p)
        return self.out_proj(out.transpose(1, 2).flatten(2))      # heads side by side again

    def split(self, projected):
        """(N, L, all features) -> query, key, value, each (N, its heads, L, head_dim)."""
        heads = projected.unflatten(-1, (-1, self.head_dim)).transpose(1, 2)
        return heads.split([self.num_heads, self.num_kv_heads, self.num_kv_heads], 1)


# --- 3. The block ------------------------------------------------------------------------------

class LayerNorm(nn.Module):
    """`weight` and `bias` (E,) of ones and zeros."""

    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))

    def forward(self, x):
        return layer_norm(x, self.weight.shape, self.weight, self.bias)


class TransformerEncoderLayer(nn.Module):
    """Attention, then two linear layers with a relu between them, each added to its own input.

    With `norm_first` (pre-norm) the sum x + f(norm(x)) passes x on untouched; without (post-norm,
    torch's default) each sum is normalised: norm(x + f(x)).
    """

    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, norm_first=False):
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout)
        self.linear1 = Linear(d_model, dim_feedforward)
        self.linear2 = Linear(dim_feedforward, d_model)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout, self.norm_first = dropout, norm_first

    def forward(self, x, mask=None, causal=False, cache=None):
        """x (N, L, E) -> (N, L, E); mask, causal and cache as in MultiheadAttention."""
        def attend(x):
            return self.drop(self.self_attn(x, mask, causal, cache))
        if self.norm_first:
            x = x + attend(self.norm1(x))
            return x + self.feed_forward(self.norm2(x))
        x = self.norm1(x + attend(x))
        return self.norm2(x + self.feed_forward(x))

    def feed_forward(self, x):
        return self.drop(self.linear2(self.drop(torch.relu(self.linear1(x)))))

    def drop(self, x):
        return dropout(x, self.dropout, self.training)
