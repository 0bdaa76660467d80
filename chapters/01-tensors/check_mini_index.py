"""检查补完的下标随书代码（第 1 章）· Check the indexing of chapter 1 that you have completed.

    python3 check_mini_index.py                 every practice file beside this file
    python3 check_mini_index.py FILE …

The exit status is 0 if all checks pass. It needs torch and compares with it.
"""
import sys

from exercise_harness import Checker, Differs, compared_with

try:
    import torch
except ImportError:
    torch = None


def told(function, *arguments):
    """What it returns, tensors as (shape, values), or the name of what it raises."""
    try:
        found = function(*arguments)
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        return type(error).__name__
    return (tuple(found.shape), found.tolist()) if isinstance(found, torch.Tensor) else found


def same(what, found, wanted):
    """Stop with one line unless what is found is what is wanted."""
    if found != wanted:
        raise Differs(f"{what}: expected {wanted}; found {found}")


def numbers(*shape):
    return torch.arange(torch.Size(shape).numel()).view(shape)


def place(module, x, chosen=()):
    return module.Place(list(x.shape), list(x.stride()), x.storage_offset(), dict(chosen))


# --- The place: what ints and slices change ------------------------------------------------------

def layout(x):
    return list(x.shape), list(x.stride()), x.storage_offset()


def check_view(module, method, x, dim, item):
    """The place after `method` against torch's view."""
    def moved():
        found = place(module, x)
        getattr(found, method)(dim, item)
        return found.size, found.stride, found.offset
    key = (slice(None),) * dim + (item,)
    same(f"size, stride and offset after {method}({dim}, {item}) of size {tuple(x.shape)}, stride "
         f"{x.stride()}, offset {x.storage_offset()}", told(moved), told(lambda: layout(x[key])))


def check_select(module):
    x = numbers(4, 6)
    for view, dim, i in [(x, 0, 2), (x, 0, -1), (x, 1, 2), (x[1:, 1:], 0, 1), (x.t(), 0, 5),
                         (x, 0, 4), (x, 0, -5), (x, 1, -6)]:
        check_view(module, "select", view, dim, i)


def check_slice(module):
    x = numbers(4, 6)
    for view, dim, part in [
            (x, 0, slice(1, 3)), (x, 1, slice(None, None, 2)), (x, 0, slice(-2, None)),
            (x, 0, slice(3, 1)), (x, 0, slice(9, 12)), (x, 1, slice(1, 6, 4)),
            (x[1:, ::2], 1, slice(1, 3, 2)), (x.t(), 0, slice(1, 6, 4)),
            (x, 0, slice(None, None, -1))]:
        check_view(module, "slice", view, dim, part)


# --- The addresses -------------------------------------------------------------------------------

def lists(chosen):
    return {dim: tensor.tolist() for dim, tensor in chosen.items()}


def check_choices(module):
    t, x = torch.tensor, numbers(2, 3, 4)
    two = t([[True, False, True], [False, True, False]])
    wrong = "IndexError"
    for what, chosen, wanted in [
            ("positions stay", {1: t([2, 0])}, {1: [2, 0]}),
            ("a mask of one dimension: where it is True", {1: t([True, False, True])}, {1: [0, 2]}),
            ("a mask of two: an index tensor for each, row by row", {0: two},
             {0: [0, 0, 1], 1: [0, 2, 1]}),
            ("a mask further behind", {1: torch.ones(3, 4).bool().tril(-2)}, {1: [2], 2: [0]}),
            ("index tensors are broadcast", {0: t([[0], [1]]), 2: t([3, 1])},
             {0: [[0, 0], [1, 1]], 2: [[3, 1], [3, 1]]}),
            ("a mask beside positions", {0: t([False, True]), 1: t([2, 0])},
             {0: [1, 1], 1: [2, 0]}),
            ("shapes that do not broadcast", {0: t([0, 1]), 1: t([0, 1, 2])}, wrong),
            ("a mask of another size", {0: two.t()}, wrong), ("floats", {0: t([0.5])}, wrong)]:
        same(what, told(lambda chosen=chosen: lists(module.choices(place(module, x, chosen)))),
             wanted)


