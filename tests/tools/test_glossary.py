"""Terms are found where a text means them, marked once, and a bad definition is told."""

import re
from collections import Counter

import pytest
from docutils import nodes
from docutils.utils import new_document

from book.extension import glossary as on_pages
from book.extension.bilingual import element
from book.pipeline.content import glossary
from book.pipeline.content.glossary import Term

PAGE, OTHER = "chapters/02-autograd/one", "chapters/01-tensors/two"
NAMES = """- {en: guard, zh: 守卫}
- {en: shard, zh: 分片（shard）}
- {en: kernel, zh: kernel（实现）}
"""
ENTRY = """- id: guard
  term: guard
  section: chapters/01-tensors/two#the-guards
  define: {zh: 一个条件。, en: A condition.}
"""


def term(name, page=OTHER, **more):
    """A term that is called `name` in English and `name` in angle brackets in Chinese."""
    forms = {"en": (name, f"{name}s"), "zh": more.pop("zh", (f"《{name}》",))}
    return Term(name.replace(" ", "-"), {"zh": f"《{name}》", "en": name}, {"zh": "", "en": ""},
                page, "here", forms, **more)


def names(lang, terms, text):
    finder = on_pages.Finder(lang, terms)
    return [(found.name["en"], text[start:end]) for found, start, end in finder.found(text)]


@pytest.mark.parametrize(("text", "expected"), [
    ("A Saved tensor is kept.", [("saved tensor", "Saved tensor")]),
    ("A tensor, then saved tensors.", [("tensor", "tensor"), ("saved tensor", "saved tensors")]),
    ("tensorial, supertensor, tensor_list, tensor2", []),
    ("(tensor)", [("tensor", "tensor")]),
])
def test_the_longest_form_is_found_and_only_whole_words(text, expected):
    assert names("en", [term("tensor"), term("saved tensor")], text) == expected


@pytest.mark.parametrize(("text", "expected"), [
    ("一个守卫不成立", ["守卫"]), ("守卫星图", []), ("用kernel算", ["kernel"]),
    ("写 kernel 时", ["kernel"]), ("写 kernels 时", []),
])
def test_chinese_needs_no_border_but_latin_words_do_and_unless_is_nobodys(text, expected):
    guard = term("guard", zh=("守卫",), unless=("守卫星",))
    assert [words for _, words in names("zh", [guard, term("kernel", zh=("kernel",))], text)] \
        == expected


def test_a_term_without_forms_is_never_found():
    nothing = term("node", zh=())
    nothing.forms["en"] = ()
    assert names("en", [nothing], "a node") == names("zh", [nothing], "一个节点 node") == []


def cell(lang, *blocks):
    box = nodes.container("", *blocks)
    box["lang_cell"] = lang
    return box


def document(*blocks):
    made = new_document("test")
    made += nodes.section("", nodes.title("", "guard"), *blocks, ids=["top"])
    return made


def paragraph(*parts):
    return nodes.paragraph("", "", *(part if isinstance(part, nodes.Node) else nodes.Text(part)
                                     for part in parts))


def test_prose_is_what_a_reader_of_one_language_sees_at_once():
    fold = element("details", cell("en", paragraph("in a fold")), class_="fold")
    shared = paragraph("in no language")
    row = nodes.table("", nodes.tgroup("", nodes.tbody("", nodes.row("", nodes.entry(
        "", paragraph("in a table"))))))
    made = document(shared, fold, cell(
        "en", paragraph("plain ", nodes.literal("", "code"), nodes.strong("", "bold"),
                        nodes.reference("", "link"), nodes.math("", "x"), " text"), row))
    assert [(lang, text.astext()) for lang, text in on_pages.prose(made)] == \
        [("en", "plain "), ("en", " text")]


def test_the_first_mention_of_each_language_is_taken_and_not_where_the_term_is_explained():
    guard, own = term("guard"), term("tensor", page=PAGE)
    far, near = (term(name, only=(start,)) for name, start in
                 (("view", "03-"), ("stride", "02-autograd/o")))
    made = document(cell("zh", paragraph("先有《guard》，再有《guard》。")),
                    cell("en", paragraph("No. One guard, guards, a tensor, a view, a stride.")),
                    cell("en", paragraph("guard")))
    found = on_pages.first_mentions(made, [guard, own, far, near], PAGE)
    starts = {one.id: {lang: mention.start for lang, mention in by_lang.items()}
              for one, by_lang in found.items()}
    assert starts == {"guard": {"zh": 2, "en": 8}, "stride": {"en": 43}}


