"""The level below mini_module: what programs ask of a module every day, each a line or two.

`Handy` needs nothing but the walk and `_apply`, which Module has. Nothing else is built on it.
"""
import torch

# What torch's Module has and this one leaves out, by kind.
LEFT_OUT = {
    "hooks": ("global hooks", "with_kwargs", "always_call", "register_backward_hook",
              "register_full_backward_pre_hook"),
    "hooks on the state": (
        "register_state_dict_pre_hook", "register_state_dict_post_hook",
        "register_load_state_dict_pre_hook", "register_load_state_dict_post_hook"),
    "what a subclass may define": (
        "get_extra_state", "set_extra_state", "_save_to_state_dict", "_load_from_state_dict",
        "call_super_init", "extra_repr"),
    "devices": ("xpu", "ipu", "mtia", "device and dtype when a layer is made"),
    "others": ("compile", "set_submodule", "swap_tensors", "lazy parameters", "repr",
               "T_destination", "dump_patches")}


class Handy:
    """Shorthands: to look something up by its path, to cast, to treat all parameters alike."""

    # ---- by path
    def get_submodule(self, target):
        """The module at a path such as "encoder.0"; itself for "". AttributeError."""
        module = self
        for name in target.split(".") if target else ():
            module = getattr(module, name)
            if not isinstance(module, Handy):
                raise AttributeError(f"`{name}` is not a module")
        return module

    def get_parameter(self, target):
        """The parameter at a path. AttributeError."""
        return self._entry(target, "parameter", "_parameters")

    def get_buffer(self, target):
        """The buffer at a path. AttributeError."""
        return self._entry(target, "buffer", "_buffers")

    def _entry(self, target, kind, table):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if module.__dict__[table].get(name) is None:
            raise AttributeError(f"`{name}` is not a {kind} of {type(module).__name__}")
        return module.__dict__[table][name]

    def __dir__(self):
        names = {*super().__dir__(), *self._parameters, *self._buffers, *self._modules}
        return sorted(name for name in names if not name[:1].isdigit())

    # ---- everything below
    def apply(self, fn):
        """Call fn(module) for all below, then for this module, which is returned."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def requires_grad_(self, requires_grad=True):
        """Freeze all parameters, or let them learn again."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Forget the gradients, or fill them with zeros."""
        for param in self.parameters():
            if param.grad is not None:
                param.grad = None if set_to_none else torch.zeros_like(param.grad)

    def to_empty(self, *, device, recurse=True):
        """Move shapes without numbers, off the meta device for example: all is uninitialized."""
        return self._apply(lambda t: torch.empty_like(t, device=device), recurse)

    def share_memory(self):
        """Move the data into memory that other processes can see."""
        return self._apply(lambda t: t.share_memory_())

    # ---- casts; integers stay what they are, but for `type`
    def type(self, dst_type):
        return self._apply(lambda t: t.type(dst_type))

    def _cast(self, dtype):
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self):
        return self._cast(torch.float32)

    def double(self):
        return self._cast(torch.float64)

    def half(self):
        return self._cast(torch.float16)

    def bfloat16(self):
        return self._cast(torch.bfloat16)

    def cpu(self):
        return self._apply(lambda t: t.cpu())

    def cuda(self, device=None):
        return self._apply(lambda t: t.cuda(device))
