"""Every part of the machine behind a multiprocess DataLoader, read from a running iterator.

The picture says what each part does and holds; `loader_queues` draws less. It is narrow, so that
a phone shows it without scrolling.
"""

from inside.data.observe.loader import read_machine, read_waiting
from inside.pictures.svg import (
    CELL,
    Picture,
    along,
    bilingual,
    box,
    down,
    numbers,
    stroke,
    svg,
    text,
)

PAGE, STRIP, INNER = 373, 95, 107  # px: width, that of the books, left edge of the workers
QUEUES, WORKERS, RESULTS, BELOW = 198, 272, 420, 486  # upper edges; of the main process again
ALL, ROOM = (10, PAGE - 20), 52  # left edge and width of a part of the main process; its height
BOOKS, ROW = QUEUES + 54, 34  # upper edge of the first line of the books, its height
EARLY, SPACE = 300, 14  # middle of the batches that came early; between the columns of workers


def draw_loader_machine(iterator):
    """Draw every part of the machine behind a multiprocess iterator, as it stands now.

    Raises `ValueError` as `read_machine`.
    """
    return picture_of(read_machine(iterator))


def draw_waiting(iterator, gate):
    """Draw the machine while `next` waits for a batch behind `gate`, then open it.

    The loop runs in this thread, to the end of the epoch. Raises `TimeoutError` if the machine
    has not come to rest after 20 seconds, and `ValueError` as `draw_loader_machine`.
    """
    return picture_of(read_waiting(iterator, gate))


# ---------------------------------------------------------------- drawing
def picture_of(machine):
    """The main process as a frame around the workers, the way of a batch from top to bottom."""
    low = max(BELOW, BOOKS + ROW * len(machine.books()))
    end, height = draw_end(machine, low + 14)
    parts = [outline(low, height - 1), draw_begin(machine), draw_books(machine.books()),
             *(draw_column(machine, n) for n in range(len(machine.state.out))),
             draw_border(machine, low + 14), end]
    return Picture(svg(PAGE, height, "\n".join(parts), smallest_text=12),
                   describe(machine))


def outline(low, bottom):
    """The main process: above, below and at the left of the workers."""
    path = f"M1 1H{PAGE - 1}V{QUEUES - 16}H{STRIP}V{low}H{PAGE - 1}V{bottom:g}H1z"
    return (f'<path d="{path}" fill="currentColor" fill-opacity="0.04" stroke="currentColor" '
            'stroke-opacity="0.55" stroke-linejoin="round"/>')


def part(y, name, zh, en, *, x=ALL[0], width=ALL[1], dashed=False):
    """A part of the main process: its name in torch, then what it does."""
    frame = box(x, y, width, ROOM, tint=0.05)
    if dashed:
        frame = frame.replace("/>", ' stroke-dasharray="4 4"/>')
    return "\n".join([frame, text(x + 8, y + 16, name, 12, mono=True),
                      bilingual(x + 8, y + 31, zh, en)])


def draw_begin(machine):
    """Samplers side by side, then what sends their batches out."""
    half, (sampler, batches), sent = ALL[1] / 2 - 10, machine.samplers, machine.state.sent
    right, limit = ALL[0] + half + 20, "{} × {}".format(*machine.limit)
    return "\n".join([
        bilingual(ALL[0], 18, "主进程", "main process", font_weight=600),
        part(44, sampler, "给出下标", "gives indices", width=half),
        along(ALL[0] + half, right, 70),
        part(44, batches, "一批一批的下标", "indices by the batch", x=right, width=half),
        down(right + half / 2, 96, 114),
        part(114, "_try_put_index", f"轮流派，已派 {sent} 批；没交出的至多 {limit}",
             f"in turn, {sent} sent; at most {limit} not handed over")])


def draw_books(rows):
    """Who has which batch; between sending and handing over, which both use them."""
    parts = [text(8, QUEUES + 14, "_task_info", 12, mono=True),
             bilingual(8, QUEUES + 30, "账本", "the books")]
    for n, (k, worker) in enumerate(rows):
        y = BOOKS + n * ROW
        where = ("已到", "is here") if worker is None else (f"在 {worker} 号", f"worker {worker}")
        parts += [numbers((k,), 8 + CELL / 2, y + 2), bilingual(38, y + 11, *where)]
    return "\n".join(parts)


