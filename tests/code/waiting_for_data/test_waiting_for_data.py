"""`waiting_for_data` finds what is planted, on a clock that only the planted work moves."""

import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, Sampler

import waiting_for_data
from book.pipeline.ground.paths import CODE
from inside.data.observe.pretended import Pretended
from waiting_for_data import Refused, Waiting, examine, in_main
from waiting_for_data_report import ms, share_of

HUNDREDTH = dict.fromkeys(range(7, 12_800, 100), 1000)  # one sample in a hundred


def report_of(step, **planted):
    loader = Pretended(**planted)
    return examine(loader, loader.step(step), clock=loader.clock, cpu=loader.cpu_clock,
                   finish=loader.finish, cores=loader.cores)


def of(**settings):
    return settings


PLANTED = {  # (what is planted, the step in ms): (the verdict, words of the advice)
    "slow dataset, all cores busy": (of(sample=40, num_workers=8), 96, "dataset",
                                     "8 workers share 4 cores already"),
    "slow dataset, too few workers": (of(sample=40, num_workers=2), 96, "dataset",
                                      "then num_workers=4"),
    "slow dataset, no worker": (of(sample=40), 96, "dataset", "then num_workers=4"),
    "slow reads that use no core": (of(sample=40, cpu=0, num_workers=4), 96, "dataset",
                                    "reading many samples at once"),
    "slow collate": (of(sample=0.1, collate=500, num_workers=4), 20, "collate", "in one piece"),
    "slow collate, too few workers": (of(sample=0.1, collate=500, num_workers=2), 20, "collate",
                                      "then num_workers=4"),
    "tiny rows through workers": (of(sample=0.01, transfer=9, num_workers=4), 2, "transfer",
                                  "num_workers=0: the main process makes a batch in 0.320 ms"),
    "large batches": (of(sample=4, transfer=60, num_workers=4), 2, "transfer", "fewer bytes"),
    "slow step": (of(sample=1, num_workers=4), 96, "step", "a batch every 8.0 ms"),
    "one slow sample in a hundred": (of(sample=1, num_workers=4, slow=HUNDREDTH), 10, "dataset",
                                     "which takes 1000 times the median"),
    "one in a hundred, fast enough on average": (
        of(sample=1, num_workers=4, slow=HUNDREDTH), 120, "stalls", "a larger prefetch_factor"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_named(name):
    planted, step, bound, words = PLANTED[name]
    report = report_of(step, **planted)
    last = str(report).splitlines()[-1]
    assert report.bound == bound
    assert words in last
    assert last.startswith(f"waits for data {report.share:.0%} of the time")
    assert ("bound by" in last) == (bound != "step")


def test_a_sample_that_takes_longer_than_others_but_holds_nothing_up_is_not_blamed():
    tiny = report_of(2, sample=0.01, transfer=9, num_workers=4,
                     slow=dict.fromkeys(range(7, 12_800, 100), 90))
    assert tiny.samples.slowest.seconds > 10 * tiny.samples.slowest.usual
    assert (tiny.slow, tiny.bound) == (None, "transfer")


def test_a_step_and_a_loader_that_are_fast_only_apart_are_said_to_be():
    report = report_of(96, sample=1, num_workers=4)
    both = replace(report, wait=0.05)
    assert both.bound == "stalls"
    assert "fewer workers if the step needs their cores" in str(both)


def test_what_next_takes_to_receive_a_batch_adds_to_the_step():
    report = report_of(60, sample=6.25, num_workers=4, transfer=15)
    assert (report.alone, report.fixed) == (pytest.approx(0.05), pytest.approx(0.06))
    assert (report.wait, report.bound) == (pytest.approx(0.015), "stalls")
    deeper = report_of(60, sample=6.25, num_workers=4, transfer=15, prefetch_factor=16)
    assert (deeper.wait, deeper.alone) == (pytest.approx(0.015), pytest.approx(0.05))
    assert "fewer tensors if next() needs long" in str(report)


@pytest.mark.parametrize(("workers", "threads"), [(0, 3), (2, 1)])
def test_samples_are_timed_with_the_threads_that_torch_has_where_they_are_made(workers, threads):
    seen, before = [], torch.get_num_threads()

    class Threads(Rows):
        def __getitem__(self, i):
            seen.append(torch.get_num_threads())
            return i

    torch.set_num_threads(3)
    try:
        made(Threads(8, [0.0]), [0.0], batch_size=4, num_workers=workers)
        assert (set(seen), torch.get_num_threads()) == ({threads}, 3)
    finally:
        torch.set_num_threads(before)


def test_the_times_of_a_crowded_machine_are_all_right():
    report = report_of(96, sample=40, num_workers=8)
    found = report.first, report.wait, report.step, report.alone, report.fixed
    assert found == pytest.approx((2.56, 0.224, 0.096, 0.320, 0.096))
    assert (report.samples.fetch, report.share) == (pytest.approx(1.28), pytest.approx(0.7))
    assert report.samples.cpu == pytest.approx(1)
    assert report.making == pytest.approx(report.alone)


def test_without_workers_the_step_waits_for_the_whole_batch():
    report = report_of(50, sample=1, collate=18, batch_size=32)
    assert (report.wait, report.step) == (pytest.approx(0.05), pytest.approx(0.05))
    assert report.bound == "dataset"


def test_stalls_go_when_more_is_prefetched():
    planted = PLANTED["one in a hundred, fast enough on average"][0]
    shares = [report_of(120, **planted, prefetch_factor=factor).share for factor in (2, 16)]
    assert shares[0] > 0.05 > shares[1]


def test_a_step_that_only_launches_looks_short_unless_the_clock_waits_for_the_gpu():
    shares = []
    for finish in (lambda loader: None, Pretended.finish):
        loader = Pretended(sample=10, num_workers=4)
        found = Waiting(loader, clock=loader.clock, finish=lambda f=finish, p=loader: f(p))
        step = loader.launch(96)
        for batch in found:
            step(batch)
        shares.append(share_of(sum(found.waits), sum(found.steps)))
    assert shares[0] > 0.98
    assert shares[1] == 0


@pytest.mark.parametrize("batches", [1, 5, 50])
def test_the_step_alone_begins_when_the_gpu_has_nothing_left_to_do(batches):
    loader = Pretended(sample=10, num_workers=4)
    report = examine(loader, loader.launch(96), batches=batches, clock=loader.clock,
                     cpu=loader.cpu_clock, finish=loader.finish, cores=4)
    assert report.fixed == pytest.approx(0.097, abs=0.001)


# ---- real loaders, counted and not timed --------------------------------------------------------
class Rows(Dataset):
    """Sample i moves `time` by i + 1 ms."""

    def __init__(self, size, time):
        self.size, self.time = size, time

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        self.time[0] += (i + 1) / 1000
        return torch.tensor(i)


class Whole(Rows):
    """A batch moves `time` by 1 s."""

    def __getitems__(self, indices):
        self.time[0] += 1
        return [torch.tensor(i) for i in indices]


class Stream(IterableDataset):
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return (self.rows[i] for i in range(len(self.rows)))


def made(dataset, time, skip=0, **options):
    def clock():  # for wall time and CPU time
        return time[0]

    return in_main(DataLoader(dataset, **options), skip, clock, clock)


def test_each_sample_has_its_own_time():
    time = [0.0]
    found = made(Rows(10, time), time, batch_size=4)
    assert dict(found.seconds) == pytest.approx({i: (i + 1) / 1000 for i in range(10)})
    assert found.size == pytest.approx(10 / 3)
    assert found.cpu == pytest.approx(1)


def test_samples_that_come_together_share_their_time():
    time = [0.0]
    found = made(Whole(8, time), time, batch_size=4)
    assert dict(found.seconds) == pytest.approx(dict.fromkeys(range(8), 0.25))
    assert found.fetch == pytest.approx(1)


def test_batches_that_were_read_before_are_skipped_where_there_are_more():
    time = [0.0]
    assert [i for i, _ in made(Rows(10, time), time, skip=2, batch_size=4).seconds] == [8, 9]
    assert len(made(Rows(10, time), time, skip=3, batch_size=4).seconds) == 10


def test_streams_and_datasets_that_make_whole_batches_are_timed_too():
    time = [0.0]
    stream = made(Stream(Rows(11, time)), time, batch_size=4)
    assert dict(stream.seconds) == pytest.approx({i: (i + 1) / 1000 for i in range(1, 11)})
    assert stream.size == 4  # after the first sample, two batches; the rest isn't a whole one
    short = made(Stream(Rows(4, time)), time, batch_size=4)
    assert (short.size, len(short.seconds)) == (3, 3), "a stream of less than a batch"
    assert made(Whole(8, time), time, batch_size=None).size == 1, "torch asks for one at a time"
    batches = made(Rows(10, time), time, batch_size=None)
    assert (batches.size, len(batches.seconds)) == (1, 10)
    assert batches.fetch == pytest.approx(0.0055)


class Lazy(Rows):
    """The first sample, in whatever process, opens a file, which moves `time` by 100 s."""

    def open(self):
        self.time[0] += 0 if hasattr(self, "file") else 100
        self.file = True

    def __getitem__(self, i):
        self.open()
        return super().__getitem__(i)


class LazyWhole(Lazy):
    def __getitems__(self, indices):
        return [self[i] for i in indices]


@pytest.mark.parametrize("kind", [Lazy, LazyWhole, lambda *given: Stream(Lazy(*given))])
@pytest.mark.parametrize("skip", [0, 2])
def test_a_file_that_the_first_sample_opens_is_not_the_cost_of_samples(kind, skip):
    time = [0.0]
    found = made(kind(40, time), time, skip, batch_size=4)
    assert max(taken for _, taken in found.seconds) < 1
    assert found.cpu == pytest.approx(1)


def test_what_the_first_collate_loads_is_not_the_cost_of_collating():
    time, loaded = [0.0], []

    def collate(samples):
        time[0] += 0.25 if loaded else 100
        loaded.append(True)
        return samples

    assert made(Rows(8, time), time, batch_size=4, collate_fn=collate).collate == 0.25
    assert made(Rows(2, time), time, batch_size=4, collate_fn=collate).collate == 0.25


def test_about_two_hundred_samples_are_enough():
    time = [0.0]
    assert len(made(Rows(5000, time), time, batch_size=64).seconds) == 256


@pytest.mark.parametrize("workers", [0, 2])
def test_a_real_loader_is_examined_over_as_many_epochs_as_it_takes(workers):
    context = "fork" if workers else None
    loader = DataLoader(Rows(12, [0.0]), 4, num_workers=workers, multiprocessing_context=context)
    seen = []
    report = examine(loader, seen.append, batches=6)
    assert report.workers == workers
    assert report.first > 0 < report.alone
    assert len(seen) == 1 + 2 * workers + 6 + 6


def test_a_watched_loop_gets_each_batch_once_and_may_break_off():
    found = Waiting(DataLoader(range(6), 2))
    assert [batch.tolist() for batch in found] == [[0, 1], [2, 3], [4, 5]]
    assert (len(found.first), len(found.waits), len(found.steps)) == (1, 2, 3)
    for _ in found:
        break
    assert (len(found.first), len(found.waits), len(found.steps)) == (2, 2, 3)
    assert str(found).startswith("waits for data ")


def test_a_persistent_loader_prefetches_only_when_its_next_epoch_begins():
    asked = []

    class Log(Sampler):
        def __iter__(self):
            for i in range(8):
                asked.append(i)
                yield i

    loader = DataLoader(Rows(8, [0.0]), 1, sampler=Log(), num_workers=2, persistent_workers=True,
                        multiprocessing_context="fork")
    assert len(list(loader)) == 8 == len(asked)
    batches = iter(loader)
    assert len(asked) == 8 + 2 * 2
    assert len(list(batches)) == 8


@pytest.mark.parametrize(("size", "words"), [(0, "empty"), (2, "a single batch")])
def test_too_few_batches_are_refused(size, words):
    with pytest.raises(Refused, match=words):
        examine(DataLoader(torch.zeros(size, 1), 2), print)


class Once(IterableDataset):
    """A stream that is over after its first epoch, as an open generator is."""

    def __init__(self, size):
        self.rest = iter(range(size))

    def __iter__(self):
        return self.rest


@pytest.mark.parametrize(("size", "words"), [
    (6, "after its first epoch: its dataset or sampler can be iterated only once"),
    (4 * 24, "in the main process the dataset gives no sample")])
def test_a_loader_that_can_be_read_only_once_is_refused(size, words):
    with pytest.raises(Refused, match=words):
        examine(DataLoader(Once(size), 4), lambda batch: None, batches=11)


class Opened(Rows):
    """Its file is opened by `open_it`, in each worker."""

    file = None

    def __getitem__(self, i):
        return self.file[i] if self.strict else super().__getitem__(i)


def open_it(worker):
    torch.utils.data.get_worker_info().dataset.file = range(99)


@pytest.mark.parametrize("workers", [0, 1])
def test_where_the_init_function_of_workers_did_not_run_is_said(workers):
    dataset = Opened(12, [0.0])
    dataset.strict = False
    context = "fork" if workers else None
    loader = DataLoader(dataset, 4, num_workers=workers, worker_init_fn=open_it,
                        multiprocessing_context=context)
    *_, line, last = str(examine(loader, lambda batch: None, batches=2)).splitlines()
    assert ("where worker_init_fn doesn't run" in line) == bool(workers)
    assert last.startswith("waits for data ")


def test_an_error_of_a_sample_that_misses_the_init_function_says_so():
    dataset = Opened(12, [0.0])
    dataset.strict = True
    loader = DataLoader(dataset, 4, num_workers=1, worker_init_fn=open_it,
                        multiprocessing_context="fork")
    with pytest.raises(TypeError, match="not subscriptable") as found:
        examine(loader, lambda batch: None, batches=2)
    [note] = found.value.__notes__
    assert "in the main process, where worker_init_fn doesn't run" in note


# ---- the command -------------------------------------------------------------------------------
MODULE = '''
import torch
from torch.utils.data import DataLoader
def make_loader():
    return DataLoader(torch.zeros(64, 2), 4)
def step(batch):
    batch.sum()
def no_loader():
    return [1, 2]
def empty():
    return DataLoader([], 4)
class Broken(list):
    def __getitem__(self, i):
        raise ValueError("sample 3 is broken")
def broken():
    return DataLoader(Broken(range(8)), 4)
number = 3
'''


def command(folder, *arguments, more=""):
    (folder / "mine.py").write_text(MODULE + more, encoding="utf-8")
    return subprocess.run([sys.executable, str(CODE / "waiting_for_data.py"), *arguments],
                          cwd=folder, capture_output=True, text=True, check=False)


def test_the_command_ends_in_one_line_that_answers(tmp_path):
    done = command(tmp_path, "mine:make_loader", "--step", "mine:step", "--batches", "5")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("waits for data ")
    assert "; try " in done.stdout


OWN_ERRORS = {  # a module's own errors, or those of what it makes: (more lines of it, its error)
    "a sample raises ValueError": ("", "mine:broken", "ValueError: sample 3 is broken"),
    "the module has a wrong name": ("torch.nowhere", "mine:make_loader",
                                    "has no attribute 'nowhere'"),
    "the module imports what is missing": ("import nowhere", "mine:make_loader",
                                           "No module named 'nowhere'"),
    "the module of the step imports what is missing": ("", "mine:make_loader --step other:step",
                                                       "No module named 'nowhere'")}


@pytest.mark.parametrize("name", OWN_ERRORS)
def test_errors_of_the_program_that_is_examined_keep_their_traceback(tmp_path, name):
    lines, arguments, words = OWN_ERRORS[name]
    (tmp_path / "other.py").write_text("import nowhere", encoding="utf-8")
    done = command(tmp_path, *arguments.split(), more=lines)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback")
    assert "another exception" not in done.stderr
    assert words in last


@pytest.mark.parametrize(("arguments", "words"), [
    (["mine"], "mine: give a function that returns your DataLoader, as module:name"),
    (["path/mine:make"], "as module:name"),
    ([".mine:make"], "as module:name"),
    (["mine.py:make_loader"], "'mine' is not a package"),
    (["nothing_here:make"], "can't import nothing_here"),
    (["mine:nothing"], "mine.py'> has no nothing"),
    (["mine:number"], "not a function"),
    (["mine:no_loader"], "returns list, not a DataLoader"),
    (["mine:empty"], "the loader is empty"),
    (["mine:make_loader", "--step", "-1"], "give seconds, 0 or more"),
    (["mine:make_loader", "--step", "mine:number"], "give seconds or a function of a batch"),
    (["mine:make_loader", "--step", "soon"], "soon: give seconds or a function of a batch, as mod"),
    (["mine:make_loader", "--batches", "0"], "give 1 or more"),
])
def test_what_is_wrong_is_said_in_one_line(tmp_path, monkeypatch, capsys, arguments, words):
    (tmp_path / "mine.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    with pytest.raises(SystemExit) as found:
        waiting_for_data.main(arguments)
    [line] = str(found.value).splitlines()
    assert line.startswith("waiting_for_data: ")
    assert words in line


def test_times_are_written_for_people():
    assert [ms(x) for x in (1.28, 0.0999, 0.096, 0.00123, 0.0000012, 0)] == [
        "1,280 ms", "99.9 ms", "96.0 ms", "1.2 ms", "0.001 ms", "0.000 ms"]
