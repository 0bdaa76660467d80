"""Setting up: the first cell of a notebook finds `inside`; environment.py makes `.venv` once."""

import ast
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from book.pipeline import environment
from book.pipeline.notebooks import notebook
from book.pipeline.paths import CHAPTERS, CODE, ROOT

NOTEBOOKS = sorted(CHAPTERS.glob("*/*.ipynb"))

# ---- the first cell ----------------------------------------------------------------------------


def test_there_are_notebooks_to_check():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_notebook_begins_with_the_setup_cell(path):
    first, *others = notebook.code_cells(nbformat.read(path, 4))
    assert first.source == notebook.SETUP
    assert first.metadata["tags"] == ["setup"]
    assert not first.outputs
    assert not any("setup" in cell.metadata.get("tags", []) for cell in others)


def setup_from(folder):
    """The folders that the setup cell puts before sys.path when it runs in `folder`."""
    program = f"import sys; before = list(sys.path)\n{notebook.SETUP}\n" \
              "print(*sys.path[:len(sys.path) - len(before)], sep='\\n')"
    out = subprocess.run([sys.executable, "-c", program], cwd=folder, text=True,
                         capture_output=True, check=True).stdout
    return out.split()


@pytest.mark.parametrize("folder", [ROOT, CHAPTERS, NOTEBOOKS[0].parent])
def test_the_setup_cell_finds_inside_from_the_root_and_from_any_chapter(folder):
    assert setup_from(folder) == [str(CODE)]


def test_the_setup_cell_leaves_the_path_alone_outside_the_repository(tmp_path):
    assert setup_from(tmp_path) == []


# ---- the Python that is used -------------------------------------------------------------------

def stopped(function, *arguments):
    """The one line with which a function ends the program."""
    with pytest.raises(SystemExit) as caught:
        function(*arguments)
    message = str(caught.value)
    assert message.startswith("setup: ")
    assert "\n" not in message
    return message


@pytest.fixture
def python(monkeypatch):
    """Pretend that environment.py runs under another version of Python."""

    def version(*numbers):
        fake = SimpleNamespace(version_info=numbers, executable="/usr/bin/python3", exit=sys.exit,
                               argv=["environment.py", "full"])
        monkeypatch.setattr(environment, "sys", fake)

    return version


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 10, 13), (3, 14, 0), (4, 0, 0)])
def test_an_unsupported_python_is_refused_with_versions_and_remedy(python, version):
    python(*version)
    assert stopped(environment.check_python) == (
        "setup: Python 3.11, 3.12 or 3.13 is needed, and /usr/bin/python3 is "
        f"{version[0]}.{version[1]}; name another: make book PYTHON=python3.12")


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 12, 1), (3, 13, 9)])
def test_a_supported_python_is_accepted(python, version):
    python(*version)
    assert environment.check_python() is None


def test_supported_versions_are_those_of_pyproject():
    text = Path(environment.ROOT, "pyproject.toml").read_text()
    low, above = re.search(r'requires-python = ">=3\.(\d+),<3\.(\d+)"', text).groups()
    first, last = environment.SUPPORTED
    assert first == (3, int(low))
    assert last == (3, int(above) - 1)


def test_an_old_python_can_read_the_script_that_refuses_it():
    assert ast.parse(Path(environment.__file__).read_text("utf-8"), feature_version=(3, 7))


# ---- .venv -------------------------------------------------------------------------------------

@pytest.fixture
def root(tmp_path, monkeypatch):
    """A repository root of its own, with requirement files and an empty .venv."""
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "VENV", tmp_path / ".venv")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    for name in ("requirements.txt", "requirements-site.txt", "constraints.txt", "package.json",
                 "package-lock.json", ".npmrc"):
        (tmp_path / name).write_text(name)
    return tmp_path


def use(root, executable):
    (root / ".venv" / "bin" / "python").symlink_to(executable)


def test_a_venv_that_works_serves_under_any_python(root, python):
    use(root, sys.executable)
    python(3, 14, 0)
    environment.create_venv()
    assert [entry.name for entry in (root / ".venv" / "bin").iterdir()] == ["python"]


@pytest.mark.parametrize("problem", ["unsupported", "gone", "none"])
def test_a_venv_that_does_not_work_is_made_anew(root, monkeypatch, problem):
    commands = []
    if problem == "unsupported":
        use(root, sys.executable)
        monkeypatch.setattr(environment, "SUPPORTED", ((3, 98), (3, 99)))
        monkeypatch.setattr(environment, "check_python", lambda: commands.append("check"))
    elif problem == "gone":
        use(root, root / "nowhere")
    real = subprocess.run

    def run(command, **options):
        if "venv" not in command:
            return real(command, **options)
        commands.append([str(part) for part in command])
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(environment, "subprocess", SimpleNamespace(run=run))
    environment.create_venv()
    assert commands[-1] == [sys.executable, "-m", "venv", str(root / ".venv")]
    assert not (root / ".venv" / "bin").exists()


