"""What a page says of the code is at hand: every file it names, and an archive that runs."""

import os
import subprocess
import sys
import zipfile
from types import SimpleNamespace

import pytest
from docutils import nodes

from book.extension import code_files
from book.pipeline.finish import downloads
from book.pipeline.finish.downloads import ARCHIVE, FOLDER
from book.pipeline.ground.paths import ROOT
from book.pipeline.notebooks.notebook import SETUP


@pytest.fixture
def built(tmp_path):
    assert not (tmp_path / FOLDER).exists()
    downloads.write_code(tmp_path)
    return tmp_path / FOLDER


def linked(name):
    """Addresses of the links that a page below chapters/ gets for `name` in prose."""
    document = nodes.document(None, None)
    document += nodes.paragraph("", "", nodes.literal("", name))
    document.settings = SimpleNamespace(
        env=SimpleNamespace(docname="chapters/02-autograd/what-is-recorded"), language_code="en")
    transform = code_files.LinkCode.__new__(code_files.LinkCode)
    transform.document = document
    transform.apply()
    return [link["refuri"] for link in document.findall(nodes.reference)]


def test_a_file_that_prose_names_is_linked_and_there(built):
    [target] = linked("code/scalar_mlp.py")
    assert target == "../../downloads/code/scalar_mlp.py"
    assert (built / "code/scalar_mlp.py").read_bytes() == (ROOT / "code/scalar_mlp.py").read_bytes()


@pytest.mark.parametrize("name", ["code/", "code/no_such.py", "scalar_mlp.py"])
def test_what_is_no_file_of_the_code_is_not_linked(name):
    assert linked(name) == []


def test_the_archive_beside_a_notebook_is_all_that_its_imports_need(built, tmp_path):
    beside = tmp_path / "reader"
    zipfile.ZipFile(built / ARCHIVE).extractall(beside)
    program = (f"{SETUP}\nimport scalar_mlp, inside\n"
               "import inside.widgets.graph_stepper, inside.widgets.stride_explorer\n"
               "import inside.widgets.loader_timeline, inside.widgets.module_inspector\n"
               "import inside.widgets.aligned_shapes\n"
               "import mini_loader, loader_data\n"
               "from inside.pictures.grids import draw_grids  # as an older notebook says\n"
               "from inside.widgets.pipeline_explorer import PipelineExplorer\n"
               "PipelineExplorer('loop')\n"
               "from inside.recorded import recorded\nrecorded('scalar-speed')\n"
               "print(inside.__file__)")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run([sys.executable, "-c", program], cwd=beside, env=environment, check=False,
                          capture_output=True, text=True)
    assert done.stdout.strip() == str(beside / "code/inside/__init__.py"), done.stderr


def test_the_archive_says_under_which_licence_it_stands(built):
    licence = zipfile.ZipFile(built / ARCHIVE).read("LICENSE").decode()
    assert licence == (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "): MIT" in licence


def test_the_same_code_makes_the_same_archive(built, tmp_path):
    first = (built / ARCHIVE).read_bytes()
    downloads.write_code(tmp_path)
    assert (built / ARCHIVE).read_bytes() == first
    names = zipfile.ZipFile(built / ARCHIVE).namelist()
    assert not [name for name in names if "__pycache__" in name]
