"""How often a cache that holds a share of the samples has the one that is asked for."""

from inside.pictures.plot import draw_curves

NAMES = {"shuffled": ("LRU，每轮打乱", "LRU, shuffled every epoch"),
         "in order": ("LRU，按顺序", "LRU, in order"),
         "fixed": ("固定的一部分，顺序不限", "a fixed part, any order")}


def draw_hit_rates(distances, count):
    """Picture of {name: reuse distances of one epoch over `count` samples}, for every size at once.

    An LRU cache hits where a distance is below the samples it has room for. The curve of a part
    that is never evicted is added.
    """
    curves = {NAMES.get(name, name): [hits(each, count * percent / 100) for percent in range(101)]
              for name, each in distances.items()}
    curves[NAMES["fixed"]] = [float(percent) for percent in range(101)]
    return draw_curves(curves, ("缓存放得下的样本（%）", "samples that the cache can hold (%)"),
                       ("命中率（%）", "hit rate (%)"), start=0)


def hits(distances, room):
    """The percentage of hits of an LRU cache with room for so many samples."""
    return 100 * sum(distance < room for distance in distances) / len(distances)
