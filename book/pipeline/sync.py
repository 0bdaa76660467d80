"""`chapters/*/*.md` -> executed `*.ipynb` with golden outputs; the same input gives the same bytes.

    python -m book.pipeline.sync            bring every notebook up to date, and rehearse it
    python -m book.pipeline.sync --check    only say which are stale or were edited by hand
    python -m book.pipeline.sync --force    execute and rehearse all; renew what is not compared

Sections are executed two at a time, each in a fresh kernel, as a reader's is; one that fails is
told at the end and keeps no other from being written. What has changed is then rehearsed on the
device that is made for that, and sealed if it passes (`notebooks/rehearsed.py`).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat.reader import NotJSONError

from book.pipeline import lint, sources
from book.pipeline.ground.paths import CHAPTERS, CODE, FRONT_PAGE, relative, write_atomic
from book.pipeline.notebooks import notebook as nb
from book.pipeline.notebooks import rehearsal, rehearsed, unsolved

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"  # holds a random model id
KEPT = "nbval-ignore-output"
LANES = 2


class SyncError(Exception):
    """A section that cannot be brought up to date: one line, what, where, how to mend."""


def section_sources() -> list[Path]:
    return [*sorted(CHAPTERS.glob("*/*.md")), FRONT_PAGE]


def stale(source: Path) -> str | None:
    """Why the notebook beside a source cannot be trusted, or None. Executes nothing."""
    target = source.with_suffix(".ipynb")
    if not target.exists():
        return f"{relative(target)}: missing; run `make sync`"
    stored = _untouched(target)
    if stored is None:
        return (f"{relative(target)}: edited by hand; edit {relative(source)} and run "
                f"`make sync FORCE=1`")
    record = stored.metadata["book"]
    if record.get("source") != nb.source_digest(source):
        return f"{relative(target)}: older than {relative(source)}; run `make sync`"
    if record.get("program") != nb.program_digest(nb.read_source(source)):
        return (f"{relative(target)}: a file of code/, a recorded result, matplotlibrc or the "
                f"pinned torch changed; run `make sync`")
    return None


def unsealed(source: Path) -> str | None:
    """Why the notebook of a source that is not stale has yet to be rehearsed, or None."""
    target = source.with_suffix(".ipynb")
    if rehearsed.sealed(nbformat.read(target, 4)):
        return None
    return f"{relative(target)}: not rehearsed as it is now; run `make sync`"


def sync(source: Path, force: bool = False) -> bool:
    """Write the notebook of one source; False when it was up to date already."""
    if not force and stale(source) is None:
        return False
    fresh, target = nb.read_source(source), source.with_suffix(".ipynb")
    old = _untouched(target)
    if force or not _reuse_outputs(fresh, old):
        execute(fresh, source)
        _check_blanks(fresh, source)
        if not force:
            _keep_ignored_outputs(fresh, old)
    check_predictions(fresh, source)
    _finish(fresh, source)
    _keep_seal(fresh, old)
    write_atomic(target, nb.write_text(fresh))
    return True


def execute(notebook: NotebookNode, source: Path) -> None:
    """Run all cells in a fresh kernel and store cleaned outputs in place."""
    path = os.pathsep.join(filter(None, [str(CODE), os.environ.get("PYTHONPATH")]))
    environment = os.environ | nb.ENVIRONMENT | {"PYTHONPATH": path}
    client = NotebookClient(
        notebook, kernel_name="python3", timeout=600, record_timing=False, store_widget_state=False,
        coalesce_streams=True, resources={"metadata": {"path": str(source.parent)}},
    )
    try:
        asyncio.run(client.async_execute(env=environment))  # `execute` leaves a lane's loop open
    except CellExecutionError as error:
        raise SyncError(f"{relative(source)}: a cell raised {error.ename}: {error.evalue}\n"
                        f"{error.traceback}") from None
    except (CellTimeoutError, DeadKernelError) as error:
        raise SyncError(f"{relative(source)}: {str(error).splitlines()[0]}; "
                        f"run its cells by hand to see which") from None
    notebook.metadata["language_info"] = NotebookNode(nb.LANGUAGE)
    for cell in nb.code_cells(notebook):
        _clean(cell, source)


def _clean(cell: NotebookNode, source: Path) -> None:
    """Drop from a cell's outputs what differs from run to run or from machine to machine."""
    for output in cell.outputs:
        output.get("data", {}).pop(WIDGET_VIEW, None)
        if output.output_type == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]  # the frames name local paths
        elif output.output_type == "stream" and output.name == "stderr":
            raise SyncError(f"{relative(source)}: a cell writes to stderr: "
                            f"{output.text.splitlines()[0]}; catch it and print what matters")


def _untouched(target: Path) -> NotebookNode | None:
    """The stored notebook if it is as sync wrote it; None if it is missing or was edited since."""
    try:
        stored = nbformat.read(target, 4)
    except (FileNotFoundError, NotJSONError):  # a merge may leave its marks in the file
        return None
    sealed = stored.metadata.get("book", {}).get("golden")
    return stored if sealed == nb.golden_digest(stored) else None


def _reuse_outputs(fresh: NotebookNode, old: NotebookNode | None) -> bool:
    """Where only prose changed the stored outputs still hold: copy them instead of executing."""
    if old is None or old.metadata["book"].get("program") != nb.program_digest(fresh):
        return False
    for new_cell, old_cell in zip(nb.code_cells(fresh), nb.code_cells(old), strict=True):
        new_cell.outputs, new_cell.execution_count = old_cell.outputs, old_cell.execution_count
    return True


