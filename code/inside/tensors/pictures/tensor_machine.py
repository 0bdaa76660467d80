"""The whole tensor machine in one picture: objects from Python to the bytes, and a call's path.

Everything drawn is read from the tensors that the calls make and from torch's dispatch table.
The picture is narrow, so that a phone shows it without scrolling.
"""

from inside.pictures.svg import CELL, Picture, arrow, bilingual, box, down, svg, text
from inside.tensors.observe.tensor_machine import counters, fields, storages, take

LABELS, COLUMN, SPACE, ROW = 88, 92, 3, 17  # px: field names, a tensor's column, between, a row
KEYS = {"AutocastCPU": 80, "AutogradCPU": 80, "ADInplaceOrView": 110, "CPU": 50}  # key: its width
KEY_SPACE = 12  # between keys


def draw_tensor_machine(name, tensor, calls):
    """Draw `tensor` and what `calls` make of it, each call made on the result before.

    `calls` maps words as in "t = x.t()" to a function of one tensor that is a single operator.
    Tensors of one storage stand side by side. Raises `ValueError` for tensors not on the CPU.
    """
    if tensor.device.type != "cpu":
        raise ValueError(f"{name}: is on {tensor.device.type}; the machine is drawn for the CPU")
    tensors, steps = {name: tensor}, []
    for words, call in calls.items():
        step, result = take(words, call, tensor)
        steps.append(step)
        tensors[step.name] = tensor = result
    objects, y = draw_objects(tensors)
    path, height = draw_path(steps, y + 26)
    width = max(left(len(tensors)) - SPACE, sum(KEYS.values()) + 3 * KEY_SPACE) + 1
    picture = svg(width, height, objects + "\n" + path, smallest_text=12)
    return Picture(picture, describe(tensors, steps))


# ---------------------------------------------------------------- the objects
def left(column):
    return LABELS + column * (COLUMN + SPACE)


def draw_objects(tensors):
    """Names, Python objects, TensorImpls, storages: (SVG, where they end)."""
    parts = [text(0, 15, "THPVariable", 12, mono=True, font_weight=600),
             bilingual(0, 31, "Python 对象", "Python object"),
             text(0, 76, "TensorImpl", 12, mono=True, font_weight=600)]
    for n, (name, tensor) in enumerate(tensors.items()):
        middle = left(n) + COLUMN / 2
        parts += [box(left(n) + 12, 4, COLUMN - 24, 28, radius=14, tint=0),
                  text(middle, 22, name, mono=True, text_anchor="middle"),
                  down(middle, 32, 62), draw_fields(tensor, n)]
    bottom = 82 + ROW * len(fields(next(iter(tensors.values())))) + 34
    parts.append(draw_counters(tensors, bottom - 30))
    top = bottom + 24
    parts.append(text(0, top + 15, "StorageImpl", 12, mono=True, font_weight=600))
    for columns, storage in storages(tensors):
        parts.append(draw_storage(columns, storage, top))
        parts += [down(left(n) + COLUMN / 2, bottom, top - 2) for n in columns]
    return "\n".join(parts), top + 58


def draw_fields(tensor, column):
    """The box of a TensorImpl; the first one has the names of its fields beside it."""
    parts, rows = [], fields(tensor)
    parts.append(box(left(column), 64, COLUMN, 52 + ROW * len(rows)))
    for n, (field, value) in enumerate(rows):
        baseline = 82 + ROW * (n + 0.5) + 4.5
        parts.append(text(left(column) + COLUMN / 2, baseline, value, 12, mono=True,
                          text_anchor="middle"))
        if column == 0:
            parts.append(text(0, baseline, field, 12))
    return "\n".join(parts)


def draw_counters(tensors, top):
    """The version counters, each across the tensors that point to it."""
    parts = [text(0, top + 16, "version", 12)]
    for columns, version in counters(tensors):
        x, width = span(columns)
        parts += [box(x + 8, top, width - 16, 22, radius=11, tint=0.1),
                  text(x + COLUMN / 2, top + 15.5, str(version), 12, mono=True,
                       text_anchor="middle")]
    return "\n".join(parts)


def draw_storage(columns, storage, top):
    """The elements of a storage in a row, its size in bytes below."""
    x, width = span(columns)
    count = len(storage.values)
    cell = min(CELL, (width - 2) / count)
    start = x + (width - cell * count) / 2
    parts = []
    for n, value in enumerate(storage.values):
        parts += [box(start + n * cell, top, cell, 22, radius=0, tint=0.03),
                  text(start + (n + 0.5) * cell, top + 15, value, 12, mono=True,
                       text_anchor="middle")]
    words = f"{storage.nbytes} 字节", f"{storage.nbytes} bytes"
    return "\n".join([*parts, bilingual(x + width / 2, top + 37, *words, text_anchor="middle")])


def span(columns):
    """Left edge and width of the columns, which are neighbours."""
    return left(columns[0]), left(columns[-1] + 1) - SPACE - left(columns[0])


# ---------------------------------------------------------------- the path of the calls
def draw_path(steps, top):
    """A row for each call: which keys are excluded, fall through or run: (SVG, where it ends)."""
    parts = [text(0, top, "dispatcher", 12, mono=True, font_weight=600),
             bilingual(82, top, "分发键，优先级从高到低", "dispatch keys, highest priority first",
                       leading=15)]
    y = top + 26
    for key, (x, width) in places().items():
        parts.append(text(x + width / 2, y + 12, key, 12, mono=True, text_anchor="middle"))
    for step in steps:
        parts += [text(0, y + 36, f"{step.words}   {step.operator}", 12, mono=True),
                  draw_step(step, y + 44)]
        y += 66
    return "\n".join(parts), y + 24


def places():
    """Left edge and width of each key."""
    found, x = {}, 2
    for key, width in KEYS.items():
        found[key] = x, width
        x += width + KEY_SPACE
    return found


def draw_step(step, y):
    """The kernels in boxes, arrows from one to the next past the keys that take no part."""
    parts, come = [], 2
    for key, (x, width) in places().items():
        fate, middle = step.fate(key), x + width / 2
        if fate == "kernel":
            parts += [box(x, y + 2, width, 28, tint=0.1), arrow(come, y + 18, x - 1, y + 18),
                      text(middle, y + 20, fate, 12, mono=True, text_anchor="middle")]
            come = x + width
        else:
            parts.append(text(middle, y + 9, fate, 12, mono=True, text_anchor="middle",
                              fill_opacity=0.75))
    return "\n".join(parts)


def describe(tensors, steps):
    """The same facts as text."""
    lines = [f"{name}: " + ", ".join(f"{field} {value}" for field, value in fields(tensor))
             for name, tensor in tensors.items()]
    names = list(tensors)
    for columns, version in counters(tensors):
        lines.append(f"version {version}: {', '.join(names[n] for n in columns)}")
    for columns, storage in storages(tensors):
        held = ", ".join(names[n] for n in columns)
        lines.append(f"storage [{' '.join(storage.values)}], {storage.nbytes} bytes: {held}")
    for step in steps:
        fates = ", ".join(f"{key} {step.fate(key)}" for key in KEYS)
        lines.append(f"{step.words}: {step.operator}: {fates}")
    return "\n".join(lines)
