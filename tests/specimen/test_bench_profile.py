"""The slow profile of `make bench` really is slow."""

import os

import pytest

from benchmarks import pages
from oracles.web.serving import served

pytestmark = pytest.mark.browser


def test_the_network_is_as_slow_as_the_profile_says(browser, tmp_path):
    """Page, then a style sheet of 100 KB before it may be painted: 2 round trips and 0.5 s."""
    (tmp_path / "p.html").write_text("<link rel=stylesheet href=s.css><link rel=icon href=i.png>hi")
    (tmp_path / "s.css").write_text(f"/*{os.urandom(100_000).hex()}*/")
    (tmp_path / "i.png").write_bytes(b"icon")
    with served(tmp_path) as site:
        paint, asked = pages.load(browser, f"{site}p.html")
    assert asked == [f"{site}{name}" for name in ("p.html", "s.css", "i.png")]
    assert paint > 2 * 150 + 500


def test_what_breaks_a_rule_is_counted_in_both_themes(browser, tmp_path):
    page = ("<!DOCTYPE html><html lang=en><title>t</title><meta name=viewport "
            "content='width=device-width'><main><h1>h</h1><p>text</p><ul><li>one</li></ul>"
            "<button>press</button><a href='#a'>a link</a><label>say <input></label>{}</main>")
    (tmp_path / "good.html").write_text(page.format(""))
    (tmp_path / "bad.html").write_text(page.format("<a href='#'></a><button></button>"))
    with served(tmp_path) as site:
        assert pages.violations(browser, f"{site}good.html") == 0
        assert pages.violations(browser, f"{site}bad.html") == 2 * 2
