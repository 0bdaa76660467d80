"""cards/SECTION.json: what proofs computed for the cards of a section, and whether it still belongs
to them. Needs no torch.

A file holds {torch, python, self_tested: {card id: seal}, cards: {card id: entry}}. A seal says of
which program, prover and torch the self-test of a proof has passed (see proofs/seals.py); it is no
part of a result. An entry holds what is computed, no more:

    sources           {target: url}
    shown             what `code` shows, one text per variant (one in all without variants)
    shown_fixed       the same for `fixed`
    companions        {file of code/ that a program of the card imports: its sha256}; absent if none
    evidence          {gpu, torch, date} of a recorded run on a GPU; absent until recorded
    digest            sha256 of the whole card, without this field

The whole card, as pages and drill read it, has all fields that are written, these, and

    sources           [{target, url}] in the order in which they are written
    distractors       with {zh, en} for a text written once for both
    snippets, snippets_fixed   the programs with the assignments of each variant put first
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from book.pipeline.cards.book import Book, Card, Section
from book.pipeline.ground import digests
from book.pipeline.ground.paths import relative
from book.pipeline.ground.problem import Problem
from book.pipeline.notebooks import depends
from book.pipeline.text import marked_yaml

EVIDENCE = "benchmarks/results/cuda-cards.json"
SHOWN = ("shown", "shown_fixed")
MEND = "run make prove"
Entry = dict[str, Any]


def canonical(value: Any) -> str:
    """The one spelling of a JSON value, as files hold it."""
    return digests.canonical(value, indent=1)


def digest(value: Any) -> str:
    """sha256 of that spelling."""
    return digests.of_value(value, indent=1)


def snippet(program: str, variant: Mapping[str, Any]) -> str:
    """The program as readers see it: a variant's assignments first."""
    head = "".join(f"{name} = {value!r}\n" for name, value in variant.items())
    return head + program.rstrip("\n")


def imported(card: Card) -> dict[str, str]:
    """Digests of the files of code/ that the card's programs import."""
    return depends.digests(card.data[key] for key in ("code", "fixed", "proof") if key in card.data)


def as_run(card: Card) -> dict[str, Any]:
    """What a result is a result of: the card, and the files of code/ that its programs import."""
    companions = imported(card)
    return {**card.data, "companions": companions} if companions else dict(card.data)


def make_entry(card: Card, urls: Mapping[str, str], shown: Mapping[str, list[str]],
               evidence: Mapping[str, Any] | None = None) -> Entry:
    """A card's entry from its results; `shown` holds the keys of SHOWN that apply."""
    entry: Entry = {"sources": {t: urls.get(t) for t in card.data["sources"]}, **shown}
    if companions := imported(card):
        entry["companions"] = companions
    if evidence:
        entry["evidence"] = {key: evidence[key] for key in ("gpu", "torch", "date")}
    return {**entry, "digest": digest(whole(card.data, entry))}


