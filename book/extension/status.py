"""The status page: tables made by the build from committed files, one below each heading."""

from __future__ import annotations

from docutils import nodes
from markupsafe import Markup, escape
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import raw, spans
from book.extension.card_html import CLAIM_KINDS, KINDS, both
from book.extension.old_records import lines, why
from book.extension.tables import table
from book.pipeline.finish import sizes
from book.pipeline.notebooks.on_device import REASONS
from book.pipeline.state.status import status

PAGE = "book/status"
UNCHANGED = ("没有改动", "nothing has changed")
KINDS_OF_PAGES = {  # as benchmarks/pages.py calls them
    "front": ("首页", "Front page"), "opening": ("一章的开头", "Opening of a chapter"),
    "longest section": ("最长的一节", "Longest section"),
    "section with maths": ("公式多的一节", "Section with maths"),
    "section with a widget": ("有交互组件的一节", "Section with a widget"),
    "sheet": ("速查表", "Cheat sheet"), "drill": ("练习", "Drill"),
    "glossary": ("术语", "Glossary"), "status": ("状态", "Status"),
}
NOT_RECORDED = ("还没有记录", "Not recorded yet")
PASSED, FAILED = ("通过", "passed"), ("没有通过", "failed")
KEPT, OVER = ("守住了", "Kept"), ("超出了", "Over")
BUDGETS = (  # record, what, at most, in which unit, how it is read from the record
    ("suite", ("整套测试，从头跑", "The whole suite, from nothing"), 15, "min",
     lambda record: record["total"] / 60 if record["clean"] else None),
    ("site-build", ("从头构建网站", "Building the site from nothing"), 60, "s",
     lambda record: record["seconds"]),
    ("search", ("第一次搜索要载入的（gzip）", "First load of the search (gzip)"), 60, "KB",
     lambda record: max(record["bytes"][lang] for lang in ("zh", "en")) / 1000),
    ("pages", ("每页传输（gzip）", "A page over the wire (gzip)"), sizes.BUDGET / 1000, "KB",
     lambda record: max(page["bytes"] for page in record["pages"].values()) / 1000),
    ("pages", ("首次绘制，慢速手机", "First paint, slow phone"), 1800, "ms",
     lambda record: max(page["paint"] for page in record["pages"].values())),
    ("notebooks", ("一个 notebook", "A notebook"), 40, "s",
     lambda record: max(record["seconds"].values())),
)


def versions(data: dict) -> str:
    return table([("软件", "Software"), ("版本", "Version")],
                 [[name, number] for name, number in data["versions"].items()])


def chapters(data: dict) -> str:
    kinds = list(KINDS)
    head = [("章", "Chapter"), "notebook", ("代码单元格", "Code cells"), ("卡片", "Cards"),
            *(KINDS[kind] for kind in kinds)]
    rows = [[tuple(f"{row['number']} {name}" for name in row["name"]), row["notebooks"],
             row["cells"], row["cards"]["total"],
             *(row["cards"]["kind"].get(kind, 0) for kind in kinds)] for row in data["chapters"]]
    return table(head, rows)


def marked(data: dict) -> str:
    return table(["notebook", ("标签", "Tag"), ("第一行", "First line")],
                 [[row["file"], row["tag"], row["line"]] for row in data["marked"]])


def devices(data: dict) -> str:
    """How many cells of each notebook compute on the reader's device, and why the others do not."""
    rows = []
    for row in data["devices"]:
        why = [(f"{REASONS[tag][0]}（{count}）", f"{REASONS[tag][1]} ({count})")
               for tag, count in row["cpu"].items()]
        rows.append([row["file"].removeprefix("chapters/"), row["device"], sum(row["cpu"].values()),
                     ("；".join(zh for zh, _ in why), "; ".join(en for _, en in why))
                     if why else "–"])
    total = [sum(row[column] for row in rows) for column in (1, 2)]
    rows.append([("合计", "Total"), *total, "–"])
    head = ["notebook", ("用 GPU（如果有）", "Use a GPU if there is one"),
            ("留在 CPU", "Stay on the CPU"), ("为什么", "Why")]
    return table(head, rows)


def covered(count: int, total: int) -> tuple[str, str]:
    """How much a run covered, beside what the book has today."""
    return (f"{count:,}（今天有 {total:,}）", f"{count:,} (today {total:,})")


