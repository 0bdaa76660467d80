"""Ways in which the suite could take a broken thing for one that passed, each closed."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from book.pipeline import checks
from book.pipeline.cards import rules
from book.pipeline.ground.paths import ROOT, write_atomic
from book.pipeline.proofs.reached import SelfTest
from book.pipeline.suite import lanes
from book.pipeline.suite.lanes import FAILED, PASSED, Lanes
from book.pipeline.suite.passed import Passed, digest, files_of
from book.pipeline.suite.steps import STEPS, Step
from book.pipeline.text import marked_yaml
from tests.helpers.quick_trials import quick_trials


def step(name, program="", **fields):
    return Step(name, [sys.executable, "-c", program], "mend it", **fields)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setattr(lanes, "LOGS", tmp_path / "_build" / "log")

    def call(*chosen, **options):
        done = Lanes(chosen, root=tmp_path, tell=lambda line: None, **options).run()
        return {result.step.name: result.state for result in done}

    return call


# ---- a broken input that is mended while its step starts is remembered as passed -------------

def test_what_was_mended_while_its_step_started_has_not_passed(run, tmp_path):
    file = tmp_path / "in.txt"
    file.write_text("broken")
    reads = step("a", "import pathlib, time; pathlib.Path('begun').touch(); time.sleep(1); "
                      "assert open('in.txt').read() == 'mended'", inputs=("*.txt",))

    def mend():
        while not (tmp_path / "begun").exists():
            time.sleep(0.01)
        file.write_text("mended")

    author = threading.Thread(target=mend)
    author.start()
    assert run(reads) == {"a": PASSED}
    author.join()
    file.write_text("broken")  # the mending was taken back
    assert run(reads) == {"a": FAILED}


# ---- settings that are not among SETTINGS ----------------------------------------------------

@pytest.mark.parametrize("name", ["PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONOPTIMIZE",
                                  "PYTHONPATH", "SPECIMEN", "CC", "NODE_OPTIONS"])
def test_a_setting_that_changes_what_a_step_does_is_in_the_digest(monkeypatch, name):
    monkeypatch.delenv(name, raising=False)
    before = digest([])
    monkeypatch.setenv(name, "1")
    assert digest([]) != before


# ---- notebooks -------------------------------------------------------------------------

PLUGIN = """
import os, pytest
from pathlib import Path
from book.pipeline.suite.passed import Passed
from book.pipeline.suite.remember import Remember
class Edit:
    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items):  # an author saves while pytest collects
        if os.environ.get("EDIT"):
            Path("n.ipynb").write_text(Path("broken.txt").read_text())
def pytest_configure(config):
    config.pluginmanager.register(Remember(memory=Passed("items", Path.cwd())), "remembered")
    config.pluginmanager.register(Edit(), "edit")
