"""cards.json: what proofs computed, and whether it still belongs to cards.yaml. Needs no torch.

A file holds {chapter, complete, torch, python, cards}. An entry of `cards` has all fields of the
card as written, and

    sources           [{target, url}] in place of the targets
    distractors       with {zh, en} for a text written once for both
    shown             what `code` shows, one text per variant (one in all without variants)
    shown_fixed       the same for `fixed`
    snippets, snippets_fixed   the programs with the assignments of each variant put first
    companions        {file of code/ that a program of the card imports: its sha256}; absent if none
    evidence          {gpu, torch, date} of a recorded run on a GPU; absent until recorded
    digest            sha256 of the rest of the entry
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from book.pipeline.cards.book import Book, Card, Chapter, Problem
from book.pipeline.notebooks import depends

EVIDENCE = "benchmarks/results/cuda-cards.json"
SHOWN = ("shown", "shown_fixed")
MEND = "run make prove"
Entry = dict[str, Any]


def canonical(value: Any) -> str:
    """The one spelling of a JSON value, as files hold it."""
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)


def digest(value: Any) -> str:
    """sha256 of the canonical spelling."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def snippet(program: str, variant: Mapping[str, Any]) -> str:
    """The program as readers see it: a variant's assignments first."""
    head = "".join(f"{name} = {value!r}\n" for name, value in variant.items())
    return head + program.rstrip("\n")


def as_run(card: Card) -> dict[str, Any]:
    """What a result is a result of: the card, and the files of code/ that its programs import."""
    programs = [card.data[key] for key in ("code", "fixed", "proof") if key in card.data]
    imported = depends.digests(programs)
    return {**card.data, "companions": imported} if imported else dict(card.data)


def make_entry(card: Card, urls: Mapping[str, str], shown: Mapping[str, list[str]],
               evidence: Mapping[str, Any] | None = None) -> Entry:
    """A card's entry from its results; `shown` holds the keys of SHOWN that apply."""
    entry = {**as_run(card), **shown}
    entry["sources"] = [{"target": t, "url": urls.get(t)} for t in card.data["sources"]]
    for key, name in (("code", "snippets"), ("fixed", "snippets_fixed")):
        if key in card.data:
            entry[name] = [snippet(card.data[key], variant) for variant in card.variants]
    if "distractors" in entry:
        entry["distractors"] = [_with_both_languages(row) for row in entry["distractors"]]
    if evidence:
        entry["evidence"] = {key: evidence[key] for key in ("gpu", "torch", "date")}
    return {**entry, "digest": digest(entry)}


def _with_both_languages(distractor: Mapping[str, Any]) -> dict[str, Any]:
    text = distractor["text"]
    return {**distractor, "text": {"zh": text, "en": text} if isinstance(text, str) else text}


def recorded(card: Card, evidence: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The recorded run of a `cuda` card, if it was of the card and its companions as they are."""
    record = evidence.get(card.id, {})
    is_of_this = card.needs == "cuda" and record.get("digest") == digest(as_run(card))
    return record if is_of_this else None


def read_evidence(root: Path) -> dict[str, Any]:
    """Recorded runs on a GPU: {card id: {digest, gpu, torch, date, shown?, shown_fixed?}}."""
    path = root / EVIDENCE
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def read_file(chapter: Chapter) -> dict[str, Any]:
    """The chapter's cards.json; an empty one if it is absent or no JSON object."""
    try:
        content = json.loads(chapter.results.read_text(encoding="utf-8"))
        return content if isinstance(content.get("cards"), list) else {}
    except (OSError, ValueError, AttributeError):
        return {}


def entries(content: Mapping[str, Any]) -> dict[str, Entry]:
    """Entries of a cards.json by card id."""
    rows = [row for row in content.get("cards", []) if isinstance(row, dict)]
    return {str(row.get("id")): row for row in rows}


def file_text(chapter: Chapter, rows: list[Entry], versions: Mapping[str, Any]) -> str:
    """The text of a cards.json."""
    content = {"chapter": chapter.slug, "complete": chapter.complete, "cards": rows, **versions}
    return canonical(content) + "\n"


def why_stale(card: Card, entry: Entry | None, evidence: Mapping[str, Any]) -> str:
    """Why an entry is not the card's result any more; empty if it is."""
    if entry is None:
        return "has no result yet"
    if entry.get("digest") != digest({k: v for k, v in entry.items() if k != "digest"}):
        return "was edited by hand"
    try:
        urls = {row["target"]: row["url"] for row in entry["sources"]}
        record = recorded(card, evidence)
        results = record or entry if card.needs == "cuda" else entry
        shown = {key: results[key] for key in SHOWN if key in results}
        same = make_entry(card, urls, shown, record) == entry and all(urls.values())
    except (KeyError, TypeError):
        same = False
    return "" if same else "is older than cards.yaml, a file of code/ or its recorded evidence"


def stale(book: Book) -> Iterator[Problem]:
    """What of the committed cards.json files is not as proving would leave it (runs nothing)."""
    evidence = read_evidence(book.root)
    for chapter in book.chapters:
        found = list(_stale_entries(chapter, evidence))
        yield from found
        if not found and not _is_written_by_us(chapter):
            yield _of_file(chapter, "the file was edited by hand")


def _stale_entries(chapter: Chapter, evidence: Mapping[str, Any]) -> Iterator[Problem]:
    if not chapter.results.is_file():
        yield _of_file(chapter, "the file is missing")
        return
    stored = entries(read_file(chapter))
    for card in chapter.cards:
        if reason := why_stale(card, stored.get(card.id), evidence):
            yield _of_file(chapter, f"the stored result {reason}" if card.id in stored else reason,
                           card.id)
    for name in sorted(stored.keys() - {card.id for card in chapter.cards}):
        yield _of_file(chapter, "is not in cards.yaml", name)


def _is_written_by_us(chapter: Chapter) -> bool:
    content = read_file(chapter)
    by_id = entries(content)
    rows = [by_id[card.id] for card in chapter.cards]
    versions = {key: content.get(key) for key in ("torch", "python")}
    return file_text(chapter, rows, versions) == chapter.results.read_text(encoding="utf-8")


def _of_file(chapter: Chapter, text: str, card: str = "") -> Problem:
    file = chapter.results.relative_to(chapter.folder.parents[1]).as_posix()
    return Problem(file, 1, f"{text}: {MEND}", card)
