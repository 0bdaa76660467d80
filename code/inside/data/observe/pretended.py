"""A training run on a virtual clock: torch's own DataLoader, workers that share cores, a GPU.

`Pretended` is a loader for `waiting_for_data`, with a clock that it moves itself. torch decides
what is sent to whom and what is returned when; how long a batch takes follows from its samples.
Nothing sleeps and no process is started, so that a run gives the same times everywhere.
"""

from inside.data.observe.virtual_loader import Machine


class Batches(Machine):
    """The machine of `virtual_loader`, with a time for each batch that its loader works out."""

    def __init__(self, loader, settings, now):
        super().__init__(settings)
        self.loader, self.now = loader, now

    def batch_ms(self, batch, worker):
        return self.loader.batch_ms(batch) * (1 if worker is None else self.loader.crowding)


class Pretended:
    """A loader whose batches cost what the arguments say, in ms, and the clocks that show it.

    A sample takes `sample`, of which the share `cpu` needs a core (0 for a read that only waits);
    samples in `slow`, {index: factor}, take longer. `collate` is for a batch, `transfer` is what
    each batch costs the main process if there are workers. Workers that want more than `cores`
    get less of one each, as if all were always busy. `num_workers`, `prefetch_factor` and
    `in_order` are torch's own.
    """

    worker_init_fn = None

    def __init__(self, *, sample, batch_size=32, collate=0, transfer=0, cpu=1, cores=4, slow=(),
                 batches=400, num_workers=0, prefetch_factor=2, in_order=True):
        self.settings = {"num_workers": num_workers, "prefetch_factor": prefetch_factor,
                         "in_order": in_order, "batches": batches}
        self.sample, self.slow, self.cpu, self.cores = sample, dict(slow), cpu, cores
        self.collate, self.transfer, self.batch_size = collate, transfer, batch_size
        self.machine, self.used = Batches(self, self.settings, 0), 0  # ms of CPU time
        self.device_free = 0
        self.num_workers = num_workers
        self.prefetch_factor = prefetch_factor if num_workers else None
        self.batch_sampler = [range(first, first + batch_size)
                              for first in range(0, batches * batch_size, batch_size)]
        self.dataset = self

    @property
    def crowding(self):
        """How much longer a batch takes because its worker does not have a core to itself."""
        return max(1, self.num_workers * self.cpu / self.cores)

    def sample_ms(self, i):
        return self.sample * self.slow.get(i, 1)

    def batch_ms(self, batch):
        return sum(map(self.sample_ms, self.batch_sampler[batch])) + self.collate

    def __len__(self):
        return len(self.batch_sampler)

    def __iter__(self):
        self.machine = Batches(self, self.settings, self.machine.now)
        for batch in self.machine.iterator():
            self.machine.now += self.transfer if self.num_workers else 0
            yield batch

    def __getitem__(self, i):
        """A sample in the main process."""
        return self.spend(self.sample_ms(i), self.cpu)

    def collate_fn(self, samples):
        return self.spend(self.collate)

    def spend(self, ms, cpu=1):
        """The main process is busy for so long; returns 0."""
        self.machine.now, self.used = self.machine.now + ms, self.used + ms * cpu
        return 0

    def clock(self):
        """Seconds since the beginning."""
        return self.machine.now / 1000

    def cpu_clock(self):
        """Seconds of CPU time that the main process has used."""
        return self.used / 1000

    def step(self, ms):
        """A training step that keeps the main process for so long."""
        return lambda batch: self.spend(ms)

    def launch(self, ms, host=1):
        """A step that only gives a GPU `ms` of work, which takes the main process `host`."""
        def step(batch):
            self.spend(host)
            self.device_free = max(self.device_free, self.machine.now) + ms
        return step

    def finish(self):
        """Wait until the GPU has done all that it was given."""
        self.machine.now = max(self.machine.now, self.device_free)
