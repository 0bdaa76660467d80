"""The Sphinx extension that makes the book's pages; each module is one concern.

What is done after it, on the folder of the finished site, stands in `book/pipeline/finish`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sphinx.transforms import SphinxTransform

from book.extension import (
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
    maths,
    moved,
    predict,
    slugs,
    status,
    theme,
    web,
)

# How a page is made, in this order. What adds titles stands before the pairing, which splits them.
TRANSFORMS = (
    cards.AppendCards,
    front.FillFront,
    chapter.ListSections,
    downloads.LinkDownloads,
    status.FillStatus,
    code_files.LinkCode,
    bilingual.PairLanguages,
    predict.FoldPredictions,  # looks at the pairs around a cell
    complete.BlankCells,
    chapter.FoldChecks,
    drill.InsertDrill,
    exercises.ListExercises,
    moved.LeadOn,
)
FIRST, STEP = 400, 10  # Sphinx's priorities: after ids are given, before contents are collected


def add(app, transforms: Sequence[type[SphinxTransform]]) -> None:
    """Let these transforms run in the order they are given in."""
    for place, transform in enumerate(transforms):
        transform.default_priority = FIRST + STEP * place
        app.add_transform(transform)


def setup(app):
    for concern in (slugs, bilingual, maths, drawings, drill, web, theme):
        concern.setup(app)
    add(app, TRANSFORMS)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
