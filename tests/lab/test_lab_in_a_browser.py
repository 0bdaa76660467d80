"""JupyterLab over the reader's notebooks: cells run, widgets live, the book stays as it is."""

import json
import re
import urllib.error
import urllib.request

import pytest
from playwright.sync_api import expect

from tests.lab.conftest import Reader, files_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LONG = 180_000  # ms: a kernel that imports torch on a machine with other work
STARTED = "JupyterLab is at"


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1400, "height": 1000}, locale="en-US")
    context.set_default_timeout(LONG)
    yield context.new_page()
    context.close()


def opened(page, reader, name):
    """A notebook of the reader's folder in JupyterLab, its kernel ready; other tabs may be open."""
    page.goto(reader.address.replace("contents.en.ipynb", name))
    expect(page.locator(".lm-DockPanel-tabBar .jp-mod-current")).to_contain_text(
        name.rpartition("/")[2][:20], timeout=LONG)
    panel = page.locator(".jp-NotebookPanel:visible")
    panel.locator(".jp-Cell").first.wait_for()
    expect(panel.locator(".jp-NotebookPanel-toolbar .jp-Notebook-ExecutionIndicator")
           ).to_have_attribute("data-status", "idle", timeout=LONG)
    return panel


def run_all(page):
    """Run > Run All Cells, as a reader does."""
    page.locator(".lm-MenuBar-itemLabel", has_text=re.compile("^Run$")).click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Run All Cells$")).click()


def run_last(page, panel, source):
    """Write a cell at the end and run it; its output."""
    panel.locator(".jp-Notebook-footer").click()
    page.keyboard.type(source)
    page.keyboard.press("Control+Enter")
    return panel.locator(".jp-CodeCell").last.locator(".jp-OutputArea-output")


def test_the_contents_are_shown_and_lead_to_the_notebooks(reader, page):
    page.goto(reader.address)
    expect(page.locator(".jp-RenderedMarkdown h1")).to_contain_text("PyTorch Inside Out",
                                                                    timeout=LONG)
    page.locator(".jp-RenderedMarkdown a", has_text="Stride explorer").click()
    expect(page.locator(".lm-DockPanel-tabBar .jp-mod-current")).to_contain_text(
        "stride-explorer", timeout=LONG)
    assert page.locator(".jp-Dialog, .jp-toast-message").count() == 0  # nobody is asked anything


def test_a_notebook_runs_and_its_widget_and_the_kernel_follow_each_other(reader, page, clone):
    before = files_of(clone)
    panel = opened(page, reader, "01-tensors/stride-explorer.en.ipynb")
    run_all(page)
    widget = panel.locator("stride-explorer:has([name=chain])")
    expect(widget).to_have_count(1, timeout=LONG)
    expect(run_last(page, panel, "_")).to_contain_text("shape=(3, 4)", timeout=LONG)
    chain = widget.locator("[name=chain]")
    chain.fill("x.view(3, 4).t()")
    chain.press("Enter")
    expect(widget.locator(".se-tensor [role=gridcell]").nth(1)).to_have_text("4", timeout=LONG)
    expect(run_last(page, panel, "_2")).to_contain_text("shape=(4, 3), strides=(1, 4)",
                                                        timeout=LONG)
    run_last(page, panel, "_2.chain = ''; _2.shape, _2.strides = (2, 6), (6, 1)")
    expect(widget.locator(".se-tensor [role=gridcell]").nth(6)).to_have_text("6", timeout=LONG)
    page.keyboard.press("Control+s")
    expect(page.locator(".jp-mod-dirty")).to_have_count(0, timeout=LONG)
    assert files_of(clone) == before


def test_stored_pictures_and_tables_are_shown_before_anything_is_run(reader, page):
    panel = opened(page, reader, "01-tensors/torch-graph.en.ipynb")
    stored = json.loads((reader.folder / "01-tensors/torch-graph.en.ipynb").read_text("utf-8"))
    kinds = {kind for cell in stored["cells"] for output in cell.get("outputs", [])
             for kind in output.get("data", {})}
    assert kinds & {"image/svg+xml", "text/html"}
    expect(panel.locator(".jp-OutputArea-output svg, .jp-OutputArea-output table").first
           ).to_be_attached(timeout=LONG)


def test_without_its_token_nobody_gets_in(reader):
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(f"http://localhost:{reader.port}/api/contents", timeout=60)
    assert caught.value.code == 403


def test_it_stops_with_its_kernels_and_starts_again_on_what_the_reader_wrote(clone):
    first = Reader(clone, "--read", "zh")
    mine = first.folder / "01-tensors/section.zh.ipynb"
    book = json.loads(mine.read_text("utf-8"))
    book["cells"][0]["source"] = "# mine"
    mine.write_text(json.dumps(book), encoding="utf-8")
    assert first.stop() == 0
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(first.address, timeout=60)
    assert Reader(clone, "--read", "zh").stop() == 0
    assert json.loads(mine.read_text("utf-8")) == book
