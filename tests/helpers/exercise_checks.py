"""What the tests of a chapter's exercises share: the cuts, and what its check program tells."""

import importlib.util
import shutil

from book.pipeline.notebooks import faded


def load(path):
    """The program at `path` as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
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


def teller(exercises, check, folder, capsys):
    """What a check tells of a companion with some text: function -> its last word, `passes`,
    `fails`, `write` (still to write) or `waits`. It puts the lines told into `lines`."""
    def told(companion, text, lines=None):
        for file in exercises.companions:
            shutil.copy(file, folder)
        path = folder / f"{companion}_practice.py"
        path.write_text(text, encoding="utf-8")
        passed = check.check_file(path)
        found = {}
        for line in capsys.readouterr().out.splitlines()[1:]:
            word, _, rest = line.partition(" · ")[2].partition("  ")
            found[rest.strip().split(":")[0]] = word.split()[-1]
            if lines is not None:
                lines.append(line)
        assert passed == (set(found.values()) == {"passes"})
        return found
    return told
