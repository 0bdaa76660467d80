"""检查补完的 mini_shards · Check a mini_shards that you have completed.

    python3 check_shards.py                 every practice file beside this file
    python3 check_shards.py FILE …

The exit status is 0 if all checks pass. It needs torch.
"""
import sys

from exercise_harness import Checker, Differs, claim

try:
    import torch
except ImportError:
    torch = None


def same(what, found, wanted):
    """Stop with one line unless what is found is what is wanted."""
    if found != wanted:
        raise Differs(f"{what}: expected {wanted}; found {found}")


def generator():
    return torch.Generator().manual_seed(0)


# --- A name in a tar file ------------------------------------------------------------------------

def check_split(module):
    for name, wanted in [("0001.txt", ("0001", "txt")), ("0001.left.png", ("0001", "left.png")),
                         ("dogs/0001.txt", ("dogs/0001", "txt")),
                         ("v1.2/dogs/a.b.c", ("v1.2/dogs/a", "b.c"))]:
        same(f"split({name!r})", module.split(name), wanted)


# --- Shuffling a stream --------------------------------------------------------------------------

def shuffled(samples, size):
    """What a buffer gives, drawn as in the companion."""
    draws, held, found = generator(), [], []
    for number, sample in enumerate(samples):
        if number < size:
            held += [sample]
        else:
            place = int(torch.randint(size, (), generator=draws))
            found += [held[place]]
            held[place] = sample
    for left in range(len(held), 0, -1):
        place = int(torch.randint(left, (), generator=draws))
        found += [held[place]]
        held[place] = held[left - 1]
    return found


def check_shuffle_buffer(module):
    for n, size in [(0, 3), (1, 3), (3, 3), (4, 3), (20, 3), (20, 1), (20, 19), (20, 50)]:
        found = [*module.shuffle_buffer(iter(range(n)), size, generator())]
        same(f"{n} samples through a buffer of {size}, sorted", sorted(found), [*range(n)])
        same(f"{n} samples through a buffer of {size}", found, shuffled(range(n), size))
    read = []
    samples = module.shuffle_buffer((read.append(n) or n for n in range(99)), 5, generator())
    for given in range(20):
        claim(f"after {given} samples no more than {given + 5} have been read",
              len(read) <= given + 5)
        next(samples)


# --- Dealing -------------------------------------------------------------------------------------

def check_deal(module):
    for n, world, workers, repeat, wanted in [
            (6, 2, 1, False, [[0, 1, 2], [3, 4, 5]]), (7, 2, 1, False, [[0, 1, 2], [3, 4, 5]]),
            (7, 2, 1, True, [[0, 1, 2, 3], [4, 5, 6, 0]]),
            (10, 2, 2, False, [[0, 1], [2, 3, 4], [5, 6], [7, 8, 9]]),
            (8, 2, 3, False, [[0], [1], [2, 3], [4], [5], [6, 7]]),
            (10, 1, 4, False, [[0, 1], [2, 3, 4], [5, 6], [7, 8, 9]]),
            (2, 3, 1, False, [[], [], []]), (2, 3, 1, True, [[0], [1], [0]]),
            (2, 5, 1, True, [[0], [1], [0], [1], [0]]), (0, 2, 2, True, [[]] * 4),
            (3, 1, 1, False, [[0, 1, 2]])]:
        found = [list(piece) for piece in module.deal(list(range(n)), world, workers, repeat)]
        same(f"deal({n} positions, world={world}, workers={workers}, repeat={repeat})", found,
             wanted)
    same("deal of the positions [5, 9, 7, 1] to two ranks",
         [list(piece) for piece in module.deal([5, 9, 7, 1], 2, 1)], [[5, 9], [7, 1]])


CHECKER = Checker(
    {"mini_shards": {"shuffle_buffer": check_shuffle_buffer, "deal": check_deal},
     "mini_shards_tar": {"split": check_split}},
    imports={"mini_shards": ["mini_shards_tar.py"]})

if __name__ == "__main__":
    if torch is None:
        print("要装 torch · this needs torch")
        sys.exit(1)
    sys.exit(CHECKER.main())
