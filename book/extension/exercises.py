"""The faded forms of a chapter's companion: a list under the heading `Exercises`, and the files."""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from book.extension.bilingual import raw, spans
from book.extension.downloads import FOLDER, address, place
from book.pipeline import faded

log = logging.getLogger(__name__)
LIST = "exercises.yaml"
HEADING = "exercises"  # id of the section that gets the list

FORMS = {
    "worked": ("先读一个写好的：", "Read one that is already written:"),
    "blanks": ("补上写着 <code># blank</code> 的行：",
               "Write the lines marked <code># blank</code>:"),
    "tests": ("只凭 {check} 里的测试写出整个函数：",
              "Write the whole function from its tests alone, which are in {check}:"),
}
CHECK = (
    "把文件和 {check} 放在一起，写完运行 <code>python3 {name}</code>：每个函数过没过，会逐一说明；"
    "退出状态是 0，就是全部通过。装了 PyTorch，就与 PyTorch 比较；没装，就与存好的数比较。",
    "Put the file next to {check} and run <code>python3 {name}</code> when you have finished: "
    "it tells you for each function whether it passes, and the exit status is 0 if all do. "
    "It compares with PyTorch if that is installed, otherwise with stored numbers.",
)
SOLUTION = ("参考答案是没有删改的 {file}。", "The solution is {file}, with nothing cut.")


class ListExercises(SphinxTransform):
    """Add the list to the section `exercises` of a page, if its chapter has exercises."""

    default_priority = 520

    def apply(self, **kwargs) -> None:
        found = place(self.env.docname)
        source = Path(self.env.doc2path(self.env.docname)).with_name(LIST)
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
    check, name = link(folder, exercises.check.name), exercises.check.name
    how = [text.format(check=check, name=name) for text in CHECK]
    where = [text.format(file=link(folder, exercises.companion.name)) for text in SOLUTION]
    return (f'<ol class="exercises">{items}</ol><p>{spans(*how, escape=False)}</p>'
            f"<p>{spans(*where, escape=False)}</p>")


def item(exercises: faded.Exercises, form: str, folder: str) -> str:
    names = [f"<code>{exercise.name}</code>" for exercise in exercises.of(form)]
    file, check = link(folder, exercises.file(form)), link(folder, exercises.check.name)
    zh, en = (text.format(check=check) for text in FORMS[form])
    return spans(f"{zh}{'、'.join(names)}（{file}）", f"{en} {', '.join(names)} ({file})",
                 escape=False)


def link(folder: str, name: str) -> str:
    return f'<a href="{folder}/{name}" download><code>{name}</code></a>'


def write_files(app, exception) -> None:
    """After the build: the files of every chapter that has exercises."""
    if exception or app.builder.name != "html":
        return
    for source in sorted(Path(app.srcdir, "chapters").glob(f"*/{LIST}")):
        folder = Path(app.outdir, FOLDER, source.parent.name, "exercises")
        folder.mkdir(parents=True, exist_ok=True)
        try:
            made = faded.files(source)
        except faded.FadeError as error:
            log.warning(str(error))
            continue
        for name, text in made.items():
            (folder / name).write_text(text, encoding="utf-8")


def setup(app):
    app.add_transform(ListExercises)
    app.connect("build-finished", write_files)
