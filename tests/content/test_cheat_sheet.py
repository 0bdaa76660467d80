"""The cheat sheets: each line has an assertion of its name, in a cell below its table."""

import ast
import re

import nbformat
import pytest

from book.extension import chapter
from book.pipeline.ground.paths import CHAPTERS, SHEET
from book.pipeline.notebooks.notebook import code_cells, output_text
from book.pipeline.text import prose

LABEL = re.compile(r"^\| `([A-Z]\d+)` \| (.+) \|$", re.M)
NUMBER = re.compile(r"\d[\d.e+-]*$")
SHEETS = sorted(CHAPTERS.glob(f"*/{SHEET}.ipynb"))


@pytest.fixture(params=SHEETS, ids=lambda path: path.parent.name)
def sheet(request):
    return nbformat.read(request.param, 4)


def labels(sheet, lang):
    return [label for cell in sheet.cells if cell.metadata.get("lang") == lang
            for label, _ in LABEL.findall(cell.source)]


def checks(sheet):
    """The keyword arguments of every call of `check`, in order: (name, expression)."""
    calls = [node for cell in code_cells(sheet) for node in ast.walk(ast.parse(cell.source))
             if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "check"]
    return [(word.arg, word.value) for call in calls for word in call.keywords]


def definition(sheet):
    """The sheet's own `check`, as a reader runs it."""
    names = {}
    cell = next(cell for cell in code_cells(sheet) if "def check(" in cell.source)
    exec(compile(cell.source, "cell", "exec"), names)
    return names


def test_there_is_a_sheet():
    assert SHEETS


def test_every_line_has_its_assertion_and_no_assertion_lacks_a_line(sheet):
    zh, en, names = labels(sheet, "zh"), labels(sheet, "en"), [name for name, _ in checks(sheet)]
    assert zh == en == names
    assert len(set(names)) == len(names) >= 30


def test_every_assertion_computes_something(sheet):
    for name, fact in checks(sheet):
        used = {node.id for node in ast.walk(fact) if isinstance(node, ast.Name)}
        assert used, f"{name} is a constant"
        assert len(used) > 1 or not isinstance(fact, ast.Name), f"{name} is a bare name"


def test_the_number_of_lines_that_it_prints_is_right(sheet):
    last = [output_text(cell) for cell in code_cells(sheet)][-1]
    assert last.strip() == f"{len(labels(sheet, 'en'))} lines checked"


def test_nothing_else_is_printed(sheet):
    assert not [output for cell in code_cells(sheet)[:-1] for output in cell.outputs]


def test_a_fact_that_fails_stops_the_notebook_and_names_its_line(sheet):
    check = definition(sheet)["check"]
    check(A1=True)
    for fact in (False, None, 1, "yes"):
        with pytest.raises(AssertionError, match=r"^A9 does not hold"):
            check(A9=fact)


def named(title):
    """The labels that the title of a cell's fold stands for: A1–A3, B2 are A1, A2, A3 and B2."""
    runs = re.findall(r"([A-Z])(\d+)(?:–\1(\d+))?", title)
    return [f"{letter}{number}" for letter, first, last in runs
            for number in range(int(first), int(last or first) + 1)]


def test_the_titles_of_the_folds_name_each_line_once_where_it_is_checked(sheet):
    titles = [chapter.title(cell.source) for cell in code_cells(sheet)]
    assert [label for _, en in titles for label in named(en)] == labels(sheet, "en")
    assert [named(zh) for zh, _ in titles] == [named(en) for _, en in titles]
    assert {en for _, en in titles if not named(en)} == {"Set-up"}


def test_a_title_joins_labels_that_count_up_and_no_others():
    assert chapter.title("check(A9=a, A10=a, B1=a)\ncheck(B3=a)") == (
        "证明：A9–A10、B1、B3", "Proofs: A9–A10, B1, B3")
    assert chapter.title("def check(**facts): pass\nother(A1=a)") == ("准备", "Set-up")


def figures(sheet):
    """Rows of a name and numbers, as in `float16`, 2, 65504: {label: cells}."""
    rows = {label: [cell.strip(" `") for cell in rest.split(" | ")]
            for cell in sheet.cells if cell.metadata.get("lang") == "en"
            for label, rest in LABEL.findall(cell.source)}
    return {label: cells for label, cells in rows.items()
            if len(cells) > 1 and all(NUMBER.match(cell) for cell in cells[1:])}


def test_figures_in_a_table_are_those_that_its_assertion_compares(sheet):
    """The call that checks such a row has the same figures."""
    facts = dict(checks(sheet))
    for label, cells in figures(sheet).items():
        typed = [ast.literal_eval(argument) for argument in facts[label].args]
        assert [cells[0], *map(float, cells[1:])] == typed


def test_some_sheet_has_figures_in_a_table():
    assert any(figures(nbformat.read(path, 4)) for path in SHEETS)


def test_both_languages_agree_on_every_line(sheet):
    zh, en = ([cell.source for cell in sheet.cells if cell.metadata.get("lang") == lang]
              for lang in ("zh", "en"))
    assert [finding for pair in zip(zh, en, strict=True) for finding in prose.pair(*pair)] == []


def test_both_languages_say_the_same_number_of_pages(sheet):
    """How many there are is measured in tests/pages/test_sheets.py."""
    text = "".join(cell.source for cell in sheet.cells)
    says = {one: one in text for one in ("一页 A4", "one A4 page", "两页 A4", "two A4 pages")}
    assert says["一页 A4"] == says["one A4 page"] != says["两页 A4"] == says["two A4 pages"]
