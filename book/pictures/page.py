"""Take the README's picture of the book from the built site: the machines of the front page.

    make site && .venv/bin/python -m book.pictures.page     writes book/pictures/page.png
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from book.pipeline.ground.paths import SITE
from book.pipeline.serve import served
from oracles.web import chromium

PICTURE = Path(__file__).with_name("page.png")
PAGE, PART = "book/index.html?lang=both", ".house"
WIDTH, HEIGHT = 1160, 1200  # px; both languages beside each other, all five machines
COLOURS = 64  # enough for flat drawings and their letters' edges
OVER = ".site-header, .skip-link { display: none !important }"  # what would lie on the picture


def take(address: str) -> bytes:
    """The part of the page as PNG, in the light theme."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.path(), args=chromium.FLAGS)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light",
                                reduced_motion="reduce")
        page.goto(f"{address}{PAGE}", wait_until="networkidle")
        shot = page.locator(PART).screenshot(style=OVER)
        browser.close()
    return shot


def main() -> int:
    if not (SITE / "book" / "index.html").exists():
        sys.exit("picture: no site in _build/html; run `make site`")
    with served(SITE) as address:
        shot = Image.open(io.BytesIO(take(address))).convert("RGB")
    shot.quantize(COLOURS, dither=Image.Dither.NONE).save(PICTURE, optimize=True)
    print(f"{PICTURE.name}: {shot.width} x {shot.height}, {PICTURE.stat().st_size / 1000:.0f} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
