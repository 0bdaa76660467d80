"""What the notebooks import: the device they run on; drawings and widgets in submodules.

What only one chapter uses stands in that chapter's room: `inside.tensors`, `inside.autograd`, ….

`BOOK_DEVICE` names the device (`cpu`, `cuda`, `cuda:1`, …); without it, a CUDA GPU is taken where
torch sees one.
"""

import os
import sys

import torch

from inside import earlier_names


def chosen_device(wish: str | None) -> torch.device:
    """The device that `BOOK_DEVICE` names, or the best there is for None and "".

    Raises ValueError, in one line, for a name that torch does not know or a GPU that it lacks.
    """
    if not wish:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch.empty(0, device=wish)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"BOOK_DEVICE={wish} cannot be used: {reason}") from None
    return torch.device(wish)


sys.meta_path.append(earlier_names.Finder)
device = chosen_device(os.environ.get("BOOK_DEVICE"))


def use_device() -> None:
    """Make tensors on `device` from here on, if nothing else is said.

    On the CPU nothing is changed: `torch.set_default_device` puts a mode before every call of
    torch, even where it has nothing to do.
    """
    if device.type != "cpu":
        torch.set_default_device(device)
