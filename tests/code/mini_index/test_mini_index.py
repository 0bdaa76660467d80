"""mini_index against torch: random tensors, keys and values; shapes, values, views, refusals."""

import random
import subprocess
import sys
import types
import warnings
from collections import Counter

import pytest
import torch

import mini_index
import mini_index_tour
import tour
from book.pipeline.ground.paths import CODE
from oracles import index_cases as draw
from oracles.index_cases import result, written_by_torch
from tests.helpers.depth import cases

READS, WRITES, ALONG = cases(6_000), cases(4_000), cases(2_000)
MUST_BE_SEEN = {*draw.KINDS, "...", "list as a tuple", "view", "copy", "refused", "size 0",
                "permuted", "sliced", "offset", "in front", "side by side"}


@pytest.fixture(autouse=True)
def quietly():
    """torch warns for uint8 masks and for lists that count as tuples."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def layout(x):
    """Where the elements of a view lie."""
    return x.untyped_storage().data_ptr(), x.storage_offset(), x.stride()


def agree(ours, theirs, x, what):
    """Assert the same exception type, or the same shape, dtype, values and view or copy."""
    refused = [isinstance(one, type) for one in (ours, theirs)]
    if any(refused):
        assert all(refused), what
        assert ours is theirs or not x.dim(), what    # a slice of a 0-dim tensor with step 0, say
        return "refused"
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), what
    assert torch.equal(ours, theirs), what
    if not x.untyped_storage().nbytes():
        return "no storage"
    views = [one.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
             for one in (ours, theirs)]
    assert views[0] == views[1], what
    if views[0]:
        assert layout(ours) == layout(theirs), what
    return "view" if views[0] else "copy"


def landing(x, key):
    """Where the dimensions of two or more index tensors land."""
    chosen = mini_index.choices(mini_index.basic(x, key))
    if len(chosen) < 2:
        return "fewer than two index tensors"
    return "side by side" if max(chosen) - min(chosen) == len(chosen) - 1 else "in front"


# ---- reading -------------------------------------------------------------------------------------

def read_one(seed):
    """Compare one random x[key]; what it was, as names to count."""
    dice = random.Random(seed)
    x, how = draw.tensor(dice)
    key, kinds = draw.key(dice, x.shape)
    theirs = result(lambda: x[key])
    found = agree(result(mini_index.index, x, key), theirs, x, f"seed {seed}: {x.shape} {key}")
    seen = [found, how, *set(kinds), *(["size 0"] if 0 in x.shape else [])]
    return [*seen, landing(x, key)] if found == "copy" else seen


def printed(seen):
    print("\n" + "\n".join(f"{count:8}  {what}" for what, count in seen.most_common()))


def test_random_keys_read_as_in_torch(counted):
    seen = Counter()
    for seed in range(READS):
        seen.update(read_one(seed))
    printed(seen)
    assert all(seen[what] >= READS / 200 for what in MUST_BE_SEEN), seen
    assert seen["refused"] <= READS / 3
    counted("random keys of mini_index", READS)


# ---- writing -------------------------------------------------------------------------------------

def added_by_torch(x, key, value):
    """x[key] += value counting duplicates: torch's own put_ at the positions that torch reads."""
    places = torch.arange(x.numel()).view(x.shape)[key]
    if not isinstance(value, torch.Tensor):
        value = written_by_torch(x.new_zeros(()), (), value)
    while value.shape[:1] == (1,):
        value = value[0]
    flat = x.flatten().clone()
    flat.put_(places, value.expand(places.shape).contiguous(), accumulate=True)
    return flat.view(x.shape)


def base_of(x):
    """A copy of the whole storage of x, and x in it."""
    storage = torch.empty(0, dtype=x.dtype).set_(x.untyped_storage()).clone()
    return storage, storage.as_strided(x.shape, x.stride(), x.storage_offset())


def has_duplicates(x, key):
    places = torch.arange(x.numel()).view(x.shape)[key]
    return len(places.unique()) < places.numel()