def today(data: dict) -> tuple[int, int]:
    """Code cells of all notebooks and cards, as they are now."""
    return data["totals"]["cells"], data["cards"]


def cuda(data: dict) -> str:
    record = data["cuda"]
    if not record:
        return f"<p>{spans(*NOT_RECORDED)}</p>"
    head = ["GPU", "torch", ("日期", "Date"), ("单元格", "Cells"), ("卡片", "Cards"),
            ("未运行", "Not run"), ("失败", "Failures")]
    cards, (all_cells, all_cards) = record["cards"], today(data)
    return table(head, [[record["gpu"], record["torch"], record["date"],
                         covered(record["cells"], all_cells), covered(cards["proved"], all_cards),
                         len(record["not_run"]),
                         len(record["failed"]) + len(cards["failed"])]]) + lines(["cuda"])


def other_versions(data: dict) -> str:
    if not data["torch-versions"]:
        return f"<p>{spans(*NOT_RECORDED)}</p>"
    head = ["torch", ("日期", "Date"), "Python", ("单元格", "Cells"), ("卡片", "Cards"),
            ("失败", "Failures")]
    all_cells, all_cards = today(data)
    return table(head, [
        [number, row["date"], row["python"], covered(row["notebooks"]["cells"], all_cells),
         covered(row["cards"]["proved"], all_cards),
         len(row["notebooks"]["failed"]) + len(row["cards"]["failed"])]
        for number, row in data["torch-versions"].items()
    ]) + lines(["torch-versions"])


def conditions(zh: str, en: str, *facts: str) -> str:
    """What a table holds and under which conditions it was measured."""
    zh_said, en_said = ("，".join(facts), ", ".join(facts)) if facts else NOT_RECORDED
    return f"<p>{spans(f'{zh}：{zh_said}', f'{en}: {en_said}')}</p>"


def page_costs(record: dict, total: int) -> str:
    if not record:
        return conditions("页面", "Pages")
    measured = len(record["pages"])
    marks = ("performance", "accessibility", "best-practices", "seo")
    head = [("页面", "Page"), ("哪一类", "Kind"), ("传输（gzip）", "Transfer (gzip)"),
            ("请求", "Requests"),
            ("首次绘制，慢速手机：中位数（最短–最长）",
             "First paint, slow phone: median (shortest–longest)"),
            ("axe：两种配色", "axe, both themes"),
            ("Lighthouse：性能 / 无障碍 / 最佳实践 / SEO",
             "Lighthouse: performance / accessibility / best practices / SEO")]
    rows = [[name, KINDS_OF_PAGES.get(row.get("template"), "–"),
             f"{row['bytes'] / 1000:.0f} KB", row["requests"],
             f"{row['paint']} ms ({row['paint_min']}–{row['paint_max']})", row.get("axe", "–"),
             " / ".join(str(row.get("lighthouse", {}).get(mark, "–")) for mark in marks)]
            for name, row in record["pages"].items()]
    lighthouse = [f"Lighthouse {record['lighthouse']}"] if record["lighthouse"] else []
    return conditions(f"页面（{total} 页测了 {measured} 页）",
                      f"Pages ({measured} of {total} measured)",
                      record["machine"], f"Chromium {record['chromium']}",
                      *lighthouse, record["date"]) + table(head, rows) + lines(["pages"])


def build_costs(record: dict) -> str:
    """How long the site takes to build, in a line."""
    if not record:
        return conditions("构建网站", "Building the site")
    pages, sections, seconds = record["pages"], record["sections"], record["seconds"]
    zh = f"从头构建网站（{pages} 页，其中 {sections} 节）要 {seconds} s"
    en = f"Building the site from nothing ({pages} pages, {sections} sections) takes {seconds} s"
    text = conditions(zh, en, record["machine"], f"Python {record['python']}", record["date"])
    rows = [[record["processes"], f"{record['cpu']} s", f"{record['expected']} s"]]
    return text + table([("进程", "Processes"), ("处理器时间", "Processor time"),
                         ("换算成 60 节", "For 60 sections")], rows) + lines(["site-build"])


