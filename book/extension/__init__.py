"""The Sphinx extension that makes the book's pages; each module is one concern.

What is done after it, on the folder of the finished site, stands in `book/pipeline/finish`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sphinx.transforms import SphinxTransform

from book.extension import (
    answers,
    bilingual,
    cards,
    chapter,
    code_files,
    complete,
    downloads,
    drawings,
    drill,
    exercises,
    front,
    glossary,
    head,
    layout,
    maths,
    moved,
    offline,
    old_records,
    predict,
    progress,
    report,
    routes,
    set_up,
    slugs,
    status,
    web,
)

# How a page is made, in this order. What adds titles stands before the pairing, which splits them.
TRANSFORMS = (
    cards.AppendCards,
    front.FillFront,
    routes.ListRoutes,
    chapter.ListSections,
    downloads.LinkDownloads,
    status.FillStatus,
    glossary.FillGlossary,
    code_files.LinkCode,
    bilingual.PairLanguages,
    predict.FoldPredictions,  # looks at the pairs around a cell
    complete.BlankCells,
    set_up.FoldSetUp,
    old_records.MarkOldRecords,  # inside the cell, so that the line folds and moves with it
    answers.FoldAnswers,
    chapter.FoldChecks,
    drill.InsertDrill,
    exercises.ListExercises,
    progress.OfferToGoOn,
    glossary.MarkTerms,  # sees what is folded by now
    moved.LeadOn,
    offline.InsertOfflineBook,
    maths.KeepMarks,
)
FIRST, STEP = 400, 10  # Sphinx's priorities: after ids are given, before contents are collected


def add(app, transforms: Sequence[type[SphinxTransform]]) -> None:
    """Let these transforms run in the order they are given in."""
    for place, transform in enumerate(transforms):
        transform.default_priority = FIRST + STEP * place
        app.add_transform(transform)


def read_side_by_side(app) -> None:
    """Two extensions do not say whether they can: both work on what all have read, or not at all.
    """
    for name in ("sphinx_multitoc_numbering", "sphinx_jupyterbook_latex"):
        if name in app.extensions:
            app.extensions[name].parallel_read_safe = True


def prepare(app, env, documents: list[str]) -> None:
    """Make once what many pages need, before processes part that read them: each has few pages,
    and what it makes goes with it.
    """
    glossary.count_terms(app)
    drill.of_book(app)  # colours the code of the cards, also for the pages that they stand on


def setup(app):
    app.connect("builder-inited", read_side_by_side)
    app.connect("env-before-read-docs", prepare)
    for concern in (slugs, bilingual, maths, drawings, drill, web, layout, progress, head, report):
        concern.setup(app)
    add(app, TRANSFORMS)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
