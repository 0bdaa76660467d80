"""`make book` serves the site, or says in one line why it cannot."""

import http.server
import mimetypes
import re
import socket
import urllib.request

import pytest

from book.pipeline import serve


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


def test_the_address_is_printed_and_ctrl_c_ends_quietly(site, call, busy, monkeypatch, capsys):
    opened = []

    class Server(http.server.ThreadingHTTPServer):
        def __init__(self, address, handler):
            opened.append(address)

        def serve_forever(self):
            raise KeyboardInterrupt

    monkeypatch.setattr(http.server, "ThreadingHTTPServer", Server)
    assert call(busy) == 0
    assert capsys.readouterr().out == f"The book is at http://localhost:{busy}/  (Ctrl-C stops)\n\n"
    assert opened == [("127.0.0.1", busy)]


@pytest.mark.parametrize(("name", "kind"), [
    ("early.js", "text/javascript"), ("icons.woff2", "font/woff2"),
])
def test_scripts_and_fonts_have_their_type_whatever_the_machine_says(
    site, name, kind, monkeypatch, capfd
):
    monkeypatch.setattr(mimetypes, "guess_type", lambda *_, **__: ("text/plain", None))
    (site / name).write_bytes(b"content")
    with (serve.served(site) as address,
          urllib.request.urlopen(address + name, timeout=10) as answer):
        assert answer.headers["Content-Type"] == kind
        assert answer.read() == b"content"
    assert capfd.readouterr() == ("", "")
