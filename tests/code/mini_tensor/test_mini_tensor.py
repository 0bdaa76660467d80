"""mini_tensor against torch in float64: random chains, layouts, refusals."""

import itertools
import operator
import random
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import pytest
import torch

import mini_tensor
import mini_tensor_layout
import mini_tensor_tour
import tour
from oracles import tensor_chains as chains
from oracles.tensor_chains import Chain, Disagreement, layout
from tests.helpers.depth import cases

CHAINS = cases(2_000)
LAYOUTS = cases(1_000)
STEPS_DRAWN = set(chains.DRAW)


pytestmark = pytest.mark.usefixtures("one_thread")


# ---- random chains -------------------------------------------------------------------------------

def test_random_chains_agree_with_torch(counted):
    """Every operation accepted and, where it can be, refused; a quarter of chains refused."""
    seen = Counter()
    for seed in range(CHAINS):
        seen.update(Chain(seed).run())
    print("\n" + "\n".join(f"{count:8}  {what}" for what, count in seen.most_common()))
    assert seen["chains"] == CHAINS
    assert 4 * seen["chains with a refusal"] >= seen["chains"]
    assert 5 * seen["refused"] >= seen["steps"]
    never_refused = {"T", "neg", "clone", "contiguous"}
    assert all(seen[name] for name in STEPS_DRAWN)
    assert all(seen[f"refused {name}"] for name in STEPS_DRAWN - never_refused)
    assert all(seen[f"rank {rank}"] for rank in range(6))
    for what in ("size 0", "size 1", "stride 0", "not contiguous", "views", "copies",
                 "view of a tensor that is not contiguous", "order left open by torch",
                 *(f"refused: {reason}" for reason in chains.OVERLAPS)):
        assert seen[what] >= seen["chains"] / 100, what
    counted("random chains of mini_tensor", CHAINS)


# ---- rules that look right and are not: the chains find each -------------------------------------

def first_disagreement(limit):
    for seed in range(limit):
        try:
            Chain(seed).run()
        except Disagreement as found:
            return str(found).splitlines()[0]
    return None


def view_only_if_contiguous(sizes, strides, shape):
    if not mini_tensor.Tensor([0.0], sizes, strides).is_contiguous():
        return None
    return mini_tensor_layout.contiguous_strides(shape)


def blocks_broken_by_size_one(sizes, strides):
    found = []
    for size, stride in reversed(list(zip(sizes, strides, strict=True))):
        if found and stride == found[-1][0] * found[-1][1]:
            found[-1] = (found[-1][0] * size, found[-1][1])
        else:
            found.append((size, stride))
    return found or [(1, 1)]


def sorted_by_stride(sizes, layouts):
    return sorted(range(len(sizes)), key=lambda dim: (layouts[0][dim], -dim))


def no_tie_by_size(dim0, dim1, _sizes, layouts):
    for strides in layouts:
        if 0 not in (strides[dim0], strides[dim1]) and strides[dim0] != strides[dim1]:
            return -1 if strides[dim0] < strides[dim1] else 1
    return 0


def refuse_true_overlap(output, operand):
    if (operand is not output and mini_tensor.shares_storage(output, operand)
            and set(output.addresses()) & set(operand.addresses())
            and list(output.addresses()) != list(operand.addresses())):
        raise RuntimeError


def refuse_any_stride_0(output):
    if 0 in output.stride():
        raise RuntimeError


def refuse_every_shared_cell(output):
    cells = list(output.addresses())
    if len(set(cells)) < len(cells):
        raise RuntimeError


def setitem_fills_a_number(self, index, value):
    view = self[index]
    if isinstance(value, mini_tensor.Tensor):
        view.copy_(value)
    else:
        view.fill_(value)


def row_major_clone(self):
    return self.copied(mini_tensor_layout.contiguous_strides(self.shape))


def reshape_always_copies(self, *shape):
    return self.clone().contiguous().view(*shape)


