"""What a page costs a reader with a slow phone: bytes, requests, first paint, Lighthouse scores;
and how many elements break a rule of accessibility.

    python -m benchmarks.pages                    a page of each kind, the one that costs most
    python -m benchmarks.pages --all              every page of _toc.yml
    python -m benchmarks.pages book/drill         only the named pages
    python -m benchmarks.pages --record           also store the result for the status page
    python -m benchmarks.pages --no-lighthouse    without the scores: they take 45 s a page

First paint is the browser's first-contentful-paint, the median of five cold loads, each in a
context without cache. Chromium delays each answer by the round-trip time and slows down the page's
main thread. Two things differ from a real phone: opening a connection costs nothing here, and
HTTP/1.1 gives a page six connections where a host with HTTP/2 answers all requests at once.
Bytes are those of the answers' bodies until the network is idle, and of the icon. Lighthouse has
its own phone; of three runs the one with the median performance counts. axe judges the page as it
opens on that phone, in both languages side by side, once in each theme.
"""

from __future__ import annotations

import argparse
import datetime
import statistics
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, sync_playwright
from sphinx_external_toc.parsing import parse_toc_yaml

from benchmarks import lighthouse, report
from book.pipeline.finish import sizes
from book.pipeline.ground.paths import OPENING, ROOT, SHEET, is_section, place
from oracles.web import axe, chromium
from oracles.web.serving import served, snapshot, wire_body

PROFILE = {"mbit_per_s": 1.6, "rtt_ms": 150, "cpu_slowdown": 4, "viewport": [412, 823], "loads": 5}
PHONE = {"viewport": dict(zip(("width", "height"), PROFILE["viewport"], strict=True)),
         "device_scale_factor": 1.75, "is_mobile": True, "has_touch": True, "locale": "en-US"}
BUDGETS = {
    "bytes": report.Budget("bytes over the wire", sizes.BUDGET),
    "paint": report.Budget("first paint", 1800, " ms"),
    "axe": report.Budget("axe violations", 0),
}
THEMES = ("light", "dark")
SCORES = {name: report.Budget(f"Lighthouse {name}", 95 if name == "performance" else 100,
                              floor=True) for name in lighthouse.CATEGORIES}
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
# The marks of what is read load when the browser is idle, which may be after the network is.
IDLE = """() => !document.querySelector('#progress[data-marks]') || performance
  .getEntriesByType('resource').some(({ name }) => name.includes('/store.js'))"""
ICON = "document.querySelector('link[rel~=icon]')?.href"


def names() -> list[str]:
    """The pages of the book, in its order."""
    return list(parse_toc_yaml(ROOT / "_toc.yml"))


def templates(folder: Path) -> dict[str, str]:
    """Kind of page -> the page of that kind that has most of what makes such a page slow."""
    found = [size for size in sizes.measure(folder) if size.page in names()]
    kinds = {
        "front": ("HTML", lambda page: page == "book/index"),
        "opening": ("HTML", lambda page: (place(page) or ("", ""))[1] == OPENING),
        "longest section": ("HTML", is_section),
        "section with maths": ("fonts", is_section),
        "section with a widget": ("JS", is_section),
        "sheet": ("HTML", lambda page: (place(page) or ("", ""))[1] == SHEET),
        **{name: ("HTML", f"book/{name}".__eq__) for name in ("drill", "glossary", "status")},
    }
    chosen: dict[str, str] = {}
    for kind, (column, fits) in kinds.items():
        pages = [size for size in found if fits(size.page) and size.page not in chosen.values()]
        if pages:
            most = max(pages, key=lambda size: (size.by_kind()[column], size.total))
            chosen[kind] = most.page
    return chosen


def slow_down(page: Page) -> None:
    """Make network and processor those of the profile, for this page."""
    session = page.context.new_cdp_session(page)
    rate = PROFILE["mbit_per_s"] * 1e6 / 8
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", {
        "offline": False, "latency": PROFILE["rtt_ms"],
        "downloadThroughput": rate, "uploadThroughput": rate})
    session.send("Emulation.setCPUThrottlingRate", {"rate": PROFILE["cpu_slowdown"]})


def load(browser: Browser, url: str) -> tuple[float, list[str]]:
    """Milliseconds to the first paint of one cold load, and the addresses it asked for."""
    context = browser.new_context(**PHONE)
    try:
        page, asked = context.new_page(), []
        slow_down(page)
        page.on("request", lambda request: asked.append(request.url))
        page.goto(url, wait_until="networkidle", timeout=60_000)
        page.wait_for_function(IDLE, timeout=60_000)
        paint, icon = page.evaluate(f"[{PAINT}, {ICON}]")
        if paint is None:
            raise RuntimeError(f"{urlsplit(url).path}: the page paints nothing; is it empty?")
        return paint, [*asked, *([icon] if icon and icon not in asked else [])]
    finally:
        context.close()


