"""Results of the worker, counted: what is printed, what is recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.upstream import cases, differences, dynamo
from benchmarks.upstream.differences import COMPILE, Listed

Row = dict[str, Any]
NOT_MET, MISSING = "not met", "left out"  # as `replaced` says it, which needs expecttest
APART = {  # of the tests, beside those that tell something
    dynamo.NO_CALL: ("不经 torch.compile 调用函数", "call no compiled function"),
    NOT_MET: ("用不到随书代码", "never come to the companion"),
    dynamo.SKIPPED: ("测试自己跳过（没有 GPU、缺某个包）", "skip themselves (no GPU, no package)"),
    dynamo.TORCH_TOO: ("在 torch 里同样不同", "differ in the same way under torch"),
    dynamo.TORCH_FAILS: ("torch 自己也不通过", "fail under torch itself"),
    dynamo.UNSTEADY: ("不用编译就不稳定", "aren't steady in plain Python"),
}
OF_CASES = {
    cases.TORCH_TOO: ("换成 aot_eager 也不同", "differ with aot_eager, too"),
    cases.REFUSED: ("eager 报错，或没有梯度可求", "eager raises, or there is no gradient"),
    cases.UNSTEADY: ("eager 两次结果不同", "two runs in eager mode differ"),
}
UNLISTED = "结果不同，原因没有列出", "differ, for no listed reason"
LEFT_OUT = "用到随书代码没有的功能", "need what the companion leaves out"
TESTS = [{"key": "tests", "zh": "测试", "en": "tests"},
         {"key": "captured", "zh": "其中捕获了图的", "en": "with a graph"},
         {"key": "graphs", "zh": "图", "en": "graphs"}]
WORDS = {  # of the parts whose tests run as they are: a title, what is counted beside the tests
    "module": ("用 mini_module 跑", "on mini_module", "建出的模块", "modules made"),
    "layers": ("用 mini_layers 跑", "on mini_layers", "调用", "calls"),
    "index": ("用 mini_index 跑", "on mini_index", "读写", "reads and writes")}
PASSES = [{"key": "forward", "zh": "前向", "en": "forward"},
          {"key": "gradient", "zh": "前向和梯度", "en": "forward and gradients"}]


def reason_of(test: str, listed: Iterable[Listed]) -> Listed | None:
    return next((one for one in listed if test in one.tests), None)


def of_part(part: str, rows: Sequence[Row], of: str) -> Row:
    """Columns and tables of a record; `of`: the version of the tests."""
    if part == "compile":
        return of_compile(rows, of)
    if part == "dynamo":
        return of_tests(part, rows, TESTS, (
            f"PyTorch {of} 的 Dynamo 测试", f"Dynamo's tests of PyTorch {of}"),
            ("结果和普通 Python 相同", "do what they do in plain Python"))
    zh, en, calls, calls_en = WORDS[part]
    columns = [TESTS[0], {"key": "calls", "zh": calls, "en": calls_en}]
    return of_tests(part, rows, columns, (
        f"PyTorch {of} 的测试，{zh}", f"Tests of PyTorch {of} {en}"), ("通过", "pass"))


def of_tests(part: str, rows: Sequence[Row], columns: list[Row], title: tuple[str, str],
             good: tuple[str, str]) -> Row:
    def counted(zh: str, en: str, some: Sequence[Row]) -> Row:
        numbers = {"tests": len(some), "captured": sum(row["graphs"] > 0 for row in some),
                   "graphs": sum(row["graphs"] for row in some),
                   "calls": sum(row["calls"] for row in some)}
        return {"zh": zh, "en": en, **{one["key"]: numbers[one["key"]] for one in columns}}

    def ended(outcome: str) -> list[Row]:
        return [row for row in rows if row["outcome"] == outcome]

    rest = ended(dynamo.DIFFERENT)
    told = [counted(*good, ended(dynamo.SAME)),
            counted(*LEFT_OUT, ended(MISSING))]
    for one in differences.LISTED[part]:
        told.append(counted(one.zh, one.en, [row for row in rest if row["test"] in one.tests]))
        rest = [row for row in rest if row["test"] not in one.tests]
    told.append(counted(*UNLISTED, rest))
    apart = [counted(*words, ended(key)) for key, words in APART.items()]
    told, apart = ([row for row in some if row["tests"]] for some in (told, apart))
    return {"columns": columns, "tables": {
        "tests": {"zh": title[0], "en": title[1], "rows": told},
        "apart": {"zh": "不算在内的测试", "en": "Tests that don't count", "rows": apart}}}


def of_compile(rows: Sequence[Row], of: str) -> Row:
    """The same for mini_compile: forward and backward are counted each."""
    count = Counter((kind, outcome) for row in rows for kind, outcome, *_ in row["cases"])
    told = [both("结果和 eager 相同", "give what eager mode gives", count, cases.SAME)]
    for words, hit in [((one.zh, one.en), [row for row in rows if row["test"] in one.tests])
                       for one in COMPILE] + [(UNLISTED, [row for row in rows if not reason_of(
                           row["test"], COMPILE)])]:
        some = Counter((kind, outcome) for row in hit for kind, outcome, *_ in row["cases"])
        if any(outcome == cases.DIFFERENT for _, outcome in some):
            told.append(both(*words, some, cases.DIFFERENT))
    apart = [both(zh, en, count, key) for key, (zh, en) in OF_CASES.items()
             if any(outcome == key for _, outcome in count)]
    return {"columns": PASSES, "tables": {
        "cases": {"zh": f"调用：PyTorch {of} 的 Inductor 测试、OpInfo",
                  "en": f"Calls of PyTorch {of}'s Inductor tests and of OpInfo", "rows": told},
        "apart": {"zh": "不算在内的调用", "en": "Calls that don't count", "rows": apart}}}


def both(zh: str, en: str, count: Counter, outcome: str) -> Row:
    return {"zh": zh, "en": en, **{kind["key"]: count[kind["key"], outcome] for kind in PASSES}}


def failures(rows: Sequence[Row]) -> list[dict[str, str]]:
    """The tests that come out otherwise, and how."""
    found = []
    for row in rows:
        if row.get("outcome") == dynamo.DIFFERENT:
            found.append({"test": row["test"], "how": row["why"]})
        found += [{"test": row["test"], "how": f"{kind}: {why}"}
                  for kind, outcome, why, _ in row.get("cases", ()) if outcome == cases.DIFFERENT]
    return found


def unlisted(rows: Sequence[Row], listed: Sequence[Listed]) -> list[str]:
    """A line for each test that differs and is not listed, or is listed and agrees."""
    differ = {one["test"]: one["how"] for one in reversed(failures(rows))}
    named = [test for one in listed for test in one.tests]
    agree = {row["test"] for row in rows} - differ.keys()
    return [f"DIFFERENT {test}: {how}" for test, how in sorted(differ.items())
            if test not in named] + [f"listed, and agrees: {test}" for test in named
                                     if test in agree]