def check_positions(module):
    for found, size, whole in [([-1, -3, 2, 0], 3, True), ([[1], [-2]], 2, True), ([3], 3, True),
                               ([-4], 3, True), ([0, 5], 3, True), ([0], 0, False)]:
        same(f"positions {found} in a dimension of size {size}",
             told(module.positions, torch.tensor(found), size, whole),
             told(lambda found=found, size=size: torch.arange(size)[torch.tensor(found)]))
    same("the result is empty because of another dimension: nothing is checked",
         isinstance(told(module.positions, torch.tensor([5]), 3, False), str), False)


def check_addresses(module):
    x = numbers(5, 6, 7, 3)                      # each element is its own address
    for view in (x, x.permute(2, 0, 3, 1), x[1:4, ::2, 2:]):
        for chosen in ({}, {0: [1, 0, 1]}, {1: [2, 0]}, {2: [-1, 0]}, {0: [0, 1], 1: [2, 0]},
                       {1: [0, 1], 2: [2, 1]}, {1: [0, 1], 3: [2, 1]}, {1: [[0, 1], [2, 2]]},
                       {0: [[0], [1]], 2: [2, 1]}, {0: []}):
            key = [slice(None)] * 4
            chosen = {dim: torch.tensor(values).long() for dim, values in chosen.items()}
            for dim, tensor in chosen.items():
                key[dim] = tensor
            same(f"addresses where {lists(chosen)} choose in size {tuple(view.shape)}, stride "
                 f"{view.stride()}", told(module.addresses, place(module, view, chosen)),
                 told(lambda view=view, key=key: view[tuple(key)]))


# --- Writing, and moving along one dimension -----------------------------------------------------

def write(x, key, value):
    x[key] = value
    return x


def check_index_put(module):
    one = torch.ones
    for key, value in [
            (1, 7), (slice(1, None), torch.tensor([7, 8, 9])), ([0, 2], 7), (([0, 2], [1, 0]),
            torch.tensor([7, 8])), ([0, 2], torch.tensor([[7], [8]])),
            ([0, 2], torch.tensor([[[7, 8, 9]]])), (numbers(3, 3) > 5, 7), (False, 7),
            (False, one(9)), (False, "7"), (False, 1j), (True, one(3)), ([0, 2], one(2).long()),
            ([0, 2], one(3)), (0, one(3)), (0, [1, 2, 3]), ([1, 1], 7),
            (0, torch.tensor([[[7, 8, 9]]])), (0, 0.1), (0, 1e300), ([0, 2], 1j)]:
        for x in (numbers(3, 3), numbers(3, 3).double()):
            same(f"{x.dtype} x[{key}] = {value}", told(module.index_put, x.clone(), key, value),
                 told(write, x.clone(), key, value))
    x, ids = torch.zeros(3), torch.tensor([1, 1, 2, 1])
    same("three votes for 1 with accumulate", told(module.index_put, x, ids, 1, True),
         ((3,), [0, 3, 1]))
    same("the same tensor comes back", module.index_put(x, 0, 5) is x, True)
    x = numbers(5)
    same("x[1:] = x[:-1]: values are read before the first write",
         told(module.index_put, x, slice(1, None), x[:-1]), ((5,), [0, 0, 1, 2, 3]))


def check_along(module):
    x = numbers(3, 4)
    for dim, idx in [(0, [[2, 0, 1, 1]]), (1, [[3], [0], [1]]), (1, [[0, 0, 3]]),
                     (0, [[2, 0]]), (0, [[3]]), (0, [[-1]]), (1, [[0]] * 4), (0, [0, 1]),
                     (0, [[0.0]])]:
        idx = torch.tensor(idx)
        same(f"x[along(x, {dim}, {idx.tolist()})], x of shape (3, 4), against gather",
             told(lambda dim=dim, idx=idx: x[module.along(x, dim, idx)]),
             told(torch.gather, x, dim, idx))


CHECKER = Checker(
    {"mini_index": {"Place.select": check_select, "Place.slice": check_slice,
                    "positions": check_positions, "choices": check_choices,
                    "addresses": check_addresses, "index_put": check_index_put,
                    "along": check_along}},
    needs={"addresses": ["positions", "choices"],
           "index_put": ["Place.select", "Place.slice", "positions", "choices", "addresses"]},
    imports={"mini_index": ["mini_index_keys.py"]})

if __name__ == "__main__":
    if torch is None:
        print("要装 torch · this needs torch")
        sys.exit(1)
    sys.exit(CHECKER.main(compared_with(torch)))
