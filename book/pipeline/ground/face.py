"""The text face of the English half: Source Serif 4, cut to what the book sets in it.

A variable font of two weights for text and headings, 400 to 700, of plain Latin letters and marks:
19 KB instead of 51. Browsers without it, and pages that wait for it, show a face of the system that
takes the same room (`styles/face.css`).
"""

from __future__ import annotations

import shutil
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

from book.pipeline.ground.paths import NPM

PACKAGE = NPM / "@fontsource-variable" / "source-serif-4"
SOURCE = PACKAGE / "files" / "source-serif-4-latin-wght-normal.woff2"
NAME, LICENCE = "source-serif-4.woff2", "source-serif-4-license.txt"
WEIGHTS = 400, 700
LETTERS = [*range(0x20, 0x7F), *map(ord, "\u00a0–—‘’“”…·×é°±→≤≥")]
FEATURES = ["kern", "liga", "lnum", "tnum", "mark", "mkmk"]


def write(folder: Path) -> None:
    """The face and its licence as files of `folder`; the same bytes each time."""
    font = TTFont(SOURCE, recalcTimestamp=False)
    font = instancer.instantiateVariableFont(font, {"wght": WEIGHTS})
    options = subset.Options(flavor="woff2", desubroutinize=True, hinting=False,
                             layout_features=FEATURES)
    cut = subset.Subsetter(options)
    cut.populate(unicodes=LETTERS)
    cut.subset(font)
    subset.save_font(font, str(folder / NAME), options)
    shutil.copy(PACKAGE / "LICENSE", folder / LICENCE)
