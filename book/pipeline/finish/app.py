"""What makes the book an app that can be installed: its manifest, and icons drawn from the mark."""

from __future__ import annotations

import json
import re
from pathlib import Path

import resvg_py

from book.pipeline.ground.paths import WEB

MANIFEST = "manifest.webmanifest"
ICONS = Path("_static", "icons")
GROUND = "#fbfaf5"  # behind the mark, where a system cuts a shape out of the icon
MARK = WEB / "mark.svg"
NAME = "由内而外学 PyTorch · PyTorch Inside Out"
SHORT = "Inside Out"
# Size in pixels, how much of the width is the mark, ground. The shape that is cut out of a
# maskable icon may be a circle of 80 % of its width: a square of 56 % is whole in it.
DRAWN = {"icon-192": (192, 1.0, None), "icon-512": (512, 1.0, None),
         "maskable-512": (512, 0.56, GROUND), "apple-touch-icon": (180, 0.72, GROUND)}
SHORTCUTS = ({"name": "练习 · Drill", "short_name": "练习 · Drill", "url": "book/drill.html"},
             {"name": "查找 · Search", "short_name": "查找 · Search",
              "url": "book/index.html#search"})


def write(site: Path) -> None:
    mark = MARK.read_text(encoding="utf-8")
    folder = site / ICONS
    folder.mkdir(parents=True, exist_ok=True)
    for name, (size, share, ground) in DRAWN.items():
        (folder / f"{name}.png").write_bytes(icon(mark, size, share, ground))
    text = json.dumps(manifest(), ensure_ascii=False, indent=1)
    (site / MANIFEST).write_text(text, encoding="utf-8")


def icon(mark: str, size: int, share: float, ground: str | None) -> bytes:
    """The mark as a PNG of `size` pixels, in the middle, `share` of its width."""
    edge, width = size * (1 - share) / 2, size * share
    inner = re.sub(r"<svg\b", f'<svg x="{edge}" y="{edge}" width="{width}" height="{width}"',
                   re.sub(r"<\?xml.*?\?>", "", mark), count=1)
    back = f'<rect width="{size}" height="{size}" fill="{ground}"/>' if ground else ""
    drawing = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}">'
               f"{back}{inner}</svg>")
    return resvg_py.svg_to_bytes(svg_string=drawing, skip_system_fonts=True)


def manifest() -> dict:
    """As the W3C's Web Application Manifest has it; addresses are relative to its folder."""
    icons = [{"src": f"{ICONS.as_posix()}/{name}.png", "sizes": f"{size}x{size}",
              "type": "image/png", "purpose": "maskable" if ground else "any"}
             for name, (size, _, ground) in DRAWN.items() if not name.startswith("apple")]
    return {"name": NAME, "short_name": SHORT, "lang": "zh-Hans", "dir": "ltr", "id": "./",
            "description": "每个论断都有可运行的证据。How PyTorch works, every claim with a proof "
                           "that runs.",
            "start_url": "book/index.html", "scope": "./", "display": "standalone",
            "background_color": GROUND, "theme_color": GROUND,
            "categories": ["books", "education"], "icons": icons, "shortcuts": list(SHORTCUTS)}
