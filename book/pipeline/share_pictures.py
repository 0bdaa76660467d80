"""The pictures that stand beside a link to the book: one for the book, one for each chapter.

    python -m book.pipeline.share_pictures    draw those whose words or mark have changed

They are committed, for their letters come from the fonts of the machine that draws them. The words
of each are noted beside the pictures, so that one that says something else is seen.
"""

from __future__ import annotations

import html
import json
import re
import sys
from pathlib import Path

from book.pipeline.content import heads
from book.pipeline.content.chapters import read
from book.pipeline.ground import digests
from book.pipeline.ground.paths import OPENING, ROOT, WEB, write_atomic

FOLDER = WEB / "share"
NOTED = FOLDER / "drawn.json"
WIDTH, HEIGHT = 1200, 630
BOOK = ("由内而外学 PyTorch", "PyTorch Inside Out")
PROMISE = ("每个论断都有可运行的证据", "Every claim with a proof that runs")
FONTS = "Noto Serif CJK SC, Noto Sans CJK SC, Source Han Serif SC, serif"
GROUND, INK, QUIET, LINE = "#fbfaf5", "#23211d", "#6b675e", "#d9d4c5"
EDGE, MARK = 84, 150


def wanted(root: Path = ROOT) -> dict[str, str]:
    """Name of each picture -> its drawing."""
    mark = (WEB / "mark.svg").read_text(encoding="utf-8")
    found = {"book": drawing(mark, BOOK, PROMISE)}
    for folder, chapter in read(root).items():
        opening = root / "chapters" / folder / f"{OPENING}.md"
        if opening.exists() and not heads.read(opening, root).draft:
            number = f"第 {chapter.number} 章", f"Chapter {chapter.number}"
            found[folder] = drawing(mark, chapter.name, BOOK, number)
    return found


def drawing(mark: str, title: tuple[str, str], below: tuple[str, str],
            above: tuple[str, str] = ("", "")) -> str:
    """An SVG: the mark, two titles, what stands above and below them."""
    inner = re.search(r"<svg[^>]*>(.*)</svg>", mark, re.S)[1]
    box = re.search(r'viewBox="([^"]+)"', mark)[1]
    rows = [(" · ".join(filter(None, above)), 246, 34, QUIET), (title[0], 346, 84, INK),
            (title[1], 434, 60, INK), (" · ".join(below), 548, 34, QUIET)]
    texts = "".join(f'<text x="{EDGE}" y="{y}" font-size="{size}" fill="{fill}">'
                    f"{html.escape(text)}</text>" for text, y, size, fill in rows)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'font-family="{FONTS}"><rect width="{WIDTH}" height="{HEIGHT}" fill="{GROUND}"/>'
            f'<svg x="{EDGE}" y="56" width="{MARK}" height="{MARK}" viewBox="{box}">{inner}</svg>'
            f'{texts}<path d="M{EDGE} 486H{WIDTH - EDGE}" stroke="{LINE}" stroke-width="2"/></svg>')


def noted() -> dict[str, str]:
    """Name of each picture that is stored -> digest of the drawing it was made from."""
    return json.loads(NOTED.read_text(encoding="utf-8")) if NOTED.exists() else {}


def stale(root: Path = ROOT) -> list[str]:
    """Names of pictures that are missing, that say something else, or that nothing asks for."""
    then, now = noted(), {name: digests.of(svg) for name, svg in wanted(root).items()}
    return sorted({name for name in then.keys() | now.keys() if then.get(name) != now.get(name)}
                  | {name for name in now if not (FOLDER / f"{name}.png").is_file()})


def main() -> int:
    import resvg_py  # here: a build only copies what is stored

    drawings = wanted()
    FOLDER.mkdir(exist_ok=True)
    for name in stale():
        file = FOLDER / f"{name}.png"
        file.unlink(missing_ok=True)
        if name in drawings:
            file.write_bytes(resvg_py.svg_to_bytes(svg_string=drawings[name], width=WIDTH))
            print(f"share pictures: {file.relative_to(ROOT)}, {file.stat().st_size} bytes")
    content = {name: digests.of(svg) for name, svg in drawings.items()}
    write_atomic(NOTED, json.dumps(content, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
