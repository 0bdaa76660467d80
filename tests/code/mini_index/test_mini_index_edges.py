"""mini_index at its edges against torch: numbers, gradients, and what its messages name."""

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


@pytest.mark.parametrize("key", [(..., ...), [..., 0, ...]])
def test_a_second_ellipsis_is_left_out_and_said(key):
    with pytest.raises(IndexError, match=r"one \.\.\. here"):
        mini_index.index(torch.zeros(3), key)
