"""collate and pad of mini_samples against default_collate and pad_sequence."""

import random
from collections import Counter, namedtuple
from collections.abc import Mapping
from dataclasses import dataclass

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import pad as torch_pad
from torch.nn.utils.rnn import pad_sequence
from torch.utils import data

from mini_samples import collate, pad
from tests.helpers.depth import cases

many = settings(max_examples=cases(100), deadline=None, derandomize=True)
SAMPLES = cases(4_000)
Point = namedtuple("Point", ["x", "y"])


@dataclass
class Record:
    x: float


def result(function, *arguments, **named):
    """What it returns, or the type of what it raises."""
    try:
        return function(*arguments, **named)
    except Exception as error:
        return type(error)


def alike(ours, theirs):
    """Whether two batches, or types of errors, are the same all the way down."""
    if ours is theirs:
        return True
    if isinstance(ours, type) or isinstance(theirs, type):
        return False
    if type(ours) is not type(theirs):
        return False
    if isinstance(ours, torch.Tensor):
        return ours.dtype is theirs.dtype and torch.equal(ours, theirs)
    if isinstance(ours, Mapping):
        return list(ours) == list(theirs) and all(alike(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, (list, tuple)):
        return len(ours) == len(theirs) and all(map(alike, ours, theirs))
    return ours == theirs


# ---- collate: random samples ---------------------------------------------------------------------

TENSORS = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32,
           torch.uint8, torch.bool, torch.complex64)
ARRAYS = ("f4", "f8", "f2", "i8", "i4", "u1", "?", "c8")
ODD = (None, "a", b"a", 1, 2.5, True, [1], (), {}, {1}, object(), Record(1.0), torch.zeros(2),
       numpy.zeros(2), numpy.float32(1), range(2), numpy.array(["a"]), numpy.array([None]))
KINDS = ("float", "int", "bool", "str", "bytes", "tensor", "array", "number")


def leaf(dice):
    """(kind, a function that makes a sample of it)."""
    kind = dice.choice(KINDS)
    shape = [dice.randrange(4) for _ in range(dice.randrange(3))]
    dtype, code = dice.choice(TENSORS), dice.choice(ARRAYS)
    def numbers():
        return [dice.randrange(9) for _ in range(torch.Size(shape).numel())]
    made = {"float": dice.random, "int": lambda: dice.randrange(-99, 99),
            "bool": lambda: dice.random() < 0.5, "str": lambda: dice.choice("abc"),
            "bytes": lambda: dice.choice([b"a", b"b"]),
            "array": lambda: numpy.array(numbers(), code).reshape(shape),
            "tensor": lambda: torch.tensor(numbers()).view(shape).to(dtype),
            "number": lambda: numpy.dtype(code).type(dice.randrange(2))}[kind]
    return kind, made


def odd(dice, made):
    """A function that now and then makes something else."""
    return lambda: dice.choice(ODD) if dice.random() < 0.4 else made()


def structure(dice, depth, seen):
    """A function that makes samples which are built alike, apart from what is odd."""
    kind = dice.choice(("leaf", "dict", "named tuple", "tuple", "list")) if depth else "leaf"
    if kind == "leaf":
        kind, made = leaf(dice)
        seen.append(kind)
        return odd(dice, made) if dice.random() < 0.04 else made
    seen.append(kind)
    parts = [structure(dice, depth - 1, seen)
             for _ in range(2 if kind == "named tuple" else dice.randrange(4))]
    short = kind != "named tuple" and dice.random() < 0.04
    def made():
        few = parts[:-1] if short and dice.random() < 0.4 else parts
        values = [part() for part in few]
        if kind == "dict":
            return dict(zip("abc", values, strict=False))
        return {"named tuple": lambda: Point(*values), "tuple": lambda: tuple(values),
                "list": lambda: values}[kind]()
    return made


@pytest.mark.filterwarnings("ignore:Creating a tensor from a list of numpy")
def test_random_samples_make_the_batch_of_the_default_collate(counted):
    seen = Counter()
    for seed in range(SAMPLES):
        dice, kinds = random.Random(seed), []
        make = structure(dice, dice.randrange(4), kinds)
        samples = [make() for _ in range(dice.randrange(1, 5))]
        ours, theirs = result(collate, samples), result(data.default_collate, samples)
        assert alike(ours, theirs), (seed, samples, ours, theirs)
        seen.update({*kinds, theirs.__name__ if isinstance(theirs, type) else "made"})
    print(seen)
    for kind in (*KINDS, "dict", "named tuple", "tuple", "list", "made"):
        assert seen[kind] >= SAMPLES / 20, seen
    for error in ("TypeError", "RuntimeError"):
        assert seen[error] >= SAMPLES / 200, seen
    counted("random samples of mini_samples.collate", SAMPLES)


