"""A wrong card stops the build with one line: file, line, card, what is wrong, how to mend it."""

import pytest

from book.pipeline.cards import book as cards
from book.pipeline.cards.layers import spoken_length
from book.pipeline.cards.report import as_text, main, report
from tests.helpers.card_examples import EN, ZH, bug, card, line_of, write_book, write_cards

FILE = "chapters/01-tensors/cards/views.yaml"


def problems(root):
    return [str(problem) for problem in cards.load(root)[1]]


def test_well_formed_cards_have_no_problem(tmp_path):
    full = card(
        "tensors-full", concept="alias", after=["tensors-one"], confusable=["tensors-bug"],
        weight="H", core=True, corrects=["T04"], needs="cpu", code="print(n)\n",
        variants=[{"n": 1}, {"n": [2, "x"]}],
        follow_ups=["tensors-one", {"q": {"zh": "问", "en": "q"}, "a": {"zh": "答", "en": "a"}}],
        distractors=[{"text": "(4, 1)", "why": {"zh": "错", "en": "no"}, "corrects": ["T01"]}],
        sources=["torch.Tensor", "torch/include/c10/core/TensorImpl.h:TensorImpl::sizes",
                 "aten/src/ATen/TensorUtils.cpp:computeStride_impl"],
    )
    write_book(tmp_path, card(), bug(), full)
    assert problems(tmp_path) == []


