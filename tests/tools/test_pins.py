"""Whether the pins have wheels for a Python is asked of pip, and a missing one is told."""

import subprocess
import sys

import pytest

from book.pipeline import pins
from book.pipeline.ground.paths import ROOT


@pytest.fixture
def pip(monkeypatch):
    """A pip that has no numpy for Python 3.15 and notes what it is asked."""
    asked = []

    def run(command, **_):
        asked.append(command)
        gone = "--python-version=3.15" in command
        said = "WARNING: x\nERROR: No matching distribution found for numpy==2.4.6\n"
        return subprocess.CompletedProcess(command, int(gone), "", said if gone else "")

    monkeypatch.setattr(pins.subprocess, "run", run)
    return asked


def call(monkeypatch, capsys, *pythons):
    monkeypatch.setattr(sys, "argv", ["pins", *pythons])
    return pins.main(), capsys.readouterr().out.splitlines()


def test_every_python_is_asked_for_on_every_platform_and_nothing_is_installed(
        pip, monkeypatch, capsys):
    assert call(monkeypatch, capsys) == (0, [
        f"Python {python}, {platform}: every pin has a wheel"
        for python in pins.PYTHONS for platform in pins.PLATFORMS])
    for command in pip:
        assert {"--dry-run", "--no-deps", "--only-binary=:all:"} <= set(command)
        assert command[-1] == str(ROOT / "constraints.txt")


def test_a_pin_without_a_wheel_is_named_and_makes_the_command_fail(pip, monkeypatch, capsys):
    status, said = call(monkeypatch, capsys, "3.14", "3.15")
    assert status == 1
    assert said[2:] == [
        f"Python 3.15, {platform}: ERROR: No matching distribution found for numpy==2.4.6"
        for platform in pins.PLATFORMS]
