"""Finished pages become entries, entries an index whose files bear their digests."""

import json
import re

import pytest

from book.pipeline.finish import pinyin, search
from book.pipeline.finish.entries import entries, texts
from book.pipeline.ground import digests

PAGE = """<!DOCTYPE html><html><head><title>T</title></head><body><main>
<nav>Contents of the book</nav><article><section id="hooks">
<h1><span class="lang-zh" lang="zh-Hans">钩子</span><span class="lang-sep"> · </span>
<span class="lang-en" lang="en">Hooks</span><a class="headerlink" href="#hooks">#</a></h1>
<div class="bi-pair"><div class="lang-zh" lang="zh-Hans"><p>前后都运行。</p></div>
<div class="lang-en" lang="en"><p>It runs <code>before</code> and after.</p></div></div>
<section id="when"><h2><span lang="zh-Hans">何时</span><span lang="en">When</span></h2>
<predict-cell><fieldset class="predict-form"><legend>Predict first</legend>
<span>A wrong option</span>
</fieldset><p class="predict-ways"><small>Enter commits</small></p></predict-cell>
<details><summary>Set-up</summary><p>Inside.</p></details>Beside<p>Below</p>
<div class="cell_input"><pre>handle = module.register_forward_hook(print)
for x in self: x  # TypeError?</pre></div>
<div class="cell_output"><pre>1
RuntimeError: a hook must return None</pre></div>
<div lang="en"><p>It says <code>the hook was removed twice before</code>.</p>
<dl><dt id="term-hook">hook</dt><dd>A function called before or after.</dd></dl></div>
<section id="deep"><h3>deep</h3><p>Deepest.</p></section></section>
<section id="recall"><h2><span lang="zh-Hans">回忆</span><span lang="en">Recall</span></h2>
<article class="card" id="hook-order"><div class="card-question"><span lang="zh-Hans">谁先？</span>
<span lang="en">Which is first?</span></div><details><summary>Show</summary>
<p class="card-line"><span lang="zh-Hans">先注册的。</span><span lang="en">The older one.</span></p>
<p class="card-because">Long reasons.</p><pre class="card-shown">ValueError: none</pre>
</details></article></section></section></article></main></body></html>"""


@pytest.fixture
def found():
    return {entry.anchor: entry for entry in entries("chapters/01-x/hooks", PAGE)}


def test_every_heading_card_and_term_is_an_entry(found):
    kinds = {anchor: entry.kind for anchor, entry in found.items()}
    assert kinds == {"": "section", "when": "section", "term-hook": "term", "deep": "section",
                     "recall": "section", "hook-order": "card"}
    assert [found[name].depth for name in ("", "when", "deep")] == [1, 2, 3]


def test_titles_and_texts_are_those_of_each_language(found):
    assert found[""].title == {"zh": "钩子", "en": "Hooks"}
    assert found[""].text == {"zh": "前后都运行。", "en": "It runs before and after."}
    assert found["deep"].text == {"zh": "Deepest.", "en": "Deepest."}


def test_a_page_that_search_engines_may_not_list_has_no_entries():
    hidden = PAGE.replace("<title>", '<meta name="robots" content="noindex"><title>')
    assert entries("chapters/01-x/hooks", hidden) == []


def test_a_text_holds_neither_options_nor_what_stands_in_deeper_entries(found):
    for label in ("wrong option", "Predict first", "commits", "Set-up"):
        assert label not in found["when"].text["en"]
    assert "Inside. Beside Below" in found["when"].text["en"]
    assert "Deepest" not in found["when"].text["en"]
    assert found["recall"].text["en"] == ""


def test_code_gives_identifiers_and_outputs_give_error_lines(found):
    assert "module.register_forward_hook" in found["when"].code
    assert not {"for", "self", "print"} & {*found["when"].code}
    assert "RuntimeError: a hook must return None" in found["when"].errors
    assert "the hook was removed twice before" in found["when"].errors
    assert "before" not in found[""].errors


def test_a_card_is_its_question_and_the_line_of_its_answer(found):
    card = found["hook-order"]
    assert card.title == {"zh": "谁先？", "en": "Which is first?"}
    assert card.text == {"zh": "先注册的。", "en": "The older one."}
    assert card.errors == ["ValueError: none"]


