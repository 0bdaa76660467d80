"""What passed is left out until something changes that it looked at, and only then."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from book.pipeline.ground.paths import CODE, ROOT, WEB, widgets
from book.pipeline.suite import files, passed, remember, seen
from book.pipeline.suite.passed import Passed, digest, files_of
from book.pipeline.suite.seen import Memory

# ---- a small book, and which of its test files run again after a change ------------------------

SMALL = {
    "pyproject.toml": """
        [tool.pytest.ini_options]
        pythonpath = [".", "code"]
        addopts = "-q --import-mode=importlib -p no:cacheprovider"
        markers = ["programs(*patterns): what programs read"]
        filterwarnings = ["error"]""",
    "code/pictures/line.py": "WIDTH = 1",
    "code/engine.py": "def run(): return 1",
    "code/machine.py": "import engine",
    "book/web/page.css": "a { top: 0 }",
    "book/glossary.yaml": "tensor: a grid",
    "book/index.md": "# Book",
    "desk/lint.py": "print('clean')",
    "chapters/01/a.md": "One sentence.",
    "tests/words.py": """
        from functools import cache
        from pathlib import Path
        @cache
        def terms(): return Path("book/glossary.yaml").read_text()""",
    "tests/test_picture.py": "from pictures import line\ndef test(): assert line.WIDTH",
    "tests/test_engine.py": "import machine\ndef test(): assert machine.engine.run()",
    "tests/test_style.py": "from pathlib import Path\n"
                           "def test(): assert Path('book/web/page.css').read_text()",
    "tests/test_terms.py": "from tests.words import terms\ndef test(): assert terms()",
    "tests/test_terms_again.py": "from tests.words import terms\ndef test(): assert terms()",
    "tests/test_text.py": """
        from pathlib import Path
        def test(): assert all(file.read_text() for file in Path("chapters").rglob("*.md"))""",
    "tests/test_there.py": """
        from pathlib import Path
        def test(): assert Path("book/index.md").exists() > Path("book/moved.yaml").exists()""",
    "tests/test_child.py": """
        import subprocess, sys
        def test(): assert subprocess.check_output([sys.executable, "desk/lint.py"])""",
    "tests/test_fork.py": """
        import multiprocessing
        def read(): open("book/index.md").close()
        def test():
            child = multiprocessing.get_context("fork").Process(target=read)
            child.start(); child.join()
            assert child.exitcode == 0""",
    "tests/test_script.py": """
        import pytest, subprocess
        @pytest.mark.programs("book/web/*")
        def test(): assert subprocess.check_output(["sh", "-c", "cat book/web/*"])""",
    "tests/test_script_unnamed.py": """
        import subprocess
        def test(): assert subprocess.check_output(["sh", "-c", "cat book/web/*"])""",
}
UNNAMED = "script_unnamed"  # it may have read anything: it runs again whatever changes

# A change: file, new content (None: taken away) -> the test files that run again.
CHANGES = {
    "a picture": ("code/pictures/line.py", "WIDTH = 2", ["picture", UNNAMED]),
    "a style": ("book/web/page.css", "a { top: 1px }", ["script", UNNAMED, "style"]),
    "a term of the glossary": ("book/glossary.yaml", "tensor: a view",
                               [UNNAMED, "terms", "terms_again"]),
    "the lint": ("desk/lint.py", "print('found')", ["child", UNNAMED]),  # a Python it starts
    "a sentence": ("chapters/01/a.md", "Another sentence.", [UNNAMED, "text"]),
    "a new section": ("chapters/01/b.md", "New.", [UNNAMED, "text"]),
    "a section taken away": ("chapters/01/a.md", None, [UNNAMED, "text"]),
    "a module behind a module": ("code/engine.py", "def run(): return 2", ["engine", UNNAMED]),
    "a script that is new": ("book/web/new.js", "1", ["script", UNNAMED]),
    "a file whose absence was seen": ("book/moved.yaml", "", ["there", UNNAMED]),
    "what a fork reads": ("book/index.md", "# Books", ["fork", UNNAMED]),
    "a test": ("tests/test_style.py", "def test(): assert True", [UNNAMED, "style"]),
    "a file that nothing looks at": ("README", "new", [UNNAMED]),
}


def write(root, contents):
    for name, text in contents.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = text.splitlines()
        indent = "        " if len(lines) > 1 and not lines[0] else ""
        file.write_text("\n".join(line.removeprefix(indent) for line in lines))


def run_all(root, before="", **environment):
    """Run the test files of a small book as a step does."""
    program = ("import sys; from pathlib import Path; from book.pipeline.suite import files\n"
               f"{before}\n"
               "sys.exit(files.main(['tests'], Path.cwd(), packages=()))")
    outside = {key: value for key, value in os.environ.items() if key not in ("FRESH", "DRY")}
    with tempfile.TemporaryFile("w+") as told:  # a pipe would be waited for with what is left
        done = subprocess.run([sys.executable, "-c", f"import sys; sys.path.append({str(ROOT)!r})\n"
                               + program], cwd=root, env=outside | environment,
                              stdout=told, stderr=told, check=False)
        told.seek(0)
        return subprocess.CompletedProcess(done.args, done.returncode, told.read())


def again(root):
    """The test files that would run, by what is special in their names."""
    return [name.removeprefix("tests/test_").removesuffix(".py")
            for name in files.found("tests", root) if files.reason(Memory(root), name, [])]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A small book of which all tests have passed."""
    root = tmp_path_factory.mktemp("small")
    write(root, SMALL)
    done = run_all(root)
    assert done.returncode == 0, done.stdout
    assert again(root) == [], done.stdout
    return root


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_runs_again_what_looks_at_it_and_nothing_else(small, change):
    name, new, expected = CHANGES[change]
    file = small / name
    old = file.read_bytes() if file.exists() else None
    try:
        file.unlink() if new is None else file.write_text(new)
        assert again(small) == sorted(expected)
    finally:
        file.unlink(missing_ok=True) if old is None else file.write_bytes(old)
    assert again(small) == []  # the change was taken back


