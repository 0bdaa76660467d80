"""Can every pinned package be installed with a Python that is not on this machine?

    python -m book.pipeline.pins              3.12 to 3.14, on Linux (x86-64) and macOS (arm64)
    python -m book.pipeline.pins 3.14         these versions

Asks the package index for a wheel of each line of constraints.txt. Nothing is installed, and no
dependency is looked at: constraints.txt names them all.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from itertools import product

from book.pipeline.ground.paths import ROOT

PYTHONS = ("3.12", "3.13", "3.14")
PLATFORMS = {  # names of platforms whose wheels run there
    "Linux": ["manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64",
              "linux_x86_64"],
    "macOS": ["macosx_14_0_arm64", "macosx_13_0_arm64", "macosx_12_0_arm64", "macosx_11_0_arm64",
              "macosx_11_0_universal2", "macosx_10_9_universal2"],
}


def question(python: str, platforms: list[str], folder: str) -> list[str]:
    """The command of pip that would install all pins, and does nothing."""
    return [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--no-deps",
            "--ignore-installed", "--disable-pip-version-check", f"--target={folder}",
            "--only-binary=:all:", "--implementation=cp", f"--python-version={python}",
            *(f"--platform={name}" for name in platforms), "-r", str(ROOT / "constraints.txt")]


def missing(python: str, platform: str) -> list[str]:
    """What pip says is wrong; empty if every pin has a wheel."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(question(python, PLATFORMS[platform], folder), check=False,
                              capture_output=True, text=True)
    errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    return (errors or ["pip failed"]) if done.returncode else []


def main() -> int:
    parser = argparse.ArgumentParser(description="do all pins have wheels for these Pythons?")
    parser.add_argument("pythons", nargs="*", default=PYTHONS, help="as in 3.14")
    failed = False
    for python, platform in product(parser.parse_args().pythons, PLATFORMS):
        found = missing(python, platform)
        failed |= bool(found)
        print(f"Python {python}, {platform}: {'; '.join(found) or 'every pin has a wheel'}",
              flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
