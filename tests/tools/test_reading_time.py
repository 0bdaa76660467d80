"""The time of a section grows with its text, its code and what the reader does."""

import nbformat
import pytest

from book.pipeline.reading.minutes import Estimate, estimate, minutes


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


def notebook(*cells):
    return nbformat.v4.new_notebook(cells=list(cells))


def test_sections_that_fill_the_limit_still_differ_by_what_there_is_to_read():
    long, short = notebook(words(3000, "en"), *predictions(2)), notebook(
        words(2000, "en"), *predictions(5))
    assert minutes(long) == minutes(short) == 20
    assert (estimate(long).en, estimate(short).en) == (17, 11)
    assert (estimate(long).whole("en"), estimate(short).whole("en")) == (20, 19)


@pytest.mark.parametrize(("cells", "expected"), [
    ([], Estimate(1, 1, 0)),
    ([words(1800, "en")], Estimate(1, 10, 0)),
    ([nbformat.v4.new_markdown_cell("张量 " * 1500, metadata={"lang": "zh"})], Estimate(10, 1, 0)),
    ([words(1800, "zh")], Estimate(10, 1, 0)),  # names and code in Chinese are read as words
    ([nbformat.v4.new_markdown_cell("，。（）" * 900, metadata={"lang": "zh"})], Estimate(1, 1, 0)),
    ([code(100), *predictions(2), *predictions(1, "complete")], Estimate(5, 5, 7)),
    ([code(100, tags=["setup"])], Estimate(1, 1, 0)),
])
def test_each_language_has_its_own_time_to_the_minute(cells, expected):
    assert estimate(notebook(*cells)) == expected
