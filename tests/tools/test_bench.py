"""`make bench` measures what it says, stores it on request only, and the status page shows it."""

import gzip
import json
import os
import platform
import re
import socket
import urllib.error
import urllib.request
from pathlib import Path

import jsonschema
import nbformat
import pytest

from benchmarks import lighthouse, notebooks, pages, report, site_build
from book.extension.status import KINDS_OF_PAGES, measured
from book.pipeline.ground.paths import ROOT
from book.pipeline.state import records
from oracles.web.serving import served, snapshot

NUMBER = {"type": "number", "exclusiveMinimum": 0}
DAY = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d$"}
WORDS = {"type": "string", "minLength": 1}


def exactly(**properties):
    """Schema of an object with these keys and no other."""
    return {"type": "object", "properties": properties, "required": list(properties),
            "additionalProperties": False}


def result_of(**properties):
    """Schema of a file of results; the first ones do not say what they measured."""
    schema = exactly(**properties)
    digests = {"type": "object", "minProperties": 1,
               "additionalProperties": {"type": "string", "pattern": "^[0-9a-f]{64}$"}}
    return schema | {"properties": properties | {"measured": digests}}


def by_name(schema):
    return {"type": "object", "minProperties": 1, "additionalProperties": schema,
            "propertyNames": {"pattern": r"^(book|chapters)/[a-z0-9/-]+$"}}


SCORE = {"type": "integer", "minimum": 0, "maximum": 100}
PAGE = exactly(bytes=NUMBER, requests=NUMBER, paint=NUMBER, paint_min=NUMBER, paint_max=NUMBER,
               lighthouse=exactly(**dict.fromkeys(lighthouse.CATEGORIES, SCORE)))
PAGE["properties"] |= {"template": {"enum": [*KINDS_OF_PAGES]},  # the first records have none
                       "axe": {"type": "integer", "minimum": 0}}
SCHEMAS = {
    "pages": result_of(machine=WORDS, chromium=WORDS, lighthouse=WORDS, date=DAY,
                       profile={"const": pages.PROFILE}, pages=by_name(PAGE)),
    "notebooks": result_of(machine=WORDS, torch=WORDS, python=WORDS, date=DAY,
                           seconds=by_name(NUMBER), peak_mb=by_name(NUMBER)),
    "site-build": result_of(machine=WORDS, python=WORDS, date=DAY, load={"type": "number"},
                            **dict.fromkeys(("processes", "pages", "sections", "seconds", "cpu",
                                             "expected"), NUMBER)),
    "suite": result_of(machine=WORDS, torch=WORDS, python=WORDS, date=DAY, total=NUMBER,
                       clean={"type": "boolean"}, steps={
                           "type": "object", "minProperties": 1, "additionalProperties": exactly(
                               seconds={"type": "number", "minimum": 0},
                               passed={"type": "boolean"})}),
}
ROW = {"bytes": 123_400, "requests": 21, "paint": 987, "paint_min": 901, "paint_max": 1234,
       "axe": 0, "template": "drill",
       "lighthouse": {"performance": 96, "accessibility": 100, "best-practices": 99, "seo": 98}}
EXAMPLES = {
    "pages": {"machine": "Abacus 9000, 2 cores, Debian", "chromium": "156.0",
              "lighthouse": "13.5.0", "date": "2026-01-02",
              "profile": pages.PROFILE, "pages": {"book/drill": ROW}},
    "notebooks": {"machine": "Abacus 9000, 2 cores, Debian", "torch": "2.13.0", "python": "3.11.7",
                  "date": "2026-01-02", "seconds": {"chapters/01-tensors/storage": 3.4},
                  "peak_mb": {"chapters/01-tensors/storage": 321}},
    "site-build": {"machine": "Abacus 9000, 2 cores, Debian", "python": "3.11.7",
                   "date": "2026-01-02", "load": 0.1, "processes": 2, "pages": 61, "sections": 45,
                   "seconds": 21.5, "cpu": 33.3, "expected": 28.7},
    "suite": {"machine": "Abacus 9000, 2 cores, Debian", "torch": "2.13.0", "python": "3.11.7",
              "date": "2026-01-02", "clean": True, "total": 903,
              "steps": {"desk": {"seconds": 41.6, "passed": True},
                        "site": {"seconds": 861.4, "passed": False}}},
}


@pytest.fixture
def results(tmp_path, monkeypatch):
    """An empty folder of results, for the scripts and for the status page."""
    monkeypatch.setattr(records, "RESULTS", tmp_path / "results")
    measured = {"a file": "0" * 64}
    monkeypatch.setattr(records, "RECORDS", {name: record._replace(subject=lambda: measured)
                                             for name, record in records.RECORDS.items()})
    return tmp_path / "results"


# ---- budgets and the machine -------------------------------------------------------------------

