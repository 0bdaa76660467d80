"""Formulas come from a server that is asked as soon as it listens and never outlives a build."""

import os
import socket
import subprocess
import sys

import pytest
from sphinxcontrib.katex import KaTeXError, KaTeXServer

from book.extension.maths import start_server
from book.pipeline.ground.paths import ROOT

# What the socket of a server sees; the arguments stand in for those of Node's.
LATE = """
import socket, sys, time
server = socket.socket(socket.AF_UNIX)
time.sleep(0.2)
server.bind(sys.argv[1])
time.sleep(0.2)  # its file is there, nobody listens
server.listen()
server.accept()[0].sendall(b"here")
"""
SILENT = """
import socket, sys, time
socket.socket(socket.AF_UNIX).bind(sys.argv[1])
print("bound", flush=True)
time.sleep(600)
"""
CONF = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
extensions = ["book.extension.maths"]
html_math_renderer = "katex"
"""


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Starts a Python program as the formula server; all that were started."""
    processes = []

    class Recorded(subprocess.Popen):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            processes.append(self)

    def start(program, timeout):
        monkeypatch.setattr(KaTeXServer, "build_command", classmethod(
            lambda cls, socket: [sys.executable, "-c", program, str(socket)]))
        return start_server(tmp_path, timeout)

    monkeypatch.setattr("book.extension.maths.Popen", Recorded)
    yield start, processes
    for process in processes:
        process.kill()
        process.communicate()


def test_a_server_that_listens_late_is_waited_for(started):
    start, _ = started
    process, connection = start(LATE, 60)
    with connection:
        assert connection.family == socket.AF_UNIX
        assert connection.recv(4) == b"here"
    assert process.wait() == 0


def test_a_server_that_never_listens_is_ended_and_named(started):
    start, processes = started
    with pytest.raises(KaTeXError, match="the formula server is late"):
        start(SILENT, 0.5)
    assert processes[0].returncode is not None


def test_a_server_that_ends_is_not_waited_for(started):
    start, _ = started
    with pytest.raises(KaTeXError, match="the formula server ended with 3"):
        start("raise SystemExit(3)", 600)


def built(folder, formula):
    """Sphinx over one formula, in a session of its own; the process when it is done."""
    (folder / "conf.py").write_text(CONF)
    (folder / "index.rst").write_text(f"Title\n=====\n\n:math:`{formula}`\n")
    said = folder / "said.txt"  # not a pipe: a server left behind would hold it open
    with said.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "sphinx", "-q", "-W", str(folder), str(folder / "out")],
            stdout=output, stderr=output, start_new_session=True)
        process.wait()
    return process, said.read_text(encoding="utf-8")


def left(process):
    """Whether a process of its session still runs."""
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_a_formula_becomes_html_and_mathml_and_its_server_ends(tmp_path):
    process, said = built(tmp_path, r"\frac{1}{2}")
    assert (process.returncode, said) == (0, "")
    page = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    assert 'class="katex-html"' in page
    assert "<mfrac><mn>1</mn><mn>2</mn></mfrac>" in page
    assert not left(process)


@pytest.mark.slow
def test_a_wrong_formula_stops_the_build_and_leaves_no_server(tmp_path):
    process, said = built(tmp_path, r"\frac{1}")
    assert process.returncode != 0
    assert "KaTeX parse error" in said
    assert not left(process)
