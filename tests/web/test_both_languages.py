"""Who writes a text in both languages; this reads every source of the book."""

import re

from book.pipeline.ground.paths import ROOT


def test_a_text_in_both_languages_is_written_by_few_functions():
    """One for the pages, one for notebooks, which go without the book, one for scripts."""
    files = [file for folder in (ROOT / "book", ROOT / "code") for suffix in ("py", "js")
             for file in folder.rglob(f"*.{suffix}")]
    assert {str(file.relative_to(ROOT)) for file in files
            if re.search(r'class="lang-(?:zh|\{)', file.read_text(encoding="utf-8"))} == {
        "book/extension/bilingual.py", "code/inside/bilingual.py", "book/web/common/bilingual.js",
        "book/extension/glossary.py"}  # a definition, which has a class of its own
