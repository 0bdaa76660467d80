"""Whether the list of benches, their scripts, the stored results and the pages say the same."""

import ast

from book.extension.old_records import code
from book.pipeline.notebooks import depends
from book.pipeline.state import records

EVIDENCE = "cuda-cards"  # it lapses by itself


def disagreements(root):
    """Where benches, scripts, files of results and pages say different things, a line each."""
    scripts = {file.stem: written(file) for file in root.glob("benchmarks/*.py")}
    scripts = {name: found for name, found in scripts.items() if found is not None}
    stored = {file.stem for file in root.glob("benchmarks/results/*.json")}
    found = [f"{name}: listed, and no script" for name in records.BENCHES.keys() - scripts.keys()]
    for name, names in scripts.items():
        listed = set(records.BENCHES[name].records) if name in records.BENCHES else set()
        found += [f"{name} writes {record}, which is not listed" for record in names - listed]
        found += [f"{name} is listed with {record}, and does not write it"
                  for record in listed - names]
    found += [f"{name}.json: written by no command"
              for name in stored - records.RECORDS.keys() - {EVIDENCE}]
    found += [f"a page shows {name}, which is no record"
              for name in shown(root) - records.RECORDS.keys()]
    return sorted(found)


def written(file):
    """The records that a script writes; None of a module that is no script.

    Where it computes a name, each name of a record that stands in it counts.
    """
    tree = ast.parse(file.read_text("utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)
             and ast.unparse(node.func) in ("report.write", "report.run", "run") and node.args]
    literal = {node.args[0].value for node in calls if isinstance(node.args[0], ast.Constant)}
    every = {node.value for node in ast.walk(tree)
             if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    if "--record" not in every and not calls:
        return None
    names = {name for bench in records.BENCHES.values() for name in bench.records}
    computed = any(not isinstance(node.args[0], ast.Constant) for node in calls)
    return literal | (every & names if computed else set())


def shown(root):
    """Names of the results that notebooks and companions show."""
    texts = [source for file in root.glob("chapters/*/*.ipynb") for source in code(file).values()]
    texts += [file.read_text("utf-8") for file in root.glob("code/**/*.py")]
    found = [depends.uses(text) for text in texts]
    return {name for one in found for function, name in one.calls
            if function.endswith("recorded") and name}
