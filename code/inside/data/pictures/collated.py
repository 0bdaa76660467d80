"""What `default_collate` reads of the samples of a batch, and what it makes of them.

The samples note which of their keys are read while torch collates them, so the picture shows what
really happened. Two batches stand side by side, narrow enough for a phone.
"""

from dataclasses import dataclass

from torch.utils.data import default_collate

from inside.pictures.svg import ACCENT, Picture, bilingual, box, down, svg, text

WIDTH, SPACE = 350, 14  # of the picture, between two batches
ROW, LABEL, TOP = 24, 18, 24  # height of a sample, room for its place, room for the keys
MOST = 2  # batches that fit side by side


class Watched(dict):
    """A sample that notes which keys are asked for."""

    def __init__(self, sample):
        super().__init__(sample)
        self.asked = set()

    def __getitem__(self, key):
        self.asked.add(key)
        return super().__getitem__(key)


@dataclass(frozen=True)
class Collated:
    """The keys of all samples; for each sample what it has and what was asked; what came out."""

    keys: tuple
    samples: tuple  # of (keys it has, keys that were asked for)
    batch: dict  # {key: "float32 (8, 2)"}
    error: str  # "KeyError: 'weight'", or nothing


def draw_collated(*batches):
    """Draw one or two batches, each a list of samples that are dictionaries of tensors and floats.

    Raises `ValueError` for more than two.
    """
    if not 0 < len(batches) <= MOST:
        raise ValueError(f"{len(batches)} batches: 1 or {MOST} are drawn")
    seen = [watch(samples) for samples in batches]
    most = max(len(each.samples) for each in seen)
    width = (WIDTH - 2 - SPACE * (len(seen) - 1)) / len(seen)
    parts = [draw(each, 1 + n * (width + SPACE), width, most) for n, each in enumerate(seen)]
    y = TOP + most * ROW + 92
    parts.append(bilingual(2, y, "底色深：default_collate 读过的", "dark: read by default_collate"))
    return Picture(svg(WIDTH, y + 24, "\n".join(parts), smallest_text=12), describe(seen))


def watch(samples):
    """Collate the samples and note what was read."""
    watched, batch, error = [Watched(sample) for sample in samples], {}, ""
    try:
        made = default_collate(watched)
        batch = {key: f"{str(t.dtype)[6:]} {tuple(t.shape)}" for key, t in dict.items(made)}
    except (KeyError, RuntimeError, TypeError) as raised:
        error = f"{type(raised).__name__}: {raised}"
    keys = tuple(dict.fromkeys(key for sample in samples for key in sample))
    return Collated(keys, tuple((frozenset(w), frozenset(w.asked)) for w in watched), batch, error)


# ---------------------------------------------------------------- drawing
def draw(seen, x, width, most):
    """A batch from top to bottom: its samples in rows, its keys in columns, the result."""
    column = (width - LABEL) / len(seen.keys)
    parts = [text(x + LABEL + (n + 0.5) * column, 15, key, 12, mono=True, text_anchor="middle")
             for n, key in enumerate(seen.keys)]
    for place, (has, asked) in enumerate(seen.samples):
        y = TOP + place * ROW
        parts.append(text(x + 2, y + 16, str(place), 12, mono=True))
        for n, key in enumerate(seen.keys):
            parts.append(draw_value(x + LABEL + n * column, y, column, key in has, key in asked))
    parts.append(f'<rect x="{x + LABEL:g}" y="{TOP}" width="{width - LABEL:g}" height="{ROW}" '
                 f'stroke-width="2" style="stroke:{ACCENT}"/>')  # the first sets the form
    bottom = TOP + most * ROW
    parts += [down(x + LABEL + (width - LABEL) / 2, bottom, bottom + 20),
              draw_result(seen, x + LABEL, bottom + 20, width - LABEL, column)]
    return "\n".join(parts)


def draw_value(x, y, width, there, asked):
    """A value of a sample: dark if it was read, a question mark where it was missed."""
    if there:
        return box(x, y, width, ROW, radius=0, tint=0.3 if asked else 0.03, edge=0.4)
    if asked:
        return text(x + width / 2, y + 17, "?", 13, text_anchor="middle", font_weight=600)
    return ""


def draw_result(seen, x, y, width, column):
    """The batch key by key, or the error instead of it."""
    middle = x + width / 2
    if seen.error:
        name, _, words = seen.error.partition(": ")
        return "\n".join([box(x, y, width, 48, tint=0),
                          text(middle, y + 20, name, 12, mono=True, text_anchor="middle"),
                          text(middle, y + 38, words, 12, mono=True, text_anchor="middle")])
    parts = []
    for n, key in enumerate(seen.keys):
        if key in seen.batch:
            dtype, shape = seen.batch[key].split(" ", 1)
            at = x + (n + 0.5) * column
            parts += [box(x + n * column, y, column, 48),
                      text(at, y + 20, dtype, 12, mono=True, text_anchor="middle"),
                      text(at, y + 38, shape, 12, mono=True, text_anchor="middle")]
    return "\n".join(parts)


# ---------------------------------------------------------------- the same as text
def describe(batches):
    lines = []
    for n, seen in enumerate(batches):
        counts = [f"{key} {sum(key in asked & has for has, asked in seen.samples)}"
                  for key in seen.keys]
        lines.append(f"batch {n}: values read: {', '.join(counts)}; {seen.error or seen.batch}")
    return "\n".join(lines)
