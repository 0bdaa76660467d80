"""Scores of a page from Lighthouse, with its own settings for a phone.

Lighthouse is 114 packages and 140 MB, and nothing but this needs it: it has a lock file of its
own beside this module and is installed on first use, below `_build`, where Sphinx does not look.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from book.pipeline import environment
from book.pipeline.ground.paths import ROOT
from oracles.web import chromium

CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
FOLDER = ROOT / "_build" / "lighthouse"
RUNS = 3
FILES = [Path(__file__).with_name(name) for name in ("package.json", "package-lock.json")]


def version() -> str:
    return json.loads(FILES[0].read_text())["dependencies"]["lighthouse"]


def install() -> None:
    """Lighthouse as the lock file says; no time when that was done before."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file in FILES:
        shutil.copy(file, FOLDER)
    npm = Path(sys.executable).with_name("npm")
    environment.once(
        "Lighthouse", FOLDER / "node_modules", FILES,
        [str(npm), "ci", "--prefix", str(FOLDER), "--ignore-scripts", "--loglevel=error"],
        "Is there a network? Or measure without it: python -m benchmarks.pages --no-lighthouse",
    )


def run(url: str) -> dict[str, Any]:
    """Lighthouse's report on a page, in a browser that it starts and ends itself."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # its Node comes first
    command = [
        FOLDER / "node_modules" / ".bin" / "lighthouse", url, "--quiet", "--output=json",
        f"--only-categories={','.join(CATEGORIES)}", "--no-enable-error-reporting",
        f"--chrome-flags={' '.join(['--headless=new', *chromium.FLAGS])}",
    ]
    done = subprocess.run(
        command, env=os.environ | {"CHROME_PATH": chromium.path(), "PATH": path, "CI": "1"},
        check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stderr}\nbench: Lighthouse failed on {url}; what it said stands above")
    return json.loads(done.stdout)


def median_run(url: str) -> dict[str, Any]:
    """The report whose performance is the median of `RUNS`; the other scores do not vary."""
    reports = [run(url) for _ in range(RUNS)]
    reports.sort(key=lambda report: report["categories"]["performance"]["score"])
    return reports[RUNS // 2]


def scores(report: dict[str, Any]) -> dict[str, int]:
    """{category: 0 to 100}."""
    return {name: round(100 * report["categories"][name]["score"]) for name in CATEGORIES}


def failed(report: dict[str, Any]) -> list[str]:
    """`category: audit (its score)` for each audit that costs its category something."""
    found = []
    for name in CATEGORIES:
        for reference in report["categories"][name]["auditRefs"]:
            score = report["audits"][reference["id"]]["score"]
            if reference["weight"] and score is not None and score < 1:
                found.append(f"{name}: {reference['id']} ({score:g})")
    return found
