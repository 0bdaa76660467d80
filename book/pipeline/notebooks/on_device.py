"""Which cells of a notebook compute on the reader's device, and why the others stay on the CPU.

A notebook that calls `use_device()` in its first cell makes its tensors on the device; a cell that
is about the CPU says `device="cpu"` in its code and has a tag that gives the reason. In a notebook
without the call, the first cell has the tag, and all cells stay on the CPU for that reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

USE = "use_device()"
# Tag -> why such a cell is about the CPU, in both languages.
REASONS = {
    "cpu-kernels": ("讲的是 CPU 的 kernel、分发键和它们选的步长",
                    "is about kernels and dispatch keys of the CPU, and strides that they choose"),
    "cpu-memory": ("与 NumPy 等共用主机内存，或读主机内存的地址",
                   "shares host memory, with NumPy for example, or reads its addresses"),
    "cpu-threads": ("反向由哪个线程跑，设备不同就不同",
                    "is about the thread that runs backward, which depends on the device"),
    "cpu-devices": ("比较 CPU 和别的设备", "compares the CPU with other devices"),
    "cpu-formats": ("用到稀疏、量化等格式，各设备支持不一",
                    "uses formats, sparse or quantized, whose support differs by device"),
    "cpu-workers": ("batch 由工作进程在 CPU 上造",
                    "has batches made on the CPU, by worker processes"),
    "cpu-sheet": ("核对速查表的各行，表里写的是 CPU 上的结果",
                  "checks the lines of a cheat sheet, which are written for the CPU"),
    "cpu-python": ("比较用纯 Python 或 C 写的程序，或只画图",
                   "runs programs in plain Python or C, or only draws"),
}
SANITIZE = Path(__file__).with_name("sanitize.cfg")


def reasons(sources: Sequence[str], tags: Sequence[Sequence[str]]) -> list[str | None]:
    """For each code cell, the tag that keeps it on the CPU, or None where it uses the device."""
    named = [next((tag for tag in each if tag in REASONS), None) for each in tags]
    if sources and USE not in sources[0]:
        return [tag or named[0] for tag in named]
    return named


def problem(source: str, tags: Sequence[str]) -> str:
    """What is wrong with a first code cell, whose call or tag decides for the whole notebook."""
    uses, tagged = USE in source, bool(REASONS.keys() & set(tags))
    if uses != tagged:
        return ""
    found = f"both `{USE}` and a tag cpu-…" if uses else f"neither `{USE}` nor a tag cpu-…"
    return (f"{found} in the first code cell; call it if tensors may live on a GPU, else tag the "
            f"cell with the reason: {', '.join(REASONS)}")


def not_compared(device: str, pinned_here: bool) -> set[str]:
    """Tags of cells that are run and not compared on `device`, a device type."""
    tags = set() if pinned_here else {"pinned-torch"}
    tags |= {"cuda"} if device != "cpu" else set()
    return tags | ({"rehearsal"} if device == "rehearsal" else set())


@cache
def patterns() -> list[tuple[re.Pattern[str], str]]:
    """(what, instead) for outputs before they are compared, read from the file as nbval does."""
    text = SANITIZE.read_text(encoding="utf-8")
    return [(re.compile(what), instead)
            for what, instead in re.findall(r"^regex: (.*)$\n^replace: (.*)$", text, re.M)]


def sanitized(text: str) -> str:
    """A text of an output without the device of its tensors."""
    for what, instead in patterns():
        text = what.sub(instead, text)
    return text


def summary(sources: Sequence[str], tags: Sequence[Sequence[str]]) -> dict[str, int]:
    """{"device": cells that use it, tag: cells that stay on the CPU for its reason}."""
    return dict(Counter(tag or "device" for tag in reasons(sources, tags)))
