"""The code that notebooks import, on the site: each file by name, and all of it as one archive.

A page that names a file in prose, as in `code/scalar_mlp.py`, links it. The archive, unpacked
beside a downloaded notebook, is what that notebook needs.
"""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform

from book.extension.downloads import ARCHIVE, FOLDER, address
from book.pipeline.paths import CODE, RESULTS, ROOT

NEEDED = (CODE, ROOT / "book" / "web", RESULTS)  # `inside` reads the other two
LICENCE = ROOT / "LICENSE"
SUFFIXES = {".py", ".js", ".css", ".json"}
DAY = (1980, 1, 1, 0, 0, 0)  # of every file in the archive: the same code makes the same bytes


def files() -> list[Path]:
    """What the archive holds, in order: the licence and the code."""
    return [LICENCE, *sorted(path for folder in NEEDED for path in folder.rglob("*")
                             if path.suffix in SUFFIXES and "__pycache__" not in path.parts)]


class LinkCode(SphinxTransform):
    """Make a link of `code/NAME.py` wherever prose names a file that exists."""

    default_priority = 460

    def apply(self, **kwargs) -> None:
        for literal in list(self.document.findall(nodes.literal)):
            name = literal.astext()
            if (name.startswith("code/") and (ROOT / name).is_file()
                    and not isinstance(literal.parent, nodes.reference)):
                link = nodes.reference("", "", refuri=address(self.env.docname, name))
                literal.replace_self(link)
                link += literal


def write(app, exception) -> None:
    """After the build: the files of code/ below downloads/code/, and the archive."""
    if exception or app.builder.name != "html":
        return
    folder = Path(app.outdir, FOLDER)
    folder.mkdir(parents=True, exist_ok=True)  # a site without notebooks has no downloads yet
    with zipfile.ZipFile(folder / ARCHIVE, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files():
            name = path.relative_to(ROOT)
            archive.writestr(zipfile.ZipInfo(str(name), DAY), path.read_bytes(),
                             zipfile.ZIP_DEFLATED)
            if path.is_relative_to(CODE):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, folder / name)


def setup(app):
    app.add_transform(LinkCode)
    app.connect("build-finished", write)
