"""Which tensor objects lie on which storage, and what the cells of a storage hold."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Handle:
    """One tensor object with the Python names that refer to it."""

    names: tuple[str, ...]
    tensor: torch.Tensor

    def rows(self):
        """The fields of its TensorImpl as (name, value)."""
        t = self.tensor
        return [
            ("sizes", str(tuple(t.shape))),
            ("strides", str(t.stride())),
            ("storage_offset", str(t.storage_offset())),
            ("dtype", str(t.dtype).removeprefix("torch.")),
            ("version", "none" if t.is_inference() else str(t._version)),
        ]


@dataclass(frozen=True)
class Storage:
    """One StorageImpl, its values read with the dtype of the first tensor on it."""

    handles: tuple[Handle, ...]
    nbytes: int
    values: tuple[str, ...]

    def first_cell(self, handle):
        """The cell where the handle's tensor begins; None where it begins past the last."""
        first = self.handles[0].tensor
        start = handle.tensor.storage_offset() * handle.tensor.element_size()
        cell = start // first.element_size()
        return cell if cell < len(self.values) else None


def group(names):
    """The storages below `names` in order of appearance, each with its tensors and their names."""
    by_object, by_storage = {}, {}
    for name, tensor in names.items():
        by_object.setdefault(id(tensor), ([], tensor))[0].append(name)
    for called, tensor in by_object.values():
        if tensor.layout != torch.strided:
            raise ValueError(f"{called[0]}: a {tensor.layout} tensor has no storage to draw")
        key = tensor.untyped_storage()._cdata  # which StorageImpl; never printed
        by_storage.setdefault(key, []).append(Handle(tuple(called), tensor))
    return [storage_of(tuple(handles)) for handles in by_storage.values()]


def storage_of(handles):
    """Read the storage that the handles share."""
    first = handles[0].tensor.detach()
    nbytes = first.untyped_storage().nbytes()
    count = nbytes // first.element_size()
    flat = torch.as_strided(first, (count,), (1,), 0)
    values = [""] * count if first.is_meta else [spell(v) for v in flat.tolist()]
    return Storage(handles, nbytes, tuple(values))


def spell(value):
    """A number short enough for a cell."""
    return f"{value:.4g}" if isinstance(value, float | complex) else str(value)
