"""Notes what a Python process looks at below a root: its forks and the Pythons it starts as well.

Python imports a module of this name when it begins. So whoever puts this folder on PYTHONPATH and
names a log in SEEN_LOG has every Python that inherits both take notes, a line each:

    r FILE           it was opened for reading
    s FILE           it was asked whether it is there
    l FOLDER DIGEST  it was listed, and held these names
    p PROGRAM        it was started, and takes no notes
"""

import hashlib
import os
import re
import sys

# Made by tools, not by authors: the environment, what is built, caches.
MADE = {".venv", "node_modules", "_build", ".git", ".hypothesis", ".cache", ".pytest_cache",
        ".ruff_cache", "__pycache__", ".ipynb_checkpoints"}
COMPILED = re.compile(r"__pycache__/([^/.]+)\.[^/]*\.pyc(?:\.\d+)?$")  # its source is what counts
# They read what their arguments name and the system's own files.
PLAIN = {"cc", "c++", "gcc", "g++", "ld", "ldconfig", "fc-list", "openssl", "uname", "sleep",
         "true", "ps"}
BLIND = re.compile(r"-[a-zA-Z]*[IES]")  # options that leave PYTHONPATH or this module out
PATHS = ("os.py", "pathlib.py", "posixpath.py", "genericpath.py")  # ask for others
HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - at every start: no pathlib


def names(folder):
    """A digest of the names in a folder; what tools keep there is left out."""
    try:
        found = sorted(name for name in os.listdir(folder)  # noqa: PTH208
                       if name not in MADE and not name.endswith(".part"))
    except OSError:
        return "none"
    return hashlib.sha256("\0".join(found).encode("utf-8", "surrogateescape")).hexdigest()[:16]


class Notes:
    """Writes each thing once; a file is opened for each line, so that forks may write too."""

    def __init__(self, log, root):
        self.log, self.root, self.known = log, root, set()

    def begin(self):
        """Look at everything from now on, for good: what is audited cannot be left alone again."""
        sys.addaudithook(self.look)
        for name in ("stat", "lstat"):  # no event tells of them
            real, watched = getattr(os, name), self._watched(getattr(os, name))
            for able in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
                if real in able:
                    able.add(watched)  # `shutil` asks
            setattr(os, name, watched)

    def _watched(self, real):
        def stat(path, *arguments, **options):
            if isinstance(path, int) or not self._of_importing(sys._getframe(1)):
                self.path("s", path)
                return real(path, *arguments, **options)
            try:
                return real(path, *arguments, **options)
            except FileNotFoundError:  # a conftest.py that may appear
                self.path("s", path)
                raise
        return stat

    def look(self, event, arguments):
        if event == "open":
            if not (arguments[2] or 0) & os.O_WRONLY:
                self.path("r", arguments[0])
        elif event in ("os.listdir", "os.scandir"):
            if not self._of_importing(sys._getframe(1)):
                self.path("l", "." if arguments[0] is None else arguments[0])
        elif event == "subprocess.Popen":
            self.program(*arguments)
        elif event in ("os.system", "os.exec", "os.posix_spawn") \
                and not sys._getframe(1).f_code.co_filename.endswith("subprocess.py"):  # told above
            self.line(f"p {event}")

    @staticmethod
    def _of_importing(frame):
        """Whether Python looks for a module or a package, or pytest for tests: not at the book."""
        while frame and frame.f_code.co_filename.endswith(PATHS):
            frame = frame.f_back
        file = frame.f_code.co_filename if frame else ""
        return file.startswith("<frozen importlib") or any(
            f"{os.sep}{part}{os.sep}" in file for part in ("_pytest", f"importlib{os.sep}metadata"))

    def path(self, kind, path):
        if not isinstance(path, (str, bytes, os.PathLike)):
            return  # a descriptor
        name = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - runs at every open
        if name != self.root and not name.startswith(self.root + os.sep):
            return
        name = COMPILED.sub(r"\1.py", name[len(self.root) + 1:]) or "."
        if MADE.isdisjoint(re.split("/", name)) and (kind, name) not in self.known:
            self.known.add((kind, name))
            self.line(f"{kind} {name}" + (f"\t{names(path)}" if kind == "l" else ""))

    def program(self, executable, arguments, _, environment):
        environment = os.environ if environment is None else environment
        words = [arguments] if isinstance(arguments, (str, bytes)) else arguments
        words = [os.fsdecode(word) for word in words]
        name = os.path.basename(os.fsdecode(executable or words[0]))  # noqa: PTH119
        follows = environment.get("SEEN_LOG") == self.log \
            and HERE in environment.get("PYTHONPATH", "").split(os.pathsep)
        if name.startswith("python") and follows and not any(map(BLIND.fullmatch, words[1:3])):
            return
        if name in PLAIN:
            for word in words[1:]:
                self.path("r", word)
        else:
            self.line(f"p {name}")

    def line(self, text):
        if text not in self.known:
            self.known.add(text)
            with open(self.log, "ab") as log:  # noqa: PTH123
                log.write(text.encode("utf-8", "surrogateescape") + b"\n")


if "SEEN_LOG" in os.environ and "SEEN_ROOT" in os.environ and __name__ == "sitecustomize":
    Notes(os.environ["SEEN_LOG"], os.environ["SEEN_ROOT"]).begin()