def test_a_python_that_is_refused_leaves_the_venv_as_it_is(root, python):
    python(3, 10, 1)
    assert "Python 3.11" in stopped(environment.create_venv)
    assert (root / ".venv" / "bin").exists()


def test_a_python_without_venv_is_named(root, monkeypatch):
    fail = SimpleNamespace(run=lambda *a, **k: SimpleNamespace(returncode=1))
    monkeypatch.setattr(environment, "subprocess", fail)
    assert "apt install python3-venv" in stopped(environment.create_venv)


# ---- steps -------------------------------------------------------------------------------------

@pytest.fixture
def step(root):
    """Run a step that writes a line to `log`; how often it has run so far."""

    def run(fail=False, product=root / ".venv"):
        command = [sys.executable, "-c",
                   "import os; open('log', 'a').write('x'); os.path.exists('fail') and 1 / 0"]
        if fail:
            (root / "fail").touch()
        else:
            (root / "fail").unlink(missing_ok=True)
        environment.once("some packages", product, [root / "requirements.txt"], command,
                         "Run it again.")
        return len((root / "log").read_text())

    return run


def test_a_step_that_is_done_is_not_run_again(step):
    assert step() == 1
    assert step() == 1


def test_a_changed_file_runs_the_step_again(root, step):
    step()
    (root / "requirements.txt").write_text("numpy")
    assert step() == 2
    assert step() == 2


def test_a_removed_product_runs_the_step_again(root, step):
    step()
    (root / ".venv" / ".done-some packages").rename(root / "moved")
    assert step() == 2


def test_a_failing_step_says_which_and_how_to_go_on_and_is_not_taken_for_done(root, step):
    assert stopped(step, True) == (
        "setup: step 'some packages' failed (its messages stand above). Run it again.")
    assert step() == 2


def test_a_failed_step_is_run_again_for_the_old_files_too(root, step):
    step()
    (root / "requirements.txt").write_text("broken")
    stopped(step, True)
    (root / "requirements.txt").write_text("requirements.txt")
    assert step() == 3


@pytest.fixture
def commands(root, monkeypatch):
    """What would be installed, by command; nothing is."""
    seen = []

    def run(command, cwd, env, check):
        assert cwd == root
        assert env["PATH"].startswith(str(root / ".venv" / "bin"))
        seen.append([Path(command[0]).name, *command[1:]])
        (root / "node_modules").mkdir(exist_ok=True)
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(environment, "create_venv", lambda: None)
    monkeypatch.setattr(environment, "subprocess", SimpleNamespace(run=run))
    return seen


def install(monkeypatch, what):
    monkeypatch.setattr(sys, "argv", ["environment.py", what])
    environment.main()


@pytest.mark.parametrize(("what", "requirements"), [
    ("site", "requirements-site.txt"), ("full", "requirements.txt"),
])
def test_site_and_full_install_their_own_requirements(monkeypatch, commands, what, requirements):
    monkeypatch.delenv("TORCH_INDEX", raising=False)
    install(monkeypatch, what)
    (pip, pip_command, *options), (npm, npm_command, *_) = commands
    assert (pip, pip_command, npm, npm_command) == ("pip", "install", "npm", "ci")
    assert options[-4:] == ["-r", requirements, "-c", "constraints.txt"]
    install(monkeypatch, what)
    assert len(commands) == 2


@pytest.mark.parametrize("name", ["requirements.txt", "constraints.txt", "requirements-site.txt"])
def test_each_requirement_file_renews_the_python_packages(root, monkeypatch, commands, name):
    install(monkeypatch, "full")
    (root / name).write_text("changed")
    install(monkeypatch, "full")
    assert [command[0] for command in commands] == ["pip", "npm", "pip"]


@pytest.mark.parametrize("name", ["package.json", "package-lock.json", ".npmrc"])
def test_each_npm_file_renews_the_npm_packages(root, monkeypatch, commands, name):
    install(monkeypatch, "site")
    (root / name).write_text("changed")
    install(monkeypatch, "site")
    assert [command[0] for command in commands] == ["pip", "npm", "npm"]


def test_removed_node_modules_are_installed_again(root, monkeypatch, commands):
    install(monkeypatch, "site")
    (root / "node_modules" / ".done-npm packages").unlink()
    (root / "node_modules").rmdir()
    install(monkeypatch, "site")
    assert [command[0] for command in commands] == ["pip", "npm", "npm"]


def test_torch_index_adds_an_index(monkeypatch, commands):
    monkeypatch.setenv("TORCH_INDEX", "https://index.example/cpu")
    install(monkeypatch, "full")
    assert commands[0][:2] == ["pip", "install"]
    assert commands[0][-2:] == ["--extra-index-url", "https://index.example/cpu"]


def test_an_unknown_wish_is_refused(monkeypatch, commands):
    assert stopped(install, monkeypatch, "all") == "setup: say what is wanted: site or full"
    assert commands == []
