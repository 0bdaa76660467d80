"""What the clocks of `waiting_for_data` say: which part is slow, and what to try.

Knows nothing of torch. All times are seconds, and those of a batch unless something else is said.
"""

from dataclasses import dataclass
from statistics import median

LITTLE = 0.05  # share of the time below which we don't call it waiting
SLOW = 10  # a sample that takes so many times the median is a slow one
MUCH = 1.5  # batches that come so many times slower than they're made are held up elsewhere
ROWS = ("first batch", "next() in the run", "step in the run", "loader alone",
        "step alone, same batch", "samples of a batch", "collate")


@dataclass(frozen=True)
class Slow:
    """The slowest sample that was seen, beside the median."""

    index: int
    seconds: float
    usual: float

    def __str__(self):
        times = self.seconds / self.usual if self.usual else float("inf")
        return f"a look at sample {self.index}, which takes {times:.0f} times the median"


@dataclass(frozen=True)
class Samples:
    """Some batches made in the main process: [(index, seconds)], and the means of a batch."""

    seconds: tuple
    collate: float
    cpu: float  # share of the samples' time in which the process used a core
    size: float

    @property
    def fetch(self):
        """All samples of a batch."""
        return mean([taken for _, taken in self.seconds]) * self.size

    @property
    def made(self):
        return self.fetch + self.collate

    @property
    def slowest(self):
        return Slow(*max(self.seconds, key=lambda each: each[1]),
                    median(taken for _, taken in self.seconds))


@dataclass(frozen=True)
class Report:
    """All that was measured; `bound` says what holds the run up, `str` shows it with advice."""

    first: float  # until the first batch was there
    wait: float  # in next() while training
    step: float  # in the step while training
    alone: float  # from batch to batch, if nobody computes
    fixed: float  # a step with the same batch again and again
    samples: Samples
    workers: int
    cores: int
    lacks: str = ""  # what the times of samples leave out, as a sentence

    @property
    def share(self):
        return share_of(self.wait, self.step)

    @property
    def hands(self):
        """Batches that can be made at once: by workers, as far as there are cores for them."""
        if not self.workers:
            return 1
        needed = self.workers * self.samples.cpu
        return self.workers * min(1, self.cores / needed) if needed else self.workers

    @property
    def slow(self):
        """The slowest sample if it is far slower and holds up whole batches, else None."""
        found = self.samples.slowest
        far = found.seconds >= SLOW * found.usual and found.seconds > self.alone
        return found if far else None

    @property
    def making(self):
        """Seconds between batches if making them were all there is to do."""
        return self.samples.made / self.hands

    @property
    def bound(self):
        """step: hardly any waiting; stalls: the loader is fast enough, only not always.

        Otherwise dataset, collate or transfer. Transfer is what making batches doesn't explain:
        pickling, copying and queues, and anything else that slows down workers, such as a disk that
        they share. It overlaps with
        what workers do, so there the longer of the two decides.
        """
        if self.share < LITTLE:
            return "step"
        usual = self.making if self.slow else self.alone  # slow samples hold up the others
        if self.workers and usual < self.fixed:
            return "stalls"
        made = {"dataset": self.samples.fetch, "collate": self.samples.collate}
        if not self.workers:
            made["transfer"] = self.alone - self.making
        elif self.alone > MUCH * self.making and not self.slow:
            return "transfer"
        return max(made, key=made.get)

    def __str__(self):
        values = (self.first, self.wait, self.step, self.alone, self.fixed, self.samples.fetch,
                  self.samples.collate)
        rows = [f"{name:24}{ms(value):>10}" for name, value in zip(ROWS, values, strict=True)]
        if self.lacks:
            rows.append(self.lacks)
        bound = "" if self.bound == "step" else f", bound by {self.bound}"
        return "\n".join([*rows, f"waits for data {self.share:.0%} of the time{bound}; "
                                 f"try {ADVICE[self.bound](self)}"])


# ---------------------------------------------------------------- what to try
def for_step(report):
    return f"a faster step: the loader could give a batch every {ms(report.alone)}"


def for_stalls(report):
    if report.slow:
        return (f"{report.slow}, or a larger prefetch_factor, or in_order=False: on average the "
                "loader is fast enough")
    return ("a larger prefetch_factor, or fewer workers if the step needs their cores, or fewer "
            "tensors if next() needs long to receive them: alone, the loader is fast enough")


def for_dataset(report):
    if report.slow:
        return str(report.slow)
    if report.samples.cpu < 0.5:
        return "reading many samples at once (__getitems__, shards), a cache, then more workers"
    if report.workers < report.cores:
        return f"cheaper samples, a cache, then num_workers={report.cores}"
    return (f"cheaper samples or a cache: {report.workers} workers share {report.cores} "
            f"core{'s' * (report.cores > 1)} already")


def for_collate(report):
    cure = "making the batch in one piece (__getitems__), less padding"
    more = report.workers < report.cores
    return f"{cure}, then num_workers={report.cores}" if more else cure


def for_transfer(report):
    if report.workers and report.samples.made <= report.alone:
        return (f"num_workers=0: the main process makes a batch in {ms(report.samples.made)}, "
                f"through workers it takes {ms(report.alone)}")
    return "fewer bytes and fewer tensors in a batch, such as uint8 instead of float32"


ADVICE = {"step": for_step, "stalls": for_stalls, "dataset": for_dataset, "collate": for_collate,
          "transfer": for_transfer}


# ---------------------------------------------------------------- numbers
def line_of(wait, step, first):
    """The line for a run that is only watched."""
    return (f"waits for data {share_of(wait, step):.0%} of the time: "
            f"next() {ms(wait)}, step {ms(step)}, first batch {ms(first)}")


def share_of(wait, step):
    return wait / (wait + step) if wait else 0.0


def mean(values):
    """The mean; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def ms(seconds):
    """Milliseconds for people: three digits, fewer where they would be below a microsecond."""
    value = 1000 * seconds
    return f"{value:,.0f} ms" if value >= 99.95 else f"{value:.1f} ms" if value >= 1 \
        else f"{value:.3f} ms"