def whole(written: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """The card as pages and drill read it, from what is written and what is computed."""
    card = {**written, **entry}
    card["sources"] = [{"target": t, "url": entry["sources"][t]} for t in written["sources"]]
    for key, name in (("code", "snippets"), ("fixed", "snippets_fixed")):
        if key in written:
            card[name] = [snippet(written[key], variant)
                          for variant in written.get("variants") or [{}]]
    if "distractors" in card:
        card["distractors"] = [_with_both_languages(row) for row in card["distractors"]]
    return card


def _with_both_languages(distractor: Mapping[str, Any]) -> dict[str, Any]:
    text = distractor["text"]
    return {**distractor, "text": {"zh": text, "en": text} if isinstance(text, str) else text}


def whole_cards(path: Path) -> list[dict[str, Any]]:
    """The cards of a section as pages and drill read them, from its cards/SECTION.yaml.

    Empty where there is no such file. Raises ValueError for a card without a result.
    """
    if not path.is_file():
        return []
    rows = marked_yaml.parse(path.read_text(encoding="utf-8")).value
    stored = entries(read_file(path.with_suffix(".json")))
    for row in rows:
        if row["id"] not in stored:
            raise ValueError(f"{relative(path)}:1: card '{row['id']}': has no result yet: {MEND}")
    return [whole(row, stored[row["id"]]) for row in rows]


def recorded(card: Card, evidence: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The recorded run of a `cuda` card, if it was of the card and its companions as they are."""
    record = evidence.get(card.id, {})
    is_of_this = card.needs == "cuda" and record.get("digest") == digest(as_run(card))
    return record if is_of_this else None


def read_evidence(root: Path) -> dict[str, Any]:
    """Recorded runs on a GPU: {card id: {digest, gpu, torch, date, shown?, shown_fixed?}}."""
    path = root / EVIDENCE
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def read_file(path: Path) -> dict[str, Any]:
    """The content of a cards/SECTION.json; an empty one if it is absent or something else."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return content if isinstance(content["cards"], dict) else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def entries(content: Mapping[str, Any]) -> dict[str, Entry]:
    """Entries of a cards/SECTION.json by card id."""
    return {name: row for name, row in content.get("cards", {}).items() if isinstance(row, dict)}


def seals(content: Mapping[str, Any]) -> dict[str, str]:
    """Seals of a cards/SECTION.json by card id; where they are none, a self-test runs again."""
    found = content.get("self_tested", {})
    return found if isinstance(found, dict) else {}


def file_text(rows: Mapping[str, Entry], versions: Mapping[str, Any],
              sealed: Mapping[str, str] | None = None) -> str:
    """The text of a cards/SECTION.json."""
    tested = {"self_tested": sealed} if sealed else {}
    return canonical({"cards": rows, **tested, **versions}) + "\n"


def why_stale(card: Card, entry: Entry | None, evidence: Mapping[str, Any]) -> str:
    """Why an entry is not the card's result any more; empty if it is."""
    if entry is None:
        return "has no result yet"
    try:
        record = recorded(card, evidence)
        results = record or entry if card.needs == "cuda" else entry
        shown = {key: results[key] for key in SHOWN if key in results}
        same = make_entry(card, entry["sources"], shown, record) == entry
        same = same and all(entry["sources"].values())
    except (KeyError, TypeError, AttributeError):
        same = False
    written = Path(card.file).name
    return "" if same else (f"is not of the card as it is: {written}, a file of code/ or recorded "
                            "evidence has changed, or this file was edited by hand")


def stale(book: Book) -> Iterator[Problem]:
    """What of the committed cards/*.json is not as proving would leave it (runs nothing)."""
    evidence = read_evidence(book.root)
    for section in book.sections:
        found = list(_stale_entries(section, evidence))
        yield from found
        if not found and not _is_written_by_us(section):
            yield _of_file(section.results, "the file was edited by hand")
    for path in sorted(book.root.glob("chapters/*/cards/*.json")):
        if not path.with_suffix(".yaml").is_file():
            yield Problem(_name(path), 1, f"there is no {path.stem}.yaml: delete this file")


def _stale_entries(section: Section, evidence: Mapping[str, Any]) -> Iterator[Problem]:
    if not section.results.is_file():
        yield _of_file(section.results, "the file is missing")
        return
    stored = entries(read_file(section.results))
    for card in section.cards:
        if reason := why_stale(card, stored.get(card.id), evidence):
            text = f"the stored result {reason}" if card.id in stored else reason
            yield _of_file(section.results, text, card.id)
    for name in sorted(stored.keys() - {card.id for card in section.cards}):
        yield _of_file(section.results, f"is not in {section.path.name}", name)


def _is_written_by_us(section: Section) -> bool:
    content = read_file(section.results)
    versions = {key: content.get(key) for key in ("torch", "python")}
    text = section.results.read_text(encoding="utf-8")
    stored = entries(content)
    sealed = {name: seal for name, seal in seals(content).items() if name in stored}
    return file_text(stored, versions, sealed) == text


def _of_file(path: Path, text: str, card: str = "") -> Problem:
    return Problem(_name(path), 1, f"{text}: {MEND}", card)


def _name(path: Path) -> str:
    """As in chapters/01-tensors/cards/views.json, whatever the root."""
    return path.relative_to(path.parents[3]).as_posix()
