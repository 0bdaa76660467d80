"""When each worker was busy with which batch: a bar for each batch, along the seconds."""

from inside.pictures.svg import Picture, bilingual, box, svg, text

WIDTH, BAR, APART = 350, 20, 24  # px: picture, height of a bar, from worker to worker
HEAD, TAIL = 34, 12  # px above the bars of a plan, and below them
ROOM = 2  # seconds: a shorter bar has no room for its number
NAMES = {"in turn": ("轮流派", "in turn"),
         "fewest": ("派给手里任务最少的", "to the worker with the fewest tasks")}


def draw_busy(plans):
    """Picture of {a name of NAMES: [(worker, begin, end) of batch 0, 1, …]}."""
    last = max(end for plan in plans.values() for _, _, end in plan)
    parts, described, y = [], [], 0
    for name, plan in plans.items():
        workers = 1 + max(worker for worker, _, _ in plan)
        parts.append(bilingual(0, y + 12, *NAMES[name]))
        parts += [bar(k, *made, y + HEAD, (WIDTH - 2) / last) for k, made in enumerate(plan)]
        y += HEAD + workers * APART + TAIL
        described.append(name)
        described += [f"  worker {w}: " + " ".join(f"{k} ({begin}-{end})" for k, (who, begin, end)
                                                   in enumerate(plan) if who == w)
                      for w in range(workers)]
    return Picture(svg(WIDTH, y, "\n".join(parts), smallest_text=12), "\n".join(described))


def bar(k, worker, begin, end, y, scale):
    """One batch, with its number where there is room."""
    x, width, y = 1 + begin * scale, (end - begin) * scale, y + worker * APART
    frame = box(x, y, width, BAR, radius=2, tint=0.25 if end - begin >= ROOM else 0.05)
    if end - begin < ROOM:
        return frame
    return frame + text(x + width / 2, y + 14.5, str(k), 12, mono=True, text_anchor="middle")
