"""The glossary of the book: every definition can be followed to the passage that shows it."""

from collections import Counter

import yaml
from sphinx_external_toc.parsing import parse_toc_yaml

from book.extension.glossary import Finder
from book.pipeline import lint
from book.pipeline.content import glossary
from book.pipeline.ground.paths import ROOT

TERMS = glossary.read()


def test_definitions_are_short_and_lead_to_a_heading():
    assert 90 <= len(TERMS) <= 150
    assert glossary.problems(TERMS) == []


def test_both_languages_of_a_definition_keep_the_rules_of_the_book_and_its_words():
    assert lint.lint_cards(ROOT / glossary.FILE) == []


def test_a_pair_of_names_stands_in_one_place():
    rows = yaml.safe_load((ROOT / glossary.NAMES).read_text(encoding="utf-8"))
    assert [name for name, times in Counter(row["en"] for row in rows).items() if times > 1] == []
    assert [name for name, times in Counter(one.name["en"] for one in TERMS).items()
            if times > 1] == []


def test_what_counts_as_a_mention_occurs_and_belongs_to_one_term():
    texts = [glossary.markdown(ROOT, page) for page in parse_toc_yaml(ROOT / "_toc.yml")
             if page != glossary.PAGE]
    mentioned = set()
    for lang in glossary.LANGS:
        forms = Counter(form.lower() for term in TERMS for form in term.forms[lang])
        assert [form for form, times in forms.items() if times > 1] == []
        finder = Finder(lang, TERMS)
        mentioned |= {term.id for text in texts for term, _, _ in finder.found(text)}
    assert [term.id for term in TERMS if any(term.forms.values()) and term.id not in mentioned] \
        == []