def _keep_ignored_outputs(fresh: NotebookNode, old: NotebookNode | None) -> None:
    """Outputs that nbval does not compare stay as they were while their cell is unchanged."""
    stored = {cell.id: cell.outputs for cell in nb.code_cells(old)} if old else {}
    for cell in nb.code_cells(fresh):
        if KEPT in cell.metadata.get("tags", []) and cell.id in stored:
            cell.outputs = stored[cell.id]


def check_predictions(notebook: NotebookNode, source: Path) -> None:
    """Exactly one option of a predict cell may match what the cell printed."""
    for cell in nb.code_cells(notebook):
        options = cell.metadata.get("predict", {}).get("options", [])
        right = [option for option in options if str(option["match"]) in nb.output_text(cell)]
        if options and len(right) != 1:
            first = cell.source.splitlines()[0]
            raise SyncError(f"{relative(source)}: predict cell `{first}`: {len(right)} options "
                            f"match the output, exactly one must; mend `match`")
        if any(o is not right[0] and "why" not in o for o in options):
            raise SyncError(f"{relative(source)}: predict cell `{cell.source.splitlines()[0]}`: "
                            f"a wrong option has no `why`")


def _check_blanks(notebook: NotebookNode, source: Path) -> None:
    """The checks of complete cells must see what the reader has not written yet."""
    if texts := list(unsolved.problems(notebook, source.parent)):
        raise SyncError(f"{relative(source)}: " + f"\n{relative(source)}: ".join(texts))


def _finish(notebook: NotebookNode, source: Path) -> None:
    """Hide predicted outputs, resolve source references, and seal the notebook with its digests."""
    program = nb.program_digest(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = sources.resolve_links(cell.source)
        elif "predict" in cell.metadata:
            cell.metadata["jupyter"] = {"outputs_hidden": True}
    notebook.metadata["book"] = {
        "source": nb.source_digest(source),
        "program": program,
        "golden": nb.golden_digest(notebook),
    }


def _keep_seal(notebook: NotebookNode, old: NotebookNode | None) -> None:
    """What passed the rehearsal has passed it while neither program nor outputs change."""
    kept = old.metadata["book"].get(rehearsed.KEY) if old else None
    if kept == rehearsed.seal(notebook):
        notebook.metadata["book"][rehearsed.KEY] = kept


def problems(paths: list[Path]) -> list[str]:
    """Why notebooks cannot be trusted, and notebooks that have no source. Executes nothing."""
    found = [problem for path in paths if (problem := stale(path) or unsealed(path))]
    orphans = [p for p in sorted(CHAPTERS.glob("*/*.ipynb")) if not p.with_suffix(".md").exists()]
    return found + [f"{relative(p)}: has no source `.md`; delete it" for p in orphans]


def check(paths: list[Path]) -> int:
    """Print all problems; exit status."""
    found = problems(paths)
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


def sync_all(paths: Sequence[Path], force: bool = False) -> int:
    """Bring notebooks up to date and rehearse them, telling each; how many failed."""
    failures = []
    with ThreadPoolExecutor(LANES) as lanes:
        jobs = [lanes.submit(sync, path, force) for path in paths]
        try:
            for path, job in zip(paths, jobs, strict=True):
                _tell(path, job, failures)
        except KeyboardInterrupt:
            lanes.shutdown(wait=False, cancel_futures=True)
            raise
    failures += _rehearse([path for path in paths
                           if not stale(path) and (force or unsealed(path))])
    for failure in failures:
        print(failure, file=sys.stderr)
    return len(failures)


def _tell(path: Path, job: Future[bool], failures: list[str]) -> None:
    """Print how a section went, once it is done; add why it failed."""
    try:
        done = "written" if job.result() else "up to date"
    except (SyncError, sources.SourceError) as error:
        failures.append(str(error))
        done = "failed"
    print(f"{relative(path)}: {done}", flush=True)


def _rehearse(paths: Sequence[Path]) -> list[str]:
    """Rehearse the notebooks of sections and seal what passes; why others did not."""
    if not paths:
        return []
    print(f"rehearsing on a device made for that: {len(paths)} notebooks", flush=True)
    try:
        result = rehearsed.rehearse([path.with_suffix(".ipynb") for path in paths])
    except rehearsal.CannotBuildError as error:
        return [f"sync: {error}; until then these notebooks are not sealed"]
    return [f"{finding}\n{finding.detail}".rstrip() for finding in result.failed]


def main() -> int:
    parser = argparse.ArgumentParser(description="bring the notebooks up to date")
    parser.add_argument("sources", nargs="*", type=Path, help="section sources (default: all)")
    parser.add_argument("--check", action="store_true", help="only report, execute nothing")
    parser.add_argument("--force", action="store_true", help="execute all, renew all outputs")
    options = parser.parse_args()
    paths = [path.resolve() for path in options.sources] or section_sources()
    for path in set(paths) - set(section_sources()):
        parser.error(f"{relative(path)}: not a section; pages without code have no notebook")
    if options.check:
        return check(paths)
    if findings := lint.lint_files(paths):
        print(*findings, sep="\n")
        return 1
    return 1 if sync_all(paths, options.force) else 0


if __name__ == "__main__":
    sys.exit(main())
