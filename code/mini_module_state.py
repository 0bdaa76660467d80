"""The level below mini_module: a module's tensors as a flat dictionary, and back again.

`Stateful` reads the tables `_parameters`, `_buffers` and `_modules`, which Module makes. Messages
are torch's own, so that a checkpoint that fails here fails in torch with the same words.
"""
import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch


class IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What load_state_dict returns: two lists of keys, both empty where all went well."""

    __slots__ = ()

    def __repr__(self):
        return super().__repr__() if any(self) else "<All keys matched successfully>"


@dataclass
class Report:
    """What a load has found out so far. `assign` says how tensors get into the module."""

    assign: bool
    missing: list = field(default_factory=list)
    unexpected: list = field(default_factory=list)
    errors: list = field(default_factory=list)

    def messages(self, strict):
        """The lines of the error, missing keys first."""
        lines = list(self.errors)
        for what, keys in (("Unexpected", self.unexpected), ("Missing", self.missing)):
            if strict and keys:
                shown = ", ".join(f'"{key}"' for key in keys)
                lines.insert(0, f"{what} key(s) in state_dict: {shown}. ")
        return lines


UNUSED = {"_save_to_state_dict", "_load_from_state_dict", "get_extra_state", "set_extra_state",
          "call_super_init"}


class Stateful:
    """Saving and loading for a module with three tables."""

    _version = 1    # a subclass raises it when its tables change; it is saved as metadata

    def __init_subclass__(cls, **named):
        """TypeError for what a class of torch may define, or mix in, and nobody would call or read
        here. Behind a module a mixin's isn't called in torch either."""
        super().__init_subclass__(**named)
        before = cls.__mro__[:cls.__mro__.index(Stateful)]
        if useless := UNUSED & set().union(*map(vars, before)):
            raise TypeError(f"{cls.__name__} defines {', '.join(sorted(useless))}, which "
                            "mini_module leaves out")

    def state_dict(self, *, destination=None, prefix="", keep_vars=False):
        """Path -> tensor for parameters and persistent buffers; None entries are left out.

        The tensors share the module's storage: a later training step changes them, too. They are
        detached unless keep_vars. `_metadata` maps the path of each module to its version.
        """
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        getattr(destination, "_metadata", {})[prefix[:-1]] = {"version": self._version}
        for name, tensor in self._own_state().items():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        for name, child in self._modules.items():
            if child is not None:
                below = f"{prefix}{name}."
                child.state_dict(destination=destination, prefix=below, keep_vars=keep_vars)
        return destination

    def _own_state(self):
        """Name -> tensor, this module's alone: what is saved, and so what is expected."""
        tables = {**self._parameters, **self._buffers}
        return {name: tensor for name, tensor in tables.items()
                if tensor is not None and name not in self._non_persistent_buffers_set}

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copy the tensors of the state into the module's, or with `assign` put them in place.

        Raises RuntimeError with everything that does not fit; what fits has been loaded by then.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        metadata = getattr(state_dict, "_metadata", None) or {}
        report = Report(assign)
        self._load(dict(state_dict), "", metadata, report)
        if lines := report.messages(strict):
            raise RuntimeError("Error(s) in loading state_dict for "
                               f"{type(self).__name__}:\n\t" + "\n\t".join(lines))
        return IncompatibleKeys(report.missing, report.unexpected)

    def _load(self, state, prefix, metadata, report):
        """This module, then its children, each with the part of the state that is below it."""
        self._load_own(state, prefix, metadata.get(prefix[:-1], {}), report)
        for name, child in self._modules.items():
            if child is not None:
                below = f"{prefix}{name}."
                part = {key: value for key, value in state.items() if key.startswith(below)}
                child._load(part, below, metadata, report)

    def _load_own(self, state, prefix, metadata, report):
        """The tensors of this module; a subclass may update an old `state` here."""
        own = self._own_state()
        for name, tensor in own.items():
            if prefix + name in state:
                self._load_tensor(name, tensor, prefix + name, state[prefix + name], report)
            else:
                report.missing.append(prefix + name)
        for key in state:
            first, *rest = key.removeprefix(prefix).split(".", 1)
            if first not in (self._modules if rest else own):
                report.unexpected.append(key)

    def _load_tensor(self, name, tensor, key, value, report):
        """Write one tensor, or say why not; the others are loaded all the same."""
        if not isinstance(value, torch.Tensor):
            report.errors.append(f'While copying the parameter named "{key}", expected '
                                 "torch.Tensor or Tensor-like object from checkpoint but "
                                 f"received {type(value)}")
            return
        if tensor.dim() == 0 and value.shape == (1,):    # as very old checkpoints hold a number
            value = value[0]
        if value.shape != tensor.shape:
            report.errors.append(f"size mismatch for {key}: copying a param with shape "
                                 f"{value.shape} from checkpoint, the shape in current model is "
                                 f"{tensor.shape}.")
            return
        if tensor.is_meta and not value.is_meta and not report.assign:
            warnings.warn(f"for {key}: copying from a non-meta parameter in the checkpoint to a "
                          "meta parameter in the current model, which is a no-op. (Did you mean "
                          "to pass `assign=True`?)", stacklevel=2)
        try:
            self._write(name, tensor, value, report.assign)
        except Exception as error:
            report.errors.append(f'While copying the parameter named "{key}", whose dimensions '
                                 f"in the model are {tensor.size()} and whose dimensions in the "
                                 f"checkpoint are {value.size()}, an exception occurred : "
                                 f"{error.args}.")

    def _write(self, name, tensor, value, assign):
        """Copy into the tensor that is there, which others may hold; or replace it."""
        if not assign:
            with torch.no_grad():
                tensor.copy_(value)
        elif name in self._parameters:
            kind = type(tensor)
            value = value if isinstance(value, kind) else kind(value, tensor.requires_grad)
            setattr(self, name, value.requires_grad_(tensor.requires_grad))
        else:
            setattr(self, name, value)
