"""The status page: tables made by the build from committed files, one below each heading."""

from __future__ import annotations

import html

from docutils import nodes
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import raw, spans
from book.extension.card_html import KINDS
from book.pipeline.status import status

PAGE = "book/status"
NOT_RECORDED = ("还没有记录", "Not recorded yet")
NONE = ("没有", "None")


def text(value: object) -> str:
    """A cell: a pair (zh, en) in both languages, anything else as it is."""
    return spans(*value) if isinstance(value, tuple) else html.escape(str(value))


def table(head: list[object], rows: list[list[object]]) -> str:
    if not rows:
        return f"<p>{spans(*NONE)}</p>"
    cells = "".join(f'<th scope="col">{text(cell)}</th>' for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{text(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return (f'<div class="status-table" tabindex="0"><table class="table"><thead><tr>{cells}'
            f"</tr></thead><tbody>{body}</tbody></table></div>")


def versions(data: dict) -> str:
    return table([("软件", "Software"), ("版本", "Version")],
                 [[name, number] for name, number in data["versions"].items()])


def chapters(data: dict) -> str:
    kinds = list(KINDS)
    head = [("章", "Chapter"), "notebook", ("代码单元格", "Code cells"), ("卡片", "Cards"),
            *(KINDS[kind] for kind in kinds)]
    rows = [[row["folder"], row["notebooks"], row["cells"], row["cards"]["total"],
             *(row["cards"]["kind"].get(kind, 0) for kind in kinds)] for row in data["chapters"]]
    return table(head, rows)


def marked(data: dict) -> str:
    return table(["notebook", ("标签", "Tag"), ("第一行", "First line")],
                 [[row["file"], row["tag"], row["line"]] for row in data["marked"]])


def cuda(data: dict) -> str:
    record = data["cuda"]
    if not record:
        return f"<p>{spans(*NOT_RECORDED)}</p>"
    head = ["GPU", "torch", ("日期", "Date"), ("单元格", "Cells"), ("卡片", "Cards"),
            ("未运行", "Not run"), ("失败", "Failures")]
    cards = record["cards"]
    return table(head, [[record["gpu"], record["torch"], record["date"], record["cells"],
                         cards["proved"], len(record["not_run"]),
                         len(record["failed"]) + len(cards["failed"])]])


def other_versions(data: dict) -> str:
    if not data["torch-versions"]:
        return f"<p>{spans(*NOT_RECORDED)}</p>"
    head = ["torch", ("日期", "Date"), "Python", ("单元格", "Cells"), ("卡片", "Cards"),
            ("失败", "Failures")]
    return table(head, [
        [number, row["date"], row["python"], row["notebooks"]["cells"], row["cards"]["proved"],
         len(row["notebooks"]["failed"]) + len(row["cards"]["failed"])]
        for number, row in data["torch-versions"].items()
    ])


def measured(data: dict) -> str:
    pages, books = data["pages"], data["notebooks"]
    if not pages:
        return f"<p>{spans(*NOT_RECORDED)}</p>"
    head = [("页面", "Page"), ("字节（gzip）", "Bytes (gzip)"), ("请求", "Requests"),
            ("首次绘制，慢速手机", "First paint, slow phone"), "Lighthouse"]
    rows = [[name, f"{row['bytes'] // 1000} KB", row["requests"], f"{row['paint']} ms",
             row["lighthouse"]] for name, row in pages["pages"].items()]
    times = table(["notebook", ("用时", "Time")],
                  [[name, f"{seconds} s"] for name, seconds in books.get("seconds", {}).items()])
    return f"<p>{html.escape(pages['machine'])}, {pages['date']}</p>{table(head, rows)}{times}"


def errata(data: dict) -> str:
    done, left = data["errata"]["refuted"], data["errata"]["open"]
    return table([("状态", "State"), ("条数", "Count"), ("编号", "Ids")],
                 [[("已反驳", "Refuted"), len(done), ", ".join(done)],
                  [("待写", "Open"), len(left), ", ".join(left)]])


# heading id -> what stands below its text
TABLES = {"versions": versions, "chapters": chapters, "pinned-and-cuda-only-cells": marked,
          "cuda-record": cuda, "other-versions-of-torch": other_versions,
          "measurements": measured, "errata": errata}


class FillStatus(SphinxTransform):
    """Append its table to each section of the status page."""

    default_priority = 450

    def apply(self, **kwargs) -> None:
        if self.env.docname != PAGE:
            return
        data = status()
        sections = {section["ids"][0]: section for section in self.document.findall(nodes.section)}
        for name, make in TABLES.items():
            sections[name].append(raw(make(data)))


def setup(app):
    app.add_transform(FillStatus)
