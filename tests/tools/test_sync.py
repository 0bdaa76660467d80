"""`make sync` writes the same bytes from the same input, and tells when a notebook is not those."""

import io
import json
import re
import textwrap
import threading
from functools import partial
from types import SimpleNamespace

import nbformat
import pytest

from book.pipeline import sync
from book.pipeline.ground.paths import ROOT
from book.pipeline.notebooks import depends, notebook, on_device, rehearsal, rehearsed
from book.pipeline.notebooks.runner import Finding, Result

FRONT = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3}
---

# 题 · Title

+++ {"lang": "zh"}

中文。

+++ {"lang": "en"}

English.
"""


def code(source, options=""):
    fence = f"---\n{textwrap.dedent(options).strip()}\n---\n" if options else ""
    return f"```{{code-cell}} python\n{fence}{textwrap.dedent(source).strip()}\n```\n"


def stream(cell, text, name="stdout"):
    cell.outputs = [nbformat.v4.new_output("stream", name=name, text=text)] if text else []


@pytest.fixture
def chapters(tmp_path, monkeypatch):
    """An empty chapters/ and code/ in which `make sync` works now."""
    for name in ("chapters/01-part", "code/inside"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setattr(sync, "CHAPTERS", tmp_path / "chapters")
    for module in (sync, depends):
        monkeypatch.setattr(module, "CODE", tmp_path / "code")
    (tmp_path / "requirements.txt").write_text("torch==2.13.0\n")
    monkeypatch.setattr(notebook, "ROOT", tmp_path)
    return tmp_path / "chapters" / "01-part"


@pytest.fixture
def write(chapters):
    """Write the source of a section made of code cells."""

    def section(*cells, name="section"):
        path = chapters / f"{name}.md"
        path.write_text("\n".join([FRONT, *cells]), encoding="utf-8")
        return path

    return section


@pytest.fixture
def runs(monkeypatch):
    """Execute cells in this process, which is quick; the list of sources that were executed."""
    executed = []

    meeting = threading.Barrier(2)

    def execute(fresh, source):
        executed.append(source)
        space = {"runs": len(executed), "meet": partial(meeting.wait, 20)}
        for number, cell in enumerate(notebook.code_cells(fresh), 1):
            out = io.StringIO()  # two lanes have one sys.stdout
            exec(cell.source, space | {"print": partial(print, file=out)})
            cell.execution_count = number
            stream(cell, out.getvalue())

    monkeypatch.setattr(sync, "execute", execute)
    return executed


@pytest.fixture
def rehearsals(monkeypatch):
    """Rehearse nothing; the names of what would be, each time, and findings to be made."""
    said = SimpleNamespace(files=[], failed=[])

    def run(files):
        said.files.append([file.name for file in files])
        return Result("notebooks", 1, said.failed)

    monkeypatch.setattr(rehearsed, "run", run)
    return said


def stored(source):
    return nbformat.read(source.with_suffix(".ipynb"), 4)


def printed(source):
    return [notebook.output_text(cell) for cell in notebook.code_cells(stored(source))]


def edit(file, old, new):
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# ---- the same input, the same bytes ------------------------------------------------------------

WIDGET = """
import ipywidgets
ipywidgets.IntSlider(3)
"""
RAISES = "import json\njson.loads('{')"


@pytest.mark.slow
def test_two_executions_write_the_same_bytes_and_nothing_of_the_machine(write):
    section = write(code("print(1, flush=True); print(2)\n3"), code(WIDGET),
                    code(RAISES, "tags: [raises-exception]"))
    assert sync.sync(section)
    first = files(section.parent)
    assert sync.stale(section) is None
    assert sync.sync(section, force=True)
    assert files(section.parent) == first

    text = first["section.ipynb"].decode()
    assert not re.search(r"iopub|model_id|widget-view|widget-state|T\d\d:\d\d:\d\d", text)
    assert "site-packages" not in text
    assert "json/decoder.py" not in text
    plain, slider, error = notebook.code_cells(stored(section))
    assert [output.get("text", output.get("data")) for output in plain.outputs] == [
        "1\n2\n", {"text/plain": "3"},
    ]
    assert slider.outputs[0].data == {
        "text/plain": "IntSlider(value=3)",
    }
    assert error.outputs[0].traceback == [notebook.output_text(error)]
    assert notebook.output_text(error).startswith("JSONDecodeError: Expecting property name")


def test_a_second_sync_has_nothing_to_do(write, runs):
    section = write(code("print(1)"))
    assert sync.sync(section)
    before = files(section.parent)
    assert not sync.sync(section)
    assert files(section.parent) == before
    assert runs == [section]


def test_reused_outputs_give_the_bytes_that_executing_gives(write, runs):
    section = write(code("print(1)"))
    sync.sync(section)
    edit(section, "English.", "Other English.")
    sync.sync(section)
    reused = files(section.parent)
    sync.sync(section, force=True)
    assert files(section.parent) == reused
    assert len(runs) == 2


@pytest.mark.slow
def test_the_patch_version_of_the_python_is_not_stored(write):
    section = write(code("print(1)"))
    sync.sync(section)
    assert stored(section).metadata["language_info"] == notebook.LANGUAGE
    assert stored(section).metadata["kernelspec"] == {
        "display_name": "Python 3", "name": "python3",
    }


def test_a_change_of_prose_keeps_the_outputs_and_executes_nothing(write, runs):
    section = write(code("print(runs)"))
    sync.sync(section)
    edit(section, "English.", "Other English.")
    assert "older than" in sync.stale(section)
    assert sync.sync(section)
    assert sync.stale(section) is None
    assert runs == [section]
    assert printed(section) == ["1\n"]
    assert "Other English." in section.with_suffix(".ipynb").read_text("utf-8")


# ---- stale: what cannot be trusted, with the remedy --------------------------------------------

def test_a_missing_notebook_is_reported(write):
    assert sync.stale(write()).endswith("section.ipynb: missing; run `make sync`")


@pytest.mark.parametrize(("old", "new"), [
    ('"1\\n"', '"2\\n"'),                      # an output
    ("中文。", "别的。"),                       # a markdown cell
    ("print(1)", "print(2)"),                  # a code cell
    ('"display_name": "Python 3"', '"display_name": "Mine"'),
])
def test_an_edit_by_hand_is_reported(write, runs, old, new):
    section = write(code("print(1)"))
    sync.sync(section)
    edit(section.with_suffix(".ipynb"), old, new)
    why = sync.stale(section)
    assert "section.ipynb: edited by hand; edit " in why
    assert why.endswith("section.md and run `make sync FORCE=1`")


def test_an_edited_output_is_replaced_even_where_it_is_not_compared(write, runs):
    section = write(code("print(runs)", "tags: [nbval-ignore-output]"))
    sync.sync(section)
    edit(section.with_suffix(".ipynb"), '"1\\n"', '"99\\n"')
    sync.sync(section)
    assert printed(section) == ["2\n"]


def test_marks_of_a_merge_in_a_notebook_are_an_edit_by_hand(write, runs):
    section = write(code("print(1)"))
    sync.sync(section)
    edit(section.with_suffix(".ipynb"), '"cells"', '<<<<<<< HEAD\n"cells"')
    assert "edited by hand" in sync.stale(section)
    assert sync.sync(section)
    assert sync.stale(section) is None


def test_a_changed_source_is_reported_and_executed(write, runs):
    section = write(code("print(1)"))
    sync.sync(section)
    edit(section, "print(1)", "print(2)")
    assert re.search(r"section.ipynb: older than \S+section.md; run `make sync`$",
                     sync.stale(section))
    sync.sync(section)
    assert printed(section) == ["2\n"]


def test_a_changed_companion_is_reported_and_the_cells_executed(write, runs):
    (depends.CODE / "helper.py").write_text("X = 1\n")
    (depends.CODE / "other.py").write_text("X = 1\n")
    section = write(code("if runs == 0: import helper"))
    sync.sync(section)
    (depends.CODE / "other.py").write_text("X = 2\n")
    assert sync.stale(section) is None
    (depends.CODE / "helper.py").write_text("X = 2\n")
    assert sync.stale(section).endswith(
        "section.ipynb: a file of code/, a recorded result, matplotlibrc or the "
        "pinned torch changed; run `make sync`")
    sync.sync(section)
    assert len(runs) == 2
    assert sync.stale(section) is None


def test_a_changed_torch_pin_is_reported_and_the_cells_executed(write, runs):
    section = write(code("print(1)"))
    sync.sync(section)
    (notebook.ROOT / "requirements.txt").write_text("numpy\ntorch==2.14.1  # newer\n")
    assert sync.stale(section).endswith("the pinned torch changed; run `make sync`")
    sync.sync(section)
    assert len(runs) == 2


def test_changed_settings_of_matplotlib_are_reported_and_the_cells_executed(
    write, runs, tmp_path, monkeypatch
):
    settings = tmp_path / "matplotlibrc"
    settings.write_text("svg.fonttype: none\n")
    monkeypatch.setattr(notebook, "DRAWING", settings)
    section = write(code("print(1)"))
    sync.sync(section)
    settings.write_text("svg.fonttype: path\n")
    assert "recorded result, matplotlibrc or the pinned torch changed" in sync.stale(section)
    sync.sync(section)
    assert len(runs) == 2


def test_requirements_without_a_torch_pin_are_named_with_the_remedy(chapters):
    (notebook.ROOT / "requirements.txt").write_text("torch>=2.13\n")
    with pytest.raises(ValueError, match=r"requirements.txt: torch has no exact version; write"):
        notebook.pinned_torch()


def sections():
    """Those of the chapters; the front page is the book's own."""
    return [page for page in sync.section_sources() if page != sync.FRONT_PAGE]


