"""检查补完的 mini_cache · Check a mini_cache that you have completed.

    python3 check_cache.py                 every practice file beside this file
    python3 check_cache.py FILE …

The exit status is 0 if all checks pass. It needs torch.
"""
import math
import sys

from exercise_harness import Checker, Differs

try:
    import torch
except ImportError:
    torch = None


def same(what, found, wanted):
    """Stop with one line unless what is found is what is wanted."""
    if found != wanted:
        raise Differs(f"{what}: expected {wanted}; found {found}")


def numbers(count):
    """A tensor of 8 * count bytes."""
    return torch.zeros(count, dtype=torch.float64)


def filled(module, limit, keys="abc"):
    """A cache of this limit, with a value of 8 bytes for each key, put there by hand."""
    lru = module.LRU(limit)
    for key in keys:
        lru.kept[key] = numbers(1), 8
        lru.bytes += 8
    return lru


def counters(lru):
    return {name: getattr(lru, name) for name in ("hits", "misses", "evictions", "refused")}


# --- Bytes ---------------------------------------------------------------------------------------

def check_nbytes(module):
    x = numbers(100)
    for what, thing, wanted in [
            ("a tensor of 100 float64", x, 800), ("one element of it, a view", x[:1], 800),
            ("a copy of that element", x[:1].clone(), 8)]:
        same(f"nbytes of {what}", module.nbytes(thing), wanted)
    pair = (x, x[:1], x.view(10, 10))
    same("nbytes of three tensors of one storage, in a tuple", module.nbytes(pair),
         800 + sys.getsizeof(pair))
    memory = bytearray(800)
    two = tuple(torch.frombuffer(memory, dtype=torch.float64) for _ in range(2))
    same("nbytes of two tensors made from one buffer, in a tuple", module.nbytes(two),
         800 + sys.getsizeof(two))
    text = "text" * 100
    nest = [[text], {1: text}]
    same("nbytes of a string that is in a nest twice", module.nbytes(nest),
         sum(map(sys.getsizeof, (nest, nest[0], nest[1], 1, text))))


# --- The cache -----------------------------------------------------------------------------------

def check_get(module):
    lru = filled(module, 24)
    value = lru.kept["a"][0]
    same("whether get gives the value itself", lru.get("a") is value, True)
    same("the keys after get('a'), the one used last behind", [*lru.kept], ["b", "c", "a"])
    same("counters after one hit", counters(lru),
         {"hits": 1, "misses": 0, "evictions": 0, "refused": 0})
    same("get of what is not there", lru.get("d"), None)
    same("get('d', 'nothing')", lru.get("d", "nothing"), "nothing")
    same("counters after one hit and two misses", counters(lru),
         {"hits": 1, "misses": 2, "evictions": 0, "refused": 0})
    same("the keys after misses", [*lru.kept], ["b", "c", "a"])


def check_evict(module):
    for limit, keys in [(24, "abc"), (23, "bc"), (16, "bc"), (8, "c"), (0, "")]:
        lru = filled(module, 24)
        lru.evict(limit)
        same(f"the keys after evict({limit}), which were abc, of 8 bytes each",
             "".join(lru.kept), keys)
        same(f"`bytes` after evict({limit})", lru.bytes, 8 * len(keys))
        same(f"`evictions` after evict({limit})", lru.evictions, 3 - len(keys))


def check_put(module):
    lru = module.LRU(24)
    value = numbers(1)
    same("what put returns for 8 of 24 bytes", lru.put("a", value), True)
    same("whether the value itself is kept", lru.kept["a"][0] is value, True)
    same("`bytes` after one put of 8", lru.bytes, 8)
    for key in "bc":
        lru.put(key, numbers(1))
    lru.put("d", numbers(2))
    same("the keys after a, b, c of 8 bytes and d of 16, limit 24", [*lru.kept], ["c", "d"])
    same("`bytes` then", lru.bytes, 24)
    same("`evictions` then", lru.evictions, 2)
    lru.put("c", numbers(1))
    same("the keys after c is put again", [*lru.kept], ["d", "c"])
    same("`bytes` after a key is put again", lru.bytes, 24)
    same("what put returns for 32 of 24 bytes", lru.put("e", numbers(4)), False)
    same("the keys after one is refused", [*lru.kept], ["d", "c"])
    same("what put returns for a new c of 32 bytes", lru.put("c", numbers(4)), False)
    same("the keys after a new c is refused: the old one is no longer true", [*lru.kept], ["d"])
    same("`bytes` then", lru.bytes, 16)
    same("counters after all that", counters(lru),
         {"hits": 0, "misses": 0, "evictions": 2, "refused": 2})
    lru.put("f", numbers(100)[:1])
    same("the keys after a view of 8 bytes into 800 is put: it weighs 800", [*lru.kept], ["d"])


# --- Asking the sampler --------------------------------------------------------------------------

def check_distances(module):
    inf = math.inf
    for order, wanted in [
            ("", []), ("abc", [inf] * 3), ("aab", [inf, 0, inf]), ("abcabc", [inf] * 3 + [2] * 3),
            ("abbba", [inf, inf, 0, 0, 1]), ("abcba", [inf, inf, inf, 1, 2]),
            ("abcabac", [inf, inf, inf, 2, 2, 1, 2])]:
        same(f"reuse_distances({order!r})", module.reuse_distances(order), wanted)
    same("reuse_distances of indices, one of them 0",
         module.reuse_distances([3, 0, 3, 0]), [inf, inf, 1, 1])


CHECKER = Checker(
    {"mini_cache": {"nbytes": check_nbytes, "LRU.get": check_get, "LRU.evict": check_evict,
                    "LRU.put": check_put, "reuse_distances": check_distances}},
    needs={"LRU.put": ["nbytes", "LRU.evict"]})

if __name__ == "__main__":
    if torch is None:
        print("要装 torch · this needs torch")
        sys.exit(1)
    sys.exit(CHECKER.main())