def test_a_setting_that_changes_runs_all_again(small, monkeypatch):
    monkeypatch.setenv("DEPTH", "20")
    assert len(again(small)) == len(files.found("tests", small))


def test_the_tests_that_marks_choose_are_known_by_the_whole_file_only(small):
    memory, name = Memory(small), "tests/test_style.py"
    assert files.reason(memory, name, ["-m", "not slow"]) == ""
    memory.add(files.unit("tests/test_new.py", ["-m", "not slow"]), {})
    assert files.reason(memory, "tests/test_new.py", []) == "has not passed yet"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"tools": 1}', '{"tools": "", "states": 3}'])
def test_a_record_that_cannot_be_read_costs_one_more_run(tmp_path, content):
    memory = Memory(tmp_path)
    memory.add("a", {})
    assert memory.why("a") == ""
    next(memory.folder.iterdir()).write_text(content)
    assert memory.why("a")


def test_a_dry_run_says_why_and_runs_nothing(small):
    (small / "code/pictures/line.py").write_text("WIDTH = 0")  # would fail
    try:
        done = run_all(small, DRY="1")
    finally:
        (small / "code/pictures/line.py").write_text(SMALL["code/pictures/line.py"])
    assert done.returncode == 0
    assert "2 of 11 files run, 9 unchanged since they passed" in done.stdout
    assert "  tests/test_picture.py: code/pictures/line.py\n" in done.stdout


BAD = {
    "pyproject.toml": SMALL["pyproject.toml"], "book/data.txt": "old",
    "tests/test_good.py": "def test(): assert True",
    "tests/test_fails.py": "def test(): assert False",
    "tests/test_skips.py": "import pytest\ndef test(): pytest.skip('no GPU')",
    "tests/test_dies.py": "import os, signal\ndef test(): os.kill(os.getpid(), signal.SIGKILL)",
    "tests/test_leaves.py": "import os\ndef test(): os._exit(0)",
    "tests/test_edited.py": """
        from pathlib import Path
        def test():
            assert Path("book/data.txt").read_text()
            Path("book/data.txt").write_text("new")""",
    "tests/test_edited_back.py": """
        from pathlib import Path
        def test():
            file = Path("book/data.txt")
            old = file.read_text()
            file.write_text("broken")
            file.write_text(old)""",
    "tests/test_folder.py": """
        from pathlib import Path
        def test():
            assert list(Path("book").glob("*.txt"))
            Path("book/late.txt").touch()""",
}


def test_what_did_not_run_or_was_changed_meanwhile_is_not_remembered(tmp_path):
    write(tmp_path, BAD)
    done = run_all(tmp_path)
    assert done.returncode != 0
    assert sorted(again(tmp_path)) == sorted(
        name.removeprefix("tests/test_").removesuffix(".py") for name in BAD
        if name.startswith("tests/") and "good" not in name)
    assert "the process of tests/test_dies.py ended with -9" in done.stdout
    assert "the process of tests/test_leaves.py ended before its tests did" in done.stdout
    assert "book/data.txt was changed meanwhile" in done.stdout


HANGS = {
    "tests/test_waits.py": "import time\ndef test(): time.sleep(300)",
    "tests/test_waits_at_its_end.py": """
        from multiprocessing import get_context
        import time
        def test():
            get_context("fork").Process(target=time.sleep, args=(300,)).start()
            assert False""",
    "tests/test_good.py": "def test(): assert True",
}


