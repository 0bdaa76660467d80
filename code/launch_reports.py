"""The reports of a rocket club, and a small language model that learns to write them.

A report is a countdown and the weather: `321s` is three, two, one, sun. On a day there are four
launches, with countdowns from 1, 2, 3 and 4 in any order, and the weather stays the same. There
are 8 kinds of weather and 24 orders, so `every_day` has 192 days: all that there can be. A model
that is trained on all of them has nothing to learn by heart.
"""

from itertools import permutations

import torch
from torch import nn
from torch.nn import functional as F

from mini_samples import Packed, pack

WORDS = ".1234srfwhicn"  # the empty place, the countdown, the weather; a token is a place in here


def every_day():
    """192 days, each a list of four reports, each a list of tokens."""
    return [[[*range(n, 0, -1), weather] for n in order]
            for weather in range(5, 13) for order in permutations((1, 2, 3, 4))]


def rows(groups, length):
    """Packed with a row for each group of reports, so documents are numbered in each row."""
    return Packed(*map(torch.cat, zip(*(pack(group, length) for group in groups), strict=True)))


def spelled(tokens):
    """Tokens or labels of one row as letters; a dot where there is none."""
    return "".join(WORDS[max(0, token)] for token in tokens)


class Model(nn.Module):
    """One layer of attention. From the tokens of a row: at each place, logits of the next token.

    Told nothing else, a token sees those before it in the row, and positions run through the row.
    """

    def __init__(self, width=32, length=16):
        super().__init__()
        torch.manual_seed(0)
        self.words, self.places = nn.Embedding(len(WORDS), width), nn.Embedding(length, width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, len(WORDS))
        self.double()

    def forward(self, tokens, mask=None, positions=None):
        """tokens, positions (rows, L), mask bool (…, L, L), True where seen -> (rows, L, words)."""
        length = tokens.shape[-1]
        if mask is None:
            mask = torch.ones(length, length, dtype=torch.bool).tril()
        if positions is None:
            positions = torch.arange(length)
        x = self.words(tokens) + self.places(positions)
        q, k, v = self.qkv(x).chunk(3, -1)
        return self.out(x + F.scaled_dot_product_attention(q, k, v, mask))


def train(packed, labels=None, steps=150, **told):
    """A model after `steps` steps, each on all rows, and its last loss; `told` goes to the model.

    The loss is the mean over all places that have a label.
    """
    model = Model()
    labels = packed.labels if labels is None else labels
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        loss = mean_loss(model, packed, labels, **told)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model, loss.item()


def mean_loss(model, packed, labels=None, **told):
    """Cross-entropy per label."""
    labels = packed.labels if labels is None else labels
    return F.cross_entropy(model(packed.tokens, **told).flatten(0, 1), labels.flatten())