def notebook_costs(record: dict, total: int) -> str:
    if not record:
        return conditions("notebook", "Notebooks")
    measured = len(record["seconds"])
    head = ["notebook", ("用时", "Time"), ("内存峰值", "Peak memory")]
    rows = [[name, f"{seconds} s", f"{record['peak_mb'][name]} MB"]
            for name, seconds in record["seconds"].items()]
    return conditions(f"notebook（{total} 个测了 {measured} 个）",
                      f"Notebooks ({measured} of {total} measured)",
                      record["machine"], f"Python {record['python']}",
                      f"torch {record['torch']}", record["date"]) + table(head, rows) \
        + lines(["notebooks"])


def suite_costs(record: dict) -> str:
    """How long the steps of a run of the whole suite took."""
    if not record:
        return conditions("整套测试", "The whole suite")
    rows = [[name, f"{step['seconds']:.0f} s", PASSED if step["passed"] else FAILED]
            for name, step in record["steps"].items()]
    how = ("从头", "from nothing") if record["clean"] else ("只跑改过的", "only what had changed")
    text = conditions(f"整套测试（{how[0]}）共 {record['total'] / 60:.1f} min",
                      f"The whole suite ({how[1]}) took {record['total'] / 60:.1f} min",
                      record["machine"], f"Python {record['python']}",
                      f"torch {record['torch']}", record["date"])
    return text + table([("步骤", "Step"), ("用时", "Time"), ("结果", "Result")], rows) \
        + lines(["suite"])


def budgets(data: dict) -> str:
    """Each limit that the book sets itself, with what was recorded last."""
    head = [("预算", "Budget"), ("上限", "Limit"), ("记下的", "Recorded"), ("日期", "Date"),
            ("守住了吗", "Kept?")]
    rows = []
    for record, name, limit, unit, value in BUDGETS:
        found = value(data[record]) if data[record] else None
        kept = NOT_RECORDED if found is None else KEPT if found <= limit else OVER
        rows.append([name, f"{limit:g} {unit}", "–" if found is None else f"{found:.1f} {unit}",
                     data[record].get("date", "–"), kept])
    return table(head, rows)


def since(row: dict) -> tuple[str, str]:
    """Whether what was measured is still as it was."""
    if not row["date"]:
        return NOT_RECORDED
    return UNCHANGED if row["changed"] == [] else why(row["changed"])


def records(data: dict) -> str:
    head = [("记录", "Record"), ("日期", "Date"), ("测过之后", "Since it was measured"),
            ("重新测量", "To measure anew")]
    return table(head, [[row["name"], row["date"] or "–", since(row),
                         Markup(f"<code>{escape(row['renew'])}</code>")]
                        for row in data["records"]])


def measured(data: dict) -> str:
    totals = data["totals"]
    return (page_costs(data["pages"], totals["pages"]) + build_costs(data["site-build"])
            + notebook_costs(data["notebooks"], totals["notebooks"])
            + suite_costs(data["suite"]))


def errata(data: dict) -> str:
    """How many false claims are refuted, which are left, and below what the refuted ones say."""
    done, left = data["errata"]["refuted"], data["errata"]["open"]
    counts = table([("状态", "State"), ("条数", "Count"), ("编号", "IDs")],
                   [[("已反驳", "Refuted"), len(done), ("见下表", "In the table below")],
                    [("待写", "Open"), len(left), ", ".join(left)]])
    rows = [[name, Markup(both(data["claims"][name])), CLAIM_KINDS[data["claims"][name]["kind"]]]
            for name in done]
    return counts + table([("编号", "ID"), ("反驳过的说法", "Refuted claim"),
                           ("问题", "What is wrong")], rows)


# heading id -> what stands below its text
TABLES = {"versions": versions, "chapters": chapters, "pinned-and-cuda-only-cells": marked,
          "cells-on-the-device": devices,
          "cuda-record": cuda, "other-versions-of-torch": other_versions,
          "records": records,
          "budgets": budgets, "measurements": measured, "errata": errata}


class FillStatus(SphinxTransform):
    """Append its table to each section of the status page."""

    def apply(self, **kwargs) -> None:
        if self.env.docname != PAGE:
            return
        data = status()
        sections = {section["ids"][0]: section for section in self.document.findall(nodes.section)}
        for name, make in TABLES.items():
            sections[name].append(raw(make(data)))