def test_what_hangs_is_shown_and_ended_and_the_rest_runs(tmp_path):
    settings = f'{SMALL["pyproject.toml"]}\n        faulthandler_timeout = 2' \
        "\n        faulthandler_exit_on_timeout = true"
    write(tmp_path, HANGS | {"pyproject.toml": settings})
    began = time.monotonic()
    done = run_all(tmp_path, before="files.ENDING = 2")
    assert time.monotonic() - began < 250  # nobody waited for the sleepers
    assert done.returncode == 1
    assert done.stdout.count("Timeout (0:00:02)!") == 2
    assert "the process of tests/test_waits.py ended before its tests did" in done.stdout
    assert "1 passed" in done.stdout
    assert again(tmp_path) == ["waits", "waits_at_its_end"]


def test_a_file_that_fails_is_forgotten(tmp_path):
    write(tmp_path, {"pyproject.toml": SMALL["pyproject.toml"], "tests/test_a.py":
                     "import os\ndef test(): assert 'BAD' not in os.environ"})
    assert run_all(tmp_path).returncode == 0
    assert run_all(tmp_path, BAD="1", FRESH="1").returncode == 1
    assert again(tmp_path) == ["a"]


# ---- what a digest is taken of -----------------------------------------------------------------

@pytest.mark.parametrize("name", sorted({*passed.SETTINGS} - {"RECORD"}))
def test_a_digest_knows_every_setting(monkeypatch, name):
    monkeypatch.delenv(name, raising=False)
    before = digest([])
    monkeypatch.setenv(name, "1")
    assert digest([]) != before


def test_a_digest_knows_names_contents_words_and_tools(tmp_path, monkeypatch):
    file, other = tmp_path / "a.txt", tmp_path / "b.txt"
    file.write_text("x")
    other.write_text("x")
    taken = [digest([file], root=tmp_path), digest([other], root=tmp_path),
             digest([file], "word", root=tmp_path)]
    file.write_text("y")
    taken.append(digest([file], root=tmp_path))
    monkeypatch.setattr(passed, "tools", lambda: "torch==9")
    taken.append(digest([file], root=tmp_path))
    assert len(set(taken)) == len(taken)


def test_a_file_counts_once_and_caches_never_wherever_the_book_lies(tmp_path):
    root = tmp_path / "__pycache__" / "book"
    write(root, dict.fromkeys(["a.py", "b.py", "__pycache__/a.py"], "x"))
    assert list(files_of(["**/*.py", "b.*"], root)) == [root / "a.py", root / "b.py"]


def test_two_that_store_at_once_lose_nothing(tmp_path):
    program = ("import sys; from pathlib import Path\n"
               "from book.pipeline.suite.passed import Passed\n"
               "memory, mine = Passed('items', Path(sys.argv[1])), sys.argv[2]\n"
               "for n in range(100): memory.add({f'{mine}{n}': '1'}, [f'old {mine}{n}'])\n")
    Passed("items", tmp_path).add({f"old {who}{n}": "1" for who in "ab" for n in range(100)})
    both = [subprocess.Popen([sys.executable, "-c", program, tmp_path, who], cwd=ROOT)
            for who in "ab"]
    assert [process.wait() for process in both] == [0, 0]
    assert sorted(Passed("items", tmp_path).digests) == sorted(
        f"{who}{n}" for who in "ab" for n in range(100))


# ---- notebooks and pages -----------------------------------------------------------------------

PLUGIN = """
import os, pytest
from pathlib import Path
from book.pipeline.suite.remember import Remember
class Edit:
    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items):  # an author saves while pytest collects
        if "EDIT" in os.environ:
            Path("n.ipynb").write_text(Path("broken.txt").read_text())
def pytest_configure(config):
    config.addinivalue_line("markers", "remember(*files): what a test looks at")
    here = Path.cwd()
    config.pluginmanager.register(Remember(root=here, web=here / "book/web"), "remembered")
    config.pluginmanager.register(Edit(), "edit")
"""
PAGES = """
import pytest
from pathlib import Path
@pytest.mark.parametrize("page", [
    pytest.param(page, marks=pytest.mark.remember(page)) for page in sorted(Path().glob("*.html"))])
def test_page(page): assert "good" in page.read_text()
"""


@pytest.fixture
def pytest_in(tmp_path):
    """pytest in a folder with the plugin: its last line."""
    (tmp_path / "plug.py").write_text(PLUGIN)

    def call(*options, **environment):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "plug", "-p", "no:cacheprovider", "-c",
             os.devnull, f"--rootdir={tmp_path}", "--nbval-current-env", *options], cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"} | environment,
            capture_output=True, text=True, check=False)
        return done.stdout.splitlines()[-1 - done.stdout.endswith("passed\n")].split(" in ")[0]

    return call