"""


@pytest.fixture
def notebook(tmp_path):
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook, new_output

    def text(told):
        output = new_output("stream", name="stdout", text=f"{told}\n")
        cells = [new_code_cell("x = 1", id="a"), new_code_cell("print(x)", id="b",
                                                               outputs=[output], execution_count=2)]
        return nbformat.writes(new_notebook(cells=cells))

    (tmp_path / "plug.py").write_text(PLUGIN)
    (tmp_path / "n.ipynb").write_text(text(2))
    (tmp_path / "broken.txt").write_text(text(2))
    (tmp_path / "good.txt").write_text(text(1))

    def status(*options, **environment):
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "plug", "-p", "no:cacheprovider", "-c",
             os.devnull, f"--rootdir={tmp_path}", "--nbval-current-env", *options], cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"} | environment,
            stdout=subprocess.DEVNULL, check=False).returncode

    return status


@pytest.mark.parametrize("part", [["--nbval-lax", "n.ipynb"], ["--nbval", "n.ipynb::Cell 0"]])
def test_a_part_of_a_notebook_is_not_remembered_as_the_whole(notebook, part):
    assert notebook(*part) == 0
    assert notebook("--nbval", "n.ipynb") == 1


def test_a_notebook_that_is_edited_while_pytest_collects_has_not_passed(notebook, tmp_path):
    (tmp_path / "n.ipynb").write_text((tmp_path / "good.txt").read_text())
    assert notebook("--nbval", "n.ipynb", EDIT="1") == 0  # the good one was read
    assert notebook("--nbval", "n.ipynb") == 1


@pytest.mark.parametrize("name", ["book/web/stride-explorer/index.js", "pyproject.toml"])
def test_a_notebook_is_remembered_with_all_that_it_reads(notebook, tmp_path, name):
    (tmp_path / "n.ipynb").write_text((tmp_path / "good.txt").read_text())
    said = tmp_path / ".cache/passed/items.json"
    assert notebook("--nbval", "n.ipynb") == 0
    before, file = said.read_text(), ROOT / name
    old = file.read_bytes()
    # A comment, so that what another step reads meanwhile is still a program.
    file.write_bytes(old + (b"\n// changed\n" if name.endswith(".js") else b"\n# changed\n"))
    try:
        assert notebook("--nbval", "n.ipynb") == 0
        assert said.read_text() != before
    finally:
        file.write_bytes(old)


# ---- inputs of the real steps ----------------------------------------------------------------

@pytest.mark.parametrize(("name", "file"), [
    ("site", "LICENSE"), ("site", "benchmarks/loader.py"), ("site", "requirements.txt"),
    ("site", "package.json"), ("specimen", "LICENSE"), ("specimen", "package.json"),
    ("specimen", "benchmarks/results/loader.json"), ("web", "package.json"),
    ("inside", "package.json")])
def test_a_step_names_what_its_programs_read(name, file):
    one = [found for found in STEPS if found.name == name][-1]
    assert ROOT / file in set(files_of(one.inputs))


def test_a_page_is_remembered_with_what_visits_it():
    from tests.pages.conftest import TOOLS
    names = {str(file) for file in TOOLS}
    for file in ("oracles/web/chromium.py", "oracles/web/serving.py", "book/pipeline/serve.py",
                 "book/pipeline/pages/built.py", "node_modules/axe-core/axe.min.js"):
        assert str(ROOT / file) in names, file


# ---- ONLY ------------------------------------------------------------------------------------

@pytest.mark.parametrize("only", [",", " "])
def test_no_step_at_all_has_not_passed(only):
    with pytest.raises(SystemExit):
        checks.chosen("all", only)


def test_every_step_can_be_named():
    for found in checks.chosen("core"):
        assert found.name in [one.name for one in checks.chosen("core", found.name)]


# ---- ending ---------------------------------------------------------------------------

MAIN = """
import sys, time
from pathlib import Path
from book.pipeline.suite import lanes
from book.pipeline.suite.steps import Step
here = Path(sys.argv[1]); lanes.LOGS = here / "log"
if "slow" in sys.argv:
    real = lanes.digest
    def digest(*a, **k):  # the signal comes while a step's inputs are read, however long that takes
        print("begun", flush=True)
        while not suite.stopped: time.sleep(0.01)
        return real(*a, **k)
    lanes.digest = digest
