"""What is installed is written down exactly, from no place that only one machine knows."""

import json
import re
import tomllib
from importlib.metadata import metadata

import pytest
from packaging.specifiers import SpecifierSet

from book.pipeline import environment
from book.pipeline.ground.paths import ROOT
from tests.helpers.places import FOLDER, FOLDERS, HOST, HOSTS


def lines(name):
    """The lines of a requirement file, without comments."""
    text = re.sub(r"\s*#.*", "", (ROOT / name).read_text("utf-8"))
    return [line for line in text.splitlines() if line]


def project(name):
    """The name of a package in the form that pip compares."""
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", name)[0]).lower()


def test_constraints_are_exact_versions_and_nothing_else():
    constraints = lines("constraints.txt")
    assert len(constraints) > 50
    wrong = [line for line in constraints
             if not re.fullmatch(r"[A-Za-z0-9][\w.-]*==[0-9][0-9A-Za-z.!]*", line)]
    assert wrong == []


def test_each_package_asked_for_has_its_exact_version():
    asked = [project(line) for name in environment.WANTED.values()
             for line in lines(name) if not line.startswith("-r ")]
    exact = [project(line) for line in lines("constraints.txt")]
    assert len(asked) > 15
    assert set(asked) <= set(exact)
    assert len(exact) == len(set(exact))


def test_each_pinned_package_admits_the_oldest_python_whatever_its_last_digit():
    oldest = ".".join(map(str, environment.OLDEST)) + ".0"
    asks = {line: metadata(project(line)).get("Requires-Python")
            for line in lines("constraints.txt")}
    assert {line: ask for line, ask in asks.items()
            if not SpecifierSet(ask or "").contains(oldest)} == {}


def test_torch_is_pinned_alike_in_requirements_and_constraints():
    assert "torch==2.13.0" in lines("requirements.txt")
    assert "torch==2.13.0" in lines("constraints.txt")


def test_jupyter_book_stays_below_2_and_torch_out_of_the_site():
    site = lines("requirements-site.txt")
    assert "jupyter-book<2" in site
    assert "torch" not in map(project, site)
    version = next(line for line in lines("constraints.txt") if project(line) == "jupyter-book")
    assert version.startswith("jupyter-book==1.")
    assert "-r requirements-site.txt" in lines("requirements.txt")


def test_the_lab_needs_torch_and_jupyter_and_nothing_that_builds_the_site():
    lab = set(map(project, lines("requirements-lab.txt")))
    assert {"torch", "jupyterlab", "anywidget"} <= lab
    assert not lab & set(map(project, lines("requirements-site.txt")))
    assert "-r requirements-lab.txt" in lines("requirements.txt")


def test_requirements_name_no_address():
    for name in environment.WANTED.values():
        assert not re.search(r"https?:|@|--(extra-)?index|--find-links", "\n".join(lines(name)))


def test_npm_packages_are_exact_and_locked():
    package = json.loads((ROOT / "package.json").read_text())
    lock = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    for kind in ("dependencies", "devDependencies"):
        assert lock[""].get(kind, {}) == package[kind]
        for name, version in package[kind].items():
            assert re.fullmatch(r"\d+\.\d+\.\d+", version)
            assert lock[f"node_modules/{name}"]["version"] == version
    assert all("integrity" in entry for path, entry in lock.items() if path)


def test_the_npm_lock_file_names_no_place_to_load_from():
    assert '"resolved"' not in (ROOT / "package-lock.json").read_text()
    assert "omit-lockfile-registry-resolved=true" in lines(".npmrc")
    assert not any("registry=" in line or "_auth" in line for line in lines(".npmrc"))


def test_pyproject_asks_for_no_python_that_is_too_new():
    project_table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project_table["requires-python"] == ">=3.11"


@pytest.mark.parametrize(("pattern", "text"), [
    *((HOST, f"see https://{host}/simple") for host in HOSTS),
    (HOST, f"https://files.{HOSTS[1]}/x"),
    *((FOLDER, f'open("{folder}/x")') for folder in FOLDERS),
])
def test_such_a_place_would_be_found(pattern, text):
    assert pattern.search(text)


@pytest.mark.parametrize("text", [
    "network/roots", "my/work/plan", "a /working copy", "example.org/root/x",
])
def test_other_words_are_not_taken_for_one(text):
    assert not FOLDER.search(text)
    assert not HOST.search(text)