def test_within_a_budget_the_worst_is_named():
    budget = report.Budget("first paint", 1800, " ms")
    assert budget.lines({"a": 900, "b": 1800}) == [
        "within budget: first paint 1,800 ms (≤ 1,800 ms)  b"]


def test_each_page_over_a_budget_is_named():
    budget = report.Budget("first paint", 1800, " ms")
    assert budget.lines({"a": 1801, "b": 900, "c": 2000}) == [
        "OVER   budget: first paint 1,801 ms (≤ 1,800 ms)  a",
        "OVER   budget: first paint 2,000 ms (≤ 1,800 ms)  c"]


def test_of_a_score_the_least_is_the_worst():
    budget = report.Budget("seo", 95, floor=True)
    assert budget.lines({"a": 95, "b": 100}) == ["within budget: seo 95 (≥ 95)  a"]
    assert budget.lines({"a": 94, "b": 100}) == ["OVER   budget: seo 94 (≥ 95)  a"]
    assert budget.lines({}) == []


def test_every_quantity_of_a_page_has_its_verdict():
    heavy = ROW | {"bytes": 200_001}
    lines = pages.verdicts({"book/drill": ROW, "book/status": heavy})
    assert [line.split("  book")[0] for line in lines] == [
        "OVER   budget: bytes over the wire 200,001 (≤ 200,000)",
        "within budget: first paint 987 ms (≤ 1,800 ms)",
        "within budget: axe violations 0 (≤ 0)",
        "within budget: Lighthouse performance 96 (≥ 95)",
        "within budget: Lighthouse accessibility 100 (≥ 100)",
        *["OVER   budget: Lighthouse best-practices 99 (≥ 100)"] * 2,
        *["OVER   budget: Lighthouse seo 98 (≥ 100)"] * 2,
    ]


def test_a_machine_is_its_processor_and_system_without_the_name_of_the_host(tmp_path, monkeypatch):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: Abacus 9000 @ 1 Hz\n"
                       "processor\t: 1\nmodel name\t: Abacus 9000 @ 1 Hz\n")
    monkeypatch.setattr(report, "CPUINFO", cpuinfo)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"PRETTY_NAME": "Debian 12"})
    assert report.machine() == "Abacus 9000 @ 1 Hz, 2 cores, Debian 12"


def test_no_recorded_file_names_the_host():
    files = sorted((ROOT / "benchmarks" / "results").glob("*.json"))
    names = [name for name in (platform.node(), socket.getfqdn()) if len(name) > 3]
    words = [re.escape(name) for name in names]
    texts = {file.name: file.read_text("utf-8") for file in files} | {"now": report.machine()}
    assert [name for name, text in texts.items() for word in words
            if re.search(rf"(?<!\w){word}(?!\w)", text)] == []


def test_a_busy_machine_is_reported(monkeypatch, capsys):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(os, "getloadavg", lambda: (0.9, 9.0, 9.0))
    report.warn_if_busy()
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(os, "getloadavg", lambda: (1.1, 0.0, 0.0))
    report.warn_if_busy()
    assert "load of this machine is 1.1 on 2 cores" in capsys.readouterr().out


# ---- pages -------------------------------------------------------------------------------------

def test_the_pages_are_those_of_the_table_of_contents():
    listed = re.findall(r"^\s*(?:root:|- file:)\s*(\S+)", (ROOT / "_toc.yml").read_text(), re.M)
    assert "book/index" in listed
    assert sorted(pages.names()) == sorted(listed)


def test_of_each_kind_the_page_that_costs_most_is_measured(tmp_path, monkeypatch):
    sizes = {"book/index": (5, 1, 1), "book/drill": (5, 1, 1), "book/status": (5, 1, 1),
             "book/other": (99, 99, 99), "chapters/01-a/index": (5, 1, 1),
             "chapters/02-b/index": (6, 1, 1), "chapters/01-a/cheat-sheet": (5, 1, 1),
             "chapters/01-a/long": (50, 9, 9), "chapters/01-a/maths": (7, 1, 8),
             "chapters/01-a/widget": (7, 8, 1), "chapters/01-a/plain": (8, 1, 1)}
    monkeypatch.setattr(pages, "names", lambda: [*sizes])
    monkeypatch.setattr(pages.sizes, "measure", lambda _: [pages.sizes.Size(page, {
        Path(f"a{suffix}"): size for suffix, size in zip((".html", ".js", ".woff2"), row,
                                                         strict=True)})
        for page, row in sizes.items()])
    chapter = "chapters/01-a/"
    assert pages.templates(tmp_path) == {
        "front": "book/index", "opening": "chapters/02-b/index",
        "longest section": f"{chapter}long",
        "section with maths": f"{chapter}maths", "section with a widget": f"{chapter}widget",
        "sheet": f"{chapter}cheat-sheet", "drill": "book/drill", "status": "book/status"}