WRONG_RULES = [
    (mini_tensor, "view_strides", view_only_if_contiguous),
    (mini_tensor, "blocks", blocks_broken_by_size_one),
    (mini_tensor_layout, "fastest_first", sorted_by_stride),
    (mini_tensor_layout, "compare", no_tie_by_size),
    (mini_tensor_layout, "shared_strides", lambda sizes, operands: None),
    (mini_tensor, "result_strides",
     lambda *o: mini_tensor_layout.contiguous_strides(
         mini_tensor_layout.broadcast_shapes(*(t.shape for t in o)))),
    (mini_tensor, "assert_no_internal_overlap", lambda output: None),
    (mini_tensor, "assert_no_internal_overlap", refuse_any_stride_0),
    (mini_tensor, "assert_no_internal_overlap", refuse_every_shared_cell),
    (mini_tensor, "assert_no_partial_overlap", lambda output, operand: None),
    (mini_tensor, "assert_no_partial_overlap", refuse_true_overlap),
    (mini_tensor.Tensor, "__setitem__", setitem_fills_a_number),
    (mini_tensor.Tensor, "clone", row_major_clone),
    (mini_tensor.Tensor, "reshape", reshape_always_copies),
]


@pytest.mark.parametrize(("place", "name", "rule"), WRONG_RULES)
def test_chains_find_a_rule_that_only_looks_right(monkeypatch, place, name, rule):
    monkeypatch.setattr(place, name, rule)
    assert first_disagreement(cases(2_000))


# ---- view ----------------------------------------------------------------------------------------

def draw_strides(rng, sizes):
    """Those of a packed order, mostly, with any strides for size 1; or any strides."""
    kind, order = rng.choice(["row-major", "permuted", "any"]), range(len(sizes))[::-1]
    if kind == "any":
        return tuple(rng.randint(0, 12) for _ in sizes)
    order = rng.sample(order, len(order)) if kind == "permuted" else order
    packed = mini_tensor_layout.packed_strides(sizes, order)
    return tuple(rng.randint(0, 7) if size == 1 or rng.random() < 0.1 else step
                 for size, step in zip(sizes, packed, strict=True))


def pair(sizes, strides):
    """The same layout in mini_tensor and in torch; the storages hold 0, 1, 2, ..."""
    cells = 1 + sum(max(n - 1, 0) * step for n, step in zip(sizes, strides, strict=True))
    return (mini_tensor.arange(cells).as_strided(sizes, strides),
            torch.arange(cells, dtype=torch.float64).as_strided(sizes, strides))


def assert_same_outcome(name, ours, theirs):
    """Whether both refused the step."""
    (result, raised), (expected, refused) = (chains.attempt(name, operands)
                                             for operands in (ours, theirs))
    step = layout(theirs[0]), theirs[1:]
    assert type(raised) is type(refused), (step, raised, refused)
    if not refused:
        assert layout(result) == layout(expected), step
        assert result.elements() == expected.reshape(-1).tolist(), step
    return refused is not None


def test_view_accepts_what_torch_accepts():
    rng, refused = random.Random(1), 0
    for _ in range(LAYOUTS):
        sizes = chains.draw_sizes(rng)
        ours, theirs = pair(sizes, draw_strides(rng, sizes))
        shape, = chains.new_shape(rng, theirs, [theirs])
        refused += assert_same_outcome("view", (ours, shape), (theirs, shape))
    assert LAYOUTS / 4 < refused < LAYOUTS * 3 / 4