# ---- collate: what each kind becomes -------------------------------------------------------------

@pytest.mark.parametrize(("samples", "wanted"), [
    ([1.5, 2.5], torch.tensor([1.5, 2.5], dtype=torch.float64)),
    ([1, 2], torch.tensor([1, 2])), ([True, False], torch.tensor([True, False])),
    ([2.5, 1], torch.tensor([2.5, 1], dtype=torch.float64)),
    ([1, 2.5], torch.tensor([1, 2.5])),                       # the first decides: float32 here
    (["a", "b"], ["a", "b"]), ([b"a", b"b"], [b"a", b"b"]),
    ([("a", 1), ("b", 2)], [("a", "b"), torch.tensor([1, 2])]),
    ([{"x": 1}, {"x": 2}], {"x": torch.tensor([1, 2])}),
    ([{"x": 1}, {"x": 2, "y": 3}], {"x": torch.tensor([1, 2])}),     # a key too many is lost
    ([Point(1, "a"), Point(2, "b")], Point(torch.tensor([1, 2]), ("a", "b"))),
    ([[1, 2], [3, 4]], [torch.tensor([1, 3]), torch.tensor([2, 4])]),
    ([range(2), range(2)], [torch.tensor([0, 0]), torch.tensor([1, 1])]),
    ([[], []], []),
    ([numpy.float32(1), numpy.float32(2)], torch.tensor([1.0, 2.0])),
    ([numpy.float64(1), numpy.float64(2)], torch.tensor([1.0, 2.0], dtype=torch.float64)),
    ([numpy.str_("a"), numpy.str_("b")], [numpy.str_("a"), numpy.str_("b")]),
    ([numpy.ones(2, "f4"), numpy.zeros(2, "f4")], torch.tensor([[1.0, 1.0], [0.0, 0.0]])),
    ([torch.tensor(1), torch.tensor(2.5)], torch.tensor([1, 2.5]))], ids=str)
def test_a_batch_is_built_like_the_first_sample(samples, wanted):
    assert alike(collate(samples), wanted)
    assert alike(data.default_collate(samples), wanted)


@pytest.mark.parametrize(("samples", "error"), [
    ([None, None], TypeError), ([1, None], RuntimeError), ([{1}, {2}], TypeError),
    ([object()], TypeError), ([Record(1.0)], TypeError), ([numpy.array(["a"])], TypeError),
    ([numpy.array([None])], TypeError), ([numpy.datetime64(0, "s")], TypeError),
    ([[1, 2], [3]], RuntimeError), ([(1, 2), (3,)], RuntimeError),
    ([torch.zeros(2), torch.zeros(3)], RuntimeError), ([{"x": 1}, {"y": 1}], KeyError),
    ([torch.zeros(2).to_sparse()] * 2, RuntimeError), ([], IndexError), ([1, 2 ** 70], None),
    ([torch.nested.as_nested_tensor([torch.zeros(2)], layout=torch.jagged)] * 2, RuntimeError)],
    ids=lambda value: str(value)[:40])
def test_what_makes_no_batch_is_refused_as_in_torch(samples, error):
    found, wanted = result(collate, samples), result(data.default_collate, samples)
    assert found is wanted
    assert error in (None, found)


def test_the_message_says_what_to_do():
    with pytest.raises(TypeError, match=r"a batch of NoneType: .* a collate_fn of your own"):
        collate([None])
    with pytest.raises(RuntimeError, match="lengths 2 and 1 in one batch; pad them"):
        collate([[1, 2], [3]])


def test_gradients_pass_through_a_batch():
    leaf = torch.ones(2, requires_grad=True)
    collate([{"x": leaf}, {"x": 2 * leaf}])["x"].sum().backward()
    assert leaf.grad.tolist() == [3, 3]


# ---- collate: in a worker ------------------------------------------------------------------------

class Shared:
    """A collate that also says whether its batch lies in shared memory already."""

    def __init__(self, function):
        self.function = function

    def __call__(self, samples):
        batch = self.function(samples)
        return batch, [part.is_shared() for part in batch]


