"""The desk: everything about the book that can be judged by reading it. Nothing is executed.

    python -m book.pipeline.desk

Lint of code, texts and cards; the length of sections; moved addresses; references into torch's
source; what is stale. All findings are printed, each as `FILE:LINE: what is wrong; how to mend
it`; exit status 1 if there is one. Drafts are named too, but they do not fail.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterable

from sphinx_external_toc.parsing import parse_toc_yaml

from book.pipeline import lint, sources, sync
from book.pipeline.cards import book as cards
from book.pipeline.cards import results
from book.pipeline.content import heads, moved, questions
from book.pipeline.ground.paths import ROOT
from book.pipeline.reading import check as gate


def python_code() -> list[str]:
    """What ruff finds in the Python code."""
    done = subprocess.run([sys.executable, "-m", "ruff", "check", "--quiet",
                           "--output-format=concise", "."],
                          cwd=ROOT, capture_output=True, text=True, check=False)
    said = f"{done.stdout}{done.stderr}".splitlines()
    return [line for line in said if line.strip()] or ["ruff failed"] * bool(done.returncode)


def texts() -> list[str]:
    """Findings in sections, pages and the texts of cards."""
    return lint.lint_files(lint.default_files())


def card_files() -> list[str]:
    """Cards that break a rule, and results that proving would write differently."""
    book, problems = cards.load()
    return [str(problem) for problem in problems or results.stale(book)]


def moved_addresses() -> list[str]:
    """Old addresses that lead to no page, or that are pages again."""
    return [str(one) for one in moved.problems(set(parse_toc_yaml(ROOT / "_toc.yml")))]


def section_heads() -> list[str]:
    """Sections without a question that leads to them, questions too long, sections of no book."""
    return [str(one) for one in questions.problems(parse_toc_yaml(ROOT / "_toc.yml"))]


def references() -> list[str]:
    """References into torch's source that lead nowhere."""
    try:
        return sources.check_all(sources.all_files())
    except sources.SourceError as error:
        return [str(error)]


def notebooks() -> list[str]:
    """Notebooks that are not what syncing their source would give."""
    return sync.problems(sync.section_sources())


def reading() -> list[str]:
    """New sections that are too long to read; what warns only, the gate's own command prints."""
    return [str(one) for one in gate.problems()]


CHECKS: dict[str, Callable[[], Iterable[str]]] = {
    "Python code": python_code, "texts": texts, "cards and their results": card_files,
    "moved addresses": moved_addresses, "heads of sections": section_heads,
    "reading": reading,
    "source references": references, "notebooks up to date": notebooks,
}


def main() -> int:
    failed = False
    for name, check in CHECKS.items():
        started = time.perf_counter()
        findings = list(check())
        failed = failed or bool(findings)
        print(f"{name}: {len(findings)} findings, {time.perf_counter() - started:.1f} s",
              *findings, sep="\n", flush=True)
    for document in heads.drafts(parse_toc_yaml(ROOT / "_toc.yml")):
        print(f"warning: {document}.md is a draft: the site says so, and search leaves it out")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
