"""What a page costs a reader with a slow phone: bytes, requests, first paint, Lighthouse scores.

    python -m benchmarks.pages                    every page of _toc.yml
    python -m benchmarks.pages book/drill         only the named pages
    python -m benchmarks.pages --record           also store the result for the status page
    python -m benchmarks.pages --no-lighthouse    without the scores: they take 45 s a page

First paint is the browser's first-contentful-paint, the median of five cold loads, each in a
context without cache. Chromium delays each answer by the round-trip time and slows down the page's
main thread. Two things differ from a real phone: opening a connection costs nothing here, and
HTTP/1.1 gives a page six connections where a host with HTTP/2 answers all requests at once.
Bytes are those of the answers' bodies until the network is idle, and of the icon. Lighthouse has
its own phone; of three runs the one with the median performance counts.
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

from benchmarks import chromium, lighthouse, report
from benchmarks.serving import served, snapshot, wire_body
from book.pipeline.paths import ROOT

PROFILE = {"mbit_per_s": 1.6, "rtt_ms": 150, "cpu_slowdown": 4, "viewport": [412, 823], "loads": 5}
PHONE = {"viewport": dict(zip(("width", "height"), PROFILE["viewport"], strict=True)),
         "device_scale_factor": 1.75, "is_mobile": True, "has_touch": True, "locale": "en-US"}
BUDGETS = {
    "bytes": report.Budget("bytes over the wire", 200_000),
    "paint": report.Budget("first paint", 1800, " ms"),
}
SCORES = {name: report.Budget(f"Lighthouse {name}", 95 if name == "performance" else 100,
                              floor=True) for name in lighthouse.CATEGORIES}
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
ICON = "document.querySelector('link[rel~=icon]')?.href"


def names() -> list[str]:
    """The pages of the book, in its order."""
    return list(parse_toc_yaml(ROOT / "_toc.yml"))


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
            "paint_min": round(min(paints)), "paint_max": round(max(paints))}


def line(name: str, row: dict[str, Any]) -> str:
    """A page's row of the printed table."""
    scores = row.get("lighthouse")
    marks = " / ".join(str(scores[key]) for key in lighthouse.CATEGORIES) if scores else "–"
    return (f"{name:45} {row['bytes'] / 1000:6.1f} KB {row['requests']:3} requests  "
            f"{row['paint']:5} ms ({row['paint_min']}–{row['paint_max']})  Lighthouse {marks}")


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
    """The result of all wanted pages, as it is recorded."""
    pages = {}
    with snapshot() as folder, served(folder) as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.path(), args=chromium.FLAGS)
        load(browser, f"{site}{wanted[0]}.html")  # the browser's own first page is slower
        for name in wanted:
            pages[name] = measure(browser, site, folder, name)
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
    parser.add_argument("pages", nargs="*", help="such as book/drill (default: all)")
    parser.add_argument("--record", action="store_true", help="store the result")
    parser.add_argument("--no-lighthouse", action="store_true", help="leave the scores out")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.pages) - set(names()):
        parser.error(f"no such page in _toc.yml: {', '.join(sorted(unknown))}")
    if chosen.record and chosen.pages:
        parser.error("only the result of all pages is recorded; leave the names out")
    return chosen


def main(arguments: list[str] | None = None) -> int:
    chosen = options(arguments)
    report.warn_if_busy()
    if not chosen.no_lighthouse:
        lighthouse.install()
    result = measure_all(chosen.pages or names(), not chosen.no_lighthouse)
    print(*verdicts(result["pages"]), sep="\n")
    if chosen.record:
        report.write("pages", result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