def test_a_page_that_passed_is_left_out_until_it_changes(pytest_in, tmp_path):
    write(tmp_path, {"test_pages.py": PAGES, "a.html": "good", "b.html": "good"})
    assert pytest_in() == "2 passed"
    (tmp_path / "b.html").write_text("bad")
    assert pytest_in() == "1 failed, 1 deselected"
    assert pytest_in() == "1 failed, 1 deselected"  # a failure is not remembered
    (tmp_path / "b.html").write_text("good again")
    assert pytest_in() == "1 passed, 1 deselected"


def a_notebook(told):
    from nbformat import v4, writes

    cells = [v4.new_code_cell("x = 1", id="a"), v4.new_code_cell(
        "print(x)", id="b", execution_count=1,
        outputs=[v4.new_output("stream", name="stdout", text=f"{told}\n")])]
    return writes(v4.new_notebook(cells=cells))


@pytest.mark.parametrize("part", [["--nbval-lax", "n.ipynb"], ["--nbval", "n.ipynb::Cell 0"]])
def test_a_part_of_a_notebook_is_not_remembered_as_the_whole(pytest_in, tmp_path, part):
    (tmp_path / "n.ipynb").write_text(a_notebook(2))
    assert "failed" not in pytest_in(*part)
    assert pytest_in("--nbval", "n.ipynb") == "1 failed, 1 passed"


def test_a_notebook_that_is_edited_while_pytest_collects_has_not_passed(pytest_in, tmp_path):
    (tmp_path / "n.ipynb").write_text(a_notebook(1))
    (tmp_path / "broken.txt").write_text(a_notebook(2))
    assert pytest_in("--nbval", "n.ipynb", EDIT="1") == "2 passed"  # the good one was read
    assert pytest_in("--nbval", "n.ipynb") == "1 failed, 1 passed"


def test_a_notebook_is_remembered_with_the_settings_of_the_book(pytest_in, tmp_path):
    (tmp_path / "n.ipynb").write_text(a_notebook(1))
    (tmp_path / "pyproject.toml").write_text("")
    assert pytest_in("--nbval", "n.ipynb") == "2 passed"
    assert pytest_in("--nbval", "n.ipynb") == "2 deselected"
    (tmp_path / "pyproject.toml").write_text("# changed")
    assert pytest_in("--nbval", "n.ipynb", DRY="1") == "2 deselected"  # and stores nothing
    assert pytest_in("--nbval", "n.ipynb") == "2 passed"


def test_a_notebook_is_remembered_with_the_widgets_that_it_imports(tmp_path):
    write(tmp_path, {"stride-explorer/index.js": 'import { a } from "../common/a.js";\na()',
                     "common/a.js": "", "graph-stepper/index.js": ""})
    found = remember.scripts(["from inside.widgets import stride_explorer"], tmp_path)
    assert found == {tmp_path / "stride-explorer/index.js", tmp_path / "common/a.js"}
    assert remember.scripts(["import torch"], tmp_path) == set()


def test_no_wrapper_of_a_widget_reads_another_script(tmp_path):
    """Else a notebook would be remembered without it."""
    wrappers = [name.replace("-", "_") for name in widgets()
                if (CODE / "inside/widgets" / f"{name.replace('-', '_')}.py").exists()]
    programs = [f"import inside.widgets.{name}" for name in wrappers]
    log = tmp_path / "seen"
    environment = seen.environment(log)
    environment["PYTHONPATH"] += f"{os.pathsep}{CODE}"
    subprocess.run([sys.executable, "-c", "\n".join(programs)], check=True,
                   env=os.environ | environment)
    web = str(WEB.relative_to(ROOT))
    read = {ROOT / line[2:] for line in log.read_text().splitlines() if line[2:].startswith(web)
            and line.startswith("r ")}
    assert len(wrappers) > 5
    assert read == remember.scripts(programs)


def test_a_page_is_remembered_with_what_visits_it():
    from tests.pages.conftest import TOOLS
    names = {str(Path(file)) for file in TOOLS}
    for file in ("oracles/web/chromium.py", "oracles/web/serving.py", "book/pipeline/serve.py",
                 "book/pipeline/pages/built.py", "tests/helpers/site.py", "tests/pages/look.js",
                 "node_modules/axe-core/axe.min.js"):
        assert str(ROOT / file) in names, file


def test_a_record_of_the_suite_makes_nothing_run_again_but_one_of_random_cases_does(monkeypatch):
    def with_settings(**named):
        for name in ("RECORD", "DEPTH"):
            monkeypatch.delenv(name, raising=False)
        for name, value in named.items():
            monkeypatch.setenv(name, value)
        return passed.digest([])

    assert with_settings(RECORD="1") == with_settings()
    assert len({with_settings(), with_settings(DEPTH="20"),
                with_settings(DEPTH="20", RECORD="1")}) == 3
