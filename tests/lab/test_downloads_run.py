"""What the site offers for download runs as `make lab` runs it: the notebook, with the archive of
the code unpacked beside it, and the exercises. Nothing of the repository is on Python's path."""

import os
import shutil
import subprocess
import sys
import zipfile

import nbformat
import pytest
from nbclient import NotebookClient

from book.pipeline import lab
from book.pipeline.finish import downloads
from book.pipeline.ground.paths import CHAPTERS, ROOT
from book.pipeline.notebooks import faded, jupyter
from book.pipeline.notebooks import notebook as nb
from tests.lab.conftest import SPECIMEN

pytestmark = pytest.mark.slow

IMPORTS = """
import sys, pathlib, inside, loader_data, mini_loader, mini_tensor, pytorch_deep_dive
from inside.recorded import recorded
from inside.widgets.loader_timeline import LoaderTimeline
from inside.widgets.stride_explorer import StrideExplorer
print(type(recorded('loader')).__name__, LoaderTimeline().settings['at'],
      StrideExplorer(shape=(2, 3)).strides)
print(pathlib.Path(inside.__file__).parents[2] == pathlib.Path(sys.path[0]).parent)
"""
DRAWING = SPECIMEN / "chapters/01-tensors/two-names.svg"  # a cell of the specimen opens it


@pytest.fixture(scope="session")
def beside(tmp_path_factory):
    """A folder of a reader who has no clone: two notebooks, the archive unpacked, the exercises."""
    folder = tmp_path_factory.mktemp("reader")
    files = dict(downloads.notebooks(SPECIMEN, lab.documents(SPECIMEN), ["en"]))
    downloads.write(folder, files.items())
    downloads.write(folder, downloads.exercises(ROOT))
    downloads.write_code(folder)
    chapter = folder / downloads.FOLDER / "01-tensors"
    shutil.copy(DRAWING, chapter)
    zipfile.ZipFile(folder / downloads.FOLDER / downloads.ARCHIVE).extractall(chapter)
    return chapter


@pytest.fixture(scope="session")
def in_lab(clone):
    """The folder of the same chapter as `make lab` writes it."""
    lab.renew(clone, clone / lab.FOLDER, "en")
    chapter = clone / lab.FOLDER / "01-tensors"
    shutil.copy(DRAWING, chapter)
    return chapter


def run(path, solved=None, more=""):
    """The outputs of each code cell of a notebook that is executed where it lies."""
    book = nbformat.read(path, 4)
    for cell in nb.code_cells(book):
        cell.source = (solved or {}).get(cell.id, cell.source)
    book.cells.append(nbformat.v4.new_code_cell(more))
    environment = {key: value for key, value in jupyter.environment(path.parent).items()
                   if key != "PYTHONPATH"}
    client = NotebookClient(book, kernel_name="python3", timeout=600,
                            resources={"metadata": {"path": str(path.parent)}})
    client.execute(env=environment)
    return [cell.outputs for cell in nb.code_cells(book)]


def solutions():
    """Cell -> its source with the blanks filled in, of the section of the specimen."""
    golden = nbformat.read(SPECIMEN / "chapters/01-tensors/section.ipynb", 4)
    return {cell.id: cell.source for cell in nb.code_cells(golden)
            if cell.metadata.get("complete")}


def test_a_downloaded_notebook_gives_the_outputs_of_the_one_in_the_lab(beside, in_lab):
    assert solutions()
    downloaded, ours = (run(folder / "section.en.ipynb", solutions(), IMPORTS)
                        for folder in (beside, in_lab))
    assert downloaded == ours
    said = "".join(output.get("text", "") for output in ours[-1])
    assert said == "Recorded 0 (3, 1)\nTrue\n"


def ask(folder, check, *names):
    """What the check of some exercises says, run as the pages tell."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run([sys.executable, check, *names], cwd=folder, env=environment,
                          capture_output=True, text=True, check=False, timeout=600)


@pytest.mark.parametrize("source", sorted(CHAPTERS.glob("*/exercises*.yaml")),
                         ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_exercises_say_what_is_to_be_written_and_pass_when_it_is(source, beside, tmp_path):
    folder = beside.parent / source.parent.name / "exercises"
    exercises = faded.read(source)
    made = faded.files(source)
    lists = [faded.files(path) for path in source.parent.glob("exercises*.yaml")]
    assert {file.name: file.read_text("utf-8") for file in folder.glob("*.*")} == {
        name: text for files in lists for name, text in files.items()}
    done = ask(folder, exercises.check.name)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    for name, text in made.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for form in faded.CUT:
        for companion in exercises.cut(form):
            solved = made[companion.name]
            (tmp_path / exercises.file(form, companion)).write_text(solved, encoding="utf-8")
    done = ask(tmp_path, exercises.check.name)
    assert done.returncode == 0, done.stdout + done.stderr
