"""`make page` shows one page as it is saved, and says in one line what is wrong with it."""

import re
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from book.pipeline import page
from book.pipeline.ground import digests
from book.pipeline.ground.paths import ROOT

SPECIMEN = ROOT / "tests" / "specimen" / "source"
SECTION = "chapters/01-tensors/section"
SECONDS = 180  # a hang; a page takes one
FAULT = re.compile(r'<p class="page-fault" role="alert">(.*?)</p>')


class Served:
    """The command at work on a copy of the specimen."""

    def __init__(self, root, address, said):
        self.root, self.address, self.said = root, address, said
        self.source = root / f"{SECTION}.md"
        self.written = self.source.read_text(encoding="utf-8")

    def get(self, path=f"{SECTION}.html"):
        with urllib.request.urlopen(self.address + path, timeout=SECONDS) as answer:
            return answer.read().decode()

    def save(self, old="", new=""):
        """Save the source with one text in the place of another; returns the page made of it."""
        assert old in self.written
        known = re.search(rf"{page.CHANGES}\?(\d+)", self.get())[1]
        self.source.write_text(self.written.replace(old, new, 1), encoding="utf-8")
        assert self.get(f"{page.CHANGES[1:]}?{known}").startswith("data: ")
        return self.get()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    root = tmp_path_factory.mktemp("book") / "source"
    shutil.copytree(SPECIMEN, root)
    said = root.parent / "said"
    command = [sys.executable, "-m", "book.pipeline.page", "01-tensors/section", "--port", "0",
               "--root", str(root)]
    with said.open("w") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output)
    try:
        end = time.monotonic() + SECONDS
        while "made in" not in said.read_text():
            assert process.poll() is None, said.read_text()
            assert time.monotonic() < end, said.read_text()
            time.sleep(0.1)
        yield Served(root, re.search(r"http://\S+:\d+/", said.read_text())[0], said)
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def section(served):
    """The page as it is written; what a test has saved is taken back."""
    yield served
    if served.source.read_text(encoding="utf-8") != served.written:
        served.save()


def test_the_page_is_that_of_the_book(section):
    shown = section.get()
    assert not FAULT.search(shown)
    assert 'class="not-run"' not in shown
    assert 'data-set-lang="zh"' in shown
    assert "<predict-cell" in shown
    assert 'class="card' in shown
    assert "cheat-sheet.html" in shown
    style = re.search(r'href="((?:\.\./)*_static/book\.css[^"]*)"', shown)[1]
    assert "--pst-color-background" in section.get(style.replace("../", ""))


def test_what_is_saved_is_seen_and_an_open_page_hears_of_it(section):
    shown = section.save("There is the [drill]", "Somewhere there is the [drill]")
    assert "Somewhere there is the" in shown
    assert not FAULT.search(shown)


def test_a_broken_edit_is_one_line_and_the_page_goes_on(section):
    shown = section.save('+++ {"lang": "en"}', '+++ {"lang": en}')
    [said] = FAULT.findall(shown)
    assert f"{SECTION}.md:" in said
    assert "cell metadata is not JSON" in said
    assert "There is the" in shown  # the page before
    mended = section.save("There is the [drill]", "Again there is the [drill]")
    assert "Again there is the" in mended
    assert not FAULT.search(mended)
    printed = section.said.read_text()  # a page is shown before its line is printed
    assert printed.count("not JSON") == 1
    assert "Traceback" not in printed


def test_an_unknown_key_of_a_cell_is_named(section):
    fence = "```{code-cell} python\n"
    [said] = FAULT.findall(section.save(fence, f"{fence}:tgas: [x]\n"))
    assert "tgas" in said


def test_a_cell_that_changed_is_marked_and_shows_no_old_output(section):
    before, code = section.get(), "print(t[:2].untyped_storage()"
    shown = section.save(code, f"t = t + 1\n{code}")
    assert shown.count('class="not-run"') == 1
    outputs = 'class="cell_output'
    assert shown.count(outputs) == before.count(outputs) - 1 > 0


def test_the_sources_are_only_read(section):
    section.save("There is the [drill]", "Elsewhere there is the [drill]")
    ours = {file.relative_to(section.root) for file in section.root.rglob("*")
            if file.is_file() and "_build" not in file.parts} - {Path(f"{SECTION}.md")}
    assert ours
    assert {str(file) for file in ours
            if digests.of_file(section.root / file) != digests.of_file(SPECIMEN / file)} == set()


def test_a_page_that_is_none_is_one_line_with_near_ones():
    with pytest.raises(SystemExit) as end:
        page.page_of("01-tensors/secton", SPECIMEN)
    assert end.value.code.startswith("page: 01-tensors/secton is no page of _toc.yml; did you mean")
    assert "01-tensors/section" in end.value.code
    assert "\n" not in end.value.code


def test_a_page_is_known_by_any_of_its_names():
    for name in ("01-tensors/section", SECTION, f"{SECTION}.md", f"{SECTION}.ipynb"):
        assert page.page_of(name, SPECIMEN) == SECTION
    assert page.page_of("book/glossary", SPECIMEN) == "book/glossary"
