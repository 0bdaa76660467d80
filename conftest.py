"""For nbval: run cells as the golden notebooks were made, compare pinned ones where they can be."""

import os

from book.pipeline.notebooks import notebook, on_device

os.environ.update(notebook.ENVIRONMENT
                  | {"BOOK_DEVICE": os.environ.get("BOOK_DEVICE") or "cpu",
                     "OMP_NUM_THREADS": os.environ.get("BOOK_THREADS") or "1"})


def pytest_collection_modifyitems(items):
    """Some cells are run and not compared: pinned ones elsewhere, those tagged `cuda` on a GPU."""
    device = os.environ["BOOK_DEVICE"].partition(":")[0]
    run_only = on_device.not_compared(device, notebook.outputs_are_pinned_here())
    for item in items:
        cell = getattr(item, "cell", None)
        if cell is not None and run_only & set(cell.metadata.get("tags", [])):
            item.options["check"] = False
