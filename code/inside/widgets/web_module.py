"""One module out of several: what a notebook's widget loads.

anywidget loads a module from a blob, where a relative import has no base; the page's bundler has
no such trouble. So the files stay apart, and are joined for the notebook here.
"""

import re
from pathlib import Path

WEB = Path(__file__).resolve().parents[3] / "book" / "web"
IMPORT = re.compile(r'^import [^;]* from "(\.\.?/[^"]*)";\n', re.MULTILINE)


def joined_module(main):
    """The module file `main` and all that it imports as one text, without an import.

    Each file stands after those it imports from. Nothing has to be renamed: no two files of one
    widget use the same name at the top level (a clash would be a syntax error). Raises
    `ImportError` where a file is not at hand.
    """
    texts = {}
    try:
        collect(Path(main), texts)
    except FileNotFoundError as error:
        missing = "/".join(Path(error.filename).parts[-2:])
        raise ImportError(f"inside.widgets.web_module: {missing} is missing; use `inside` "
                          "from a clone of the book, where it lies in book/web/") from None
    return "".join(texts.values())


def collect(file, texts):
    """Add the files that `file` imports, then itself, each once."""
    source = file.read_text(encoding="utf-8")
    for part in IMPORT.findall(source):
        if (found := (file.parent / part).resolve()) not in texts:
            collect(found, texts)
    texts[file.resolve()] = IMPORT.sub("", source)
