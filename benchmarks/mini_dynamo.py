"""mini_dynamo beside Python and beside torch.compile: more than 400 programs, counted by kind.

    python -m benchmarks.mini_dynamo             run and print, about a minute
    python -m benchmarks.mini_dynamo --record    also store the result that the section shows

Each program runs three times: as it is, under mini_dynamo and under torch.compile with a back end
that runs the graph as it is. All that a caller can see is compared with the plain run; then the
numbers of graphs and of breaks are compared with torch's. The programs are those of
tests/code/mini_dynamo/test_mini_dynamo_agrees.py.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import sys
import time
from importlib.metadata import version
from typing import Any

import torch

from benchmarks import report
from book.pipeline.ground.paths import CODE
from oracles import dynamo_differences

COLUMNS = [
    {"key": "cases", "zh": "程序", "en": "programs"},
    {"key": "like_python", "zh": "与 Python 结果相同", "en": "do what they do in Python"},
    {"key": "torch_like_python", "zh": "torch.compile 与 Python 相同",
     "en": "do so under torch.compile"},
    {"key": "counts_like_torch", "zh": "图数和中断数与 torch 相同",
     "en": "as many graphs and breaks as torch"},
    {"key": "graphs", "zh": "图", "en": "graphs"},
    {"key": "torch_graphs", "zh": "torch 的图", "en": "graphs of torch"},
    {"key": "breaks", "zh": "中断", "en": "breaks"},
    {"key": "torch_breaks", "zh": "torch 的中断", "en": "breaks of torch"},
]
KINDS = {
    "arguments": "参数", "builtin functions": "内置函数",
    "changes between calls": "两次调用之间的改动", "classes": "类和对象", "corners": "边角情形",
    "closures and globals": "闭包和全局变量", "comprehensions and generators": "推导式和生成器",
    "conditions on data": "看数据的分支", "conditions on python": "看 Python 值的分支",
    "containers": "容器", "exceptions": "异常", "far corners": "更偏的边角",
    "harder classes": "更难的类", "harder programs": "更难的程序",
    "flow": "跳转", "gradients": "梯度",
    "in place and views": "原地操作和视图", "loops": "循环", "many calls": "多次调用",
    "modules": "模块", "nested calls": "嵌套调用", "questions of a tensor": "查询张量",
    "random numbers": "随机数", "ready made classes": "标准库里的类", "straight lines": "直线代码",
    "texts and prints": "字符串和打印", "unpacking and slices": "解包和切片",
    "values that leave": "离开张量的值", "with blocks": "with 块",
}


def run_all() -> Any:
    """Each program under Python, mini_dynamo and torch.compile: a Survey."""
    if str(CODE) not in sys.path:
        sys.path.insert(0, str(CODE))
    import mini_dynamo  # noqa: F401  what is measured, for the digests of the record
    from oracles.dynamo_agree import Survey

    return Survey()


def rows(survey: Any) -> list[dict[str, Any]]:
    """A row for each kind, and one for all together."""
    found = [{"key": kind, "zh": KINDS[kind], "en": kind, **numbers}
             for kind, numbers in survey.by_kind().items()]
    total = {column["key"]: sum(row[column["key"]] for row in found) for column in COLUMNS}
    return [*found, {"key": "all", "zh": "合计", "en": "all together", **total}]


def result(survey: Any) -> dict[str, Any]:
    """What is stored: the table, what torch does otherwise than Python, the listed differences."""
    started = time.perf_counter()
    table = {"zh": "按类统计", "en": "By kind", "rows": rows(survey)}
    return {
        "machine": report.machine(), "python": platform.python_version(),
        "torch": version("torch"), "threads": torch.get_num_threads(),
        "date": datetime.date.today().isoformat(),
        "seconds": round(time.perf_counter() - started, 1),
        "columns": COLUMNS, "tables": {"kinds": table},
        "torch_unlike_python": sorted(f"{row.kind}: {row.name}" for row in survey.rows
                                      if row.torch_wrong),
        "differences": [one._asdict() for one in dynamo_differences.LISTED]}


def show(measured: dict[str, Any]) -> None:
    for row in measured["tables"]["kinds"]["rows"]:
        print(f"{row['en']:32}" + "".join(f"{row[column['key']]:7}" for column in COLUMNS))
    print("columns: " + "; ".join(column["en"] for column in COLUMNS))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="mini_dynamo beside Python and torch.compile")
    parser.add_argument("--record", action="store_true", help="store the result")
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)
    measured = result(run_all())
    show(measured)
    total = measured["tables"]["kinds"]["rows"][-1]
    budget = report.Budget("programs that come out otherwise than in Python", 0)
    lines = budget.lines({"all": total["cases"] - total["like_python"]})
    print(*lines, sep="\n")
    if chosen.record:
        report.write("mini-dynamo", measured)
    return 1 if any(line.startswith("OVER") for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
