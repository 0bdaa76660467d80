"""A failing step of the site build says so at once, whatever it leaves running."""

import time

import pytest

from book.pipeline import site


def test_a_failed_step_with_a_process_left_behind_ends_and_shows_what_it_said(tmp_path):
    beat = tmp_path / "beat"
    loop = f"while :; do echo x >> {beat}; sleep 0.02; done"
    started = time.monotonic()
    with pytest.raises(SystemExit, match=r"wrong formula\n\nsite: step 'a step' failed"):
        site.run(["sh", "-c", f"({loop}) & while [ ! -s {beat} ]; do :; done; "
                              "echo wrong formula; exit 3"], "a step")
    assert time.monotonic() - started < 10
    size = beat.stat().st_size
    time.sleep(0.3)
    assert beat.stat().st_size == size


def test_a_python_traceback_is_left_out_of_what_is_shown():
    said = "cards.yaml:3: mend it\nTraceback (most recent call last):\n  File x"
    with pytest.raises(SystemExit) as end:
        site.run(["sh", "-c", f"printf '{said}'; exit 1"], "a step")
    assert "cards.yaml:3: mend it" in str(end.value)
    assert "Traceback" not in str(end.value)