def test_of_an_old_card_the_first_sentence_counts():
    old = PAGE.replace('class="card-line"', 'class="card-answer"').replace(
        "The older one.", "The older one. It was first.")
    card = next(entry for entry in entries("p", old) if entry.kind == "card")
    assert card.text["en"] == "The older one."


def test_a_term_has_what_defines_it(found):
    assert found["term-hook"].title["en"] == "hook"
    assert found["term-hook"].text["en"] == "A function called before or after."


def test_a_glossary_of_boxes_is_read_too_and_its_section_keeps_only_its_own_words():
    page = """<main><article><section id="glossary"><h1>Glossary</h1><p>Words.</p><dl>
      <div id="term-stride"><dt><b lang="zh-Hans">步长</b> <b lang="en">stride</b></dt>
      <dd><p lang="zh-Hans">跨过几个元素。</p><p lang="en">Elements to step over.</p></dd></div>
      <div id="term-vjp"><dt><b lang="en">VJP</b></dt><dd>Rows.</dd></div></dl>
      <span class="term-card">A card that opens.</span></section></article></main>"""
    top, stride, vjp = entries("book/glossary", page)
    assert (stride.kind, stride.anchor) == ("term", "term-stride")
    assert stride.title == {"zh": "步长", "en": "stride"}
    assert stride.text == {"zh": "跨过几个元素。", "en": "Elements to step over."}
    assert vjp.title == {"zh": "VJP", "en": "VJP"}
    assert top.text["en"] == "Words."


def test_lists_of_other_pages_are_neither_entries_nor_text():
    page = """<article><section id="book"><h1>The book</h1><p>Five machines.</p>
      <p class="ways-in">Self-tests</p><div class="machines">Tensors</div><section id="sections">
      <h2>Sections</h2><p>25 minutes each.</p><section id="tensors" class="chapter-list"><h3>
      <small>1</small> Tensors</h3><p><span>5 cards</span><span>self-test</span></p></section>
      </section></section></article>"""
    assert [(one.title["en"], one.text["en"]) for one in entries("book/index", page)] == [
        ("The book", "Five machines."), ("Sections", "25 minutes each.")]


def test_a_chapter_without_a_page_is_found_by_its_name_and_by_what_it_will_be_about():
    page = """<article><section id="book"><h1>The book</h1><section id="sections"><h2>Sections</h2>
      <section class="chapter-list"><h3>To come</h3><ul><li class="planned" id="far">
      <small><span lang="en">Chapter 8</span></small>
      <span lang="zh-Hans"><b>分布式</b>：多卡</span>
      <span class="lang-sep"> · </span><span lang="en"><b>Distributed</b>: GPUs</span></li></ul>
      </section></section></section></article>"""
    *_, one = entries("book/index", page)
    assert (one.anchor, one.kind, one.depth) == ("far", "planned", 2)
    assert one.title == {"zh": "分布式：多卡", "en": "Distributed: GPUs"}
    assert not any(one.text.values())


def test_a_page_without_an_article_has_no_entry():
    assert entries("index", "<html><body><p>moved</p></body></html>") == []
    assert entries("index", "<html><body><article><p>x</p></article></body></html>") == []


def test_a_language_inside_another_is_its_own():
    tree = search_tree('<p lang="en">one <b lang="zh-Hans">二</b> three</p>')
    assert texts(tree) == {"zh": "二", "en": "one three"}


def search_tree(html):
    from selectolax.lexbor import LexborHTMLParser

    return LexborHTMLParser(f"<body>{html}</body>").css_first("body")


def test_names_of_a_term_are_both_languages_and_its_refused_forms():
    terms = [{"en": "stride", "zh": "步长", "refuse": ["步幅"]},
             {"en": "dimension", "zh": "维，写 `dim=1`"},
             {"en": "alias", "zh": "共享存储、别名"}, {"en": "rank", "zh": "rank"}]
    assert search.names_of(terms) == [["stride", "步长", "步幅"], ["dimension", "维"],
                                      ["alias", "共享存储", "别名"]]


@pytest.fixture
def site(tmp_path):
    """A site of two pages as it is before the search is written."""
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / search.BOX).write_text("export {};")
    (tmp_path / "hooks.html").write_text(PAGE)
    (tmp_path / "other.html").write_text(PAGE.replace("钩子", "别的").replace("Hooks", "Other"))
    return tmp_path


def names_of(site):
    return json.loads((site / "_static" / search.FOLDER / search.NAMES).read_text("utf-8"))


