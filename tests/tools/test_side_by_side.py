"""Pages that are read and written by several processes are those that one would make."""

import os

import pytest
from sphinxcontrib import katex

from book.extension import maths
from book.pipeline import jupyter_book


@pytest.mark.parametrize(("cores", "jobs"), [(None, 1), (1, 1), (2, 2), (64, jupyter_book.MOST)])
def test_there_are_as_many_processes_as_cores_up_to_a_few(monkeypatch, cores, jobs):
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert jupyter_book.jobs() == jobs


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_forked_process_asks_a_formula_server_of_its_own(monkeypatch):
    monkeypatch.setattr(katex.KaTeXServer, "katex_server", "the server of the first process")
    monkeypatch.setattr(maths, "_left", [])
    maths.forget_server()
    assert katex.KaTeXServer.katex_server is None
    assert maths._left == ["the server of the first process"], "its end would end the other's"
