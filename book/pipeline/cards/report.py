"""What the cards cover, as a dict for the status page and as text for the terminal.

    python -m book.pipeline.cards.report     counts, refuted errata and open ids (nothing is run)
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from book.pipeline.cards.book import Book, Chapter, load
from book.pipeline.cards.rules import refuted_ids
from book.pipeline.ground.paths import ROOT


def report(book: Book) -> dict[str, Any]:
    """Counts, errata and open ids; JSON-able, in a fixed order.

    Keys: `total`; `chapters` {slug: {total, complete, core, layers, kind, level, needs}};
    `errata` {refuted: {id: [card ids]}, open: {id: {kind, chapter}}};
    `open_cards` {id named but not written: [cards that name it]}.
    """
    by: dict[str, list[str]] = {}
    for card in book.cards:
        for name in refuted_ids(card.data):
            by.setdefault(name, []).append(card.id)
    return {
        "total": len(book.cards),
        "chapters": {chapter.slug: _counts(chapter) for chapter in book.chapters},
        "errata": {
            "refuted": dict(sorted(by.items())),
            "open": {key: row for key, row in book.errata.items() if key not in by},
        },
        "open_cards": dict(sorted(book.open_ids.items())),
    }


def _counts(chapter: Chapter) -> dict[str, Any]:
    rows = [card.data for card in chapter.cards]
    return {
        "total": len(rows),
        "complete": chapter.complete,
        "core": sum(bool(row.get("core")) for row in rows),
        "layers": sum("line" in row for row in rows),
        "kind": dict(sorted(Counter(row["kind"] for row in rows).items())),
        "level": dict(sorted(Counter(row["level"] for row in rows).items())),
        "needs": dict(sorted(Counter(card.needs for card in chapter.cards).items())),
    }


def as_text(figures: dict[str, Any]) -> str:
    """The report for a terminal."""
    lines = [f"{figures['total']} cards"]
    for slug, row in figures["chapters"].items():
        state = "complete" if row["complete"] else "incomplete"
        lines.append(f"  {slug}: {row['total']} ({state}, {row['core']} core, "
                     f"{row['layers']} in layers)")
        lines += [f"    {key}: {_pairs(row[key])}" for key in ("kind", "level", "needs")]
    done, left = figures["errata"]["refuted"], figures["errata"]["open"]
    lines.append(f"errata refuted: {len(done)} of {len(done) + len(left)}")
    lines += [f"  {key}: {', '.join(cards)}" for key, cards in done.items()]
    lines += [f"errata open, {head}: {', '.join(ids)}" for head, ids in _by_chapter(left).items()]
    lines.append(f"cards named but not written: {len(figures['open_cards'])}")
    lines += [f"  {key} (in {', '.join(by)})" for key, by in figures["open_cards"].items()]
    return "\n".join(lines)


def _pairs(counts: dict[str, int]) -> str:
    return ", ".join(f"{key} {count}" for key, count in counts.items()) or "none"


def _by_chapter(rows: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for key, row in sorted(rows.items(), key=lambda item: (item[1]["chapter"], item[0])):
        groups.setdefault(f"chapter {row['chapter']}", []).append(key)
    return groups


def main(argv: list[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m book.pipeline.cards.report",
                                     description="what the cards cover")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    book, problems = load(parser.parse_args(argv).root)
    print(*(problems or [as_text(report(book))]), sep="\n",
          file=sys.stderr if problems else sys.stdout)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
