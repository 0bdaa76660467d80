"""`make lab` up to the moment when JupyterLab starts: what it writes, in which language, what it
refuses. That JupyterLab then runs the notebooks is shown in tests/lab."""

import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

import nbformat
import pytest

from book.pipeline import lab
from book.pipeline.ground.paths import CHAPTERS, ROOT
from book.pipeline.notebooks import jupyter
from book.pipeline.notebooks import notebook as nb
from tests.helpers.golden_example import made_by_hand

TOC = """
root: book/index
parts:
  - caption: 书 · The book
    chapters:
      - file: chapters/02-autograd/index
        sections:
          - file: chapters/02-autograd/second
          - file: chapters/02-autograd/first
      - file: book/drill
"""
SECOND = "          - file: chapters/02-autograd/second\n"
MADE = ["index", "second", "first"]


@pytest.fixture
def root(tmp_path):
    """A book of three pages, one chapter, with exercises."""
    chapter = tmp_path / "book/chapters/02-autograd"
    chapter.mkdir(parents=True)
    (tmp_path / "book/_toc.yml").write_text(TOC, encoding="utf-8")
    (chapter / "chapter.yaml").write_text("name: {zh: 求导, en: Autograd}\n", encoding="utf-8")
    for name in (*MADE, "draft"):
        (chapter / f"{name}.ipynb").write_text(nb.write_text(made_by_hand()), encoding="utf-8")
    for name in ("exercises.yaml", "check_scalar.py"):
        shutil.copy(CHAPTERS / "02-autograd" / name, chapter)
    return tmp_path / "book"


# ---- the language ------------------------------------------------------------------------------

