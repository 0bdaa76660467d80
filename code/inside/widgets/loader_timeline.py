"""The loader's timeline: which worker makes which batch when, and where every batch is meanwhile.

`LoaderTimeline` is an anywidget around `book/web/loader-timeline/`, the same module that the page
loads without a kernel. The browser simulates the rules by which torch sends, keeps and hands over
batches; `inside.data.observe.virtual_loader` runs torch itself on the same settings, which gives
the table that stands in the widget's place without JavaScript, and what `run()` returns in a live
notebook.

What the element reads is JSON in its attribute `settings`, the arguments of `LoaderTimeline` and
`at`, the moment that is shown, in ms. Both sides may change it.
"""

import anywidget
from traitlets import Dict, TraitError, validate

from inside.bilingual import spans
from inside.data.observe.virtual_loader import run
from inside.widgets.fallback import attribute, table
from inside.widgets.web_module import WEB, joined_module

ESM = WEB / "loader-timeline" / "index.js"
RANGES = {  # the least and the most of each number; that of `which` depends on others
    "num_workers": (0, 6), "prefetch_factor": (1, 8), "batches": (1, 24), "fetch": (1, 999),
    "step": (0, 999), "spread": (0, 100), "startup": (0, 9999), "pin": (0, 999),
    "megabytes": (1, 999), "factor": (2, 20),
}
SLOW = ("none", "worker", "batch")


# ---------------------------------------------------------------- the settings
class SettingError(ValueError, TraitError):
    """A setting that cannot be shown; as a TraitError it rolls a change back."""


def check(settings):
    """Raise `SettingError` with one line for what is out of range or not what it should be."""
    for name, (least, most) in RANGES.items():
        check_number(settings, name, least, most)
    if settings["slow"] not in SLOW:
        raise SettingError(f"slow {settings['slow']!r}: one of {', '.join(SLOW)}")
    if type(settings["in_order"]) is not bool:
        raise SettingError(f"in_order {settings['in_order']!r}: True or False")
    slow = settings["num_workers" if settings["slow"] == "worker" else "batches"]
    check_number(settings, "which", 0, max(0, slow - 1))


def check_number(settings, name, least, most):
    value = settings[name]
    if type(value) is not int or not least <= value <= most:
        raise SettingError(f"{name} {value!r}: give a whole number from {least} to {most}")


# ---------------------------------------------------------------- the table without JavaScript
HEAD = [spans("批", "batch"), spans("工作进程", "worker"), spans("派出", "sent"),
        spans("制作", "being made"), spans("锁页完", "pinned"), spans("收到", "received"),
        spans("交出", "handed over"), spans("训练完", "step ends")]
CAPTION = spans("每一批的时刻（毫秒），按交出的次序",
               "The times of each batch (ms), in the order in which they are handed over")


def rows_of(tasks):
    """A row of texts per batch, in the order of delivery."""
    return [
        [str(cell) for cell in (
            t["batch"], "–" if t["worker"] is None else t["worker"], t["sent"],
            f"{t['start']}–{t['end']}", t["pinned"], t["got"], t["given"], t["done"])]
        for t in tasks
    ]


def fallback(settings):
    """The custom element with the times of torch inside, for pages without JavaScript."""
    times = table(CAPTION, HEAD, rows_of(run(settings)))
    return f"<loader-timeline settings='{attribute(settings)}'>\n{times}\n</loader-timeline>"


# ---------------------------------------------------------------- the widget
class LoaderTimeline(anywidget.AnyWidget):
    """Timeline of one epoch of a `DataLoader` with `num_workers` and of the loop that trains on it.

    A worker can begin after `startup` ms and needs `fetch` ms for a batch, on average if they
    differ by a `spread` in percent; a batch is `megabytes` large, pinning it takes `pin` ms (0: it
    isn't pinned), a training step `step` ms. `slow` is "none", "worker" or "batch": worker or batch
    number `which` takes `factor` times as long. `at` is the moment shown first, in ms. `settings`
    holds all of these and follows what the reader sets. Raises `ValueError` for what is out of
    range.
    """

    _esm = joined_module(ESM)
    settings = Dict().tag(sync=True)

    def __init__(self, num_workers=2, prefetch_factor=2, batches=16, fetch=20, step=20, spread=0,
                 startup=0, pin=0, megabytes=10, in_order=True, slow="none", which=0, factor=5,
                 at=0):
        settings = {"num_workers": num_workers, "prefetch_factor": prefetch_factor,
                    "batches": batches, "fetch": fetch, "step": step, "spread": spread,
                    "startup": startup, "pin": pin, "megabytes": megabytes, "in_order": in_order,
                    "slow": slow, "which": which, "factor": factor, "at": at}
        check(settings)
        super().__init__(settings=settings)

    @validate("settings")
    def _accept(self, proposal):
        check(proposal["value"])
        return proposal["value"]

    def run(self):
        """What torch does with these settings: a dict per batch, in the order of delivery."""
        return run(self.settings)

    def __repr__(self):
        given = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"LoaderTimeline({given})"

    def _repr_mimebundle_(self, **kwargs):
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return {**data, "text/html": fallback(self.settings)}, metadata
