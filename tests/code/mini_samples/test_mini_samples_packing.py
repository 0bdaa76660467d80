"""Packed documents do not see each other: the naive packing first, which leaks, then pack."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

from mini_samples import IGNORE, NOBODY, block_mask, pack
from mini_samples_batch import first_fit
from tests.helpers.depth import cases

many = settings(max_examples=cases(100), deadline=None, derandomize=True)
pytestmark = pytest.mark.usefixtures("one_thread")
WORDS, LENGTH = 11, 12
DOCUMENTS = st.lists(st.lists(st.integers(1, WORDS - 1), max_size=LENGTH), min_size=1, max_size=9)


class Tiny(nn.Module):
    """A language model of two attention layers: what leaks goes through `mask`."""

    def __init__(self, width=8):
        super().__init__()
        torch.manual_seed(0)
        self.words, self.places = nn.Embedding(WORDS, width), nn.Embedding(LENGTH, width)
        self.layers = nn.ModuleList(nn.Linear(width, 3 * width) for _ in range(2))
        self.out = nn.Linear(width, WORDS)

    def forward(self, tokens, positions, mask):
        """tokens and positions (rows, L), mask bool (rows, L, L) -> logits (rows, L, WORDS)."""
        x = self.words(tokens) + self.places(positions)
        for layer in self.layers:
            q, k, v = layer(x).chunk(3, -1)
            scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
            x = x + scores.masked_fill(~mask, float("-inf")).softmax(-1) @ v
        return self.out(x)


@pytest.fixture(scope="module")
def model():
    return Tiny().double().eval()


def logits(model, packed, mask=None, positions=None):
    """Of every place, with the mask and positions of the package unless others are given."""
    with torch.no_grad():
        return model(packed.tokens, packed.positions if positions is None else positions,
                     block_mask(packed.documents) if mask is None else mask)


def changed(documents, which):
    """The same documents, one of them with other words."""
    return [[word % (WORDS - 1) + 1 for word in document] if i == which else document
            for i, document in enumerate(documents)]


EXAMPLE = [[1, 2, 3, 4], [5, 6, 7], [8, 9], [1, 1, 2, 2, 3, 3, 4, 4], [9]]


# ---- the leak test -------------------------------------------------------------------------------

def causal(packed):
    """The mask of a row that knows nothing of documents."""
    length = packed.tokens.shape[1]
    return torch.ones(length, length, dtype=torch.bool).tril().expand(len(packed.tokens), -1, -1)


def moved(model, documents, which, mask_of):
    """The documents whose outputs are no longer the same, bit for bit, if one has other words."""
    before, after = pack(documents, LENGTH), pack(changed(documents, which), LENGTH)
    assert torch.equal(before.documents, after.documents)
    first, second = (logits(model, one, mask_of(one)) for one in (before, after))
    return {int(number) for number in before.documents[(first != second).any(-1)]}


def test_naively_packed_documents_see_those_before_them(model):
    assert pack(EXAMPLE, LENGTH).documents.tolist() == [
        [0, 0, 0, 0, 1, 1, 1, 2, 2, 4, NOBODY, NOBODY], [3] * 8 + [NOBODY] * 4]
    assert moved(model, EXAMPLE, 0, causal) == {0, 1, 2, 4, NOBODY}
    assert moved(model, EXAMPLE, 2, causal) == {2, 4, NOBODY}


def test_packed_documents_do_not_see_each_other(model):
    for which in range(len(EXAMPLE)):
        assert moved(model, EXAMPLE, which, lambda one: block_mask(one.documents)) == {which}


@many
@given(DOCUMENTS, st.integers(0, 8))
def test_no_random_package_leaks(model, documents, which):
    which %= len(documents)
    assert moved(model, documents, which, lambda one: block_mask(one.documents)) == (
        {which} if documents[which] else set())


def test_no_gradient_reaches_another_document(model):
    packed = pack(EXAMPLE, LENGTH)
    embedded = model.words(packed.tokens).detach().requires_grad_()
    hook = model.words.register_forward_hook(lambda *_: embedded)
    try:
        out = model(packed.tokens, packed.positions, block_mask(packed.documents))
        for number in range(len(EXAMPLE)):
            embedded.grad = None
            out[packed.documents == number].square().sum().backward(retain_graph=True)
            reached = packed.documents[embedded.grad.ne(0).any(-1)]
            assert reached.unique().tolist() == [number]
    finally:
        hook.remove()


def test_a_document_has_the_outputs_that_it_has_alone(model):
    packed = pack(EXAMPLE, LENGTH)
    together = logits(model, packed)
    running = torch.arange(LENGTH).expand_as(packed.tokens)
    not_restarted = logits(model, packed, positions=running)
    for number, document in enumerate(EXAMPLE):
        alone = logits(model, pack([document], len(document)))[0]
        here = packed.documents == number
        torch.testing.assert_close(together[here], alone)
        assert torch.allclose(not_restarted[here], alone) == (number in (0, 3))   # at a row's start


# ---- labels --------------------------------------------------------------------------------------

def crossings(documents, labels):
    """Places whose label is taken from another document, or from what fills up the row."""
    next_document = documents.roll(-1, 1)
    next_document[:, -1] = NOBODY
    return ((labels != IGNORE) & ((documents != next_document) | (documents == NOBODY))).sum()


def test_naively_shifted_labels_cross_every_border():
    packed = pack(EXAMPLE, LENGTH)
    naive = packed.tokens.roll(-1, 1)
    naive[:, -1] = IGNORE
    assert crossings(packed.documents, naive) == 9           # 5 borders, 4 places in padding
    assert crossings(packed.documents, packed.labels) == 0


@many
@given(DOCUMENTS)
def test_no_label_crosses_a_border(documents):
    packed = pack(documents, LENGTH)
    assert crossings(packed.documents, packed.labels) == 0
    for number, document in enumerate(documents):
        found = packed.labels[packed.documents == number].tolist()
        assert found == [*document[1:], IGNORE][:len(document)]
    assert (packed.labels[packed.documents == NOBODY] == IGNORE).all()


def test_the_loss_is_that_of_the_documents_one_by_one(model):
    packed = pack(EXAMPLE, LENGTH)
    together = cross_entropy(logits(model, packed).flatten(0, 1), packed.labels.flatten())
    alone = [cross_entropy(logits(model, pack([document], LENGTH))[0, :len(document) - 1],
                           torch.tensor(document[1:]), reduction="sum")
             for document in EXAMPLE if len(document) > 1]
    torch.testing.assert_close(together, sum(alone) / sum(len(one) - 1 for one in EXAMPLE))


# ---- rows ----------------------------------------------------------------------------------------

@many
@given(DOCUMENTS)
def test_every_document_lies_whole_in_one_row(documents):
    packed = pack(documents, LENGTH, value=0)
    for number, document in enumerate(documents):
        rows, places = (packed.documents == number).nonzero(as_tuple=True)
        assert len(rows.unique()) == (1 if document else 0)
        if document:
            assert places.tolist() == list(range(places[0], places[0] + len(document)))
        assert packed.tokens[packed.documents == number].tolist() == document
        assert packed.positions[packed.documents == number].tolist() == list(range(len(document)))
    rest = packed.documents == NOBODY
    assert int(rest.sum()) == packed.tokens.numel() - sum(map(len, documents))
    assert not packed.tokens[rest].any()
    assert all(tensor.dtype is torch.int64 for tensor in packed)


@many
@given(st.lists(st.integers(1, 9), max_size=30), st.integers(9, 20))
def test_a_document_goes_into_the_first_row_that_has_room(lengths, size):
    rows = first_fit(lengths, size)
    assert sorted(number for row in rows for number in row) == list(range(len(lengths)))
    full = [sum(lengths[number] for number in row) for row in rows]
    assert all(one <= size for one in full)
    for place, row in enumerate(rows):
        for number in row:
            for before in rows[:place]:
                there = sum(lengths[one] for one in before if one < number)
                assert there + lengths[number] > size
    assert sum(2 * one <= size for one in full) <= 1          # so at most one is half empty


def test_a_document_longer_than_a_row_is_refused_by_its_number():
    with pytest.raises(ValueError, match="document 1 has 4 tokens, a row 3; cut it"):
        pack([[1], [2, 3, 4, 5]], 3)


def test_tensors_and_lists_pack_alike():
    lists, tensors = (pack(documents, LENGTH) for documents in (
        EXAMPLE, [torch.tensor(document, dtype=torch.int32) for document in EXAMPLE]))
    assert all(map(torch.equal, lists, tensors))
    assert pack([], 4).tokens.shape == (0, 4)


# ---- the mask ------------------------------------------------------------------------------------

@many
@given(st.lists(st.integers(-1, 3), max_size=8), st.booleans())
def test_the_mask_lets_a_token_see_its_own_document_up_to_itself(documents, causal):
    mask = block_mask(torch.tensor(documents, dtype=torch.int64), causal)
    assert mask.tolist() == [[one == other and (j <= i or not causal)
                              for j, other in enumerate(documents)]
                             for i, one in enumerate(documents)]


def test_what_fills_up_a_row_has_outputs_that_are_numbers(model):
    packed = pack([[1]], LENGTH)
    assert logits(model, packed).isfinite().all()
    blind = block_mask(packed.documents) & (packed.documents != NOBODY).unsqueeze(-1)
    assert logits(model, packed, blind).isnan().any()         # softmax of a row of -inf


def test_torchs_attention_takes_the_mask():
    packed = pack(EXAMPLE, LENGTH)
    q, k, v = torch.rand(3, 2, 4, LENGTH, 8, generator=torch.Generator().manual_seed(0),
                         dtype=torch.float64)                 # rows, heads, L, width
    mask = block_mask(packed.documents).unsqueeze(1)          # one for all heads
    scores = (q @ k.transpose(-2, -1) / 8 ** 0.5).masked_fill(~mask, float("-inf"))
    torch.testing.assert_close(scaled_dot_product_attention(q, k, v, attn_mask=mask),
                               scores.softmax(-1) @ v)
