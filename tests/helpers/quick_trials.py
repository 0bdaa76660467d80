"""Trials that start at once, for proofs that need no torch: theirs is six empty modules."""

import os

from book.pipeline.proofs.forks import Trials


def quick_trials(folder, **options):
    """Trials whose torch, written below `folder`, costs nothing to import."""
    for name, text in {"torch/__init__": "set_num_threads = abs\n", "torch/_dynamo": "",
                       "torch/_inductor/__init__": "", "torch/_inductor/compile_fx": "",
                       "functorch/__init__": "", "functorch/compile": ""}.items():
        file = folder / f"quick/{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    ground = Trials(**options)
    ground.environment["PYTHONPATH"] = os.pathsep.join(
        [str(folder / "quick"), ground.environment["PYTHONPATH"]])
    return ground