def test_each_kind_of_page_has_a_name_on_the_status_page():
    source = Path(pages.__file__).read_text("utf-8")
    assert [kind for kind in KINDS_OF_PAGES if f'"{kind}"' not in source] == []


def test_text_is_served_with_gzip_and_the_rest_as_it_is(tmp_path):
    files = {"index.html": b"<p>" * 500, "style.css": b"p{}" * 500, "a.png": b"\x89PNG" * 500}
    for name, body in files.items():
        (tmp_path / name).write_bytes(body)
    with served(tmp_path) as site:
        for name, body in files.items():
            answer = urllib.request.urlopen(f"{site}{name}")
            sent, packed = answer.read(), answer.headers["Content-Encoding"] == "gzip"
            assert (gzip.decompress(sent) if packed else sent) == body
            assert packed == (name != "a.png")
            assert (len(sent) < 100) == packed
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"{site}none.html")
        caught.value.close()
    assert caught.value.code == 404


def test_a_page_is_the_median_of_its_loads_and_the_bodies_of_its_own_host(tmp_path, monkeypatch):
    (tmp_path / "p.html").write_text("x" * 1000)
    (tmp_path / "a.png").write_bytes(bytes(700))
    site = "http://host/"
    urls = [f"{site}p.html", f"{site}a.png", "data:image/png;base64,AAAA", "http://other/a.png"]
    loads = iter([(900.4, urls), (1500, []), (700, []), (1000.6, []), (980, [])])
    monkeypatch.setattr(pages, "load", lambda browser, url: next(loads))
    monkeypatch.setattr(pages, "violations", lambda browser, url: 3)
    row = pages.measure(None, site, tmp_path, "p")
    html = len(gzip.compress(b"x" * 1000, 6))
    assert row == {"bytes": html + 700, "requests": 2, "paint": 980, "paint_min": 700,
                   "paint_max": 1500, "axe": 3}


def test_a_build_is_reckoned_for_the_sections_of_its_budget(monkeypatch, capsys):
    monkeypatch.setattr(site_build.site, "build", lambda root, out: None)
    monkeypatch.setattr(site_build, "parse_toc_yaml", lambda _: [
        "book/index", "chapters/01-a/index", "chapters/01-a/b", "chapters/01-a/c"])
    clock = iter([100.0, 104.0])
    monkeypatch.setattr(site_build.time, "perf_counter", lambda: next(clock))
    assert site_build.main([]) == 0
    said = capsys.readouterr().out
    assert "4.0 s on the clock" in said
    assert "4 pages, 2 of them sections" in said
    assert "OVER   budget: seconds of a build of 60 sections 120 s (≤ 60 s)" in said


def test_without_a_site_the_command_says_what_to_run(tmp_path, monkeypatch):
    monkeypatch.setattr("oracles.web.serving.SITE", tmp_path)
    with pytest.raises(SystemExit, match="run `make site`"), snapshot():
        pass


# ---- Lighthouse --------------------------------------------------------------------------------

def lighthouse_report(performance):
    """As much of a report as is read."""
    audits = {"paint": performance, "alt": 1, "icon": 0, "manual": None, "hint": 0}
    weights = {"performance": {"paint": 10, "hint": 0}, "accessibility": {"alt": 1},
               "best-practices": {"icon": 1}, "seo": {"manual": 1}}
    marks = {"performance": performance, "accessibility": 1, "best-practices": 0.96, "seo": 1}
    return {"audits": {name: {"score": score} for name, score in audits.items()},
            "categories": {name: {"score": marks[name], "auditRefs": [
                {"id": audit, "weight": weight} for audit, weight in weights[name].items()]}
                for name in lighthouse.CATEGORIES}}


def test_scores_are_points_and_an_audit_that_costs_points_is_named():
    found = lighthouse_report(0.945)
    assert lighthouse.scores(found) == {"performance": 94, "accessibility": 100,
                                        "best-practices": 96, "seo": 100}
    assert lighthouse.failed(found) == ["performance: paint (0.945)", "best-practices: icon (0)"]


def test_the_run_with_the_median_performance_counts(monkeypatch):
    runs = iter([lighthouse_report(score) for score in (0.8, 0.99, 0.9)])
    monkeypatch.setattr(lighthouse, "run", lambda url: next(runs))
    assert lighthouse.scores(lighthouse.median_run("http://host/"))["performance"] == 90


def test_lighthouse_is_locked_and_its_lock_file_names_no_place_to_load_from():
    folder = ROOT / "benchmarks"
    lock = json.loads((folder / "package-lock.json").read_text())["packages"]
    assert lock["node_modules/lighthouse"]["version"] == lighthouse.version()
    assert lock[""]["dependencies"] == {"lighthouse": lighthouse.version()}
    assert re.fullmatch(r"\d+\.\d+\.\d+", lighthouse.version())
    assert all("integrity" in entry and "resolved" not in entry
               for path, entry in lock.items() if path)
    assert (folder / ".npmrc").read_text() == (ROOT / ".npmrc").read_text()


