"""Every section of the table of contents has its question, in both languages."""

from sphinx_external_toc.parsing import parse_toc_yaml

from book.pipeline.content import heads, questions
from book.pipeline.ground.paths import ROOT, is_section


def test_every_section_of_the_book_has_one_short_question_of_its_own():
    documents = list(parse_toc_yaml(ROOT / "_toc.yml"))
    assert [str(one) for one in questions.problems(documents)] == []
    asked = [heads.read(ROOT / f"{one}.md").question for one in filter(is_section, documents)]
    assert len(asked) > 60
    for texts in zip(*asked, strict=True):
        assert len(set(texts)) == len(texts)
