"""The Sphinx extension that makes the book's pages; each module is one concern."""

from __future__ import annotations

from book.extension import (
    assets,
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
    lean,
    maths,
    predict,
    slugs,
    status,
    web,
)


def setup(app):
    for concern in (slugs, bilingual, maths, drawings, predict, complete, cards, drill, downloads,
                    code_files, exercises, front, chapter, status, web, lean, assets):
        concern.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
