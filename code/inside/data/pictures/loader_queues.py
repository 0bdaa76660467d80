"""Where the batches of a multiprocess DataLoader are, read from a running iterator.

The picture has the sampler, an index queue and a worker each, the result queue that all workers
share, the pinning thread where there is one, the batches that came early. It is narrow, so that a
phone shows it without scrolling.
"""

from inside.data.observe.loader import read
from inside.pictures.svg import Picture, bilingual, box, down, numbers, svg, text

WIDTH, SPACE = 350, 14  # of the picture, between the columns of workers
MOST = 3  # workers that fit side by side


def draw_loader(iterator):
    """Draw what `iter(loader)` made and where its batches are now.

    Raises `ValueError` for an iterator without workers or with more than 3.
    """
    workers = iterator._num_workers
    if not 0 < workers <= MOST:
        raise ValueError(f"num_workers is {workers}: 1 to {MOST} are drawn")
    state = read(iterator)
    body, height = draw(state)
    return Picture(svg(WIDTH, height, body, smallest_text=12), describe(state))


# ---------------------------------------------------------------- drawing
def draw(state):
    """All parts from top to bottom: (SVG, height)."""
    parts = [box(1, 1, WIDTH - 2, 46),
             bilingual(WIDTH / 2, 20, f"主进程：采样器，已派出 {state.sent} 批",
                       f"main process: sampler, {state.sent} batches sent", text_anchor="middle")]
    for worker, tasks in enumerate(state.out):
        parts.append(draw_worker(worker, tasks, *column(worker, len(state.out))))
    parts.append(wide(194, "result queue", "编号和句柄，大家共用", "numbers and handles, shared"))
    y = 194
    if state.pins:
        y += 62
        parts += [down(WIDTH / 2, y - 16, y), wide(y, "pinning thread", "主进程里的一条线程",
                                                    "a thread of the main process")]
    parts += [down(WIDTH / 2, y + 46, y + 62), draw_early(state, y + 62)]
    return "\n".join(parts), y + 62 + 77


def column(worker, count):
    """Left edge and width of a worker's column."""
    width = (WIDTH - 2 - SPACE * (count - 1)) / count
    return 1 + worker * (width + SPACE), width


def draw_worker(worker, tasks, x, width):
    """Index queue with the batches that are out, then the worker."""
    middle = x + width / 2
    idle = ("空闲", "idle") if not tasks else ("取样本，组批", "samples, collate")
    return "\n".join([
        down(middle, 47, 62),
        text(middle, 76, f"index queue {worker}", 12, mono=True, text_anchor="middle"),
        numbers(tasks, middle, 82), down(middle, 108, 122),
        box(x, 122, width, 58, tint=0.1),
        text(middle, 138, f"worker {worker}", 12, mono=True, text_anchor="middle"),
        bilingual(middle, 155, *idle, text_anchor="middle"),
        down(middle, 180, 194),
    ])


def wide(y, name, zh, en):
    """A part that all batches pass, across the whole picture."""
    return "\n".join([box(1, y, WIDTH - 2, 46),
                      text(12, y + 27, name, 12, mono=True),
                      bilingual(130, y + 20, zh, en)])


def draw_early(state, y):
    """The main process at the other end: whose turn it is, and who came before that."""
    zh = f"主进程：等第 {state.turn} 批，早到的先存着"
    en = f"main process: batch {state.turn} is next, early ones kept"
    return "\n".join([box(1, y, WIDTH - 2, 75),
                      bilingual(WIDTH / 2, y + 19, zh, en, text_anchor="middle"),
                      numbers(state.early, WIDTH / 2, y + 43)])


# ---------------------------------------------------------------- the same as text
def describe(state):
    lines = [f"sampler: {state.sent} batches sent"]
    lines += [f"worker {worker}: {list(tasks)}" for worker, tasks in enumerate(state.out)]
    lines += ["result queue", *(["pinning thread"] if state.pins else [])]
    return "\n".join([*lines, f"early: {list(state.early)}, batch {state.turn} is next"])
