"""The two flows of a loader without workers: indices down to the fetcher, samples from there on.

A sampler, a dataset and a collate_fn are run as the loader would run them, and each notes what it
gave, so the picture shows what really passed.
"""

from dataclasses import dataclass

from torch.utils.data import DataLoader

from inside.pictures.svg import CELL, Picture, bilingual, box, down, numbers, svg, text

WIDTH, SPACE = 350, 14  # of the picture, between two batches
ROW, STEP = 46, 62  # height of a part, and with the arrow below it
MOST = 7  # samples whose cells fit side by side


@dataclass(frozen=True)
class Flows:
    """What passed in one epoch, in its order."""

    indices: tuple  # of the sampler
    lists: tuple  # of the batch sampler
    batches: tuple  # of samples, as they came to collate_fn


def draw_two_flows(dataset, batch_size, sampler):
    """Draw one epoch over a dataset whose samples are single letters.

    Raises `ValueError` for more than 7 samples.
    """
    flows = run(dataset, batch_size, sampler)
    if len(flows.indices) > MOST:
        raise ValueError(f"{len(flows.indices)} samples: at most {MOST} are drawn")
    return Picture(svg(WIDTH, 5 * STEP - 14, draw(flows), smallest_text=12), describe(flows))


def run(dataset, batch_size, sampler):
    """One epoch, with the indices noted on their way."""
    indices, lists, batches = [], [], []

    def noted():
        for index in sampler:
            indices.append(index)
            yield index

    loader = DataLoader(dataset, batch_size, sampler=noted(), collate_fn=tuple)
    ends = []
    for batch in loader:
        batches.append(batch)
        ends.append(len(indices))
    for begin, end in zip([0, *ends], ends, strict=False):
        lists.append(tuple(indices[begin:end]))
    return Flows(tuple(indices), tuple(lists), tuple(batches))


# ---------------------------------------------------------------- drawing
def draw(flows):
    """From top to bottom: sampler, batch sampler, fetcher, collate_fn, loop."""
    middle, parts = WIDTH / 2, []
    names = ["sampler", "batch sampler", "fetcher", "collate_fn"]
    for n, name in enumerate(names):
        y = 1 + n * STEP
        parts += [box(1, y, WIDTH - 2, ROW, tint=0.12 if n == 2 else 0.05),
                  text(10, y + 27, name, 12, mono=True), down(middle, y + ROW, y + STEP)]
    parts.append(numbers(flows.indices, 230, 12))
    parts.append(groups(flows.lists, 12 + STEP))
    parts.append(bilingual(middle - 50, 1 + 2 * STEP + 20, "对每个下标 i 取 dataset[i]",
                           "dataset[i] for each index"))
    parts.append(groups(flows.batches, 12 + 3 * STEP))
    parts.append(bilingual(middle, 4 * STEP + 14, "你的循环：一批一批的样本",
                           "your loop: batches of samples", text_anchor="middle"))
    return "\n".join(parts)


def groups(lists, y):
    """Each list in cells of its own, side by side."""
    width = sum(len(each) for each in lists) * CELL + SPACE * (len(lists) - 1)
    parts, x = [], 230 - width / 2
    for each in lists:
        parts.append(numbers(each, x + len(each) * CELL / 2, y))
        x += len(each) * CELL + SPACE
    return "\n".join(parts)


# ---------------------------------------------------------------- the same as text
def describe(flows):
    return "\n".join([f"sampler: {list(flows.indices)}",
                      f"batch sampler: {[list(each) for each in flows.lists]}",
                      f"collate_fn: {[list(each) for each in flows.batches]}"])
