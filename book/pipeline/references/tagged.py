"""Lines of PyTorch's repository that the installed torch does not ship, recorded at a tag.

    python -m book.pipeline.references.tagged --add TARGET --tag v2.13.0 --checkout PATH \\
                                              --lines 335-410
    python -m book.pipeline.references.tagged --recheck PATH [--tag TAG]    compare recorded lines

`tagged_sources.json` holds {target: {tag, first, last, sha256, date}}; the digest is of the lines.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

from book.pipeline.ground.paths import relative, write_atomic
from book.pipeline.references import SourceError, symbols

TAGGED = Path(__file__).with_name("tagged_sources.json")
LINE = re.compile(r"^(\d+)-(\d+)$")
COMMAND = "python -m book.pipeline.references.tagged"


def recorded(target: str, version: str) -> dict:
    """The record of a target; SourceError where there is none for this version of torch."""
    entry = _records().get(target)
    if entry is None:
        raise SourceError(
            f"{target}: neither in the installed torch nor recorded in {relative(TAGGED)}; record "
            f"it: {COMMAND} --add {target} --tag v{version} --checkout PATH --lines A-B"
            f"{symbols.near(target, _records())}")
    if entry["tag"] != f"v{version}":
        raise SourceError(f"{target}: recorded at {entry['tag']}, and torch is {version}; run "
                          f"{COMMAND} --recheck PATH --tag v{version}")
    return entry


def add(target: str, tag: str, checkout: Path, lines: str) -> None:
    """Record the lines `A-B` that a target means at a tag. Raises SourceError."""
    if not (match := LINE.match(lines)):
        raise SourceError(f"--lines {lines}: write two numbers, as in 335-410")
    first, last = int(match[1]), int(match[2])
    path, _, symbol = target.partition(":")
    text = _at_tag(checkout, tag, path)
    if not 1 <= first <= last <= len(text):
        raise SourceError(f"{target}: {path} has {len(text)} lines at {tag}, not {lines}")
    name = symbol.rpartition("::")[2]
    if not name or not re.search(rf"\b{re.escape(name)}\b", "\n".join(text[first - 1:last])):
        raise SourceError(f"{target}: lines {lines} of {path} do not contain `{name}`")
    entry = {"tag": tag, "first": first, "last": last,
             "sha256": _digest(text[first - 1:last]), "date": date.today().isoformat()}
    records = _records() | {target: entry}
    write_atomic(TAGGED, json.dumps(records, indent=2, sort_keys=True) + "\n")


def recheck(checkout: Path, tag: str | None = None) -> list[str]:
    """Findings on recorded lines that differ at their tag, or at another one that is given."""
    return [finding for target, entry in _records().items()
            if (finding := _recheck(target, entry, checkout, tag or entry["tag"]))]


def _recheck(target: str, entry: dict, checkout: Path, tag: str) -> str | None:
    try:
        text = _at_tag(checkout, tag, target.partition(":")[0])
    except SourceError as error:
        return str(error)
    first, length = entry["first"], entry["last"] - entry["first"] + 1
    same = [start + 1 for start in range(len(text) - length + 1)
            if _digest(text[start:start + length]) == entry["sha256"]]
    if first in same and tag == entry["tag"]:
        return None
    if same:
        moved = first if first in same else same[0]
        return (f"{target}: the same lines are {moved}-{moved + length - 1} at {tag}; record them: "
                f"--add {target} --tag {tag} --lines {moved}-{moved + length - 1}")
    return f"{target}: its lines changed at {tag}; read them again, mend the text, then --add"


def _at_tag(checkout: Path, tag: str, path: str) -> list[str]:
    show = subprocess.run(["git", "-C", checkout, "show", f"{tag}:{path}"], capture_output=True,
                          encoding="utf-8", check=False)
    if show.returncode:
        raise SourceError(f"{tag}:{path}: not in {checkout}; fetch the tag there first")
    return show.stdout.splitlines()


def _digest(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _records() -> dict[str, dict]:
    return json.loads(TAGGED.read_text(encoding="utf-8"))


# ---- command -----------------------------------------------------------------------------------

def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="record lines of PyTorch's repository")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--add", metavar="TARGET", help="record lines of a file of the repository")
    action.add_argument("--recheck", type=Path, metavar="CHECKOUT", help="compare recorded lines")
    parser.add_argument("--tag", help="a tag of PyTorch, such as v2.13.0")
    parser.add_argument("--checkout", type=Path, help="a clone of PyTorch that has the tag")
    parser.add_argument("--lines", metavar="A-B", help="first and last line")
    options = parser.parse_args(arguments)
    if options.add and not (options.tag and options.checkout and options.lines):
        parser.error("--add needs --tag, --checkout and --lines")
    try:
        findings = _run(options)
    except SourceError as error:
        findings = [str(error)]
    print(*findings, sep="\n", end="\n" if findings else "")
    return 1 if findings else 0


def _run(options: argparse.Namespace) -> list[str]:
    if options.recheck:
        return recheck(options.recheck, options.tag)
    add(options.add, options.tag, options.checkout, options.lines)
    return []


if __name__ == "__main__":
    sys.exit(main())
