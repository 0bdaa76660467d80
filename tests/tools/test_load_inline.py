"""The measuring of `load_inline` says what it is and what it lacks, and counts what is compiled."""

import pytest

from benchmarks import load_inline


def test_help_says_what_is_measured(capsys):
    with pytest.raises(SystemExit):
        load_inline.main(["--help"])
    assert "load_inline" in capsys.readouterr().out


@pytest.mark.parametrize("missing", ["ninja", "g++"])
def test_without_ninja_or_a_compiler_a_line_says_so(missing, monkeypatch, capsys):
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(load_inline, "run", lambda *arguments: 0)  # which would take minutes
    monkeypatch.setattr(load_inline.shutil, "which", lambda name: name != missing or None)
    assert load_inline.main(["--record"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"bench: {missing} is missing")
    assert shown.err.count("\n") == 1


def test_the_counted_lines_are_those_of_the_source_that_is_compiled(monkeypatch):
    counted, compiled = [], []
    monkeypatch.setattr(load_inline, "lines", lambda source: counted.append(source) or 0)
    monkeypatch.setattr(load_inline, "started", lambda folder, addition, headers: compiled.append(
        load_inline.IMPLICIT * (headers == "all") + load_inline.kernel_in_cpp.SOURCE + addition))
    load_inline.building()
    assert counted == [compiled[0], *compiled[2:]]
