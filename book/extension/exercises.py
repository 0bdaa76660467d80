"""The faded forms of a chapter's companion: a list under the heading `Exercises`, and the files."""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from book.extension.bilingual import raw, spans
from book.extension.downloads import address
from book.pipeline.finish.downloads import EXERCISES
from book.pipeline.notebooks import faded
from book.pipeline.paths import place

log = logging.getLogger(__name__)
HEADING = "exercises"  # id of the section that gets the list

FORMS = {
    "worked": ("先读写好的：", "Read what is already written:"),
    "blanks": ("补上写着 <code># blank</code> 的行：",
               "Write the lines marked <code># blank</code>:"),
    "tests": ("只凭 {check} 里的测试写出整个函数：",
              "Write the whole function from its tests alone, which are in {check}:"),
}
CHECK = (
    "把 {check} 和你写的文件放在一起。{beside}写完运行 <code>python3 {name}</code>："
    "每个函数过没过，会逐一说明；退出状态是 0，就是全部通过。"
    "{torch}",
    "Put {check} beside the file you write. {beside}When you have finished, run "
    "<code>python3 {name}</code>: it tells you for each function whether it passes, and the exit "
    "status is 0 if all do. {torch}",
)
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
        source = Path(self.env.doc2path(self.env.docname)).with_name(EXERCISES)
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
    """A numbered list, a form each, then how to check and where the solution is."""
    items = "".join(f"<li>{item(exercises, form, folder)}</li>" for form in FORMS
                    if exercises.of(form))
    how, where = zip(*(paragraphs(exercises, folder, lang) for lang in (0, 1)), strict=True)
    return (f'<ol class="exercises">{items}</ol><p>{spans(*how, escape=False)}</p>'
            f"<p>{spans(*where, escape=False)}</p>")


def paragraphs(exercises: faded.Exercises, folder: str, lang: int) -> tuple[str, str]:
    """How to check, with what must lie beside a file; and the solutions, which need not."""
    name = exercises.check.name
    solutions = exercises.solutions()
    imported = {companion: exercises.imports(companion) for companion in solutions}
    beside = "".join(
        BESIDE[lang].format(files=enumeration(practice(exercises, companion), lang),
                            imports=enumeration(links(folder, others), lang))
        for companion, others in imported.items() if others)
    how = CHECK[lang].format(check=link(folder, name), beside=beside, name=name,
                             torch=TORCH[exercises.needs_torch][lang])
    where = SOLUTION[lang].format(file=enumeration(links(folder, solutions), lang))
    for companion in solutions:
        if any(companion in others for others in imported.values()):
            where += (" " if lang else "") + BOTH[lang].format(
                both=f"<code>{companion.name}</code>",
                files=enumeration(practice(exercises, companion), lang))
    return how, where


def practice(exercises: faded.Exercises, companion: Path) -> list[str]:
    """Names of the files that a reader writes in for one companion, as code."""
    return [f"<code>{exercises.file(form, companion)}</code>" for form in faded.CUT
            if exercises.of(form, companion)]


def links(folder: str, files: list[Path]) -> list[str]:
    return [link(folder, file.name) for file in files]


def item(exercises: faded.Exercises, form: str, folder: str) -> str:
    """What to do with the functions of a form, each group with the file it is done in."""
    check = link(folder, exercises.check.name)
    texts = []
    for lang, text in enumerate(FORMS[form]):
        groups = [group(exercises, form, companion, folder)[lang]
                  for companion in exercises.cut(form)]
        texts.append(text.format(check=check) + ("" if lang == 0 else " ")
                     + ("；", "; ")[lang].join(groups))
    return spans(*texts, escape=False)


def group(exercises: faded.Exercises, form: str, companion: Path, folder: str) -> tuple[str, str]:
    """The functions of a form in one companion, with the link to their file; zh, en."""
    names = [f"<code>{exercise.name}</code>" for exercise in exercises.of(form, companion)]
    file = link(folder, exercises.file(form, companion))
    return f"{COMMA[0].join(names)}（{file}）", f"{COMMA[1].join(names)} ({file})"


def enumeration(names: list[str], lang: int) -> str:
    """`a、b 和 c`, `a, b and c`; lang is 0 for Chinese, 1 for English."""
    *first, last = names
    return f"{COMMA[lang].join(first)}{AND[lang]}{last}" if first else last


def link(folder: str, name: str) -> str:
    return f'<a href="{folder}/{name}" download><code>{name}</code></a>'