def write_one(seed):
    """Compare one random write with torch's; the cells around x must stay as they were."""
    dice = random.Random(seed)
    x, how = draw.tensor(dice)
    key, kinds = draw.key(dice, x.shape)
    while "uint8 mask" in kinds:                   # torch takes these only sometimes
        key, kinds = draw.key(dice, x.shape)
    read = result(lambda: x[key])
    value = draw.value(dice, () if isinstance(read, type) else read.shape, x.dtype)
    (ours, my_x), (theirs, its_x) = base_of(x), base_of(x)
    what = f"seed {seed}: {tuple(x.shape)} {key} = {value}"
    if isinstance(read, type):                     # both may have a fault: which is told may differ
        assert isinstance(result(mini_index.index_put, my_x, key, value), type) == isinstance(
            result(written_by_torch, its_x, key, value), type), what
        return ["refused", how]
    accumulate = (dice.random() < 0.4 and key is not False
                  and getattr(value, "dtype", x.dtype) == x.dtype)
    seen = [how, *set(kinds)]
    if has_duplicates(x, key):
        seen.append("duplicates")
        if not accumulate and isinstance(value, torch.Tensor):
            value = value.new_full(value.shape, 7)   # torch promises no order: equal values only
    if accumulate:
        wanted = result(added_by_torch, its_x, key, value)
        found = result(mini_index.index_put, my_x, key, value, True)
        if not isinstance(wanted, type):
            assert torch.equal(found, wanted), what
            its_x.copy_(wanted)
        seen.append("accumulated")
    else:
        wanted = result(written_by_torch, its_x, key, value)
        found = result(mini_index.index_put, my_x, key, value)
    assert agree(found, wanted, my_x, what) if isinstance(wanted, type) else found is my_x, what
    assert torch.equal(ours, theirs), what
    return [*seen, "refused" if isinstance(wanted, type) else "written"]


def test_random_writes_leave_what_torch_leaves(counted):
    seen = Counter()
    for seed in range(WRITES):
        seen.update(write_one(seed))
    printed(seen)
    for what in ("written", "refused", "accumulated", "duplicates", "permuted", "sliced"):
        assert seen[what] >= WRITES / 50, seen
    assert seen["refused"] <= WRITES / 2
    counted("random writes of mini_index", WRITES)


def test_duplicates_add_up_only_with_accumulate():
    votes, ids = torch.zeros(3), torch.tensor([1, 1, 1, 2])
    mini_index.index_put(votes, ids, mini_index.index(votes, ids) + 1)
    assert votes.tolist() == [0, 1, 1]
    assert mini_index.index_put(torch.zeros(3), ids, 1, accumulate=True).tolist() == [0, 3, 1]


def test_all_values_are_read_before_the_first_write():
    x = torch.arange(5)
    assert mini_index.index_put(x, slice(1, None), x[:-1]).tolist() == [0, 0, 1, 2, 3]


# ---- along one dimension -------------------------------------------------------------------------

def along_one(seed):
    """Compare gather, scatter_add and take_along_dim on one random index."""
    dice = random.Random(seed)
    x, how = draw.tensor(dice)
    while not x.dim():
        x, how = draw.tensor(dice)
    dim = dice.randrange(-x.dim(), x.dim())
    shape = [max(1, size - dice.choice((0, 0, 1))) for size in x.shape]
    shape[dim] = dice.choice((1, 2, 6))
    if dice.random() < 0.1:
        shape[dice.randrange(len(shape))] += 1
    low = -x.shape[dim] - 1 if dice.random() < 0.1 else 0
    high = max(x.shape[dim] + (dice.random() < 0.05), 1)
    idx = torch.tensor([dice.randrange(low, high) for _ in range(torch.Size(shape).numel())])
    idx = idx.view(shape).to(dice.choice((*[torch.int64] * 9, torch.int32)))
    shape = [size + dice.choice((0, 0, 0, 1)) for size in shape]       # src may be larger
    src = torch.arange(1, torch.Size(shape).numel() + 1, dtype=x.dtype).view(shape)
    src = src if dice.random() < 0.9 else src.narrow(0, 0, 0)
    src = src if dice.random() < 0.95 else src.int()
    what = f"seed {seed}: {tuple(x.shape)} dim {dim} {idx}"
    found = [str(idx.dtype), *(["larger src"] if src.numel() > idx.numel() else [])]
    for name, arguments in [("gather", (x, dim, idx)), ("scatter_add", (x, dim, idx, src)),
                            ("take_along_dim", (x, idx, dim)),
                            ("take_along_dim", (x.contiguous(), idx.flatten()))]:
        told = agree(result(getattr(mini_index, name), *arguments),
                     result(getattr(torch, name), *arguments), x, f"{name}, {what}")
        found.append(f"{name}: {'refused' if told == 'refused' else 'agrees'}")
    return [how, *found]


