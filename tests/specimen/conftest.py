"""The specimen as a site: a small book that holds every construct once, built once per run.

Who edits tests and not the book may build it once: SPECIMEN names a folder that is kept.
"""

import os
from pathlib import Path

import pytest
from filelock import FileLock

from book.pipeline import site as builder
from book.pipeline.serve import served
from tests.helpers.browser import browser, open_all, seats, tab_to, visit  # noqa: F401

SOURCE = Path(__file__).with_name("source")
BUILT = Path("_build", "html")

# The pages by what stands on them; the numbers that tests expect are those of their sources.
CHAPTER = "chapters/01-tensors"
DRAFTS = "chapters/06-memory"  # without a machine; its opening and a section are being written
PAGES = {
    "front": "book/index.html", "drill": "book/drill.html", "opening": f"{CHAPTER}/index.html",
    "section": f"{CHAPTER}/section.html", "sheet": f"{CHAPTER}/cheat-sheet.html",
    "explorer": f"{CHAPTER}/stride-explorer.html", "stepper": f"{CHAPTER}/graph-stepper.html",
    "torch graph": f"{CHAPTER}/torch-graph.html", "timeline": f"{CHAPTER}/loader-timeline.html",
    "inspector": f"{CHAPTER}/module-inspector.html",
    "pipeline": f"{CHAPTER}/pipeline-explorer.html", "use": "book/how-to-use.html",
    "no machine": f"{DRAFTS}/index.html", "written": f"{DRAFTS}/written.html",
    "unwritten": f"{DRAFTS}/unwritten.html",
}
TEMPLATES = ("front", "drill", "opening", "section", "sheet")  # one page of each kind


def pytest_generate_tests(metafunc):
    """`template` runs over a page of each kind."""
    if "template" in metafunc.fixturenames:
        metafunc.parametrize("template", TEMPLATES)


@pytest.fixture(scope="session")
def specimen(tmp_path_factory, worker_id):
    """Folder of the built site; the worker that comes first builds it for all."""
    folder = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        folder = folder.parent  # of this run, with a folder for each worker
    out = Path(os.environ.get("SPECIMEN", folder / "specimen"))
    with FileLock(f"{out}.lock"):
        if not (out / "done").exists():
            builder.build(SOURCE, out)
            (out / "done").touch()
    return out / BUILT


@pytest.fixture(scope="session")
def site(specimen):
    """Address of the specimen, served on a free port."""
    with served(specimen) as address:
        yield address


@pytest.fixture
def page_of(visit):  # noqa: F811
    """Open a page of the specimen by its name in PAGES, as a new reader."""
    def make(name, lang=None, **options):
        return visit(**options).open(PAGES[name], lang)
    return make