@pytest.mark.parametrize("function", [collate, data.default_collate])
def test_in_a_worker_a_batch_of_tensors_is_made_in_shared_memory(function):
    samples = [(torch.full((2, 3), i), numpy.full(2, i), i) for i in range(4)]
    for workers, wanted in [(0, [False] * 3), (1, [True, True, False])]:
        loader = data.DataLoader(samples, 4, num_workers=workers, collate_fn=Shared(function),
                                 multiprocessing_context="fork" if workers else None)
        (batch, shared), = loader
        assert shared == wanted                               # numbers become a new tensor
        assert torch.equal(batch[0], torch.arange(4).view(4, 1, 1).expand(4, 2, 3))
        assert batch[1].tolist() == [[i, i] for i in range(4)]


class OnlyInWorkers:
    """Whether the function makes a batch of these samples, or the type of what it raises."""

    def __init__(self, function):
        self.function = function

    def __call__(self, samples):
        found = result(self.function, samples)
        return found.__name__ if isinstance(found, type) else str(found.dtype)


@pytest.mark.parametrize("function", [collate, data.default_collate])
def test_tensors_of_two_dtypes_are_promoted_here_and_refused_in_a_worker(function):
    samples = [torch.tensor(1), torch.tensor(2.5)]
    here, there = (list(data.DataLoader(
        samples, 2, num_workers=workers, collate_fn=OnlyInWorkers(function),
        multiprocessing_context="fork" if workers else None)) for workers in (0, 1))
    assert here == ["torch.float32"]
    assert there in (["TypeError"], ["RuntimeError"])         # "can't be cast to … Long"


# ---- pad -----------------------------------------------------------------------------------------

LENGTHS = st.lists(st.integers(0, 6), min_size=1, max_size=6)


@many
@given(LENGTHS, st.sampled_from([(), (3,), (2, 2), (0,)]), st.sampled_from(TENSORS),
       st.sampled_from([0, 1, 7]), st.sampled_from(["right", "left"]))
def test_pad_gives_the_values_of_pad_sequence(lengths, shape, dtype, value, side):
    samples = [torch.arange(torch.Size((n, *shape)).numel()).view(n, *shape).to(dtype)
               for n in lengths]
    found = pad(samples, value, side)
    wanted = pad_sequence(samples, True, value, side)
    assert alike(found.values, wanted)
    assert alike(found.lengths, torch.tensor(lengths))


@many
@given(LENGTHS, st.sampled_from(["right", "left"]))
def test_the_mask_says_which_values_are_the_samples(lengths, side):
    samples = [torch.arange(n) + 10 * i for i, n in enumerate(lengths)]
    values, found, mask = pad(samples, -1, side)
    assert mask.dtype is torch.bool
    assert mask.sum(1).tolist() == found.tolist() == lengths
    assert torch.equal(values[mask], torch.cat(samples))
    assert (values[~mask] == -1).all()
    for row, n in zip(mask.tolist(), lengths, strict=True):
        assert row == sorted(row, reverse=side == "right"), n


def test_naively_given_to_torchs_pad_the_padding_stands_in_front():
    def naive(samples):
        """(0, missing) for each dimension, 'reversed for F.pad', which reads pairs from the end."""
        longest = max(len(sample) for sample in samples)
        return torch.stack([torch_pad(sample, [0, longest - len(sample)][::-1])
                            for sample in samples])

    samples = [torch.tensor([1, 2, 3]), torch.tensor([4])]
    assert naive(samples).tolist() == [[1, 2, 3], [0, 0, 4]]
    assert pad(samples).values.tolist() == [[1, 2, 3], [4, 0, 0]]
    assert naive(samples).tolist() == pad(samples, side="left").values.tolist()


@pytest.mark.parametrize("samples", [
    [], [torch.zeros(2, 3), torch.zeros(2, 4)], [torch.zeros(2, 3), torch.zeros(2)]], ids=str)
def test_what_cannot_be_padded_is_refused_as_in_torch(samples):
    assert result(pad, samples) is result(pad_sequence, samples) is RuntimeError


def test_two_dtypes_are_refused_where_torch_converts():
    samples = [torch.tensor([1]), torch.tensor([2.5, 3.5])]
    assert pad_sequence(samples, True).tolist() == [[1, 0], [2, 3]]
    with pytest.raises(RuntimeError, match="convert them first"):
        pad(samples)


def test_another_side_is_refused():
    with pytest.raises(ValueError, match="'middle'"):
        pad([torch.zeros(1)], side="middle")
    assert result(pad_sequence, [torch.zeros(1)], True, 0, "middle") is RuntimeError


def test_gradients_pass_through_padding():
    leaf = torch.ones(3, requires_grad=True)
    (pad([leaf, leaf[:1]]).values * torch.tensor([[1, 2, 3], [4, 5, 6]])).sum().backward()
    assert leaf.grad.tolist() == [5, 2, 3]
