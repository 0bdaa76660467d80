"""Build the specimen where the suite's tests of scripts and styles look at it.

    python -m tests.specimen.build

As a step of its own it is remembered by what it read, and the tests by the site that came of it: a
change which leaves that site as it was runs none of them again. As a plugin (`-p
tests.specimen.build`) this tells the tests to take the site that was built.
"""

import os
from pathlib import Path

from book.pipeline import site
from book.pipeline.ground.paths import ROOT

OUT = ROOT / "_build" / "specimen"
SOURCE = Path(__file__).with_name("source")


def pytest_configure():
    os.environ["SPECIMEN"] = str(OUT)


if __name__ == "__main__":
    (OUT / "done").unlink(missing_ok=True)
    site.build(SOURCE, OUT)
    (OUT / "done").touch()