def test_words_become_links_and_the_text_stays_as_it_was():
    text = nodes.Text("A guard and a shard.")
    made = document(cell("en", paragraph("A guard and a shard.", text)))
    marks = [(on_pages.Mention(text, start, end), on_pages.mark(term("x"), "en", words, PAGE))
             for start, end, words in ((14, 19, "shard"), (2, 7, "guard"))]
    on_pages.replace(text, marks)
    assert made.astext().endswith("A guard and a shard.A guard and a shard.")
    links = list(made.findall(on_pages.Element))
    assert [link.astext() for link in links] == ["guard", "shard"]
    assert links[0]["html"]["href"] == "../../book/glossary.html#term-x"
    first = next(made.findall(nodes.paragraph))
    assert [child.astext() for child in first] == \
        ["A guard and a shard.", "A ", "guard", " and a ", "shard", "."]


def test_the_rarest_terms_are_marked_and_not_too_many():
    terms = [term(f"t{number}") for number in range(on_pages.MOST + 3)]
    counts = Counter({one.id: 99 - number for number, one in enumerate(terms)})
    chosen = on_pages.choose(terms, counts)
    assert len(chosen) == on_pages.MOST
    assert chosen == terms[:2:-1]


# ---- the file -----------------------------------------------------------------------------------

@pytest.fixture
def book(tmp_path):
    def make(entry=ENTRY):
        (tmp_path / "book").mkdir(exist_ok=True)
        (tmp_path / glossary.FILE).write_text(entry, encoding="utf-8")
        (tmp_path / glossary.NAMES).write_text(NAMES, encoding="utf-8")
        page = tmp_path / f"{OTHER}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("# 二 · Two\n\n## 守卫 · The guards\n", encoding="utf-8")
        return tmp_path
    glossary.markdown.cache_clear()
    yield make
    glossary.markdown.cache_clear()


def test_an_entry_takes_its_names_from_the_terms(book):
    root = book()
    [entry] = glossary.read(root)
    assert entry.name == {"zh": "守卫", "en": "guard"}
    assert entry.forms == {"zh": ("守卫",), "en": ("guard", "guards")}
    assert glossary.problems([entry], root) == []
    shard = glossary.read(book(ENTRY.replace("term: guard", "term: shard")))[0]
    assert shard.forms["zh"] == ("分片",)


@pytest.mark.parametrize(("old", "new", "said"), [
    ("term: guard", "term: fence", "has no term 'fence'"),
    ("#the-guards", "", "write page#heading"),
    ("  term: guard\n", "", "term is missing"),
    ("  term: guard", "  forms: []\n  term: guard", "unknown key forms"),
])
def test_an_entry_that_cannot_be_read_is_told_in_one_line(book, old, new, said):
    with pytest.raises(ValueError, match=said) as error:
        glossary.read(book(ENTRY.replace(old, new)))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("old", "new", "said"), [
    ("#the-guards", "#no-such", "has no heading #no-such"),
    ("A condition.", "word " * 46, "en is 46 long"),
    ("一个条件。", "字" * 71, "zh is 71 long"),
    ("一个条件。", "''", "zh is 0 long"),
    ("id: guard", "id: A guard", "give it an id of its own"),
])
def test_what_a_definition_lacks_is_told(book, old, new, said):
    root = book(ENTRY.replace(old, new))
    [problem] = glossary.problems(glossary.read(root), root)
    assert said in problem


def test_two_entries_share_no_id(book):
    root = book(ENTRY + ENTRY)
    assert "an id of its own" in glossary.problems(glossary.read(root), root)[0]


def test_chinese_names_stand_in_the_order_of_their_pinyin():
    texts = ["最小割", "步长", "Dynamo", "守卫", "冷启动", "AOT", "叶子张量", "重新编译"]
    terms = [Term(text, {"zh": text, "en": text}, {}, "", "", {},
                  sort="虫" if text == "重新编译" else "") for text in texts]
    assert [one.id for one in sorted(terms, key=glossary.by_pinyin)] == \
        ["AOT", "Dynamo", "步长", "重新编译", "冷启动", "守卫", "叶子张量", "最小割"]


FORMS = ("gpu", "gpu kernel", "kernel", "张量", "张量核心", "gpu核", "dtype", "d", "a+b", "量")
TEXTS = ("A GPU kernel, a gpu核 and a GPUs; dtypes, dtype_, D d.",
         "张量核心和张量，不是张 量；gpu核gpu", "a+b or a+bc; kernel_gpu kernel", "")


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("count", range(1, len(FORMS) + 1))
def test_forms_that_branch_find_what_one_after_another_finds(text, count):
    def bordered(form):
        return ((on_pages.BEGINS if form[0].isascii() else "") + re.escape(form)
                + (on_pages.ENDS if form[-1].isascii() else ""))

    forms = FORMS[:count]
    plain = "|".join(map(bordered, sorted(forms, key=len, reverse=True)))
    found, expected = ([match.span() for match in re.finditer(pattern, text, re.I)]
                       for pattern in (on_pages.alternatives(forms), plain))
    assert found == expected
