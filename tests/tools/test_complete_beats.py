"""A complete beat: its blanks are marked rightly, and without its solution it is still Python."""

import ast

import pytest

from book.pipeline import lint
from book.pipeline.notebooks import blanks

SOLVED = """\
def rows(size):
    count = 0
    for n in size:
        count += n  # blank
    return count  # blank"""
CHECK = "assert rows([2, 3]) == 5\nprint('5 rows')"


def page(*cells):
    """A section made of code cells: (options, source)."""
    fences = [f"```{{code-cell}} python\n---\n{options}\n---\n{source}\n```\n" if options else
              f"```{{code-cell}} python\n{source}\n```\n" for options, source in cells]
    return "\n".join(["# 题 · Title\n", *fences])


def found(*cells):
    return [text for _, text in lint.lint_source(page(*cells))]


def test_a_blank_line_keeps_its_indentation_and_its_mark():
    assert blanks.blanked(SOLVED) == """\
def rows(size):
    count = 0
    for n in size:
        ...  # blank
    ...  # blank"""


def test_a_blanked_cell_is_python_and_its_other_lines_are_untouched():
    text = blanks.blanked(SOLVED)
    ast.parse(text)
    kept = [line for line in SOLVED.split("\n") if not line.endswith("# blank")]
    assert [line for line in text.split("\n") if not line.endswith("# blank")] == kept


def test_a_cell_without_blanks_is_its_own_blanked_form():
    assert blanks.blanked(CHECK) == CHECK


@pytest.mark.parametrize("source", [
    "for n in size:  # blank\n    count += n",
    "value = max(\n    1,  # blank\n    2)",
    "try:\n    x = 1\nexcept ValueError:  # blank\n    x = 2",
])
def test_half_a_statement_cannot_be_blank(source):
    with pytest.raises(ValueError, match="no Python"):
        blanks.blanked(source)


def test_a_right_beat_has_no_finding():
    assert found(("complete: true", SOLVED), ("", CHECK)) == []
    six = "\n".join(["x = 1  # blank"] * 6)
    assert found(("complete: true", six), ("", "assert x == 1")) == []


def test_prose_may_stand_between_a_beat_and_its_check():
    beat, check = page(("complete: true", SOLVED)), page(("", CHECK)).partition("\n\n")[2]
    pair = '+++ {"lang": "zh"}\n\n好。\n\n+++ {"lang": "en"}\n\nGood.\n\n'
    assert lint.lint_source(f"{beat}\n{pair}{check}") == []


OPTIONS = ('{match: "1", zh: 是, en: "Yes"}, '
           '{match: "2", zh: 否, en: "No", why: {zh: 否。, en: No.}}')


@pytest.mark.parametrize(("cells", "what"), [
    ([("", SOLVED), ("", CHECK)], "`# blank` on line 4 of the cell"),
    ([("complete: true", SOLVED), ("", f"{CHECK}  # blank")], "`# blank` on line 2 of the cell"),
    ([("complete: true", f"{SOLVED}\n# blank"), ("", CHECK)], "`# blank` on line 6 of the cell"),
    ([("complete: true", f"{SOLVED} again"), ("", CHECK)], "`# blank` on line 5 of the cell"),
    ([("complete: true", f"{SOLVED}\nx = 1 #blank"), ("", CHECK)], "`# blank` on line 6"),
    ([("complete: true", "x = 1"), ("", "assert x")], "0 blank lines; end 1 to 6 lines"),
    ([("complete: true", "\n".join(["x = 1  # blank"] * 7)), ("", "assert x")], "7 blank lines"),
    ([("complete: true", "if 1:  # blank\n    x = 2"), ("", "assert x")], "is no Python"),
    ([("complete: true", SOLVED)], "no check of the blanks"),
    ([("complete: true", SOLVED), ("", "print(rows([2]))  # assert")], "no check of the blanks"),
    ([("complete: 'yes'", SOLVED), ("", CHECK)], "complete is 'yes'; write true"),
    ([("complete: false", "x = 1"), ("", CHECK)], "complete is False; write true"),
    ([(f"complete: true\npredict: {{options: [{OPTIONS}]}}", SOLVED), ("", CHECK)],
     "predict and complete on one cell"),
])
def test_a_breach_is_found(cells, what):
    findings = found(*cells)
    assert any(what in text for text in findings), findings
    assert all("; " in text for text in findings), "a finding says how to mend it"
