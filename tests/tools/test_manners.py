"""What stands at the root of a site for hosts and search engines, with and without its address."""

import re
import subprocess
import urllib.error
import urllib.request
from xml.etree import ElementTree

import pytest

from book.pipeline import share_pictures
from book.pipeline.content import publication
from book.pipeline.finish import manners, versions
from book.pipeline.serve import served

PAGE = ('<html data-content_root="./"><link href="_static/a.css?v=1"><a href="#main">m</a>'
        '<a href="book/index.html">b</a><a href="https://example.org/book/x">x</a>'
        '<b data-index="./_static/i.json"></b>')
PAGES = ["book/index", "chapters/01-tensors/views"]
SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


@pytest.fixture
def address(monkeypatch):
    monkeypatch.setattr(publication, "ADDRESS", "https://example.org/book/")


@pytest.fixture
def site(tmp_path):
    (tmp_path / "404.html").write_text(PAGE)
    return tmp_path


def test_the_page_for_wrong_addresses_works_at_any_of_them(site):
    manners.write(site, site, PAGES)
    assert (site / "404.html").read_text() == (
        '<html data-content_root="/"><link href="/_static/a.css?v=1"><a href="#main">m</a>'
        '<a href="/book/index.html">b</a><a href="https://example.org/book/x">x</a>'
        '<b data-index="/_static/i.json"></b>')


def test_a_site_below_the_root_of_its_host_is_found_there(site, address):
    manners.write(site, site, PAGES)
    assert 'href="/book/_static/a.css?v=1"' in (site / "404.html").read_text()
    assert 'href="/book/book/index.html"' in (site / "404.html").read_text()


def test_without_an_address_there_is_no_map(site):
    manners.write(site, site, PAGES)
    assert not (site / "sitemap.xml").exists()
    assert (site / "robots.txt").read_text() == "User-agent: *\nAllow: /\n"


def test_the_map_has_each_page_in_each_language(site, address):
    manners.write(site, site, PAGES)
    assert "Sitemap: https://example.org/book/sitemap.xml\n" in (site / "robots.txt").read_text()
    rows = ElementTree.parse(site / "sitemap.xml").getroot()
    assert [row.find(f"{SITEMAP}loc").text for row in rows] == [
        f"https://example.org/book/{page}.html" for page in PAGES]
    links = [link.attrib["href"] for link in rows[1] if "href" in link.attrib]
    assert links == [f"https://example.org/book/{PAGES[1]}.html{query}"
                     for query in ("?lang=zh", "?lang=en", "")]


def test_the_pictures_for_links_go_along_with_the_address(site, address):
    manners.write(site, site, PAGES)
    stored = {file.name for file in share_pictures.FOLDER.glob("*.png")}
    assert "book.png" in stored
    assert {file.name for file in (site / "_static" / "share").iterdir()} == stored


def test_without_an_address_no_picture_takes_room(site):
    manners.write(site, site, PAGES)
    assert not (site / "_static").exists()


def test_a_page_was_changed_on_the_day_of_its_last_commit():
    log = ["@2026-03-02", "", "book/a.md", "@2026-03-01", "", "book/a.md", "chapters/b.md"]
    assert manners.last_days(log) == {"book/a": "2026-03-02", "chapters/b": "2026-03-01"}
    assert "<lastmod>2026-03-02</lastmod>" in manners.sitemap(["book/a"], {"book/a": "2026-03-02"})
    assert "lastmod" not in manners.sitemap(["book/a"], {})


def test_a_folder_without_its_whole_history_gives_no_day(tmp_path):
    assert manners.days(tmp_path) == {}
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C"]
    (tmp_path / "whole").mkdir()
    subprocess.run([*git, tmp_path / "whole", "init", "-q"], check=True)
    for text in ("one", "two"):
        (tmp_path / "whole" / "a.md").write_text(text)
        subprocess.run([*git, tmp_path / "whole", "add", "-A"], check=True)
        subprocess.run([*git, tmp_path / "whole", "commit", "-qm", text], check=True)
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{tmp_path}/whole",
                    tmp_path / "cut"], check=True)
    assert list(manners.days(tmp_path / "whole")) == ["a"]
    assert manners.days(tmp_path / "cut") == {}


def test_what_is_not_there_is_answered_with_that_page(site):
    with served(site) as address, pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(f"{address}chapters/none.html")
    with caught.value as answer:
        assert (answer.code, answer.read().decode()) == (404, PAGE)


# ---- publication -------------------------------------------------------------------------------

def test_a_repository_is_led_to_only_where_a_browser_can_go(monkeypatch):
    for repository, source in {
            "https://example.org/a/book.git": "https://example.org/a/book/blob/HEAD/book/a.md",
            "https://example.org/a/book/": "https://example.org/a/book/blob/HEAD/book/a.md",
            "git@example.org:a/book.git": "", "": ""}.items():
        monkeypatch.setattr(publication, "REPOSITORY", repository)
        assert publication.source_address("book/a.md") == source
        assert bool(publication.issue_address("t", "b")) == bool(source)


@pytest.mark.parametrize("base", ["", "https://example.org/", "https://example.org/a/book/"])
def test_that_page_asks_for_the_files_of_this_edition(tmp_path, monkeypatch, base):
    """The digests of its files are those on all pages, wherever the site lies on its host."""
    monkeypatch.setattr(publication, "ADDRESS", base)
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "a.css").write_text("a { color: red }")
    page = '<head></head><link href="_static/a.css?v=old"><p data-root="./"></p>'
    for name in ("404.html", "index.html"):
        (tmp_path / name).write_text(page)
    manners.write(tmp_path, tmp_path, PAGES)
    versions.write(tmp_path)
    here, there = ((tmp_path / name).read_text() for name in ("index.html", "404.html"))
    path = "/a/book/" if base.endswith("book/") else "/"
    [link] = re.findall(r'href="(.*?)"', here)
    assert link != "_static/a.css?v=old"
    assert f'href="{path}{link}"' in there
    assert f'data-root="{path}"' in there