def test_check_names_stale_sections_and_notebooks_without_source(write, runs, rehearsals, capsys):
    kept, gone = write(code("print(1)"), name="kept"), write(code("print(1)"), name="gone")
    assert sync.sync_all([kept, gone]) == 0
    capsys.readouterr()
    assert sync.check(sections()) == 0
    assert capsys.readouterr().out == ""
    gone.unlink()
    assert sync.check(sections()) == 1
    assert re.fullmatch(r"\S+gone.ipynb: has no source `.md`; delete it\n",
                        capsys.readouterr().out)
    kept.with_suffix(".ipynb").unlink()
    assert sync.check(sections()) == 1
    assert "kept.ipynb: missing" in capsys.readouterr().out


# ---- all sections, two at a time, and their rehearsal --------------------------------------------

def test_sections_are_told_in_their_order_and_an_error_loses_no_other(
    write, runs, rehearsals, capsys
):
    sections = [write(code("meet(); import time; time.sleep(0.2)\nprint(1)"), name="a"),
                write(code("meet()\nprint(2)", predict(option("3"))), name="b"),
                write(code("print(3)"), name="c")]
    assert sync.sync_all(sections) == 1
    told = capsys.readouterr()
    assert [re.sub(r"\S+/", "", line) for line in told.out.splitlines()] == [
        "a.md: written", "b.md: failed", "c.md: written",
        "rehearsing on a device made for that: 2 notebooks"]
    assert re.fullmatch(r"\S+b\.md: predict cell `meet\(\)`: 0 options match .*\n", told.err)
    assert rehearsals.files == [["a.ipynb", "c.ipynb"]]
    assert [sync.stale(section) is None for section in sections] == [True, False, True]