@pytest.mark.parametrize(("settings", "expected"), [
    ({}, "en"), ({"LANG": "C.UTF-8"}, "en"), ({"LANG": "de_DE.UTF-8"}, "en"),
    ({"LANG": "zh_CN.UTF-8"}, "zh"), ({"LANG": "zh_TW"}, "zh"),
    ({"LC_ALL": "", "LC_MESSAGES": "zh_CN.UTF-8", "LANG": "en_US.UTF-8"}, "zh"),
    ({"LC_ALL": "en_US.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
])
def test_the_language_is_that_of_the_locale(settings, expected):
    assert lab.language(settings) == expected


def said(call, *arguments):
    """The one line with which the command refuses."""
    with pytest.raises(SystemExit) as caught:
        call(*arguments)
    assert "\n" not in caught.value.code
    return caught.value.code


@pytest.fixture
def call(monkeypatch):
    def main(*arguments):
        monkeypatch.setattr(sys, "argv", ["lab", *arguments])
        lab.main()
    return main


def test_a_language_that_the_book_has_not_is_refused(call):
    assert said(call, "--read", "fr") == (
        "lab: READ=fr is no language of the book; write READ=zh, en or both")


@pytest.mark.parametrize("read", ["fr", "zh both", "zh zh"])
def test_make_refuses_it_before_anything_is_installed(read):
    # Below `make test` this make would take itself for a part of that one, and say so.
    alone = {name: value for name, value in os.environ.items()
             if name not in ("MAKELEVEL", "MAKEFLAGS", "MFLAGS")}
    done = subprocess.run(["make", "lab", f"READ={read}", "PYTHON=false"], cwd=ROOT, check=False,
                          capture_output=True, text=True, env=alone)
    assert done.returncode == 2
    assert done.stderr.endswith(f"lab: READ={read} is none of: zh en both.  Stop.\n")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


# ---- what is written ---------------------------------------------------------------------------

@pytest.mark.parametrize("variant", ["zh", "en", "both"])
def test_the_copies_are_the_notebooks_to_download_in_the_order_of_the_book(root, variant):
    files = lab.files(root, variant)
    assert [name for name in files if name.endswith(".ipynb")] == [
        f"contents.{variant}.ipynb",
        *(f"02-autograd/{name}.{variant}.ipynb" for name in MADE)]
    for name in MADE:
        cells = nbformat.reads(files[f"02-autograd/{name}.{variant}.ipynb"], 4).cells
        hidden = ("cell5", "cell6", "cell7")
        assert [cell.outputs for cell in cells if cell.id in hidden] == [[]] * 3
        assert "code.zip" not in "".join(cell.source for cell in cells
                                         if cell.cell_type == "markdown")


def test_the_contents_link_every_notebook_and_name_the_exercises(root):
    files = lab.files(root, "en")
    [cell] = json.loads(files["contents.en.ipynb"])["cells"]
    text = "".join(cell["source"])
    assert "## 2 Autograd" in text
    assert [line for line in text.splitlines() if line.startswith("- ")] == [
        *(f"- [Title](02-autograd/{name}.en.ipynb)" for name in MADE),
        "- Exercises are in `02-autograd/exercises/`"]
    both = lab.files(root, "both")["contents.both.ipynb"]
    assert "## 2 求导 · Autograd" in both
    nbformat.validate(nbformat.reads(both, 4))


def test_a_second_language_leaves_the_first_alone_and_shares_the_exercises(root, tmp_path):
    folder = tmp_path / "lab"
    assert lab.renew(root, folder, "zh") == []
    first = {file: file.read_bytes() for file in folder.rglob("*.*") if file.suffix != ".json"
             and jupyter.OWN not in file.parts}
    assert first
    assert lab.renew(root, folder, "en") == []
    assert all(file.read_bytes() == content for file, content in first.items())
    assert (folder / "02-autograd/first.en.ipynb").is_file()


def test_a_section_that_is_gone_takes_its_unchanged_copies_along_in_its_language(root, tmp_path):
    folder = tmp_path / "lab"
    lab.renew(root, folder, "zh")
    lab.renew(root, folder, "en")
    (root / "_toc.yml").write_text(TOC.replace(SECOND, ""))
    assert lab.renew(root, folder, "en") == []
    assert not (folder / "02-autograd/second.en.ipynb").exists()
    assert (folder / "02-autograd/second.zh.ipynb").exists()


def test_the_version_beside_a_changed_copy_goes_with_its_section(root, tmp_path):
    folder, name = tmp_path / "lab", "02-autograd/second.en.ipynb"
    lab.renew(root, folder, "en")
    (folder / name).write_text("mine")
    golden = made_by_hand()
    golden.cells[-1].source = "print('new')"
    (root / "chapters/02-autograd/second.ipynb").write_text(nb.write_text(golden), "utf-8")
    beside = folder / "02-autograd/second.en.updated.ipynb"
    assert lab.renew(root, folder, "en") == [
        f"{name}: you have changed it, so it stays; the new version is "
        "02-autograd/second.en.updated.ipynb"]
    assert lab.renew(root, folder, "en") == []
    assert beside.exists()
    (root / "_toc.yml").write_text(TOC.replace(SECOND, ""))
    assert lab.renew(root, folder, "en") == [
        f"{name}: the book no longer has it; your changed copy stays"]
    assert (folder / name).read_text() == "mine"
    assert not beside.exists()


def test_git_never_sees_the_copies():
    patterns = (ROOT / ".gitignore").read_text().splitlines()
    assert f"/{lab.FOLDER}/" in patterns


# ---- what stands in the way --------------------------------------------------------------------

def test_a_port_in_use_is_named_and_nothing_is_written(call, monkeypatch):
    monkeypatch.setattr(lab, "run", lambda *_: pytest.fail("has begun"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert said(call, "--port", str(port)) == (
            f"lab: port {port} is in use; try `make lab PORT={port + 1}`")
    assert "1-65535" in said(call, "--port", "70000")


@pytest.mark.parametrize("error", [
    OSError(28, "No space left on device", "lab/a.ipynb"), ValueError("chapters/a:1: no\nname"),
    jupyter.JupyterError("JupyterLab has ended; server.log says why")])
def test_what_goes_wrong_is_told_in_one_line(call, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(lab, "run", fail)
    monkeypatch.setattr(jupyter, "check_port", lambda _: None)
    assert said(call) == f"lab: {' '.join(str(error).split())}"


def test_a_server_that_ends_at_once_is_named_with_its_log(tmp_path, monkeypatch):
    monkeypatch.setattr(jupyter.sys, "executable", shutil.which("false"))
    server = jupyter.Server(tmp_path, 1)
    with pytest.raises(jupyter.JupyterError, match=r"has ended; .*server\.log says why"):
        server.wait()
    server.stop()


class Answers(http.server.BaseHTTPRequestHandler):
    """A server that answers, and remembers what it was asked for."""

    def do_GET(self):
        self.server.asked.append(self.path)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def answering():
    """Two servers, each with `asked` and `server_port`."""
    servers = [http.server.HTTPServer(("127.0.0.1", 0), Answers) for _ in range(2)]
    for server in servers:
        server.asked = []
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
    yield servers
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_proxy_is_neither_asked_nor_told_the_token(tmp_path, monkeypatch, answering):
    lab_server, proxy = answering
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.server_port}")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setattr(jupyter.subprocess, "Popen", Waiting)
    monkeypatch.setattr(urllib.request, "_opener", None)  # which knows earlier proxies
    monkeypatch.setattr(jupyter, "PATIENCE", 5)
    jupyter.trust(tmp_path, ())
    server = jupyter.Server(tmp_path, lab_server.server_port)
    server.wait()
    assert proxy.asked == []
    assert lab_server.asked == [f"/api/status?token={server.token}"]


class Waiting:
    """A process that neither does anything nor ends; `told` is its environment."""

    def __init__(self, command, *, env, **_):
        self.command, self.told = command, env

    def poll(self):
        return None


def test_ipython_and_npm_write_into_the_folder_too(tmp_path, monkeypatch):
    for name in ("IPYTHONDIR", "npm_config_cache"):
        monkeypatch.setenv(name, "/elsewhere")
    told = jupyter.environment(tmp_path)
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR", "npm_config_cache"):
        assert Path(told[name]).is_relative_to(tmp_path / jupyter.OWN), name


@pytest.mark.parametrize("port", ["0", "-1"])
def test_a_port_that_no_browser_could_be_told_is_refused(call, monkeypatch, port):
    monkeypatch.setattr(lab, "run", lambda *_: pytest.fail("has begun"))
    told = said(call, "--port", port)
    assert told.startswith(f"lab: port {port} cannot be had (")
    assert told.endswith("; try `make lab PORT=8888`")
    assert "1-65535" in told


@pytest.mark.parametrize(("settings", "opened"), [({}, []), ({"DISPLAY": ":0"}, ["here"])])
def test_a_browser_is_opened_only_where_one_can_be_seen(monkeypatch, settings, opened):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(lab.sys, "platform", "linux")
    seen = []
    monkeypatch.setattr(lab.webbrowser, "open", seen.append)
    lab.show("here")
    assert seen == opened