def body_sizes(urls: Iterable[str], site: str, folder: Path) -> list[int]:
    """Bytes of the body of each answer that comes from the site; data: addresses cost nothing."""
    paths = [urlsplit(url).path.lstrip("/") for url in urls if url.startswith(site)]
    return [len(wire_body(folder / path)) for path in paths]


def measure(browser: Browser, site: str, folder: Path, name: str) -> dict[str, Any]:
    """Weight and first paint of one page."""
    loads = [load(browser, f"{site}{name}.html") for _ in range(PROFILE["loads"])]
    paints = [paint for paint, _ in loads]
    sizes = body_sizes(loads[0][1], site, folder)
    return {"bytes": sum(sizes), "requests": len(sizes),
            "paint": round(statistics.median(paints)),
            "paint_min": round(min(paints)), "paint_max": round(max(paints)),
            "axe": violations(browser, f"{site}{name}.html")}


def violations(browser: Browser, url: str) -> int:
    """Elements that break one of axe's rules, in both themes together."""
    found = 0
    for theme in THEMES:
        context = browser.new_context(**PHONE, color_scheme=theme, reduced_motion="reduce")
        page = context.new_page()
        page.goto(f"{url}?lang=both", wait_until="networkidle")
        found += len(axe.violations(page))
        context.close()
    return found


def line(name: str, row: dict[str, Any]) -> str:
    """A page's row of the printed table."""
    scores = row.get("lighthouse")
    marks = " / ".join(str(scores[key]) for key in lighthouse.CATEGORIES) if scores else "–"
    return (f"{name:45} {row['bytes'] / 1000:6.1f} KB {row['requests']:3} requests  "
            f"{row['paint']:5} ms ({row['paint_min']}–{row['paint_max']})  axe {row['axe']}  "
            f"Lighthouse {marks}")


def verdicts(pages: dict[str, dict[str, Any]]) -> list[str]:
    """Budget by budget: the worst page, or each page that is over."""
    found = []
    for key, budget in BUDGETS.items():
        found += budget.lines({name: row[key] for name, row in pages.items()})
    for key, budget in SCORES.items():
        found += budget.lines({name: row["lighthouse"][key]
                               for name, row in pages.items() if "lighthouse" in row})
    return found


def measure_all(wanted: list[str], scored: bool) -> dict[str, Any]:
    """The result of all wanted pages, as it is recorded; of none, that of a page of each kind."""
    pages = {}
    with snapshot() as folder, served(folder) as site, sync_playwright() as playwright:
        kinds = {page: kind for kind, page in templates(folder).items()}
        wanted = wanted or list(kinds)
        browser = playwright.chromium.launch(executable_path=chromium.path(), args=chromium.FLAGS)
        load(browser, f"{site}{wanted[0]}.html")  # the browser's own first page is slower
        for name in wanted:
            pages[name] = measure(browser, site, folder, name)
            if name in kinds:
                pages[name]["template"] = kinds[name]
            audits = []
            if scored:
                found = lighthouse.median_run(f"{site}{name}.html")
                pages[name]["lighthouse"] = lighthouse.scores(found)
                audits = lighthouse.failed(found)
            print(line(name, pages[name]), *audits, sep="\n    ", flush=True)
        version = browser.version
        browser.close()
    return {"machine": report.machine(), "chromium": version,
            "lighthouse": lighthouse.version() if scored else None,
            "date": datetime.date.today().isoformat(), "profile": PROFILE, "pages": pages}


def options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="measure the pages of the built site")
    parser.add_argument("pages", nargs="*", help="such as book/drill (default: one of each kind)")
    parser.add_argument("--all", action="store_true", help="every page of the book")
    parser.add_argument("--record", action="store_true", help="store the result")
    parser.add_argument("--no-lighthouse", action="store_true", help="leave the scores out")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.pages) - set(names()):
        parser.error(f"no such page in _toc.yml: {', '.join(sorted(unknown))}")
    if chosen.record and chosen.pages:
        parser.error("only the result of a page of each kind or of all is recorded; "
                     "leave the names out")
    return chosen


def main(arguments: list[str] | None = None) -> int:
    chosen = options(arguments)
    report.warn_if_busy()
    if not chosen.no_lighthouse:
        lighthouse.install()
    result = measure_all(names() if chosen.all else chosen.pages, not chosen.no_lighthouse)
    print(*verdicts(result["pages"]), sep="\n")
    if chosen.record:
        report.write("pages", result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