def content(site, name):
    return json.loads((site / "_static" / search.FOLDER / name).read_text("utf-8"))


def every(names):
    """All names of files in names.json."""
    return {names["box"], names["first"], *(name for parts in names["chapters"].values()
                                            for name in parts.values()),
            *names["texts"]["zh"], *names["texts"]["en"]}


def test_one_file_names_the_others_and_each_name_holds_its_digest(site):
    search.write(site)
    names, folder = names_of(site), site / "_static" / search.FOLDER
    assert every(names) | {search.NAMES} == {file.name for file in folder.iterdir()}
    assert all(digests.of_file(folder / name)[:10] in name for name in every(names))
    assert not (site / "_static" / search.BOX).exists()


def test_titles_come_first_and_cards_code_and_texts_by_chapter(site):
    (site / "chapters" / "02-x").mkdir(parents=True)
    (site / "chapters" / "02-x" / "third.html").write_text(PAGE.replace("Hooks", "Third"))
    search.write(site)
    names = names_of(site)
    first = content(site, names["first"])
    assert first["pages"] == ["chapters/02-x/third", "hooks", "other"]
    assert "Other" in first["titles"]["en"].split("\n")
    assert "Which is first?" not in first["titles"]["en"]
    assert set(names["chapters"]) == {"", "02-x"}
    both, english = (content(site, names["chapters"]["02-x"][part]) for part in ("both", "en"))
    assert both["cards"]["titles"] == {"zh": "谁先？", "en": "Which is first?"}
    assert "register_forward_hook" in both["code"]["terms"].split("\n")
    assert "deepest" in english["terms"].split("\n")


def test_a_page_has_its_texts_and_no_answer_of_a_card(site):
    search.write(site)
    names = names_of(site)
    whole = content(site, names["texts"]["zh"][0])
    assert whole[""] == "前后都运行。"
    assert "recall" in whole
    assert "hook-order" not in whole


def test_the_page_for_what_is_not_there_is_not_found(site):
    (site / "404.html").write_text(PAGE)
    search.write(site)
    assert content(site, names_of(site)["first"])["pages"] == ["hooks", "other"]


def test_the_same_pages_make_the_same_names_and_others_other_names(site):
    before = names_after(site)
    assert names_after(site) == before
    other = site / "other.html"
    other.write_text(other.read_text().replace("前后", "左右"))
    after = names_after(site)
    assert after["first"] == before["first"]  # what stands below a heading is not in it
    assert after["chapters"][""]["zh"] != before["chapters"][""]["zh"]


def names_after(site):
    (site / "_static" / search.BOX).write_text("export {};")
    search.write(site)
    return names_of(site)


def test_node_that_fails_ends_the_build_with_one_line(monkeypatch, tmp_path):
    monkeypatch.setattr(search, "MAKE", tmp_path / "gone.js")
    with pytest.raises(SystemExit, match="made no index"):
        search.index([], [])


def test_of_a_page_that_is_being_written_the_title_alone_is_found():
    draft = PAGE.replace("<title>", '<meta name="robots" content="noindex"><title>')
    assert entries("chapters/01-x/hooks", draft) == []
    draft = draft.replace("<article>", '<article><p class="draft-note">being written</p>')
    [one] = entries("chapters/01-x/hooks", draft)
    assert (one.kind, one.title) == ("planned", {"zh": "钩子", "en": "Hooks"})
    assert not any(one.text.values())


def test_a_character_stands_with_each_of_its_sounds_or_with_that_of_a_word_that_is_known():
    sounds = dict(re.findall("([a-z]+)([^ ]+)", pinyin.table(["步长与重算", "权重的权 reload 重"])))
    assert {sound for sound, characters in sounds.items() if "长" in characters} == {
        "chang", "zhang"}
    assert sounds["chong"] == "重"
    assert sounds["quan"] == "权"
    assert pinyin.table(["重新编译"]) == "bian编 chong重 xin新 yi译"
    assert "lv" in pinyin.table(["绿色"])
    assert pinyin.table(["度", "slice"]) == ""


def test_the_first_file_has_the_sounds_of_headings_and_terms(site):
    search.write(site)
    assert content(site, names_of(site)["first"])["sounds"] == (
        "bie别 de的 di的 gou钩 he何 hui回 shi时 yi忆 zi子")


def test_what_a_signal_is_called_in_words_is_known():
    assert any({"SIGBUS", "bus error"} <= set(words) for words in search.synonyms())