WRONG = {
    "missing language": (
        card(answer={"en": EN}), "answer:", "answer.zh is missing"),
    "missing field": (
        card(sources=None), "- id:", "sources is missing"),
    "unknown key": (
        card(prof="x"), "prof:", "unknown key 'prof': did you mean 'proof'"),
    "unknown key within": (
        card(points=[{"must": True, "zh": "甲", "en": "a", "x": 1}, {"must": True, "zh": "乙",
             "en": "b"}]), "x: 1", "unknown key 'points[0].x': take it out; known: must, zh, en"),
    "not text": (
        card(question={"zh": "问？", "en": True}), "en: true",
        "question.en must be text (put it in quotes)"),
    "kind": (
        card(kind="guess"), "kind:", "kind is 'guess': choose one of predict, compare, bug"),
    "one point": (
        card(points=[{"must": True, "zh": "甲", "en": "a"}]), "points:",
        "points has 1 items: give at least 2 and at most 4"),
    "no must": (
        card(points=[{"must": False, "zh": "甲", "en": "a"}] * 2), "points:",
        "give at least one point must: true"),
    "id spelling": (
        card("tensors-One"), "id:", "write it in kebab-case"),
    "id of another chapter": (
        card("autograd-one"), "id:", "id must begin with 'tensors-'"),
    "section without file": (
        card(section="storage"), "section:",
        "section is 'storage' in the file of 'views': move the card to storage.yaml"),
    "Chinese too long": (
        card(answer={"zh": ZH * 3, "en": EN}), "zh: 视图和",
        "answer.zh has 336 characters, 80–200 are allowed: shorten it"),
    "English too short": (
        card(answer={"zh": ZH, "en": "No."}), "en: No.",
        "answer.en has 1 words, 45–100 are allowed: say more"),
    "Chinese in English": (
        card(question={"zh": "问？", "en": "视图?"}), "en: 视图?",
        "write English text without Chinese characters"),
    "no Chinese": (
        card(question={"zh": "What?", "en": "What?"}), "zh: What?", "write Chinese text"),
    "bug without fixed": (
        bug(fixed=None), "- id:", "fixed is missing"),
    "predict without code": (
        card(kind="predict"), "- id:", "code is missing"),
    "fixed without bug": (
        bug(kind="explain"), "kind:", "only kind: bug has a fixed"),
    "no assert": (
        card(proof="x = 1\n"), "proof:", "proof has no assert"),
    "constant assert": (
        card(proof="x = 1\nassert (x == 2, 'two')\n"), "assert (x",
        "assert on line 2 of the proof tests a constant"),
    "proof does not parse": (
        card(proof="x = 1\nassert x ==\n"), "assert x ==",
        "proof line 2: SyntaxError: invalid syntax"),
    "errata id": (
        card(corrects=["T99"]), "- T99", "corrects[0] names 'T99', not in book/errata.yaml"),
    "errata id of a distractor": (
        card(distractors=[{"text": "4", "why": {"zh": "错", "en": "no"}, "corrects": ["T98"]}]),
        "- T98", "distractors[0].corrects[0] names 'T98', not in book/errata.yaml"),
    "follow-up without answer": (
        card(follow_ups=[{"q": {"zh": "问", "en": "q"}}]), "- q:",
        "follow_ups[0].a is missing"),
    "source without symbol": (
        card(sources=["aten/src/ATen/TensorUtils.cpp"]), "- aten",
        "write a dotted name (torch.nn.Module) or path/file.h:symbol"),
    "names itself": (
        card(after=["tensors-one"]), "- tensors-one", "after[0] names the card itself"),
    "variant name": (
        card(variants=[{"class": 1}]), "class: 1", "variants[0]: 'class' is no name"),
    "variants differ": (
        card(variants=[{"n": 1}, {"m": 1}]), "m: 1", "variants[1] must set the same names"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_card_is_reported_with_its_line(tmp_path, name):
    row, at, text = WRONG[name]
    path = write_book(tmp_path, row)
    found = problems(tmp_path)
    assert len(found) == 1, found
    assert found[0].startswith(f"{FILE}:{line_of(path, at)}: card '{row['id']}': ")
    assert text in found[0]


def test_missing_field_is_reported_at_what_lacks_it(tmp_path):
    path = write_book(tmp_path, card(answer={"en": EN}), card("tensors-two", proof=None))
    lines = path.read_text("utf-8").splitlines()
    assert problems(tmp_path) == [
        f"{FILE}:{lines.index('  answer:') + 1}: card 'tensors-one': answer.zh is missing",
        f"{FILE}:{lines.index('- id: tensors-two') + 1}: card 'tensors-two': proof is missing",
    ]


def test_all_problems_are_reported_not_only_the_first(tmp_path):
    write_book(tmp_path, card(kind="guess", section="storage", proof="x = 1"), card("Bad"))
    found = "\n".join(problems(tmp_path))
    for text in ("choose one of", "move the card", "no assert", "kebab-case"):
        assert text in found


def test_card_without_id_is_named_by_its_number(tmp_path):
    write_book(tmp_path, card(), card(id=None))
    assert any("card 'number 2 of the file': id is missing" in text for text in problems(tmp_path))


def test_id_is_unique_over_all_chapters_and_never_a_retired_one(tmp_path):
    path = write_book(tmp_path, card(), card("tensors-old"), card(), retired=["tensors-old"])
    write_cards(tmp_path, card(), folder="02-autograd")
    found = problems(tmp_path)
    first = line_of(path, "id: tensors-one")
    assert sum(f"the id is taken by {FILE}:{first}" in text for text in found) == 2
    assert any("card 'tensors-old': the id is retired" in text for text in found)


def test_named_card_may_be_open_until_its_chapter_is_complete(tmp_path):
    row = card(after=["tensors-later"], confusable=["autograd-later"], follow_ups=["tensors-one"],
               id="tensors-two")
    write_book(tmp_path, card(), row)
    book, found = cards.load(tmp_path)
    assert found == []
    assert book.open_ids == {"tensors-later": ["tensors-two"], "autograd-later": ["tensors-two"]}
    path = write_book(tmp_path, card(), row, complete=True)
    assert problems(tmp_path) == [
        f"{FILE}:{line_of(path, '- tensors-later')}: card 'tensors-two': "
        "after[0] names 'tensors-later': chapter 'tensors' is complete without it"
    ]


@pytest.mark.parametrize(("old", "new", "text"), [
    ("  kind: explain", "  kind: [explain", "not valid YAML"),
    ("  level: junior", "  kind: bug\n  level: junior", "key 'kind' is given twice (first on line"),
    ("- id: tensors-one", "cards:\n- id: tensors-one", "the file must be a list"),
    ("- id: tensors-one", "- x\n- id: tensors-one", "the card must be a mapping"),
])
def test_broken_file_is_reported_without_traceback(tmp_path, capsys, old, new, text):
    path = write_book(tmp_path, card())
    path.write_text(path.read_text("utf-8").replace(old, new, 1), "utf-8")
    assert main(["--root", str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"{FILE}:")
    assert text in error


def test_a_section_without_its_page_is_reported(tmp_path):
    path = write_book(tmp_path, card())
    (path.parents[1] / "views.md").rename(path.parents[1] / "strides.md")
    assert problems(tmp_path) == [
        f"{FILE}:{line_of(path, 'section:')}: card 'tensors-one': section 'views' has no file "
        "views.md in the chapter (there: strides)"]


def test_cards_of_a_whole_chapter_in_one_file_do_not_go_unnoticed(tmp_path):
    path = write_book(tmp_path, card())
    path.rename(path.parents[1] / "cards.yaml")
    assert problems(tmp_path) == ["chapters/01-tensors/cards.yaml:1: the file is not read: write "
                                  "the cards of each section in cards/SECTION.yaml"]


def test_missing_errata_list_is_reported(tmp_path):
    write_book(tmp_path, card())
    (tmp_path / "book/errata.yaml").unlink()
    assert problems(tmp_path) == [
        "book/errata.yaml:1: the file is missing: restore it from the repository"
    ]


@pytest.mark.parametrize(("text", "length"), [
    ("视图不复制。", 5),
    ("`view` 不复制", 4),
    ("合并要求 `stride[i] == size[i+1] * stride[i+1]`。", 5),
    ("don't copy the size-1 dimensions of torch.nn, 2.5 times", 9),
    ("2×2 = 4", 3),
])
def test_length_counts_characters_words_and_code_spans(text, length):
    assert spoken_length(text) == length


def test_report_counts_cards_errata_and_open_ids(tmp_path):
    wrong = [{"text": "4", "why": {"zh": "错", "en": "no"}, "corrects": ["T04"]}]
    write_book(tmp_path, card(core=True, distractors=wrong), bug(after=["tensors-later"]))
    figures = report(cards.load(tmp_path)[0])
    assert figures["total"] == 2
    assert figures["chapters"]["tensors"] == {
        "total": 2, "complete": False, "core": 1, "layers": 0, "kind": {"bug": 1, "explain": 1},
        "level": {"junior": 2}, "needs": {"cpu": 2},
    }
    assert figures["errata"] == {
        "refuted": {"T04": ["tensors-one"]}, "open": {"T01": {"kind": "wrong", "chapter": 1}},
    }
    assert figures["open_cards"] == {"tensors-later": ["tensors-bug"]}
    assert "errata refuted: 1 of 2" in as_text(figures)
    assert "errata open, chapter 1: T01" in as_text(figures)
