"""Chapters that are being written and have no folder yet, from `book/planned.yaml`.

    8:
      name: {zh: 分布式训练, en: Distributed training}
      about: {zh: 多卡、DDP, en: "several GPUs, DDP"}     what readers would type to find it
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import yaml

from book.pipeline.ground.paths import ROOT

FILE = "book/planned.yaml"
LANGS = ("zh", "en")
Texts = tuple[str, str]  # zh, en


class Planned(NamedTuple):
    """A chapter without a page: its number, its name and what it will be about."""

    number: int
    name: Texts
    about: Texts


def read(root: Path = ROOT) -> list[Planned]:
    """The planned chapters by their numbers, none without the file; one that has got a folder is
    planned no more. Raises ValueError, in one line."""
    file = root / FILE
    content = yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}
    begun = {int(folder.name[:2]) for folder in root.glob("chapters/[0-9][0-9]-*")}
    return [_chapter(number, content[number]) for number in sorted(content)
            if number not in begun]


def _chapter(number: int, fields: dict[str, dict[str, str]]) -> Planned:
    try:
        name, about = (tuple(fields[field][lang] for lang in LANGS) for field in ("name", "about"))
    except (KeyError, TypeError):
        text = "write name: {zh: …, en: …} and about: {zh: …, en: …}"
        raise ValueError(f"{FILE}: chapter {number}: {text}") from None
    return Planned(number, name, about)