def test_a_second_sync_of_all_executes_and_rehearses_nothing_and_writes_nothing(
    write, runs, rehearsals, capsys
):
    section = write(code("print(1)"))
    assert sync.sync_all([section]) == 0
    before = files(section.parent)
    capsys.readouterr()
    assert sync.sync_all([section]) == 0
    assert files(section.parent) == before
    assert (len(runs), len(rehearsals.files)) == (1, 1)
    assert capsys.readouterr().out.endswith("section.md: up to date\n")


CHANGES = {  # what changed -> whether it is rehearsed again
    "prose": ("English.", "Other English.", False),
    "a cell": ("print(1)", "print(2)", True),
    "a tag": ("tags: [a]", "tags: [b]", True),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_has_passed_is_rehearsed_again_when_its_program_changes(
    write, runs, rehearsals, what
):
    old, new, again = CHANGES[what]
    section = write(code("print(1)", "tags: [a]"))
    sync.sync_all([section])
    edit(section, old, new)
    sync.sync(section)
    assert bool(sync.unsealed(section)) == again
    assert sync.check([section]) == again
    assert sync.sync_all([section]) == 0
    assert len(rehearsals.files) == 1 + again
    assert sync.check([section]) == 0


@pytest.mark.parametrize("changed", ["device", "sanitize", "output"])
def test_a_seal_holds_for_its_device_and_for_its_outputs(
    write, runs, rehearsals, tmp_path, monkeypatch, capsys, changed
):
    section = write(code("print(runs)"))
    sync.sync_all([section])
    if changed == "device":
        (tmp_path / "other.cpp").write_text("")
        monkeypatch.setattr(rehearsal, "FILES", [str(tmp_path / "other.cpp")])
    elif changed == "sanitize":
        (tmp_path / "other.cfg").write_text("")
        monkeypatch.setattr(on_device, "SANITIZE", tmp_path / "other.cfg")
    else:
        sync.sync(section, force=True)
    assert sync.stale(section) is None
    capsys.readouterr()
    assert sync.check([section]) == 1
    assert capsys.readouterr().out.endswith(
        "section.ipynb: not rehearsed as it is now; run `make sync`\n")


def test_a_notebook_that_fails_the_rehearsal_is_not_sealed_and_the_others_are(
    write, runs, rehearsals, capsys
):
    tied, free = write(code("print(1)"), name="tied"), write(code("print(1)"), name="free")
    rehearsals.failed = [Finding("01-part.tied.ipynb Cell 0", "same device expected", "line 2")]
    assert sync.sync_all([tied, free]) == 1
    assert capsys.readouterr().err == "01-part.tied.ipynb Cell 0: same device expected\nline 2\n"
    assert sync.unsealed(tied)
    assert not sync.unsealed(free)


def test_a_rehearsal_that_breaks_off_seals_nothing(write, runs, rehearsals):
    section = write(code("print(1)"))
    rehearsals.failed = [Finding("notebooks", "pytest ended with 3")]
    assert sync.sync_all([section]) == 1
    assert sync.unsealed(section)


def test_without_a_compiler_sections_are_written_and_the_remedy_is_told(
    write, runs, monkeypatch, capsys
):
    def run(files):
        raise rehearsal.CannotBuildError("the rehearsal device needs a C++ compiler")

    monkeypatch.setattr(rehearsed, "run", run)
    section = write(code("print(1)"))
    assert sync.sync_all([section]) == 1
    assert capsys.readouterr().err == (
        "sync: the rehearsal device needs a C++ compiler; until then these notebooks are not "
        "sealed\n")
    assert sync.stale(section) is None


TIED = "import torch; torch.set_default_device('rehearsal' if {} else 'cpu')\n" \
       "print(float((torch.ones(1) + torch.ones(1, device='cpu')).sum()))"


@pytest.mark.slow
@pytest.mark.compiler
def test_a_cell_that_is_tied_to_the_cpu_fails_the_rehearsal(write, capsys):
    on = "import os; os.environ['BOOK_DEVICE'] == 'rehearsal'"
    tied = write(code(f"{on.partition(';')[0]}\n" + TIED.format(on.partition('; ')[2])),
                 name="tied")
    free = write(code("import torch\nprint(float(torch.ones(1).sum()))"), name="free")
    assert sync.sync_all([tied, free]) == 1
    told = capsys.readouterr()
    assert "tied.md: written\n" in told.out
    assert re.search(r"^\S*tied\.ipynb Cell 0: ", told.err)
    assert "same device" in told.err
    assert sync.unsealed(tied)
    assert not sync.unsealed(free)


# ---- outputs that are not compared -------------------------------------------------------------

def test_an_output_not_compared_is_kept_while_its_cell_is_unchanged(write, runs):
    cell = code("print('run', runs)", "tags: [nbval-ignore-output]")
    section = write(cell, code("print(runs)"), code("print('a')"))
    sync.sync(section)
    section = write(cell, code("print(runs)"), code("print('b')"))
    sync.sync(section)
    assert printed(section) == ["run 1\n", "2\n", "b\n"]

    sync.sync(section, force=True)
    assert printed(section) == ["run 3\n", "3\n", "b\n"]

    write(code("print('now', runs)", "tags: [nbval-ignore-output]"))
    sync.sync(section)
    assert printed(section) == ["now 4\n"]


# ---- cells that cannot be stored ---------------------------------------------------------------

@pytest.mark.slow
@pytest.mark.parametrize(("cell", "message"), [
    ("print('before'); 1 / 0", r"a cell raised ZeroDivisionError: division by zero"),
    ("def broken(:", r"a cell raised SyntaxError: invalid syntax.*"),
    ("import sys; print('oops', file=sys.stderr)",
     r"a cell writes to stderr: oops; catch it and print what matters"),
    ("import warnings; warnings.warn('old')", r"a cell writes to stderr: .*UserWarning: old.*"),
    ("import os; os._exit(1)", r"Kernel died; run its cells by hand to see which"),
])
def test_a_cell_that_cannot_be_stored_is_named_and_the_file_stays(write, cell, message):
    section = write(code(cell))
    section.with_suffix(".ipynb").write_text("as it was")
    before = files(section.parent)
    with pytest.raises(sync.SyncError) as caught:
        sync.sync(section)
    first = str(caught.value).splitlines()[0]
    assert re.fullmatch(rf"\S+section\.md: {message}", first)
    assert files(section.parent) == before


@pytest.mark.slow
def test_a_cell_that_does_not_end_is_named(write, monkeypatch):
    client = sync.NotebookClient
    monkeypatch.setattr(sync, "NotebookClient",
                        lambda *args, **options: client(*args, **options | {"timeout": 1}))
    section = write(code("while True: pass"))
    with pytest.raises(sync.SyncError, match=r"section\.md: A cell timed out .*after 1 seconds"):
        sync.sync(section)
    assert not section.with_suffix(".ipynb").exists()


@pytest.mark.slow
def test_the_command_says_what_failed_without_a_traceback(write, monkeypatch, capsys):
    section = write(code("import sys; print('oops', file=sys.stderr)"))
    monkeypatch.setattr("sys.argv", ["sync", str(section)])
    assert sync.main() == 1
    assert re.fullmatch(r"\S+section\.md: a cell writes to stderr: oops; .*\n",
                        capsys.readouterr().err)


# ---- predict cells -----------------------------------------------------------------------------

def predict(*options):
    return "predict: " + json.dumps({"options": list(options)})


def option(match, why=True):
    texts = {"match": match, "zh": "甲", "en": "A"}
    return texts | ({"why": {"zh": "不。", "en": "No."}} if why else {})


def test_a_predicted_output_is_hidden_in_the_notebook(write, runs):
    section = write(code("print(12)", predict(option("12", why=False), option("13"))),
                    code("print(1)"))
    sync.sync(section)
    predicted, plain = notebook.code_cells(stored(section))
    assert predicted.metadata["jupyter"] == {"outputs_hidden": True}
    assert "jupyter" not in plain.metadata
    assert notebook.output_text(predicted) == "12\n"


@pytest.mark.parametrize(("options", "message"), [
    ([option("13"), option("14")], "0 options match the output, exactly one must; mend `match`"),
    ([option("12"), option("2")], "2 options match the output, exactly one must; mend `match`"),
    ([option("12"), option("13", why=False)], "a wrong option has no `why`"),
])
def test_options_that_do_not_decide_are_refused(write, runs, options, message):
    section = write(code("print(12)", predict(*options)))
    with pytest.raises(sync.SyncError) as caught:
        sync.sync(section)
    assert str(caught.value).endswith(f"section.md: predict cell `print(12)`: {message}")
    assert not section.with_suffix(".ipynb").exists()


def test_a_number_may_be_the_match(write, runs):
    section = write(code("print(12)", predict(option(12), option(13))))
    assert sync.sync(section)


# ---- what a notebook is made of ----------------------------------------------------------------

def cells_of(section):
    return {cell.source: cell.id for cell in notebook.read_source(section).cells}


def test_cell_ids_stay_when_other_cells_come_in(write):
    before = cells_of(write(code("a = 1"), code("b = 2")))
    after = cells_of(write(code("c = 3"), code("a = 1"), code("d = 4"), code("b = 2")))
    assert before.items() <= after.items()
    assert len(after) == len(before) + 2


def test_cell_ids_are_unique_among_equal_cells(write):
    section = write(code("a"), code("b"), code("a"), code("a"))
    ids = [cell.id for cell in notebook.read_source(section).cells]
    assert len(ids) == 7
    assert len(set(ids)) == 7
    assert all(re.fullmatch(r"[a-zA-Z0-9-_]{1,64}", name) for name in ids)


def imported(section):
    cells = notebook.code_cells(notebook.read_source(section))
    found = depends.files(cell.source for cell in cells)
    return {str(file.relative_to(depends.CODE)) for file in found}


@pytest.fixture
def package(chapters):
    """Companions that import one another in the ways Python has."""
    for name, text in {
        "top.py": "import inside.first\n",
        "alone.py": "",
        "script.py": "import alone\nif __name__ == '__main__':\n    import tour\n",
        "turned.py": "if '__main__' == __name__:\n    import tour\nelse:\n    import alone\n",
        "tour.py": "",
        "inside/__init__.py": "",
        "inside/first.py": "from .second import x\n",
        "inside/second.py": "from . import third\n",
        "inside/third.py": "import os, torch\n",
        "inside/unused.py": "",
        "inside/deep/__init__.py": "",
        "inside/deep/fourth.py": "from ..third import y\nfrom .fifth import z\n",
        "inside/deep/fifth.py": "",
    }.items():
        file = depends.CODE / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)


