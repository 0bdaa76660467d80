"""The time of a section grows with its text, its code and what the reader does."""

import nbformat
import pytest

from book.pipeline.reading.minutes import minutes


def words(number, lang):
    return nbformat.v4.new_markdown_cell("word " * number, metadata={"lang": lang})


def predictions(number, kind="predict"):
    return [nbformat.v4.new_code_cell("1", metadata={kind: {"options": []}})
            for _ in range(number)]


def code(lines, **metadata):
    return nbformat.v4.new_code_cell("\n".join(["x = 1"] * lines), metadata=metadata)


@pytest.mark.parametrize(("cells", "expected"), [
    ([], 5),
    ([words(1000, "en")], 10),
    ([words(1000, "zh")], 5),  # one language is counted
    ([words(900, "en"), *predictions(6)], 15),
    ([words(900, "en"), *predictions(3, "complete")], 20),  # to write takes longer
    ([words(900, "en"), code(180)], 15),
    ([words(900, "en"), code(180, tags=["setup"])], 5),  # no page shows it
])
def test_time_grows_with_the_text_and_with_what_the_reader_does(cells, expected):
    assert minutes(nbformat.v4.new_notebook(cells=cells)) == expected