def draw_column(machine, worker):
    """An index queue and its worker."""
    x, width = inner(worker, len(machine.state.out))
    middle, making = x + width / 2, machine.making(worker)
    words = ("正在做", "in the making") if making else ("空闲", "idle")
    return "\n".join([
        down(middle, 166, QUEUES), box(x, QUEUES, width, 56),
        text(middle, QUEUES + 17, f"index queue {worker}", 12, mono=True, text_anchor="middle"),
        numbers(machine.queued[worker], middle, QUEUES + 26),
        down(middle, QUEUES + 56, WORKERS), box(x, WORKERS, width, 120, tint=0.12),
        text(middle, WORKERS + 17, f"worker {worker}", 12, mono=True, font_weight=600,
             text_anchor="middle"),
        text(middle, WORKERS + 35, f"{machine.makes[0]}[i]", 12, mono=True, text_anchor="middle"),
        text(middle, WORKERS + 51, machine.makes[1], 12, mono=True, text_anchor="middle"),
        numbers(making, middle, WORKERS + 60),
        bilingual(middle, WORKERS + 98, *words, text_anchor="middle")])


def draw_border(machine, y):
    """From the workers to the main process: numbers in the queue that they share, bytes beside."""
    count, line, early = len(machine.state.out), WORKERS + 131, len(machine.state.early)
    begins = [middle_of(n, count) for n in range(count)]
    ends = [middle_of(n, 2) for n in range(2)]
    parts = [stroke(f"M{min(begins + ends):g} {line}H{max(begins + ends):g}"),
             *(stroke(f"M{x:g} {WORKERS + 120}V{line}") for x in begins)]
    words = [("result queue", f"编号和句柄，{machine.done} 个", f"handles, {machine.done} inside"),
             ("shared memory", f"{early} 批，{machine.nbytes} 字节",
              f"{early} here, {machine.nbytes} bytes")]
    for n, (name, zh, en) in enumerate(words):
        x, width = inner(n, 2)
        parts += [down(ends[n], line, RESULTS), part(RESULTS, name, zh, en, x=x, width=width),
                  down(ends[n], RESULTS + ROOM, y)]
    return "\n".join(parts)


def draw_end(machine, y):
    """The pinning thread, dashed where there is none, the reordering, your loop: (SVG, height)."""
    state, middle, step = machine.state, PAGE / 2, ROOM + 18
    words = ("复制进锁页内存，放进一条普通队列", "copies to pinned memory, fills a plain queue")
    if not state.pins:
        words = ("这里没有：要 pin_memory=True 和加速器",
                 "none: takes pin_memory=True, an accelerator")
    parts = [part(y, "pinning thread", *words, dashed=not state.pins),
             down(middle, y + ROOM, y + step),
             part(y + step, "_next_data", "按编号重排，早到的先存着",
                  "puts in order, keeps early ones"),
             numbers(state.early, EARLY, y + step + (ROOM - CELL) / 2),
             down(middle, y + step + ROOM, y + 2 * step),
             part(y + 2 * step, "for batch in loader:", f"轮到第 {state.turn} 批",
                  f"batch {state.turn} is next")]
    return "\n".join(parts), y + 2 * step + ROOM + 12


def inner(n, count):
    """Left edge and width of one of the columns at the right of the books."""
    width = (PAGE - 1 - INNER - SPACE * (count - 1)) / count
    return INNER + n * (width + SPACE), width


def middle_of(n, count):
    x, width = inner(n, count)
    return x + width / 2


# ---------------------------------------------------------------- the same as text
def describe(machine):
    state, (prefetch, workers) = machine.state, machine.limit
    lines = [f"{machine.samplers[0]} -> {machine.samplers[1]}: {state.sent} batches sent, "
             f"at most {prefetch} x {workers} not handed over"]
    lines += [f"worker {n}: queue {list(machine.queued[n])}, making {list(machine.making(n))}, "
              f"{machine.makes[0]}, {machine.makes[1]}" for n in range(len(state.out))]
    books = ", ".join(f"{k} {'here' if worker is None else f'worker {worker}'}"
                      for k, worker in machine.books())
    return "\n".join([
        *lines, f"books: {books}", f"result queue: {machine.done}",
        f"shared memory: {machine.nbytes} bytes of {len(state.early)} batches here",
        f"pinning thread: {'one' if state.pins else 'none'}",
        f"early: {list(state.early)}, batch {state.turn} is next"])