program = '''
import os, subprocess, sys
process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"],
                           start_new_session=True)
try:
    open("pid.part", "w").write(str(process.pid)); os.rename("pid.part", "pid")
    process.wait()
finally: process.kill()
'''
suite = lanes.Lanes([Step("a", [sys.executable, "-c", program], "")], root=here)
suite.run()
"""


def lives(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def left_by(sign, folder, *shell):
    """Start a suite, end it with a signal; whether what its step started lives on."""
    process = subprocess.Popen([*shell, sys.executable, "-c", MAIN, folder], cwd=ROOT,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while not (folder / "pid").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(sign)
    process.wait(300)
    number = int((folder / "pid").read_text())
    deadline = time.monotonic() + 100
    while lives(number) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = lives(number)
    if left:
        os.kill(number, signal.SIGKILL)
    return left


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_whoever_ends_the_suite_ends_all_that_it_started(tmp_path, sign):
    assert not left_by(sign, tmp_path)


def test_so_does_a_suite_that_a_script_has_started_beside_itself(tmp_path):
    ignoring = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]  # as `command &` does in a script
    assert not left_by(signal.SIGTERM, tmp_path, *ignoring)


def test_no_step_begins_after_the_suite_was_ended(tmp_path):
    with subprocess.Popen([sys.executable, "-c", MAIN, tmp_path, "slow"], cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline() == b"begun\n"
        process.send_signal(signal.SIGINT)
        while process.poll() is None and not (begun := (tmp_path / "pid")).exists():
            time.sleep(0.02)
        if begun.exists():
            os.kill(int(begun.read_text()), signal.SIGKILL)
    assert not begun.exists()


# ---- two at once ----------------------------------------------------------------------------

def test_two_that_store_at_once_lose_nothing(tmp_path):
    program = textwrap.dedent("""
        import sys
        from pathlib import Path
        from book.pipeline.suite.passed import Passed
        memory = Passed("items", Path(sys.argv[1]))
        for number in range(150):
            memory.add(*(({}, [f"f{number}"]) if sys.argv[2] == "f" else ({f"p{number}": "1"},)))
    """)
    Passed("items", tmp_path).add({f"f{number}": "1" for number in range(150)})
    both = [subprocess.Popen([sys.executable, "-c", program, tmp_path, what], cwd=ROOT)
            for what in "fp"]
    assert [process.wait() for process in both] == [0, 0]
    known = Passed("items", tmp_path).digests
    assert [name for name in known if name.startswith("f")] == []  # what failed has not passed
    assert len(known) == 150


# ---- steps.py written wrong -----------------------------------------------------------------

def test_two_steps_of_one_name_are_refused(run, monkeypatch):
    monkeypatch.setattr(lanes, "LANES", 1)
    with pytest.raises(ValueError, match="a"):
        run(step("a", "exit(1)"), step("a"))


def test_a_circle_of_steps_is_refused(tmp_path):
    program = ("from book.pipeline.suite.lanes import Lanes, Step\nfrom pathlib import Path\n"
               f"root = Path({str(tmp_path)!r})\n"
               "Lanes([Step('a', ['true'], '', after=('a',))], root=root).run()")
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True,
                          timeout=1200, check=False)
    assert b"ValueError" in done.stderr


# ---- the memory cannot be written -----------------------------------------------------------

def test_a_memory_that_cannot_be_written_hides_no_failure(run, tmp_path, monkeypatch):
    (tmp_path / ".cache").write_text("")
    (tmp_path / "in.txt").write_text("")
    told = Lanes([step("a", "print('why'); exit(1)", inputs=("*.txt",)),
                  step("b", inputs=("*.txt",))], root=tmp_path, tell=lambda line: None).run()
    assert "why" in told[0].output
    assert told[1].state == PASSED


def test_a_text_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        write_atomic(tmp_path / "a.json", "\ud800")
    assert list(tmp_path.iterdir()) == []


# ---- files_of -------------------------------------------------------------------------------

def test_a_book_below_a_folder_of_caches_has_inputs(tmp_path):
    root = tmp_path / "__pycache__" / "book"
    root.mkdir(parents=True)
    (root / "a.txt").touch()
    assert list(files_of(["*.txt"], root)) == [root / "a.txt"]


# ---- output ---------------------------------------------------------------------------------

def test_a_long_line_of_digits_is_counted_at_once():
    started = time.process_time()
    lanes.COUNT.findall("1" * 200_000)  # some ms; minutes, if each digit began a count
    assert time.process_time() - started < 10


# ---- the self-test of proofs ----------------------------------------------------------------

PROOFS = {
    "its own text": """
        import inspect
        def f(x):
            if x > 10:
                assert x == 99
            return x  # kept
        assert "# kept" in inspect.getsource(f)
        assert f(1) == 1
    """,
    "its own lines": """
        import sys

        def f(x):
            if x > 10:
                assert x == 99
            return sys._getframe().f_lineno
        assert f(1) == 7
    """,
    "its own code": """
        def f(x):
            if x:
                assert x == 5
            return 1
        assert f.__code__.co_names == ()
        assert f(0) == 1
    """,
}


@pytest.mark.parametrize("name", PROOFS)
def test_a_proof_that_looks_at_itself_hides_no_dead_assertion(tmp_path, name):
    proof = textwrap.dedent(PROOFS[name])
    card = SimpleNamespace(data={"proof": proof}, variants=[{}], line_within=lambda *_: 1,
                           problem=lambda text, line: text)
    with quick_trials(tmp_path) as ground:
        assert ground.run(proof).failure is None
        assert SelfTest(card, ground, 60).problems() != []


@pytest.mark.parametrize("test", ["[1 == 2]", "{1 == 2}", "{'a': 1 == 2}", "lambda: 1 == 2",
                                  "(x for x in [])", "(1 == 2, 'text')"])
def test_an_assertion_that_always_holds_is_refused(test):
    assert list(rules.content_errors({"proof": f"assert {test}"}))


# ---- input ----------------------------------------------------------------------------------

@pytest.mark.parametrize("text", ["a: 2026-02-30", "a: !!int x", "a: !!bool maybe",
                                  "a: !!timestamp x", "a: &a [*a]", "a: !!float x"])
def test_no_text_makes_the_reader_of_yaml_raise(text):
    assert marked_yaml.parse(text).problems
