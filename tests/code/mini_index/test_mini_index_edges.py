"""mini_index at its edges against torch: numbers, gradients, and what its messages name."""

import re
import warnings

import numpy
import pytest
import torch

import mini_index
from oracles.index_cases import result, written_by_torch

NUMBERS = (0.1, 0.6, 300, -300, 2**40, 1e300, float("inf"), float("nan"), 1j, True, "a string")


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int64, torch.bool, torch.float16,
                                   torch.float32, torch.float64, torch.complex128])
def test_a_number_is_written_exactly_or_refused(dtype):
    for number in NUMBERS:
        for key in (0, [0], False, slice(0)):
            ours, theirs = (torch.zeros(2, dtype=dtype) for _ in range(2))
            found = result(mini_index.index_put, ours, key, number)
            wanted = result(written_by_torch, theirs, key, number)
            what = f"{dtype} x[{key}] = {number}"
            assert found is wanted if isinstance(wanted, type) else found is ours, what
            assert repr(ours.tolist()) == repr(theirs.tolist()), what       # nan is not nan


@pytest.mark.parametrize("key", [True, (True,), torch.tensor(True), False, 0, [0]])
def test_only_the_key_True_alone_converts_as_a_view_does(key):
    for value in (torch.ones(3).double(), torch.ones(2, 3).double()):
        ours, theirs = (result(write, torch.zeros(2, 3), key, value)
                        for write in (mini_index.index_put, written_by_torch))
        assert ours is theirs if isinstance(theirs, type) else torch.equal(ours, theirs)


# ---- gradients -----------------------------------------------------------------------------------

KEYS = (0, slice(1, None), None, True, [0, 2], ([0, 1], [1, 0]), (..., [1]), torch.eye(3, 2).bool())


def gradients(function):
    """What `function` of a leaf and another leaf leaves in both, the first seen transposed."""
    leaf = torch.arange(6.).view(2, 3).requires_grad_()
    other = torch.arange(1., 7).view(3, 2).requires_grad_()
    (function(leaf.t(), other) ** 2).sum().backward()
    return leaf.grad, other.grad


def same_gradients(ours, theirs):
    pairs = zip(gradients(ours), gradients(theirs), strict=True)
    return all(found is wanted if wanted is None else torch.equal(found, wanted)
               for found, wanted in pairs)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_gradients_pass_a_read_and_a_write(key):
    assert same_gradients(lambda x, _: mini_index.index(x, key), lambda x, _: x[key])
    assert same_gradients(lambda x, y: mini_index.index_put(3 * x, key, y[key]),
                          lambda x, y: written_by_torch(3 * x, key, y[key]))


def test_gradients_of_duplicates_add_up():
    ids = torch.tensor([[0, 2], [0, 0]])
    assert same_gradients(lambda x, _: mini_index.index(x, ids), lambda x, _: x[ids])
    assert same_gradients(lambda x, _: mini_index.gather(x, 0, ids),
                          lambda x, _: x.gather(0, ids))
    assert same_gradients(lambda x, y: mini_index.scatter_add(x, 0, ids, y[:2]),
                          lambda x, y: x.scatter_add(0, ids, y[:2]))


def test_a_value_that_a_duplicate_overwrites_has_no_gradient():
    value = torch.ones(2, requires_grad=True)
    mini_index.index_put(torch.zeros(3), [1, 1], value).sum().backward()
    assert value.grad.tolist() == [0, 1]


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("seen", [lambda leaf: leaf, lambda leaf: leaf[:]], ids=["leaf", "view"])
def test_a_leaf_that_requires_a_gradient_is_not_written(key, seen):
    leaf = torch.zeros(3, 2, requires_grad=True)
    for write in (mini_index.index_put, written_by_torch):
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
            write(seen(leaf), key, 5)
    assert not leaf.any()


# ---- messages ------------------------------------------------------------------------------------

