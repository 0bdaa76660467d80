"""The faded forms of a chapter's companion: a list under the heading `Exercises`, and the files."""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from markupsafe import Markup
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from book.extension.bilingual import raw, spans
from book.extension.downloads import address
from book.extension.tables import table
from book.pipeline.finish.downloads import EXERCISES
from book.pipeline.ground.paths import place
from book.pipeline.notebooks import faded

log = logging.getLogger(__name__)
HEADING = "exercises"  # id of the section that gets the list

HEAD = [("做什么", "What to do"), ("函数", "Functions"), ("在哪个文件里", "In which file")]
FORMS = {
    "worked": ("读：已经写好", "Read: it is written already"),
    "blanks": ("填空：补上标着 <code># blank</code> 的行",
               "Fill in: the lines marked <code># blank</code>"),
    "tests": ("重写：只看测试，写出整个函数",
              "Write: the whole function, from its tests alone"),
}
PUT = ("把表里要写的文件和 {check} 下载到同一个文件夹，测试就在 {check} 里。{beside}",
       "Download {check} and the file you write into one folder; the tests are in {check}. "
       "{beside}")
CHECK = ("写完运行 <code>python3 {name}</code>：每个函数过没过，会逐一说明；"
         "退出状态是 0，就是全部通过。{torch}",
         "When you have finished, run <code>python3 {name}</code>: it tells you for each function "
         "whether it passes, and the exit status is 0 if all do. {torch}")
TORCH = {  # whether the check needs it -> what that means for the reader
    False: ("装了 PyTorch，就与 PyTorch 比较；没装，就与存好的数比较。",
            "It compares with PyTorch if that is installed, otherwise with stored numbers."),
    True: ("要装有 PyTorch。", "It needs PyTorch."),
}
BESIDE = ("{files} 还要导入 {imports}，也放在一起。",
          "Put {imports} there too, for the imports in {files}. ")
SOLUTION = ("参考答案另行下载，写完再打开：没有删改的 {file}。",
            "The solution, with nothing cut, is a separate download to open afterwards: {file}.")
BOTH = ("其中 {both} 也是要导入的文件，里面有 {files} 的答案，先不要看。",
        "Of these, {both} is also imported; it holds the answers of {files}, so leave it unread.")
COMMA, AND = ("、", ", "), (" 和 ", " and ")  # between names in Chinese, in English


class ListExercises(SphinxTransform):
    """Add the list to the section `exercises` of a page, if its chapter has exercises."""

    def apply(self, **kwargs) -> None:
        found = place(self.env.docname)
        page = Path(self.env.doc2path(self.env.docname))
        own = page.with_name(f"{Path(EXERCISES).stem}-{page.stem}.yaml")
        source = own if own.exists() else page.with_name(EXERCISES)
        if not found or not source.exists():
            return
        for section in self.document.findall(nodes.section):
            if HEADING in section["ids"]:
                self.add(section, source, found[0])

    def add(self, section: nodes.section, source: Path, chapter: str) -> None:
        self.env.note_dependency(str(source))
        try:
            exercises = faded.read(source)
        except faded.FadeError as error:
            log.warning(str(error))
            return
        folder = address(self.env.docname, chapter, "exercises")
        inner = next((i for i, child in enumerate(section)
                      if isinstance(child, nodes.section)), len(section))
        section.insert(inner, raw(listing(exercises, folder)))


def listing(exercises: faded.Exercises, folder: str) -> str:
    """A table of what is done where, then how to check it, in steps."""
    rows = [[Markup(spans(*FORMS[form], escape=False)),
             Markup(", ".join(f"<code>{one.name}</code>" for one in exercises.of(form, companion))),
             Markup(link(folder, exercises.file(form, companion)))]
            for form in FORMS for companion in exercises.cut(form)]
    both = zip(*(steps(exercises, folder, lang) for lang in (0, 1)), strict=True)
    items = "".join(f"<li>{spans(*words, escape=False)}</li>" for words in both)
    return (f'<div class="exercises">{table(HEAD, rows)}</div>'
            f'<ol class="exercise-steps">{items}</ol>')


def steps(exercises: faded.Exercises, folder: str, lang: int) -> tuple[str, str, str]:
    """What to put where, with what must lie beside a file; how to check; the solutions."""
    name = exercises.check.name
    solutions = exercises.solutions()
    imported = {companion: exercises.imports(companion) for companion in solutions}
    beside = "".join(
        BESIDE[lang].format(files=enumeration(practice(exercises, companion), lang),
                            imports=enumeration(links(folder, others), lang))
        for companion, others in imported.items() if others)
    put = PUT[lang].format(check=link(folder, name), beside=beside)
    how = CHECK[lang].format(name=name, torch=TORCH[exercises.needs_torch][lang])
    where = SOLUTION[lang].format(file=enumeration(links(folder, solutions), lang))
    for companion in solutions:
        if any(companion in others for others in imported.values()):
            where += (" " if lang else "") + BOTH[lang].format(
                both=f"<code>{companion.name}</code>",
                files=enumeration(practice(exercises, companion), lang))
    return put, how, where


def practice(exercises: faded.Exercises, companion: Path) -> list[str]:
    """Names of the files that a reader writes in for one companion, as code."""
    return [f"<code>{exercises.file(form, companion)}</code>" for form in faded.CUT
            if exercises.of(form, companion)]


def links(folder: str, files: list[Path]) -> list[str]:
    return [link(folder, file.name) for file in files]


def enumeration(names: list[str], lang: int) -> str:
    """`a、b 和 c`, `a, b and c`; lang is 0 for Chinese, 1 for English."""
    *first, last = names
    return f"{COMMA[lang].join(first)}{AND[lang]}{last}" if first else last


def link(folder: str, name: str) -> str:
    return f'<a href="{folder}/{name}" download><code>{name}</code></a>'
