"""What the tests of a chapter's exercises share: the cuts, and what its check program tells."""

import ast
import shutil
import subprocess
import sys
import types

from book.pipeline.notebooks import faded


def load(path):
    """A check as the reader has it, with the harness in it, as a module."""
    module = types.ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module              # dataclasses look there
    exec(compile(faded.with_harness(path.read_text(encoding="utf-8")), path, "exec"),
         vars(module))
    return module


def sources(exercises):
    """Name of a companion -> its text."""
    return {file.stem: file.read_text(encoding="utf-8") for file in exercises.companions}


def cuts(exercises):
    """(function, its companion, the companion with it cut), for each body and each line."""
    texts = sources(exercises)
    for exercise in exercises.functions:
        companion = exercises.homes[exercise.name].stem
        for form, lines in [("tests", []), *(("blanks", [line]) for line in exercise.lines)]:
            yield exercise.name, companion, faded.fade(texts[companion], exercise.name, form,
                                                       lines)


def put_back(text, name, original):
    """The function of the original in place of the one of the same name."""
    pieces = []
    for source in (text, original):
        function = faded._find(ast.parse(source), name)
        pieces.append((source.splitlines(keepends=True), function))
    (lines, here), (originals, there) = pieces
    lines[here.lineno - 1:here.end_lineno] = originals[there.lineno - 1:there.end_lineno]
    return "".join(lines)


def teller(exercises, check, folder, capsys):
    """What a check tells of a companion with some text: function -> its last word, `passes`,
    `fails`, `write` (still to write) or `waits`. It puts the lines told into `lines`."""
    def told(companion, text, lines=None):
        for file in exercises.companions:
            shutil.copy(file, folder)
        path = folder / f"{companion}_practice.py"
        path.write_text(text, encoding="utf-8")
        passed = check.CHECKER.check_file(path)
        found = {}
        for line in capsys.readouterr().out.splitlines()[1:]:
            word, _, rest = line.partition(" · ")[2].partition("  ")
            found[rest.strip().split(":")[0]] = word.split()[-1]
            if lines is not None:
                lines.append(line)
        assert passed == (set(found.values()) == {"passes"})
        return found
    return told


def write_files(path, folder):
    """All that a reader downloads for the list at `path`, without the tour; returns the folder."""
    for name, text in faded.files(path).items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def run(*arguments, folder="/"):
    """A program of a reader, who has no more than Python and what is installed."""
    return subprocess.run([sys.executable, "-E", "-s", *map(str, arguments)], capture_output=True,
                          text=True, encoding="utf-8", cwd=folder, check=False)