def test_neither_the_site_nor_the_tests_install_lighthouse():
    lock = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    assert "node_modules/axe-core" in lock
    assert "node_modules/lighthouse" not in lock


# ---- notebooks ---------------------------------------------------------------------------------

@pytest.fixture
def notebook(tmp_path):
    """Write a notebook with one cell."""
    def write(code):
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
        nbformat.write(book, tmp_path / "one.ipynb")
        return tmp_path / "one.ipynb"
    return write


@pytest.mark.slow
def test_time_and_memory_are_those_of_the_kernel(notebook):
    row = notebooks.measure(notebook("import time; held = b'x' * 300_000_000; time.sleep(1)"))
    assert 1 < row["seconds"] < 100
    assert 300 < row["peak_mb"] < 600


@pytest.mark.slow
def test_a_notebook_that_fails_stops_the_measuring(notebook):
    with pytest.raises(SystemExit, match=r"(?s)ZeroDivisionError.*could not be executed"):
        notebooks.measure(notebook("1 / 0"))


# ---- what is stored and shown ------------------------------------------------------------------

def test_results_have_the_form_that_the_status_page_reads():
    files = {name: ROOT / "benchmarks" / "results" / f"{name}.json" for name in SCHEMAS}
    for name, schema in SCHEMAS.items():
        stored = [json.loads(files[name].read_text("utf-8"))] if files[name].exists() else []
        for result in [EXAMPLES[name], *stored]:
            jsonschema.validate(result, schema)


@pytest.mark.parametrize("script", [pages, notebooks], ids=["pages", "notebooks"])
def test_a_result_is_stored_only_when_that_is_asked_for(script, results, monkeypatch, capsys):
    name = script.__name__.split(".")[-1]
    monkeypatch.setattr(script, "measure_all", lambda *arguments: EXAMPLES[name])
    monkeypatch.setattr(lighthouse, "install", lambda: None)
    assert script.main([]) == 0
    assert "within budget" in capsys.readouterr().out
    assert not results.exists()
    assert script.main(["--record"]) == 0
    assert [file.name for file in results.iterdir()] == [f"{name}.json"]
    stored = json.loads((results / f"{name}.json").read_text("utf-8"))
    jsonschema.validate(stored, SCHEMAS[name])
    assert stored == EXAMPLES[name] | {"measured": records.RECORDS[name].subject()}


@pytest.mark.parametrize(("script", "arguments", "why"), [
    (pages, ["--record", "book/drill"], "only the result of a page of each kind or of all"),
    (notebooks, ["--record", "a.ipynb"], "only the result of all notebooks is recorded"),
    (pages, ["book/nowhere"], "no such page in _toc.yml: book/nowhere"),
])
def test_a_wrong_call_is_refused_in_a_line(script, arguments, why, capsys):
    with pytest.raises(SystemExit) as caught:
        script.main(arguments)
    assert caught.value.code == 2
    assert why in capsys.readouterr().err


def shown():
    """What the status page says below "Measurements"."""
    return measured({name: records.recorded(name) for name in EXAMPLES}
                    | {"totals": {"pages": 26, "notebooks": 23}})


def test_the_status_page_says_when_nothing_is_recorded(results):
    assert shown().count("Not recorded yet") == shown().count("还没有记录") == 4
    assert "<table" not in shown()


def test_the_status_page_shows_what_is_recorded_in_both_languages(results):
    for name, result in EXAMPLES.items():
        report.write(name, result)
    page = shown()
    assert "Not recorded" not in page
    for text in ("Abacus 9000", "Chromium 156.0", "Lighthouse 13.5.0", "torch 2.13.0",
                 "123 KB", "<td>21</td>", "987 ms (901–1234)", "axe, both themes", "练习",
                 "96 / 100 / 99 / 98",
                 "<td>3.4 s</td>", "takes 21.5 s", "<td>28.7 s</td>",
                 "Pages (1 of 26 measured)", "notebook（23 个测了 1 个）",
                 "<td>321 MB</td>", "The whole suite (from nothing) took 15.1 min", "<td>42 s</td>",
                 "failed", "没有通过", "First paint, slow phone",
                 "首次绘制，慢速手机"):
        assert text in page


def test_pages_measured_without_lighthouse_are_shown_without_scores(results):
    row = {key: value for key, value in ROW.items() if key != "lighthouse"}
    report.write("pages", EXAMPLES["pages"] | {"lighthouse": None, "pages": {"book/drill": row}})
    assert "<td>– / – / – / –</td>" in shown()
    assert "Lighthouse 13" not in shown()
