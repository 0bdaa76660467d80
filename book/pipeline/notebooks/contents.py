"""The notebook that a reader's folder opens with: what there is, in the order of the book."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from nbformat.v4 import new_markdown_cell, new_notebook

from book.pipeline.content.chapters import Chapter
from book.pipeline.notebooks.downloads import VARIANTS
from book.pipeline.notebooks.notebook import LANGUAGE, write_text

TITLE = {"zh": "由内而外学 PyTorch", "en": "PyTorch Inside Out"}
YOURS = {
    "zh": "这个文件夹归你，随便改。书更新以后，再运行一次 `make lab`：你改过的文件原样留着，新版本"
          "放在旁边，文件名里带 `updated`；没改过的换成新版本。只运行、不改内容，不算改过。",
    "en": "Everything in this folder is yours to change. When the book has been updated, run "
          "`make lab` again. It leaves the files you have changed as they are and puts the new "
          "version beside each, with `updated` in its name; the other files are replaced. Running "
          "cells does not count as a change.",
}
EXERCISES = {"zh": "练习放在 `{}`", "en": "Exercises are in `{}`"}


def notebook(variant: str, chapters: Mapping[str, Chapter], files: Mapping[str, str],
             yours: Mapping[str, str] = YOURS) -> str:
    """Text of the contents of `files`, name -> text, of which some are notebooks of `variant`.

    `yours` tells the reader, in each language, whose the folder is.
    """
    langs = VARIANTS[variant]
    parts = ["# " + " · ".join(TITLE[lang] for lang in langs), *(yours[lang] for lang in langs)]
    for folder, chapter in chapters.items():
        own = [name for name in files if name.startswith(f"{folder}/")]
        names = dict(zip(("zh", "en"), chapter.name, strict=True))
        if own:
            heading = " · ".join(names[lang] for lang in langs)
            parts += [f"## {chapter.number} {heading}", "\n".join(_items(own, files, langs))]
    cell = new_markdown_cell("\n\n".join(parts), id="contents")
    made = new_notebook(cells=[cell], metadata={
        "kernelspec": {"name": "python3", "display_name": "Python 3"}, "language_info": LANGUAGE})
    made.nbformat_minor = 5
    return write_text(made)


def _items(names: Iterable[str], files: Mapping[str, str], langs: tuple[str, ...]) -> list[str]:
    notebooks = [name for name in names if name.endswith(".ipynb")]
    items = [f"- [{_title(files[name])}]({name})" for name in notebooks]
    if folders := {name.rpartition("/")[0] for name in names if name not in notebooks}:
        items += ["- " + " · ".join(EXERCISES[lang].format(f"{folder}/") for lang in langs)
                  for folder in sorted(folders)]
    return items


def _title(text: str) -> str:
    """The first heading of a notebook."""
    for cell in json.loads(text)["cells"]:
        if found := re.search(r"^#+ (.*)$", "".join(cell["source"]), re.M):
            return found[1]
    raise ValueError("a notebook has no heading")
