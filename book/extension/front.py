"""The front page: the map of the five machines around one training step, the table of sections."""

from __future__ import annotations

import html
import json
import math
import re
from pathlib import Path
from typing import NamedTuple

import nbformat
from docutils import nodes
from markupsafe import Markup
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import raw, spans
from book.extension.slugs import SEPARATOR
from book.extension.tables import table
from book.pipeline.notebooks.notebook import code_cells
from book.pipeline.paths import OPENING, SHEET, is_section

PAGE = "book/index"
HANDS_ON = {"predict": 1.5, "complete": 4.0}  # minutes for a cell in which the reader acts
WORDS = 180  # English words read in a minute, of a text that wants thought
LINES = 20  # lines of code read in a minute


class Machine(NamedTuple):
    """One of the five: its chapter, the lines of the training step it stands behind, its job."""

    chapter: str
    code: str
    name: tuple[str, str]
    job: tuple[str, str]


LOADER = Machine("04-data", "for x, y in loader:", ("数据加载", "Data loading"), (
    "工作进程取样本、组批，经共享内存送来；不开工作进程，就由主进程做。",
    "Worker processes fetch samples, collate them and pass batches on in "
    "shared memory; without workers, the main process does this."))
MODULES = Machine("03-modules", "loss = criterion(model(x), y)", ("模块", "Modules"), (
    "一棵注册参数与缓冲张量的树，调用时把输入变成输出。",
    "A tree that registers parameters and buffers, and turns inputs into outputs when called."))
AUTOGRAD = Machine("02-autograd", "loss.backward()", ("自动求导", "Autograd"), (
    "前向时记下计算图，反向时倒着走一遍，把梯度送到叶子。",
    "Records a graph in the forward pass, then walks it backward to bring gradients to leaves."))
TENSORS = Machine("01-tensors", "optimizer.step()  # p -= lr * p.grad", ("张量", "Tensors"), (
    "每一行最后都是张量运算：存储、步长、分发到后端实现（kernel）。",
    "Every line comes down to tensor operations: storage, strides, dispatch to a kernel."))
COMPILER = Machine("05-compile", "step = torch.compile(step)", ("编译", "Compiler"), (
    "把整步捕获成一张或几张图，融合算子，换成生成的代码来跑。",
    "Captures the step as one or more graphs, fuses operations and runs generated code instead."))
MACHINES = (TENSORS, AUTOGRAD, MODULES, LOADER, COMPILER)  # in the order of the chapters
NAMES = {machine.chapter: machine.name for machine in MACHINES}
PLANNED = ("编写中", "being written")
HEAD = [("节", "Section"), ("时间", "Time"), ("卡片", "Cards")]
SHEET_TITLE = ("速查表", "Cheat sheet")


class Section(NamedTuple):
    """A section that exists: its page, both halves of its title, minutes, number of cards."""

    document: str
    title: tuple[str, str]
    minutes: int
    cards: int


def sections(root: Path, documents: list[str]) -> dict[str, list[Section]]:
    """Chapter folder -> its sections that are pages of the book, in the order of `documents`."""
    found: dict[str, list[Section]] = {}
    for document in filter(is_section, documents):
        chapter = document.split("/")[1]
        found.setdefault(chapter, []).append(_section(root / f"{document}.ipynb", document))
    return found


def _section(file: Path, document: str) -> Section:
    book = nbformat.read(file, 4)
    title = re.search(r"^# (.+)$", book.cells[0].source, re.M)[1].split(SEPARATOR)
    cards = json.loads(file.with_name("cards.json").read_text(encoding="utf-8"))["cards"]
    number = sum(card["section"] == file.stem for card in cards)
    return Section(document, (title[0], title[1]), minutes(book), number)


def minutes(book: nbformat.NotebookNode) -> int:
    """Reading time in steps of five: English words, code, and the cells where the reader acts.

    The time is counted on the English text; the Chinese says the same.
    """
    words = sum(len(cell.source.split()) for cell in book.cells
                if cell.metadata.get("lang") == "en")
    lines = sum(len(cell.source.splitlines()) for cell in code_cells(book))
    acts = sum(spent for cell in code_cells(book) for kind, spent in HANDS_ON.items()
               if kind in cell.metadata)
    return 5 * max(1, math.ceil((words / WORDS + lines / LINES + acts) / 5))


def machine_map(found: dict[str, list[Section]], documents: list[str]) -> str:
    """One training step: the compiler before the loop, its frame around what it takes over."""
    boxes = {machine: _box(machine, found.get(machine.chapter, []), documents)
             for machine in MACHINES}
    inner = "".join(boxes[machine] for machine in (MODULES, AUTOGRAD, TENSORS))
    return (f'<div class="machine-map">{boxes[COMPILER]}{boxes[LOADER]}'
            f'<div class="machine-frame">{inner}</div></div>')


def _box(machine: Machine, ready: list[Section], documents: list[str]) -> str:
    """A machine: its name leads to the opening of its chapter, if there is one."""
    opening, sheet = (f"chapters/{machine.chapter}/{page}" for page in (OPENING, SHEET))
    items = [link(section.document, section.title) for section in ready]
    if sheet in documents:
        items.append(link(sheet, SHEET_TITLE))
    links = "".join(f"<li>{item}</li>" for item in items)
    state = f"<ul>{links}</ul>" if ready else f'<p class="planned">{spans(*PLANNED)}</p>'
    name = link(opening, machine.name) if opening in documents else spans(*machine.name)
    number = int(machine.chapter.split("-")[0])
    chapter = spans(f"第 {number} 章", f"Chapter {number}")
    return (f'<div class="machine{"" if ready else " is-planned"}">'
            f"<code>{html.escape(machine.code)}</code>"
            f"<div><b>{name}</b> <small>{chapter}</small>"
            f"<p>{spans(*machine.job)}</p>{state}</div></div>")


def link(document: str, title: tuple[str, str], up: str = "../") -> str:
    """A link from a page that is `up` below the root of the book."""
    return f'<a href="{up}{document}.html">{spans(*title)}</a>'


def section_table(found: dict[str, list[Section]]) -> str:
    """Per section: its chapter, about how long it takes, how many cards it has."""
    rows = []
    for machine in MACHINES:
        for section in found.get(machine.chapter, []):
            rows.append([machine.name, *facts(section)])
    return table([("机器", "Machine"), *HEAD], rows)


def facts(section: Section, up: str = "../") -> list[object]:
    """The cells of a section in a table with `HEAD`."""
    return [Markup(link(section.document, section.title, up)),
            (f"约 {section.minutes} 分钟", f"about {section.minutes} min"), section.cards]


class FillFront(SphinxTransform):
    """Put map and table below the text of their headings."""

    def apply(self, **kwargs) -> None:
        if self.env.docname != PAGE:
            return
        documents = list(self.env.external_site_map)
        found = sections(Path(self.env.srcdir), documents)
        parts = {"the-five-machines": machine_map(found, documents),
                 "sections": section_table(found)}
        headed = {part["ids"][0]: part for part in self.document.findall(nodes.section)}
        for name, part in parts.items():
            headed[name].append(raw(part))
