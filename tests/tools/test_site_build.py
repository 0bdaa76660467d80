"""A failing step of the site build says so at once, and leaves the site that was there."""

import sys
import time

import pytest

from book.pipeline import site


def test_a_failed_step_with_a_process_left_behind_ends_and_shows_what_it_said(tmp_path):
    beat = tmp_path / "beat"
    loop = f"for i in $(seq 20000); do echo x >> {beat}; sleep 0.02; done"  # for 400 s or more
    started = time.monotonic()
    with pytest.raises(SystemExit, match=r"wrong formula\n\nsite: step 'a step' failed"):
        site.run(["sh", "-c", f"({loop}) & while [ ! -s {beat} ]; do :; done; "
                              "echo wrong formula; exit 3"], "a step")
    assert time.monotonic() - started < 300
    size = beat.stat().st_size
    time.sleep(0.3)
    assert beat.stat().st_size == size


def test_a_python_traceback_is_left_out_of_what_is_shown():
    said = "cards.yaml:3: mend it\nTraceback (most recent call last):\n  File x"
    with pytest.raises(SystemExit) as end:
        site.run(["sh", "-c", f"printf '{said}'; exit 1"], "a step")
    assert "cards.yaml:3: mend it" in str(end.value)
    assert "Traceback" not in str(end.value)


def test_a_program_that_is_missing_is_named():
    with pytest.raises(SystemExit, match=r"step 'a step' needs .*/no-such-node, which is missing"):
        site.run(["/no-such-node"], "a step")


@pytest.fixture
def steps(tmp_path, monkeypatch):
    """The steps of a build, which write one file each; returns what `finish` will do."""
    last = []
    monkeypatch.setattr(site, "bundle", lambda folder: folder.mkdir(parents=True))

    def pages(_root, out):
        folder = out / "_build" / "html"
        folder.mkdir(parents=True)
        (folder / "index.html").write_text("new")

    monkeypatch.setattr(site, "pages", pages)
    monkeypatch.setattr(site, "finish", lambda *_: [step() for step in last])
    return last


def test_a_build_that_stops_leaves_the_old_site(tmp_path, steps):
    old = tmp_path / "_build" / "html" / "index.html"
    old.parent.mkdir(parents=True)
    old.write_text("old")
    steps.append(lambda: sys.exit("over the budget"))
    with pytest.raises(SystemExit):
        site.build(tmp_path, tmp_path)
    assert old.read_text() == "old"


def test_the_new_site_takes_the_place_of_the_old_one_whole(tmp_path, steps):
    gone = tmp_path / "_build" / "html" / "gone.html"
    gone.parent.mkdir(parents=True)
    gone.touch()
    steps.append(lambda: gone.stat())  # still there while the new one is made
    built = site.build(tmp_path, tmp_path)
    assert [file.name for file in built.iterdir()] == ["index.html"]
    assert not (tmp_path / "_build" / "stage").exists()


def stop(text):
    sys.exit(text)


def test_steps_that_run_at_once_are_all_done_and_the_first_fault_ends_the_build(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    site.at_once((one.write_text, "1"), (two.write_text, "2"))
    assert (one.read_text(), two.read_text()) == ("1", "2")
    with pytest.raises(SystemExit, match=r"^site: a list is wrong$"):
        site.at_once((one.write_text, "3"), (stop, "site: a list is wrong"))
    assert one.read_text() == "3"
