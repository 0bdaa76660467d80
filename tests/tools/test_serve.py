"""`make book` serves the site, or says in one line why it cannot."""

import mimetypes
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from book.pipeline import serve
from book.pipeline.ground.paths import ROOT


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.setattr(serve, "SITE", tmp_path)
    (tmp_path / "index.html").write_text("<title>book</title>")
    return tmp_path


@pytest.fixture
def call(monkeypatch):
    """Run the command with a port."""

    def run(port):
        monkeypatch.setattr("sys.argv", ["serve", "--port", str(port)])
        return serve.main()

    return run


def refused(call, port):
    """The one line, not a number, with which the command ends: Python's exit status is then 1."""
    with pytest.raises(SystemExit) as caught:
        call(port)
    assert isinstance(caught.value.code, str)
    assert "\n" not in caught.value.code
    return caught.value.code


@pytest.fixture
def busy():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_port_in_use_is_named_with_another_to_try(site, call, busy):
    assert refused(call, busy) == (
        f"serve: port {busy} is in use; try `make book PORT={busy + 1}`")


def test_a_port_that_cannot_be_had_is_not_called_in_use(site, call):
    message = refused(call, 70000)
    assert re.fullmatch(r"serve: port 70000 cannot be had \(.*0-65535.*\); "
                        r"try `make book PORT=8000`", message)


def test_a_site_not_yet_built_is_named_with_the_command(site, call, busy):
    (site / "index.html").unlink()
    assert refused(call, busy) == "serve: no site in _build/html; run `make site`"


@pytest.fixture
def running(site):
    """(The command in a process of its own, its port); it ends with the test."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = (f"import pathlib; from book.pipeline import serve\n"
               f"serve.SITE = pathlib.Path({str(site)!r})\nraise SystemExit(serve.main())")
    with subprocess.Popen(
        [sys.executable, "-c", program, "--port", str(port)], cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),   # ignored after `&`
    ) as server:
        yield server, port
        server.kill()


def test_the_site_is_served_to_this_machine_at_the_printed_address_until_ctrl_c(running):
    server, port = running
    assert server.stdout.readline() == f"The book is at http://localhost:{port}/  (Ctrl-C stops)\n"
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=300) as answer:
        assert answer.read() == b"<title>book</title>"
    if sys.platform == "linux":                                 # all of 127 is this machine
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", port), timeout=300)
    server.send_signal(signal.SIGINT)
    assert server.communicate(timeout=300) == ("\n", "")
    assert server.returncode == 0


@pytest.mark.parametrize(("name", "kind"), [
    ("early.js", "text/javascript"), ("icons.woff2", "font/woff2"),
])
def test_scripts_and_fonts_have_their_type_whatever_the_machine_says(
    site, name, kind, monkeypatch, capfd
):
    monkeypatch.setattr(mimetypes, "guess_type", lambda *_, **__: ("text/plain", None))
    (site / name).write_bytes(b"content")
    with (serve.served(site) as address,
          urllib.request.urlopen(address + name, timeout=300) as answer):
        assert answer.headers["Content-Type"] == kind
        assert answer.read() == b"content"
    assert capfd.readouterr() == ("", "")