INSIDE = {"inside/__init__.py", "inside/third.py"}


@pytest.mark.parametrize(("cell", "expected"), [
    ("import torch", set()),
    ("import alone as other", {"alone.py"}),
    ("from inside import third", INSIDE),
    ("from inside.third import y", INSIDE),
    ("import inside.third", INSIDE),
    ("def later():\n    import inside.third", INSIDE),
    ("from inside import second", INSIDE | {"inside/second.py"}),
    ("import script", {"script.py", "alone.py"}),  # what it runs only as a script is left out
    ("import turned", {"turned.py", "alone.py"}),
    ("if __name__ == '__main__':\n    import alone", {"alone.py"}),  # a notebook is one
    ("import top", INSIDE | {"top.py", "inside/first.py", "inside/second.py"}),
    ("import inside.deep.fourth", INSIDE | {
        "inside/deep/__init__.py", "inside/deep/fourth.py", "inside/deep/fifth.py"}),
    ("%matplotlib inline\nimport alone", {"alone.py"}),
    ("if True:\n    !ls\nimport alone", {"alone.py"}),
    ("print(5\n% 3)\nimport alone", {"alone.py"}),
])
def test_companions_are_what_the_cells_import_directly_and_through_one_another(
    write, package, cell, expected
):
    assert imported(write(code(cell))) == expected


def test_tags_of_a_cell_count_as_a_change_of_the_program(write, runs):
    section = write(code("print(1)"))
    sync.sync(section)
    before = notebook.program_digest(stored(section))
    tagged = write(code("print(1)", "tags: [pinned-torch]"))
    assert notebook.program_digest(notebook.read_source(tagged)) != before


def test_a_page_that_is_no_section_is_refused_and_gets_no_notebook(monkeypatch, capsys):
    page = ROOT / "book" / "drill.md"
    monkeypatch.setattr("sys.argv", ["sync", str(page)])
    with pytest.raises(SystemExit):
        sync.main()
    assert "book/drill.md: not a section" in capsys.readouterr().err
    assert not page.with_suffix(".ipynb").exists()