@pytest.mark.parametrize("key", [5, [0, 5], ([1, 5, -1],), (..., 5), torch.tensor(5)])
def test_the_message_names_the_index_that_is_out_of_bounds(key):
    for read in (mini_index.index, lambda x, key: x[key]):
        with pytest.raises(IndexError, match=r"index 5 is out of bounds .*with size 3"):
            read(torch.zeros(3), key)


def test_the_message_of_gather_names_the_index_or_the_dimension():
    x = torch.zeros(2, 3)
    for found in (5, -1):
        with pytest.raises(RuntimeError, match=rf"index {found} is not in range\(3\), dimension 1"):
            mini_index.gather(x, 1, torch.tensor([[0, found]]))
    for dim in (2, -3):
        with pytest.raises(IndexError, match=f"Dimension out of range .* got {dim}"):
            mini_index.gather(x, dim, torch.zeros(1, 1, dtype=torch.int64))
    for function in (mini_index.gather, torch.gather):
        with pytest.raises(TypeError, match="bool"):
            function(x, True, torch.zeros(1, 1, dtype=torch.int64))


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
@pytest.mark.parametrize("key", [(..., ...), [..., 0, ...]])
def test_a_second_ellipsis_is_left_out_and_said(key):
    with pytest.raises(IndexError, match=r"one \.\.\. here"):
        mini_index.index(torch.zeros(3), key)


# ---- kinds of items: whole numbers in other clothes, text, what torch warns of -------------------

class At:
    """Not an int, but a whole number to Python."""

    def __init__(self, position):
        self.position = position

    def __index__(self):
        return self.position


class Rounds:
    """Has an int, but is none."""

    def __int__(self):
        return 1

    __float__ = __int__


ITEMS = (At(0), At(-1), At(7), numpy.int8(1), 0, 5, -6, None, ..., True, False, slice(At(0), At(2)),
         slice(None), [At(0), At(1)], [0, 1], [True, False], "0", "", ["0"], [["0"], ["1"]], b"0",
         1.0, [1.0], [1.5], 1j, [1j], Rounds(), [Rounds()], object(), {0}, {}, range(2), [None],
         [slice(1)], [[0, 1]], [[0], "a"], [[0], [0, 1]], slice("a"), slice(1.0), slice(0, 2, 0),
         torch.tensor([1, 0], dtype=torch.uint8), torch.tensor([0.0]), torch.tensor(1j),
         bytearray(1))
ODD_KEYS = [*ITEMS, *((item,) for item in ITEMS), *((0, item) for item in ITEMS),
            *((item, 0) for item in ITEMS), *((None, item) for item in ITEMS),
            *((True, 0, item) for item in ITEMS), *((..., item) for item in ITEMS)]


def outcome(function, *arguments):
    """Shape and values, or how it is refused; and what it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = function(*arguments)
            found = found.shape, found.tolist()
        except Exception as error:
            named = re.search(r"out of bounds for dimension \d+", str(error))
            found = type(error), named and named[0]
    return found, sorted({str(w.message)[:40] for w in caught})


@pytest.mark.parametrize("shape", [(2, 5), (2, 3, 2)], ids=str)
@pytest.mark.parametrize("way", ["read", "write"])
def test_any_item_is_taken_or_refused_and_warned_of_as_in_torch(way, shape):
    wrong = []
    for key in ODD_KEYS:
        x = torch.arange(torch.Size(shape).numel()).view(shape)
        if way == "read":
            found, wanted = (outcome(read, x, key)
                             for read in (mini_index.index, lambda x, key: x[key]))
        else:
            found, wanted = (outcome(write, x.clone(), key, 7)
                             for write in (mini_index.index_put, written_by_torch))
        parts = key if isinstance(key, tuple) else (key,)
        if sum(part is ... for part in parts) > 1 or (way == "write" and any(
                getattr(part, "dtype", None) == torch.uint8 for part in parts)):
            continue                             # a second ... and such a mask are left out
        if found != wanted:
            wrong.append((key, found, wanted))
    assert not wrong, (len(wrong), wrong[:3])
