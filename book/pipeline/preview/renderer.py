"""Sphinx, kept in memory for one page: all others have a title and headings, and no text."""

from __future__ import annotations

import io
import shutil
from contextlib import ExitStack
from pathlib import Path

import nbformat
from docutils import nodes
from jupyter_book.sphinx import get_final_config
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.build_phase import BuildPhase
from sphinx.util.console import nocolor
from sphinx.util.docutils import docutils_namespace, patch_docutils
from sphinx.util.parallel import SerialTasks

from book.extension.bilingual import raw, spans, split_title
from book.extension.predict import code_cells
from book.pipeline.content import glossary
from book.pipeline.finish import join
from book.pipeline.ground.paths import ROOT
from book.pipeline.preview.draft import NOT_RUN

CONFIG = ROOT / "_config.yml"
BELOW = ("book", "chapters")  # what a build reads below the root
SAID = ("这个单元格改过，还没有运行", "This cell has changed and was not executed yet")


class MarkNotRun(SphinxTransform):
    """Say above a cell that nobody has executed it as it is."""

    default_priority = 399  # before the book's own, which move cells about

    def apply(self, **kwargs) -> None:
        for cell in code_cells(self.document):
            if f"tag_{NOT_RUN}" in cell["classes"]:
                cell.insert(0, raw(f'<p class="{NOT_RUN}">{spans(*SAID)}</p>'))


class Renderer:
    """Writes one page of the book below `root` to `out/_build/html`.

    It reads a copy of the sources that is made of links, with a notebook of its own for this page.
    """

    def __init__(self, root: Path, out: Path, page: str):
        self.root, self.page, self.source = root, page, out / "source"
        self.site = out / "_build" / "html"
        self.warnings, self.open = io.StringIO(), ExitStack()
        shutil.rmtree(self.source, ignore_errors=True)
        link(root, self.source)
        nocolor()
        self.app = self.sphinx(out / "_build" / "doctrees")
        self.know_others()

    def sphinx(self, doctrees: Path) -> Sphinx:
        config, _ = get_final_config(user_yaml=CONFIG, sourcedir=self.source,
                                     cli_config={"latex_individualpages": False,
                                                 "nitpicky": True})
        self.open.enter_context(patch_docutils(None))
        self.open.enter_context(docutils_namespace())
        app = Sphinx(self.source, None, self.site, doctrees, "html", confoverrides=config,
                     status=None, warning=self.warnings, freshenv=True)
        app.add_transform(MarkNotRun)
        app.builder.finish_tasks = SerialTasks()
        return app

    def know_others(self) -> None:
        """Titles, headings and order of all pages, as if Sphinx had read them."""
        env = self.app.env
        env.find_files(self.app.config, self.app.builder)
        self.app.events.emit("env-get-outdated", env, set(), set(), set())
        for document in map(str, env.external_site_map):
            known = glossary.headings(self.root, document)
            title = " · ".join(next(iter(known.values()), (document,))).replace("`", "")
            env.all_docs[document] = 0
            env.titles[document] = env.longtitles[document] = nodes.title(title, title)
            split_title(env.titles[document])
            env.metadata[document]["myst_slugs"] = {
                anchor: (1, anchor, " · ".join(halves)) for anchor, halves in known.items()}

    def render(self, draft: NotebookNode | None) -> tuple[str, list[str]]:
        """The page as HTML, of `draft` where it is a notebook, and what Sphinx had to say."""
        if draft is not None:
            file = self.source / f"{self.page}.ipynb"
            file.unlink(missing_ok=True)  # never through the link into the book
            file.write_text(nbformat.writes(draft), encoding="utf-8")
        self.forget()
        self.read()
        self.write()
        said = list(dict.fromkeys(filter(None, self.warnings.getvalue().splitlines())))
        html = (self.site / f"{self.page}.html").read_text(encoding="utf-8")
        css = (self.site / "_static" / "book.css").read_text(encoding="utf-8")
        return join.calm(html, join.coloured_tokens(css)), said

    def forget(self) -> None:
        """What a build reads once, and an author changes."""
        glossary.markdown.cache_clear()
        for holder, name in ((self.app, "false_claims"), (self.app.builder, "book_sections")):
            vars(holder).pop(name, None)
        self.warnings.seek(0)
        self.warnings.truncate()

    def read(self) -> None:
        env, page = self.app.env, self.page
        self.app.phase = BuildPhase.READING
        self.app.events.emit("env-purge-doc", env, page)
        env.clear_doc(page)
        self.app.builder.read_doc(page)
        env.toctree_includes = {document: [str(item) for tree in entry.subtrees
                                           for item in tree.items]
                                for document, entry in env.external_site_map.items()}

    def write(self) -> None:
        app, builder = self.app, self.app.builder
        app.phase = BuildPhase.RESOLVING
        doctree = app.env.get_and_resolve_doctree(self.page, builder)
        builder.prepare_writing({self.page})
        builder.copy_assets()
        app.phase = BuildPhase.WRITING
        builder.write_doc_serialized(self.page, doctree)
        builder.write_doc(self.page, doctree)
        builder.copy_image_files()


def link(root: Path, copy: Path) -> None:
    """The sources of a book as links, in folders of their own."""
    for file in [root / "_toc.yml", *(path for name in BELOW for path in (root / name).rglob("*"))]:
        if file.is_file() and "__pycache__" not in file.parts:
            place = copy / file.relative_to(root)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(file)
