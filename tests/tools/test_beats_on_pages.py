"""A small site of one section: its blanks, its downloads, its exercises."""

import html
import shutil
import subprocess
import sys

import nbformat
import pytest
from bs4 import BeautifulSoup

from book.pipeline.finish import downloads as files
from book.pipeline.ground.paths import CHAPTERS, ROOT
from book.pipeline.notebooks import downloads, faded
from book.pipeline.notebooks import notebook as nb
from tests.helpers.golden_example import made_by_hand

EXERCISES = CHAPTERS / "02-autograd"
PAGE = "chapters/02-autograd/section"
CONF = f"""
import sys
sys.path[:0] = [{str(ROOT)!r}, "."]
extensions = ["myst_nb", "concerns"]
nb_execution_mode = "off"
root_doc = {PAGE!r}
"""
CONCERNS = """
from book import extension
from book.extension import bilingual, complete, downloads, exercises, slugs

def setup(app):
    slugs.setup(app)
    bilingual.setup(app)
    extension.add(app, [downloads.LinkDownloads, bilingual.PairLanguages, complete.BlankCells,
                        exercises.ListExercises])
"""


def golden():
    notebook = made_by_hand()
    notebook.cells.append(nbformat.v4.new_markdown_cell("## 练习 · Exercises", id="exercises"))
    notebook.cells.append(nbformat.v4.new_markdown_cell("### 之后 · After", id="after"))
    return notebook


def build(folder, change=lambda source: None):
    """Sphinx over a section with exercises; the process when it is done."""
    source = folder / "source"
    section = source / f"{PAGE}.ipynb"
    section.parent.mkdir(parents=True)
    section.write_text(nb.write_text(golden()), encoding="utf-8")
    for name in ("exercises.yaml", "check_scalar.py"):
        shutil.copy(EXERCISES / name, section.parent)
    (source / "conf.py").write_text(CONF)
    (source / "concerns.py").write_text(CONCERNS)
    change(section.parent)
    return subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going",
                           str(source), str(folder / "site")],
                          capture_output=True, text=True, check=False, cwd=source)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    done = build(folder)
    assert (done.returncode, done.stderr) == (0, "")
    files.write(folder / "site", files.notebooks(folder / "source", [PAGE, "book/no-chapter"]))
    files.write(folder / "site", files.exercises(folder / "source"))
    return folder / "site"


@pytest.fixture(scope="module")
def page(site):
    return BeautifulSoup((site / f"{PAGE}.html").read_text(encoding="utf-8"), "html.parser")


pytestmark = pytest.mark.slow


def blocks(tag):
    return [pre.get_text().rstrip("\n") for pre in tag.select(".highlight pre")]


def test_a_complete_cell_shows_its_blanks_and_folds_the_solution_with_its_output(page):
    first, second = page.select(".cell.complete")
    assert blocks(first) == ["def twice(x):\n    ...  # blank\ntwice",
                             "def twice(x):\n    return 2 * x  # blank\ntwice", "a function"]
    assert blocks(second)[0] == "for row in (1, 2):\n    ...  # blank"
    fold = first.select_one("details")
    assert not fold.has_attr("open")
    assert blocks(fold) == blocks(first)[1:]
    assert fold.summary.get_text() == "参考答案 · Solution"
    for pre in first.select(".cell_input pre"):
        assert pre.select_one("span.k").get_text() == "def", "highlighted as code"


def test_a_complete_cell_says_in_both_languages_what_to_do(page):
    for cell in page.select(".cell.complete"):
        for lang, label, word in (("zh", "轮到你写", "下一格"), ("en", "Your turn", "next cell")):
            assert cell.select_one(f".complete-label .lang-{lang}").get_text() == label
            note = cell.select_one(f".complete-note .lang-{lang}")
            assert word in note.get_text()
            assert note.code.get_text() == "# blank"


def test_the_cell_that_checks_shows_its_output(page):
    cells = page.select(".cell:not(.complete)")
    assert ["twice is right"] in [blocks(cell)[1:] for cell in cells]


def test_links_lead_to_each_variant_of_the_notebook(site, page):
    line = page.select_one("article > section > .downloads, .downloads")
    links = {link["data-variant"]: link["href"] for link in line.select("a[data-variant]")}
    assert list(links) == list(downloads.VARIANTS)
    code = {link["href"] for link in line.select("a:not([data-variant])")}
    assert [(site / PAGE).parent.joinpath(href).resolve() for href in code] == [
        (site / "downloads/code.zip").resolve()]
    for variant, href in links.items():
        file = (site / PAGE).parent.joinpath(href).resolve()
        assert file == (site / "downloads/02-autograd" / f"section.{variant}.ipynb").resolve()
        written = file.read_text(encoding="utf-8")
        assert written == nb.write_text(downloads.reader_notebook(golden(), variant))


def test_the_exercises_stand_under_their_heading_before_its_parts(page):
    section = page.find(id="exercises")
    assert [child.name for child in section.find_all(recursive=False)] == [
        "h2", "div", "ol", "section"]
    rows = section.select(".exercises tbody tr")
    assert len(rows) == 3
    for exercise in faded.read(EXERCISES / "exercises.yaml").functions:
        place = ["worked", "blanks", "tests"].index(exercise.form)
        assert exercise.name in [code.get_text() for code in rows[place].select("td code")]
    put, check, _ = section.select(".exercise-steps > li .lang-en")
    assert put.get_text().startswith("Download check_scalar.py and the file you write")
    assert "run python3 check_scalar.py" in check.get_text()


def test_each_row_links_its_file_and_none_the_solution(page):
    rows = page.select("#exercises .exercises tbody tr")
    assert [[link.get_text() for link in row.select("a[download]")] for row in rows] == [
        ["pytorch_deep_dive_blanks.py"], ["pytorch_deep_dive_blanks.py"],
        ["pytorch_deep_dive_from_tests.py"]]
    *_, solution = page.select("#exercises .exercise-steps > li")
    assert {link.get_text() for link in solution.select("a")} == {"pytorch_deep_dive.py"}


def test_the_files_of_the_exercises_are_those_that_the_page_names(site, page):
    made = faded.files(EXERCISES / "exercises.yaml")
    folder = site / "downloads/02-autograd/exercises"
    assert {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()} == made
    named = {(site / PAGE).parent.joinpath(link["href"]).resolve()
             for link in page.find(id="exercises").select("a[download]")}
    assert named == {(folder / name).resolve() for name in made}


def test_a_list_with_an_unknown_function_stops_the_build_with_its_name(tmp_path):
    def misspell(folder):
        file = folder / "exercises.yaml"
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("Scalar.tanh", "Scalar.tanhh"), encoding="utf-8")

    done = build(tmp_path, misspell)
    assert done.returncode != 0
    message = "exercises.yaml: no function 'Scalar.tanhh' in the companion; near to it: Scalar.tanh"
    assert message in html.unescape(done.stderr)
    assert "Traceback" not in done.stderr
