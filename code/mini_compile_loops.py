"""One group becomes one C++ function.

The loops walk over the group's space. Sizes are arguments, and so is a stride unless it is 0, 1 or
a product of sizes: another batch size runs the same code. Dimensions that lie in memory as one are
joined first. If the space has rows, an outer loop walks over the rows, and a row is swept as often
as its reductions ask for: a value that waits for a row's sum belongs to the next sweep.
Source: torch/_inductor/codegen/cpp.py, ir.py (Pointwise, Reduction), sizevars.py (simplify loops).
"""
from dataclasses import dataclass, field

from torch.fx.experimental.symbolic_shapes import statically_known_true

from mini_compile_groups import reduces, tensors

__all__ = ["Kernel", "Space", "Sweeps", "same", "strides_of"]


def same(a, b):
    """Whether two sizes are known to be equal, without a guard."""
    plain = isinstance(a, int) and isinstance(b, int)
    return a == b if plain else statically_known_true(a == b)


@dataclass
class Kernel:
    """A C++ function and how it is called: pointers, then sizes, then the number of threads."""

    name: str
    group: object
    inputs: list = field(default_factory=list)       # nodes whose tensors it reads
    outputs: list = field(default_factory=list)      # nodes whose tensors it writes
    numbers: list = field(default_factory=list)      # sizes, strides, symbolic numbers
    loops: int = 0                                   # so many numbers are the sizes of loops
    source: str = ""

    nodes = property(lambda self: [node.name for node in self.group.nodes])

    def can_be_called(self):
        """Whether there are at most 512 arguments: g++ is slow with more, ctypes ends at 1024."""
        return len(self.inputs) + len(self.outputs) + len(self.numbers) < 512


# --- 1. The space: which loops there are ----------------------------------------------------------

class Space:
    """The loops over a space, after dimensions that lie together were joined.

    sizes, rows: the loops' sizes, and how many of the loops walk over rows."""

    def __init__(self, shape, split, accesses):
        outer = len(shape) - split if split else 0
        dims = [d for d in range(len(shape)) if not same(shape[d], 1)]
        zones = [[d for d in dims if d < outer], [d for d in dims if d >= outer]]
        self.shape, self.accesses = shape, accesses
        self.parts = [self.joined(self.ordered(zone)) for zone in zones]
        self.rows = len(self.parts[0])
        self.loops = self.parts[0] + self.parts[1]
        self.sizes = [self.size(part) for part in self.loops]

    def ordered(self, zone):
        """The dimension with the smallest stride innermost, if strides are plain numbers."""
        strides = self.accesses[-1] if self.accesses else ()
        if not zone or not all(isinstance(strides[d], int) for d in zone):
            return zone
        return sorted(zone, key=lambda d: -strides[d])

    def joined(self, zone):
        """Lists of dimensions, each list one loop."""
        parts = []
        for d in zone:
            if parts and all(same(one[parts[-1][-1]], one[d] * self.shape[d])
                             for one in self.accesses):
                parts[-1].append(d)
            else:
                parts.append([d])
        return parts

    def size(self, part):
        size = 1
        for d in part:
            size = size * self.shape[d]
        return size


def strides_of(node, role, group):
    """A tensor's strides along the space's dimensions; 0 where it is broadcast.

    role: "full", or "row" and "short row" for one value a row, with and without the reduced
    dimensions as 1."""
    value, rank, split = node.meta["val"], len(group.space[0]), group.space[1]
    shape, strides = list(value.shape), list(value.stride())
    missing = (rank - split if role == "short row" else rank) - len(shape)
    found = [0] * missing + [0 if same(n, 1) else s for n, s in zip(shape, strides, strict=True)]
    if role == "short row":
        found += [0] * split
    return tuple(found)


# --- 2. The sweeps: what a value has to wait for --------------------------------------------------

class Sweeps:
    """`at`: in which sweep over a row each node is computed; a row's value follows that sweep."""

    def __init__(self, group):
        self.group, self.at = group, {}
        row, members = group.places.row, set(group.nodes)
        for node in group.nodes:
            inside = [one for one in tensors(node) if one in members]
            first = -1 if row[node] and not reduces(node) else 0
            self.at[node] = max([first] + [
                self.at[one] + (row[one] and (reduces(node) or not row[node])) for one in inside])
        for node in reversed(group.nodes):            # later, if nobody needs it that early
            users = [self.at[user] for user in node.users if user in members]
            if users and not row[node]:
                self.at[node] = max(self.at[node], min(users))
        self.count = max([at for node, at in self.at.items() if not row[node] or reduces(node)],
                         default=0) + 1