def test_random_gathers_and_scatters_agree_with_torch(counted):
    seen = Counter()
    for seed in range(ALONG):
        seen.update(along_one(seed))
    printed(seen)
    for name in ("gather", "scatter_add", "take_along_dim"):
        assert seen[f"{name}: agrees"] >= ALONG / 4
        assert seen[f"{name}: refused"] >= ALONG / 50
    assert seen["torch.int32"] >= ALONG / 50, seen
    assert seen["larger src"] >= ALONG / 5, seen
    counted("random gathers and scatters of mini_index", 4 * ALONG)


# ---- rules that look right and are not: the random cases find each -------------------------------

WRONG_RULES = {
    "the dimensions always go to the front": (read_one, "if side_by_side else 0", "* 0"),
    "the dimensions always stay": (read_one, "min(chosen) if side_by_side else 0", "min(chosen)"),
    "a position is not checked from below": (read_one, "(tensor < -size) | ", ""),
    "a negative position is not wrapped": (
        read_one, "torch.where(tensor < 0, tensor + size, tensor)", "tensor"),
    "an empty result is checked all the same": (read_one, "(whole or not size) and ", ""),
    "a size of 0 is checked as any other": (read_one, "(whole or not size) and", "whole and"),
    "a mask is a list of positions": (
        read_one, "if tensor.dtype not in MASKS:", "if tensor.dim() == 1:"),
    "a mask of another size is taken": (
        read_one, "if list(tensor.shape) != place.size[dim:dim + tensor.dim()]:", "if False:"),
    "the offset forgets the old stride": (
        read_one, "self.offset += start * self.stride[dim]", "self.offset += start"),
    "a bool is an int": (read_one, "and not isinstance(item, bool)", ""),
    "True chooses nothing": (read_one, "torch.zeros(int(item), ", "torch.zeros(0, "),
    "accumulate writes": (write_one, "storage[address] + new if accumulate else new", "new"),
    "1s in front stay": (write_one, "while value.shape[:1] == (1,):", "while False:"),
    "index tensors convert": (
        write_one, "place.chosen and value.dtype", "False and value.dtype"),
    "a number is a float32 first": (
        write_one, "torch.full((), value, dtype=x.dtype)", "torch.as_tensor(value).to(x.dtype)"),
    "src is as large as idx": (along_one, "index(src, tuple(map(slice, idx.shape)))", "src"),
    "take_along_dim takes an int32": (along_one, " or idx.dtype != torch.int64", ""),
    "gather takes negatives": (along_one, "(idx < 0) | (idx", "(idx < -x.shape[dim]) | (idx"),
    "gather broadcasts": (along_one, "idx.shape[d] > x.shape[d] for d in others",
                          "False for d in others"),
}


@pytest.mark.parametrize("name", WRONG_RULES)
def test_a_wrong_rule_is_found(name, monkeypatch):
    one, old, new = WRONG_RULES[name]
    text = (CODE / "mini_index.py").read_text(encoding="utf-8")
    assert text.count(old) == 1
    wrong = types.ModuleType("wrong_index")
    monkeypatch.setitem(sys.modules, "wrong_index", wrong)         # dataclasses look there
    exec(text.replace(old, new), vars(wrong))
    monkeypatch.setitem(globals(), "mini_index", wrong)
    assert any(disagrees(one, seed) for seed in range(1_500))


def disagrees(one, seed):
    try:
        one(seed)
    except Exception:
        return True
    return False


# ---- the tour ------------------------------------------------------------------------------------

@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_tour_runs_in_either_language(lang):
    done = subprocess.run([sys.executable, CODE / "mini_index.py", "--lang", lang],
                          capture_output=True, text=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("RuntimeError: ") == 1
    assert all(code in done.stdout for code, *_ in mini_index_tour.STEPS)
    assert ("视图" in done.stdout) == (lang == "zh")


def test_the_tour_shows_what_torch_does():
    theirs = {"torch": torch, "gather": torch.gather, "index": lambda x, key: x[key],
              "index_put": lambda x, key, value, accumulate=False: x.index_put_(
                  (torch.tensor(key),), torch.as_tensor(value, dtype=x.dtype), accumulate)}
    ours = {**vars(mini_index), "torch": torch}
    for code, *_ in mini_index_tour.STEPS:
        if "basic" not in code:
            shown = [tour.show(code, scope).split(": ")[0] for scope in (ours, theirs)]
            assert shown[0] == shown[1], code