def ordered_factorizations(number):
    if number == 1:
        return [()]
    return [(n, *rest) for n in range(2, number + 1) if number % n == 0
            for rest in ordered_factorizations(number // n)]


def test_view_of_every_permutation_in_every_shape_is_torchs():
    accepted = refused = 0
    for order in itertools.permutations(range(3)):
        ours, theirs = mini_tensor.arange(24).view(2, 3, 4), torch.arange(24.).view(2, 3, 4)
        for shape in ordered_factorizations(24):
            both_refused = assert_same_outcome("view", (ours.permute(order), shape),
                                               (theirs.permute(order), shape))
            accepted, refused = accepted + (not both_refused), refused + both_refused
    assert (accepted, refused) == (40, 80)


# ---- result_strides ------------------------------------------------------------------------------

def draw_operands(rng):
    """Two layouts whose shapes broadcast, as (ours, theirs)."""
    sizes = chains.draw_sizes(rng)
    for _ in "ab":
        stretched = rng.random() < 1 / 3
        shape = tuple(1 if stretched and rng.random() < 0.5 else size for size in sizes)
        shape = shape[rng.randint(0, len(sizes)):] if stretched else shape
        yield pair(shape, draw_strides(rng, shape))


def test_result_strides_of_two_operands_are_torchs():
    rng, other_orders = random.Random(2), 0
    for _ in range(LAYOUTS):
        (a, theirs_a), (b, theirs_b) = draw_operands(rng)
        result, operands = theirs_a + theirs_b, (layout(a), layout(b))
        assert mini_tensor_layout.result_strides(a, b) == result.stride(), operands
        assert (a + b).stride() == result.stride(), operands
        other_orders += not result.is_contiguous()
    assert other_orders > LAYOUTS / 4


def test_results_of_one_operand_have_torchs_strides():
    rng = random.Random(3)
    for _ in range(LAYOUTS // 4):
        sizes = chains.draw_sizes(rng)
        ours, theirs = pair(sizes, draw_strides(rng, sizes))
        for step in (operator.neg, lambda t: t + 1, lambda t: 2 - t, lambda t: t.clone(),
                     lambda t: t.contiguous()):
            assert layout(step(ours)) == layout(step(theirs)), (sizes, theirs.stride())


def test_ambiguous_pairs_make_the_order_of_operands_matter():
    """No sort by a key gives these: a stride of 0 equals every stride, which differ."""
    a, b = mini_tensor.arange(6).view(2, 3), mini_tensor.arange(6).view(3, 2).t()
    assert ((a + b).stride(), (b + a).stride()) == ((3, 1), (1, 2))
    row = mini_tensor.arange(3).expand(2, 3)                       # stride (0, 1): b decides
    assert (row + b).stride() == (b + row).stride() == (1, 2)


def test_minus_forgets_a_stride_of_size_one_that_clone_keeps():
    ours, theirs = pair((3, 1), (1, 3))
    for engine in (ours, theirs):
        assert engine.clone().stride() == (1, 3)
        assert (-engine).stride() == (1, 1)
        assert (engine + 1).stride() == (1, 3)


# ---- writes --------------------------------------------------------------------------------------

def both(function):
    """The outcome of a function of an engine, `arange` and `zeros`, which must be the same."""
    outcomes = []
    for engine in (mini_tensor, torch):
        try:
            outcomes.append(function(engine).tolist())
        except (RuntimeError, IndexError, ValueError, TypeError) as error:
            outcomes.append(type(error))
    assert outcomes[0] == outcomes[1]
    return outcomes[0]


def written(expand, write):
    def run(engine):
        tensor = expand(engine)
        result = write(tensor)
        return tensor if result is None else result
    return both(run)


def expanded(engine):
    return engine.zeros(3, 1).expand(3, 4)


def test_an_expanded_tensor_refuses_all_writes_but_one_cell_and_fill():
    ones, row = [[1.0] * 4] * 3, [[1.0] * 4, [0.0] * 4, [0.0] * 4]
    assert written(expanded, lambda e: e.fill_(1)) == ones
    assert written(expanded, lambda e: operator.setitem(e, (0, 0), 1)) == row
    assert written(expanded, lambda e: operator.setitem(e, 0, 1)) is RuntimeError
    assert written(expanded, lambda e: operator.setitem(e, slice(None), 1)) is RuntimeError
    assert written(expanded, lambda e: e.add_(1)) is RuntimeError
    assert written(expanded, lambda e: e.mul_(e)) is RuntimeError
    assert written(expanded, lambda e: e.copy_(e + 1)) is RuntimeError
    assert written(expanded, lambda e: e.copy_(e[...])) == [[0.0] * 4] * 3


def test_an_expanded_tensor_refuses_to_be_filled_with_a_tensor():
    assert both(lambda engine: expanded(engine).fill_(engine.zeros(1)[0])) is RuntimeError


def test_overlap_of_operand_and_output_is_refused_only_where_both_are_dense():
    def square(engine):
        return (engine.arange(4.0) if engine is torch else engine.arange(4)).view(2, 2)

    def gaps(engine):
        return (engine.arange(8.0) if engine is torch else engine.arange(8)).view(2, 4)[:, ::2]

    assert written(square, lambda x: x.add_(x.t())) is RuntimeError
    assert written(square, lambda x: x[0].add_(x[1])) == [2.0, 4.0]
    assert written(square, lambda x: x.flatten()[1:].copy_(x.flatten()[:-1])) is RuntimeError
    assert written(gaps, lambda x: x.mul_(x)) == [[0.0, 4.0], [16.0, 36.0]]
    for engine in (mini_tensor, torch):
        gaps(engine).copy_(gaps(engine).t())
        x = gaps(engine)
        x.copy_(x.t())                          # accepted, and what it writes is not defined


def test_augmented_assignment_writes_in_place():
    def run(engine):
        x = engine.zeros(2, 2)
        row = x[0]
        row += 3
        row -= 1
        row *= 4
        row /= 2
        return x
    assert both(run) == [[4.0, 4.0], [0.0, 0.0]]


def test_sizes_strides_and_nested_lists_are_read_as_in_torch():
    for sizes in [(), (3,), (0, 2), (2, 0), (2, 1, 3)]:
        ours, theirs = mini_tensor.zeros(sizes), torch.zeros(sizes)
        assert (ours.dim(), ours.numel(), ours.size()) == (theirs.dim(), theirs.numel(), sizes)
        assert ours.tolist() == theirs.tolist()
        for dim in range(-len(sizes), len(sizes)):
            assert (ours.size(dim), ours.stride(dim)) == (theirs.size(dim), theirs.stride(dim))
        assert [row.tolist() for row in ours.unsqueeze(0)] == [theirs.tolist()]


@pytest.mark.parametrize("dim", [None, (), [], 0, -1, [0, 2], (1, -1)])
def test_sum_reads_its_dimensions_as_torch_does(dim):
    ours, theirs = mini_tensor.arange(24).view(2, 3, 4), torch.arange(24.0).view(2, 3, 4)
    for keepdim in (False, True):
        assert layout(ours.sum(dim, keepdim)) == layout(theirs.sum(dim, keepdim))
        assert ours.sum(dim, keepdim).tolist() == theirs.sum(dim, keepdim).tolist()


# ---- creation and errors -------------------------------------------------------------------------

@pytest.mark.parametrize("data", [
    3, [], [[], []], [1, 2], [[1], [2]], [[[1, 2]]], (1, (2,)), [1, [2]], [[1], 2], [[1], [1, 2]],
    [[1, 2], [3]], [True, False]])
def test_tensor_reads_nested_lists_as_torch_does(data):
    ours, raised = made(mini_tensor, data)
    theirs, refused = made(torch, data)
    assert type(raised) is type(refused), (raised, refused)
    if not refused:
        assert layout(ours) == layout(theirs)
        assert ours.tolist() == theirs.tolist()


def made(engine, data):
    try:
        return engine.tensor(data), None
    except (ValueError, TypeError, RuntimeError) as error:
        return None, error


REFUSED = [
    lambda m: m.tensor([[1], [1, 2]]), lambda m: m.tensor("ab"), lambda m: m.zeros(-1),
    lambda m: m.zeros(), lambda m: m.arange(-1), lambda m: m.zeros(2, 3)[5],
    lambda m: m.zeros(2, 3)[0, 0, 0], lambda m: m.zeros(2)[::-1], lambda m: m.zeros(2)[::0],
    lambda m: m.zeros(2)[1.0], lambda m: m.zeros(2).view(3), lambda m: m.zeros(2).view(-1, -1),
    lambda m: m.zeros(0).view(-1, 0), lambda m: m.zeros(2, 3).t().view(6),
    lambda m: m.zeros(2, 3).permute(0, 0), lambda m: m.zeros(2, 3).permute(0, 2),
    lambda m: m.zeros(2).mT, lambda m: m.zeros(1, 1, 1).t(), lambda m: m.zeros(2).expand(3),
    lambda m: m.zeros(2).expand(-1, 2), lambda m: m.zeros(2, 2).flatten(1, 0),
    lambda m: m.zeros(2).as_strided((3,), (1,)), lambda m: m.zeros(2).as_strided((2,), (-1,)),
    lambda m: m.zeros(2).item(), lambda m: list(m.zeros(1)[0]), lambda m: m.zeros(2) + m.zeros(3),
    lambda m: m.zeros(2) + "1", lambda m: m.zeros(2).add_(m.zeros(2, 2)),
    lambda m: m.zeros(2).fill_(m.zeros(2)), lambda m: operator.setitem(m.zeros(2), 0, "1"),
    lambda m: operator.setitem(m.zeros(2), 0, m.zeros(2)), lambda m: m.zeros(2).sum((0, 0)),
    lambda m: m.zeros(2) @ m.zeros(3), lambda m: m.zeros(1)[0] @ m.zeros(1),
    lambda m: m.zeros(2) @ 3, lambda m: m.zeros(2).stride(-2), lambda m: m.zeros(2).size(1),
    lambda m: m.zeros(2).unsqueeze(3), lambda m: m.zeros(2).squeeze(2),
    lambda m: m.zeros(3, 1).expand(3, 4).add_(1),
    lambda m: (lambda x: x[1:].copy_(x[:-1]))(m.zeros(3)),
]


@pytest.mark.parametrize("step", REFUSED)
def test_an_error_is_one_line_and_of_torchs_type(step):
    with pytest.raises(Exception) as refused:                                      # noqa: PT011
        step(torch)
    with pytest.raises(refused.type) as raised:
        step(mini_tensor)
    assert raised.type is refused.type
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) > 15


# ---- sizes, dimensions and numbers ---------------------------------------------------------------

def grid(engine):
    return engine.arange(6).view(2, 3)


NOT_INTS = [
    lambda m, n: m.zeros(n), lambda m, n: m.zeros((n, 2)), lambda m, n: grid(m).view(n, 6),
    lambda m, n: grid(m).view((n, 6)), lambda m, n: grid(m).reshape(n, 6),
    lambda m, n: m.zeros(1).expand(n), lambda m, n: grid(m).as_strided((n,), (1,)),
    lambda m, n: grid(m).as_strided((2,), (n,)), lambda m, n: grid(m).as_strided((2,), (1,), n),
    lambda m, n: grid(m).select(0, n), lambda m, n: grid(m).select(n, 0),
    lambda m, n: grid(m).permute(n, 0), lambda m, n: grid(m).transpose(n, 0),
    lambda m, n: grid(m).unsqueeze(n), lambda m, n: grid(m).squeeze(n),
    lambda m, n: grid(m).flatten(n), lambda m, n: grid(m).sum(n), lambda m, n: grid(m).sum((n,)),
    lambda m, n: grid(m).size(n), lambda m, n: grid(m).stride(n),
    lambda m, n: grid(m).view((2,), n),
]


@pytest.mark.parametrize("value", [1.0, -1.0, True, "1"])
@pytest.mark.parametrize("step", NOT_INTS)
def test_a_size_or_dimension_that_is_no_int_is_refused_at_once(step, value):
    """A slip such as x.view(x.numel() / 2, 2) is found where it stands, not at the first use."""
    with pytest.raises(TypeError):
        step(torch, value)
    with pytest.raises(TypeError, match="int"):
        step(mini_tensor, value)


def test_integers_of_numpy_count_as_ints_and_numbers():
    numpy = pytest.importorskip("numpy")
    one, two = numpy.int64(1), numpy.int64(2)
    assert both(lambda m: grid(m)[one]) == [3.0, 4.0, 5.0]
    assert both(lambda m: grid(m)[one:, two]) == [5.0]
    assert both(lambda m: grid(m).view(two, 3).sum(one)) == [3.0, 12.0]
    assert both(lambda m: m.zeros(two).fill_(two).add_(one)) == [3.0, 3.0]
    assert both(lambda m: m.arange(2) + two) == both(lambda m: two + m.arange(2)) == [2.0, 3.0]
    assert both(lambda m: m.arange(2) * numpy.float32(0.5)) == [0.0, 0.5]
    sizes = mini_tensor.zeros(two).shape
    assert all(type(size) is int for size in sizes)


def test_len_and_bool_are_torchs():
    for sizes in [(2, 3), (0, 2), (1,)]:
        assert len(mini_tensor.zeros(sizes)) == len(torch.zeros(sizes)) == sizes[0]
    for engine in (mini_tensor, torch):
        with pytest.raises(TypeError):
            len(engine.zeros(1)[0])
        with pytest.raises(RuntimeError):
            bool(engine.zeros(2))
        with pytest.raises(RuntimeError):
            bool(engine.zeros(0))
        assert [bool(engine.zeros(1)), bool(engine.zeros(1).fill_(float("nan")))] == [False, True]


def test_mT_of_a_number_is_that_tensor():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for engine in (mini_tensor, torch):
            x = engine.zeros(1)[0]
            assert x.mT is x


def test_the_differences_that_are_left():
    """torch ignores a slice behind a second `...`, and takes a size of -2; here they raise."""
    assert torch.zeros(2, 3)[..., ..., :1].shape == (2, 3)
    for step in (lambda x: x[..., ..., :1], lambda x: x[0, 0][::0]):
        with pytest.raises(IndexError):
            step(mini_tensor.zeros(2, 3))
    with pytest.raises(RuntimeError):
        mini_tensor.zeros(2).expand(-2, 0, 2)


# ---- the tour ------------------------------------------------------------------------------------

def test_the_tour_shows_what_torch_does():
    ours, theirs = dict(vars(mini_tensor)), dict(vars(torch))
    theirs["arange"] = lambda end: torch.arange(end, dtype=torch.float64)
    theirs["shares_storage"] = lambda a, b: (
        a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr())
    for code, *_ in mini_tensor_tour.STEPS:
        shown = tour.show(code, ours)
        assert shown.startswith("RuntimeError: ") == tour.show(
            code, theirs).startswith("RuntimeError: ")
    assert all(layout(ours[name]) == layout(theirs[name]) for name in "xye")
    assert all(ours[name].tolist() == theirs[name].tolist() for name in "xye")
    assert ours["x"].tolist() == [[9.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


@pytest.mark.parametrize(("lang", "words"), [("zh", "不连续也能 view"), ("en", "Not contiguous")])
def test_the_tour_runs_in_either_language(lang, words):
    path = Path(mini_tensor.__file__)
    done = subprocess.run([sys.executable, path, "--lang", lang], capture_output=True, text=True,
                          encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert words in done.stdout
    assert done.stdout.count("RuntimeError: ") == 2
    assert all(code in done.stdout for code, *_ in mini_tensor_tour.STEPS)
    other = {"zh": "Not contiguous", "en": "不连续"}[lang]
    assert other not in done.stdout
